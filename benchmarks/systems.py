"""Cases of the systems behind the methods: sparse products, steps that forget light features."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import data
from benchmarks.case import Case, fit


def _standardised(name: str) -> Any:
    """A real set with columns of unit variance; a dense one is centred too."""
    from sklearn.preprocessing import StandardScaler

    X = data.real_set(name)
    return StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)


def _weighted_gram(X: Any) -> dict[str, Any]:
    from tamis.solvers.row_gram import RowGram

    return {"result": _rounded(RowGram(X)(_weights(X)))}


def _weighted_gram_of_scipy(X: Any) -> dict[str, Any]:
    scaled = X @ sp.diags_array(np.sqrt(_weights(X)))
    return {"result": _rounded((scaled @ scaled.T).toarray())}


def _weights(X: Any) -> Any:
    return np.random.default_rng(0).random(X.shape[1])


def _rounded(gram: Any) -> list[float]:
    """Its trace and sum to eight digits: sums in another order differ in the last ones."""
    return [float(f"{value:.8g}") for value in (np.trace(gram), gram.sum())]


JDLUFS = partial(fit, method="jdlufs", n_clusters=10, random_state=0)


def _jdlufs_of_whole_systems(X: Any) -> None:
    """The same method, every feature in every factorization."""
    from tamis.solvers import weighted_ridge

    weighted_ridge.TAIL = 0.0
    JDLUFS(X)


CASES = (
    Case(
        "X diag(w) Xᵀ of a sparse table",
        "MouseBladder_sc, 2100 × 20,670",
        partial(_standardised, "MouseBladder_sc"),
        _weighted_gram,
        _weighted_gram_of_scipy,
        "scipy's sparse product",
        min_ratio=3,
        same_result=True,
        needs="MouseBladder_sc",
        repeats=3,
    ),
    Case(
        "JDLUFS",
        "BASEHOCK, 1993 × 4862",
        partial(_standardised, "BASEHOCK"),
        JDLUFS,
        _jdlufs_of_whole_systems,
        "every feature in every system",
        min_ratio=1.5,
        needs="BASEHOCK",
    ),
)
