"""Selectors behind a preparation, and what they say of a table that needs one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline

from tamis import MRSF, Auto
from tamis.preprocessing import Preparation


@pytest.fixture(name="columns")
def columns_of_a_table():
    rng = np.random.default_rng(0)
    centre = 4 * rng.integers(0, 3, 90)
    columns = {f"m{j}": centre * (j % 3) + rng.normal(size=90) for j in range(6)}
    columns["m1"][::7] = np.nan
    columns["colour"] = np.array(["red", "blue", "green"] * 30, dtype=object)
    return columns


@pytest.mark.parametrize("selector", [Auto, MRSF])
@pytest.mark.parametrize("what", ["m1", "colour"])
def test_a_table_that_needs_preparing_is_refused_with_the_remedy(columns, selector, what):
    frame = pd.DataFrame(columns)[["m0", what, "m2"]]
    with pytest.raises(ValueError, match=rf"{what}.*tamis\.preprocessing\.Preparation"):
        selector().fit(frame)


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
def test_auto_selects_from_a_prepared_frame_by_name(columns, library):
    frame = library.DataFrame(columns)
    kind = "pandas" if library is pd else "polars"
    pipeline = make_pipeline(Preparation(), Auto(3)).set_output(transform=kind)
    small = pipeline.fit_transform(frame)
    assert isinstance(small, library.DataFrame)
    assert list(small.columns) == list(pipeline.get_feature_names_out())
    known = {*columns, "colour=red", "colour=blue", "colour=green"}
    assert small.shape == (90, 3)
    assert set(small.columns) < known
    shuffled = frame[list(columns)[::-1]]
    np.testing.assert_array_equal(pipeline.transform(shuffled).to_numpy(), small.to_numpy())


def test_a_pipeline_with_rows_dropped_has_the_rows_that_are_left(columns):
    preparation = Preparation(missing="drop-rows")
    small = make_pipeline(preparation, MRSF(2)).fit_transform(pd.DataFrame(columns))
    assert len(small) == np.count_nonzero(~np.isnan(columns["m1"])) == preparation.rows_.sum()
