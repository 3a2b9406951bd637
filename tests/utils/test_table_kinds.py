"""Tables that `fit` refuses, each in one sentence that says what to pass instead."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from tamis import MRSF, MaxVariance

X = np.random.default_rng(0).normal(size=(20, 4))


def refusal(table, error, selector=MaxVariance):
    with pytest.raises(error) as refused:
        selector(2).fit(table)
    (line,) = str(refused.value).splitlines()
    assert line.endswith(".")
    return line


def test_names_that_occur_twice_are_named():
    line = refusal(pd.DataFrame(X, columns=["a", "b", "a", "b"]), ValueError)
    assert "columns 'a', 'b'" in line
    assert "rename them" in line
    table = pa.table([pa.array(X[:, 0]), pa.array(X[:, 1])], names=["size", "size"])
    assert "column 'size'" in refusal(table, ValueError)


def test_whole_numbers_as_names_are_told_from_text():
    assert "column '0'" in refusal(pd.DataFrame(X, columns=[0, 1, 2, 0]), ValueError)
    MaxVariance(2).fit(pd.DataFrame(X, columns=[0, 1, 2, 3]))


@pytest.mark.parametrize("selector", [MaxVariance, MRSF])
def test_a_lazy_frame_is_to_be_collected(selector):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=list("abcd"))
    assert "call .collect() first" in refusal(frame.lazy(), TypeError, selector)
    MaxVariance(2).fit(frame)


def test_anndata_is_to_be_opened():
    class AnnData:
        """As the library's own: shape and X, but no array."""

        __module__ = "anndata._core.anndata"
        shape = X.shape

    class View(AnnData):
        __module__ = "somewhere"

    for table in (AnnData(), View()):
        line = refusal(table, TypeError)
        assert "adata.X" in line
        assert "tamis.genes.select(adata)" in line
