"""Judging on tables with gaps: what is learned of them is learned of the rows that may be seen."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis.datasets import DatasetError
from tamis.evaluation import (
    ALL_FEATURES,
    Candidate,
    MixedTable,
    Protocol,
    contents_name,
    evaluate,
    fit_and_score,
)
from tamis.preprocessing import Preparation

PROTOCOL = Protocol(n_features=(3,), n_repeats=2, classifiers=("5nn",), n_folds=3)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.exponential(size=(60, 6)), columns=list("abcdef"))
    X = X.mask(rng.random(X.shape) < 0.3)
    X["colour"] = rng.choice(["red", "green", "blue"], 60)
    return X


@pytest.fixture(scope="module")
def y():
    return np.repeat(["ill", "well"], 30)


def accuracies(table, candidate=None, protocol=PROTOCOL):
    candidate = candidate or Candidate("all", ALL_FEATURES)
    rows = fit_and_score(table, candidate, {}, protocol)
    return next(row["values"] for row in rows if row["measure"] == "5nn")


def test_gaps_are_filled_from_the_training_rows_of_each_fold(frame, y):
    model = make_pipeline(Preparation(), StandardScaler(), KNeighborsClassifier(5))
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    expected = cross_val_score(model, frame, y, cv=folds)
    assert accuracies(MixedTable("mine", frame, y)) == pytest.approx(expected)
    # Filled and scaled beforehand, the rows to predict would have been seen.
    beforehand = StandardScaler().fit_transform(Preparation().fit_transform(frame))
    seen = cross_val_score(KNeighborsClassifier(5), beforehand, y, cv=folds)
    assert not np.allclose(seen, expected)


def test_no_preparation_is_fitted_on_rows_that_are_predicted(frame, y):
    fitted: list[set[float]] = []

    class Watched(Preparation):
        def _fit(self, X):
            fitted.append(set(X["number"]))
            return super()._fit(X)

    table = frame.assign(number=np.random.default_rng(1).permutation(60) + 0.5)
    accuracies(MixedTable("mine", table, y, Watched(kinds={"number": "number"})))
    whole, folds = fitted[0], [rows for rows in fitted if len(rows) < 60]
    assert len(folds) == 3
    held_out = [whole - rows for rows in folds]
    assert set.union(*held_out) == whole
    assert all(len(rows) == 20 for rows in held_out)


def test_rows_that_are_not_drawn_are_not_seen(frame, y):
    protocol = Protocol(n_features=(3,), n_repeats=2, max_samples=40, seed=3)
    data = MixedTable("mine", frame, y)
    _, _, preparation, rows = data.prepared(40, 3)
    others = np.setdiff1d(np.arange(60), rows)
    changed = frame.copy()
    changed.loc[others, "a"] = 1e9
    candidate = Candidate("v", "max_variance")
    same = fit_and_score(MixedTable("mine", changed, y), candidate, {}, protocol)
    assert same == fit_and_score(data, candidate, {}, protocol)
    assert preparation.n_features_in_ == 7


@pytest.mark.parametrize("missing", ["drop-rows", "drop-columns"])
def test_other_ways_with_gaps(frame, y, missing):
    gappy = frame.copy()
    gappy.loc[:, "b":"f"] = gappy.loc[:, "b":"f"].fillna(0.5)
    values = accuracies(MixedTable("mine", gappy, y, Preparation(missing=missing)))
    assert len(values) == 3


def test_frames_and_mappings_give_the_same(frame, y):
    mapping = {name: frame[name].to_numpy() for name in frame}
    expected = accuracies(MixedTable("mine", frame, y))
    assert accuracies(MixedTable("mine", pl.from_pandas(frame), y)) == expected
    assert accuracies(MixedTable("mine", mapping, y)) == expected


def test_evaluate_compares_methods_on_a_mixed_table(frame, y):
    results = evaluate([MixedTable("mine", frame, y)], [Candidate("V", "max_variance")], PROTOCOL)
    assert not any(record.error for record in results.records)
    assert results.labels == ("All features", "Random subsets", "V")
    without = evaluate([MixedTable("mine", frame)], [Candidate("V", "max_variance")], PROTOCOL)
    assert 0 <= without.estimate("mine", "V", "agreement").mean <= 1


def test_the_name_of_the_contents_tells_table_labels_and_preparation_apart(frame, y):
    tables = [
        MixedTable("mine", frame, y),
        MixedTable("mine", frame.fillna({"a": 1.0}), y),
        MixedTable("mine", frame, y[::-1]),
        MixedTable("mine", frame, y, Preparation(missing="drop-columns")),
    ]
    assert len({contents_name(table) for table in tables}) == 4
    assert contents_name(tables[0]) == contents_name(MixedTable("mine", frame.copy(), y.copy()))


def test_labels_of_another_length_are_refused(frame, y):
    with pytest.raises(DatasetError, match="mine"):
        MixedTable("mine", frame, y[:-1])
