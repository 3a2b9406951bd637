"""Tables of your own, however they come."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from tamis.datasets import Dataset
from tamis.evaluation import Candidate, Protocol, evaluate
from tamis.evaluation.preparation import prepared

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]
SPECIES = np.array(["setosa", "versicolor", "virginica"])[Y]


@pytest.mark.parametrize("scaling", ["none", "unit", "columns", "standard"])
@pytest.mark.parametrize(
    "form",
    [
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pd.DataFrame(X, columns=NAMES).convert_dtypes(),
        lambda X: pl.DataFrame(X, schema=NAMES),
    ],
    ids=["list", "pandas", "nullable", "polars"],
)
def test_every_form_gives_what_the_array_gives(form, scaling):
    expected = prepared(Dataset("t", X, Y), scaling, 100, 0)
    found = prepared(Dataset("t", form(X), Y.tolist()), scaling, 100, 0)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.flags.c_contiguous == other.flags.c_contiguous


@pytest.mark.parametrize("frame", [pd.DataFrame(X, columns=NAMES), pl.DataFrame(X, schema=NAMES)])
def test_a_frame_is_judged(frame):
    protocol = Protocol(n_features=(2,), n_repeats=1)
    results = evaluate(
        [Dataset("t", frame, SPECIES)], [Candidate("LS", "laplacian_score")], protocol
    )
    assert [r.error for r in results.records] == [None] * 3


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array])
def test_sparse_of_any_kind(kind):
    found, _ = prepared(Dataset("t", kind(X), Y), "columns", None, 0)
    assert found.format in ("csr", "csc")
    np.testing.assert_allclose(found.toarray(), X / X.max(axis=0), rtol=1e-12)


@pytest.mark.parametrize(
    "labels",
    [
        SPECIES,
        SPECIES.tolist(),
        pd.Series(SPECIES),
        pd.Series(SPECIES, dtype="category"),
        pd.Series(SPECIES, index=np.arange(150)[::-1]),
        pl.Series(SPECIES),
        pd.Series(Y, dtype="Int64"),
        Y.astype(float),
    ],
)
def test_labels_of_any_kind(labels):
    table = Dataset("t", X, labels)
    assert table.n_classes == 3
    assert isinstance(table.y, np.ndarray)
    assert (np.unique(table.y, return_inverse=True)[1] == Y).all()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, "", "  "])
@pytest.mark.parametrize("form", [list, lambda y: np.array(y, dtype=object), pd.Series])
def test_a_missing_label_is_no_class(form, missing):
    labels = [*SPECIES[:149].tolist(), missing]
    with pytest.raises(
        ValueError, match=r"'t': 1 of 150 labels in y are missing, the first at 149"
    ):
        Dataset("t", X, form(labels))


@pytest.mark.parametrize(
    "labels",
    [
        np.where(Y == 2, np.nan, Y),
        np.where(Y == 2, np.nan, Y).tolist(),
        pl.Series([None, *Y[1:].tolist()]),
        pd.Series([None, *Y[1:].tolist()], dtype="Int64"),
    ],
)
def test_a_missing_number_is_no_class(labels):
    with pytest.raises(ValueError, match="labels in y are missing"):
        Dataset("t", X, labels)


BAD = np.where(np.arange(4) == 2, np.nan, X)


@pytest.mark.parametrize(
    ("values", "labels", "words"),
    [
        (pd.DataFrame(BAD, columns=NAMES), Y, "'t': X contains NaN in column 'petal length'"),
        (pl.DataFrame(BAD, schema=NAMES), Y, "NaN in column 'petal length'"),
        (sp.csr_array(BAD), Y, "NaN in column 2"),
        (BAD.tolist(), Y, "NaN in column 2"),
        (X * 1e200, Y, "too large to be squared"),
        (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), [0, 1], "not numbers in column 'a'"),
        ([[1, 2], [3]], [0, 1], "rows of X have different lengths"),
        ([1, 2], [0, 1], r"X has shape \(2,\)"),
        (X, Y[:10], r"y has shape \(10,\), but X has 150 samples"),
        (X, np.c_[Y, Y], r"y has shape \(150, 2\)"),
        (X, [*Y[:149].tolist(), "a"], "text and numbers"),
    ],
)
def test_what_cannot_be_judged_is_refused_at_once(values, labels, words):
    with pytest.raises(ValueError, match=words):
        Dataset("t", values, labels)
