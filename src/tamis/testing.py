"""Checks that a selector keeps the contract, for our methods and for yours.

>>> from tamis import MaxVariance
>>> from tamis.testing import check_selector
>>> report = check_selector(MaxVariance())
>>> report["sign flip"]
'passed'
"""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import SkipTest

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from tamis._typing import FloatArray
from tamis.base import Selector
from tamis.graphs import neighbor_graph
from tamis.registry import method_of

__all__ = ["CHECKS", "check_selector", "selector_checks"]

Check = Callable[[Any], None]


def check_selector(
    estimator: Any, *, expected_failed_checks: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Check that a selector keeps scikit-learn's contract and the invariances of our field.

    Parameters
    ----------
    estimator : Selector instance
        Any object with `fit`, `transform`, `get_support`, `scores_` and `ranking_`.
    expected_failed_checks : mapping of str to str, optional
        Names of checks that the method's mathematics cannot pass, each with the reason. By default
        what the registry says of the estimator's class, nothing for other classes.

    Returns
    -------
    dict
        For each check of :data:`CHECKS` "passed", "expected failure: …" or "skipped: …", with
        the reason.

    Raises
    ------
    AssertionError
        At the first check that fails; the message says which and what broke.
    """
    return {
        name: run()
        for name, run in selector_checks(estimator, expected_failed_checks=expected_failed_checks)
    }


def selector_checks(
    estimator: Any, *, expected_failed_checks: Mapping[str, str] | None = None
) -> Iterator[tuple[str, Callable[[], str]]]:
    """The checks one by one, as (name, function without arguments), for a test runner."""
    if expected_failed_checks is None:
        method = method_of(estimator)
        expected_failed_checks = method.expected_failed_checks if method is not None else {}
    unknown = sorted(set(expected_failed_checks) - set(CHECKS))
    if unknown:
        raise ValueError(
            f"expected_failed_checks names no check: {unknown}; the checks are {list(CHECKS)}."
        )
    for name, check in CHECKS.items():
        yield name, _Run(name, check, estimator, expected_failed_checks.get(name))


class _Run:
    def __init__(self, name: str, check: Check, estimator: Any, lack: str | None) -> None:
        self.name, self.check, self.estimator, self.lack = name, check, estimator, lack

    def __call__(self) -> str:
        if self.lack is not None:
            return f"expected failure: {self.lack}"
        try:
            self.check(_fresh(self.estimator))
        except SkipTest as skipped:
            return f"skipped: {skipped}"
        except Exception as error:
            who = type(self.estimator).__name__
            raise AssertionError(
                f"{who} fails the check {self.name!r}: {type(error).__name__}: {error}"
            ) from error
        return "passed"


# ------------------------------------------------------------------------------------------------
# Data and comparisons
# ------------------------------------------------------------------------------------------------


def _fresh(estimator: Any, **parameters: Any) -> Any:
    """A seeded, unfitted copy."""
    estimator = clone(estimator)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    return estimator.set_params(**parameters)


def _clusters(n_samples: int = 60, n_features: int = 10, seed: int = 0) -> FloatArray:
    """Three clusters in the first four columns, noise in the rest; no two distances are equal."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_features)) * np.linspace(0.5, 1.5, n_features)
    centres = 3 * rng.standard_normal((3, min(4, n_features)))
    X[:, : centres.shape[1]] += centres[np.arange(n_samples) % 3]
    return X


def _fit(estimator: Any, X: Any) -> Any:
    with warnings.catch_warnings():
        # A selector may warn of odd input, or of too few iterations; here its answer counts.
        warnings.simplefilter("ignore", UserWarning)
        return clone(estimator).fit(X)


def _scores(estimator: Any, X: Any) -> FloatArray:
    scores: FloatArray = _fit(estimator, X).scores_
    return scores


def _same(found: FloatArray, expected: FloatArray, what: str, tolerance: float = 1e-6) -> None:
    scale = max(np.abs(expected).max(), np.finfo(float).tiny)
    difference = np.abs(found - expected).max() / scale
    worst = int(np.abs(found - expected).argmax())
    assert difference <= tolerance, (
        f"{what} must leave the scores as they are, but that of feature {worst} went from "
        f"{expected[worst]:.6g} to {found[worst]:.6g} (relative difference {difference:.1e})"
    )


def _refused(estimator: Any, X: Any, *words: str) -> None:
    """`fit` must raise a ValueError of one line that holds all the words."""
    try:
        _fit(estimator, X)
    except ValueError as error:
        message = str(error)
        missing = [word for word in words if word not in message]
        assert not missing, f"the error must name {missing}, but says: {message}"
        assert "\n" not in message, f"the error must be one line, but says: {message}"
        return
    raise AssertionError(f"fit must refuse this input with a ValueError that names {words}")


def _frame(library: str, X: FloatArray, names: list[str]) -> Any:
    try:
        module = __import__(library)
    except ImportError:
        raise SkipTest(f"{library} is not installed") from None
    return module.DataFrame({name: X[:, j] for j, name in enumerate(names)})


# ------------------------------------------------------------------------------------------------
# The checks
# ------------------------------------------------------------------------------------------------


def _scikit_learn(estimator: Any) -> None:
    with warnings.catch_warnings():
        # Its tables are tiny: a selector may say that it cannot tell their features apart.
        warnings.filterwarnings("ignore", ".*the same score", UserWarning)
        check_estimator(estimator, on_skip=None)


def _finite_scores_and_ranking(estimator: Any) -> None:
    for X in (_clusters(), _clusters(n_samples=20, n_features=50)):
        fitted = _fit(estimator, X)
        d = X.shape[1]
        assert fitted.scores_.shape == (d,), f"scores_ has shape {fitted.scores_.shape}, not {(d,)}"
        assert np.isfinite(fitted.scores_).all(), "scores_ must be finite"
        assert sorted(fitted.ranking_) == list(range(1, d + 1)), "ranking_ must order 1 … d"
        by_rank = fitted.scores_[np.argsort(fitted.ranking_)]
        assert (np.diff(by_rank) <= 0).all(), "ranking_ must follow scores_, larger first"
        order = np.lexsort((np.arange(d), -fitted.scores_))
        assert (np.argsort(fitted.ranking_) == order).all(), "ties must be broken by column index"


def _late_selection(estimator: Any) -> None:
    X = _clusters()
    fitted = _fit(estimator, X)
    for wanted, count in ((3, 3), (0.4, 4), (1.0, 10), (None, 5)):
        fitted.set_params(n_features_to_select=wanted)
        support = fitted.get_support()
        assert support.sum() == count, (
            f"{wanted=} keeps {support.sum()} of 10 features, not {count}"
        )
        assert (support == (fitted.ranking_ <= count)).all(), "the best features must be kept"
        assert fitted.transform(X).shape == (len(X), count)


def _labels_are_ignored(estimator: Any) -> None:
    X = _clusters()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labelled = clone(estimator).fit(X, np.arange(len(X)) % 3).scores_
    _same(labelled, _scores(estimator, X), "labels", 0.0)


def _input_is_left_alone(estimator: Any) -> None:
    X = _clusters() * (np.random.default_rng(0).random((60, 10)) < 0.5)
    dense = X.copy()
    _fit(estimator, dense)
    np.testing.assert_array_equal(dense, X, err_msg="fit must leave dense input as it is")
    sparse = sp.csr_array(X)
    sparse.indices[:2], sparse.data[:2] = sparse.indices[1::-1].copy(), sparse.data[1::-1].copy()
    sparse.has_sorted_indices = False
    before = [part.copy() for part in (sparse.data, sparse.indices, sparse.indptr)]
    _fit(estimator, sparse)
    for part, kept in zip((sparse.data, sparse.indices, sparse.indptr), before, strict=True):
        np.testing.assert_array_equal(part, kept, err_msg="fit must leave sparse input as it is")


def _global_random_state() -> bytes:
    return pickle.dumps(np.random.get_state())  # noqa: NPY002 - the global generator is the point


def _seed(estimator: Any) -> None:
    X = _clusters()
    before = _global_random_state()
    first = _scores(estimator, X)
    assert _global_random_state() == before, "fit must not touch numpy's global random generator"
    np.testing.assert_array_equal(
        _scores(estimator, X), first, err_msg="the same seed must give identical scores"
    )


def _row_permutation(estimator: Any) -> None:
    levels = np.round(_clusters()).clip(-3, 3)  # many distances are equal, some rows repeated
    levels[40:50] = levels[:10]
    order = np.random.default_rng(1).permutation(len(levels))
    for X in (_clusters(), levels):
        _same(_scores(estimator, X[order]), _scores(estimator, X), "another order of the samples")


def _column_permutation(estimator: Any) -> None:
    X = _clusters()
    order = np.random.default_rng(1).permutation(X.shape[1])
    _same(
        _scores(estimator, X[:, order]),
        _scores(estimator, X)[order],
        "another order of the columns",
    )


def _sign_flip(estimator: Any) -> None:
    X = _clusters()
    signs = np.where(np.arange(X.shape[1]) % 2, -1.0, 1.0)
    _same(_scores(estimator, X * signs), _scores(estimator, X), "the sign of a column")


def _translation(estimator: Any) -> None:
    X = _clusters()
    offset = np.linspace(-20, 20, X.shape[1])
    _same(_scores(estimator, X + offset), _scores(estimator, X), "an offset added to a column")


def _constant_columns(estimator: Any) -> None:
    X = _clusters()
    estimator.set_params(n_features_to_select=5)  # half of the features would become more of them
    constants = np.tile([0.0, 3.7, -1e5], (len(X), 1))
    _same(
        _scores(estimator, np.hstack([X, constants]))[: X.shape[1]],
        _scores(estimator, X),
        "a constant column added at the end",
    )
    fitted = _fit(estimator, np.hstack([constants, X]))
    assert (fitted.scores_[:3] <= fitted.scores_.min()).all(), (
        "constant columns must have the lowest score"
    )
    assert (fitted.ranking_[:3] > X.shape[1]).all(), "constant columns must be ranked last"
    fitted = _fit(estimator, np.hstack([constants, constants]))
    assert np.isfinite(fitted.scores_).all(), "scores must be finite when all columns are constant"


def _duplicated_columns(estimator: Any) -> None:
    X = _clusters()
    scores = _scores(estimator, np.hstack([X, X[:, :3]]))
    _same(scores[X.shape[1] :], scores[:3], "being the second of two equal columns")


def _duplicated_rows(estimator: Any) -> None:
    X = _clusters()
    copies = np.vstack([X, np.repeat(X[:2], 20, axis=0)])  # more copies than neighbours
    assert np.isfinite(_scores(estimator, copies)).all(), "duplicated rows must give finite scores"
    same = np.repeat(X[:1], 20, axis=0)
    assert np.isfinite(_scores(estimator, same)).all(), "equal rows must give finite scores"


def _degenerate_shapes(estimator: Any) -> None:
    one_column = _fit(estimator, _clusters(n_features=1))
    assert one_column.get_support().tolist() == [True], "the only column must be selected"
    far_apart = _clusters()
    far_apart[::2] += 1e3  # the graph falls into two components
    assert np.isfinite(_scores(estimator, far_apart)).all(), (
        "a disconnected sample graph must give finite scores"
    )
    scaled = _clusters() * np.logspace(-6, 6, 10)
    assert np.isfinite(_scores(estimator, scaled)).all(), (
        "columns of very different scale must give finite scores"
    )


def _sparse_is_dense(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    X = np.abs(_clusters(n_samples=80, n_features=12)) * (rng.random((80, 12)) < 0.5)
    dense = _scores(estimator, X)
    for form in (sp.csr_array, sp.csc_array, sp.coo_matrix):
        _same(_scores(estimator, form(X)), dense, f"the form {form.__name__}")
    selected = _fit(estimator, sp.csr_array(X)).transform(sp.csr_array(X))
    assert sp.issparse(selected), "transform must keep sparse input sparse"


def _float32(estimator: Any) -> None:
    X = _clusters().astype(np.float32)
    fitted = _fit(estimator, X)
    _same(fitted.scores_, _scores(estimator, X.astype(np.float64)), "single precision", 1e-3)
    assert fitted.transform(X).dtype == np.float32, "transform must keep float32"


def _names(library: str) -> Check:
    def check(estimator: Any) -> None:
        X = _clusters()
        names = [f"gene {j}" for j in range(X.shape[1])]
        frame = _frame(library, X, names)
        fitted = _fit(estimator, frame)
        assert list(fitted.feature_names_in_) == names, "feature_names_in_ must be the columns"
        kept = [name for name, keep in zip(names, fitted.get_support(), strict=True) if keep]
        assert list(fitted.get_feature_names_out()) == kept, "names must follow the selection"
        _same(fitted.scores_, _scores(estimator, X), f"a {library} frame")
        out = fitted.set_output(transform=library).transform(frame)
        assert type(out) is type(frame), f"set_output must give a {library} frame"
        assert list(out.columns) == kept, "the frame that comes out must have the kept columns"

    return check


def _objective_never_rises(estimator: Any) -> None:
    for X in (_clusters(), _clusters(n_samples=20, n_features=50)):
        fitted = _fit(estimator, X)
        objective = getattr(fitted, "objective_", None)
        if objective is None:
            raise SkipTest("the method has no objective")
        objective = np.asarray(objective, dtype=np.float64)
        assert len(objective) > 0, "objective_ must hold a value for each iteration"
        assert np.isfinite(objective).all(), "objective_ must be finite"
        allowed = 1e-9 * np.abs(objective).max()
        worst = np.diff(objective).max(initial=-np.inf)
        assert worst <= allowed, f"objective_ rises by {worst:.3g}: {objective}"


def _refuses_bad_values(estimator: Any) -> None:
    names = [f"gene {j}" for j in range(10)]
    for value, word in ((np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf"), (1e200, "too large")):
        X = _clusters()
        X[3, 7] = value
        _refused(estimator, X, word, "column 7")
        _refused(estimator, sp.csr_array(X), word, "column 7")
        with contextlib.suppress(SkipTest):
            _refused(estimator, _frame("pandas", X, names), word, "'gene 7'")


def _refuses_text(estimator: Any) -> None:
    X = _clusters().astype(object)
    X[:, 2] = "Paris"
    _refused(estimator, X, "not numbers", "column 2")
    for library in ("pandas", "polars"):
        with contextlib.suppress(SkipTest):
            frame = _frame(library, np.where(X == "Paris", 0, X).astype(float), list("abcdefghij"))
            if library == "pandas":
                frame["c"] = "Paris"
            else:
                frame = frame.with_columns(c=__import__("polars").lit("Paris"))
            _refused(estimator, frame, "not numbers", "'c'")


def _refuses_bad_shapes(estimator: Any) -> None:
    X = _clusters()
    _refused(estimator, X[:1], "1 sample")
    _refused(estimator, X[:, 0], "2D")
    _refused(estimator, X[:, :0], "0 feature")
    _refused(estimator, X[:0], "0 sample")


def _refuses_bad_parameters(estimator: Any) -> None:
    X = _clusters()
    for wanted in (11, 0, -1, 1.5, 0.0, "half"):
        _refused(_fresh(estimator, n_features_to_select=wanted), X, "n_features_to_select")
    parameters = estimator.get_params()
    if "n_neighbors" in parameters:
        for wanted in (len(X), 0, 2.5):
            _refused(_fresh(estimator, n_neighbors=wanted), X, "n_neighbors")
    if "n_clusters" in parameters:
        unused = estimator._unused_parameters() if isinstance(estimator, Selector) else set()
        for wanted in (0,) if "n_clusters" in unused else (len(X) + 1, 0):
            _refused(_fresh(estimator, n_clusters=wanted), X, "n_clusters")


def _precomputed_graph(estimator: Any) -> None:
    if "affinity" not in estimator.get_params():
        raise SkipTest("the method uses no graph")
    X = _clusters()
    parameters = estimator.get_params()
    options = {name: parameters[name] for name in ("weights", "bandwidth") if name in parameters}
    graph = neighbor_graph(X, parameters["n_neighbors"], **options)
    precomputed = _scores(_fresh(estimator, affinity=graph), X)
    assert np.isfinite(precomputed).all(), "a precomputed graph must give finite scores"
    if "weights" in estimator.get_params():  # the method would have built the same graph
        _same(precomputed, _scores(estimator, X), "a precomputed graph")
    _same(_scores(_fresh(estimator, affinity=graph.toarray()), X), precomputed, "a dense graph")
    negative, infinite, asymmetric = graph.copy(), graph.copy(), graph.copy()
    negative.data[:] = -1
    infinite.data[0] = np.inf
    asymmetric.data[0] *= 2
    for bad, word in (
        (graph[:-1, :-1], "shape"),
        (negative, "negative"),
        (infinite, "NaN or infinity"),
        (asymmetric, "not symmetric"),
        (graph * 0, "no edge"),
    ):
        _refused(_fresh(estimator, affinity=bad), X, "affinity", word)


CHECKS: dict[str, Check] = {
    "scikit-learn contract": _scikit_learn,
    "finite scores and ranking": _finite_scores_and_ranking,
    "late selection": _late_selection,
    "labels are ignored": _labels_are_ignored,
    "input is left alone": _input_is_left_alone,
    "seed": _seed,
    "row permutation": _row_permutation,
    "column permutation": _column_permutation,
    "sign flip": _sign_flip,
    "translation": _translation,
    "constant columns": _constant_columns,
    "duplicated columns": _duplicated_columns,
    "duplicated rows": _duplicated_rows,
    "degenerate shapes": _degenerate_shapes,
    "sparse is dense": _sparse_is_dense,
    "float32": _float32,
    "pandas names": _names("pandas"),
    "polars names": _names("polars"),
    "objective never rises": _objective_never_rises,
    "refuses bad values": _refuses_bad_values,
    "refuses text": _refuses_text,
    "refuses bad shapes": _refuses_bad_shapes,
    "refuses bad parameters": _refuses_bad_parameters,
    "precomputed graph": _precomputed_graph,
}
