"""`check_selector` must catch broken selectors, in the right check and with a clear message."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from tamis import GraphSelector, LaplacianScore, MaxVariance, PCAScore, RandomSubset, Selector
from tamis.graphs import feature_roughness
from tamis.testing import CHECKS, check_selector, selector_checks
from tamis.utils.columns import variances


def run(estimator, check, **options):
    return dict(selector_checks(estimator, **options))[check]()


class Sound(Selector):
    """Ranks by variance; the broken selectors below spoil one thing each."""

    def _fit(self, X):
        return variances(X)


class SoundGraph(GraphSelector):
    def _fit(self, X):
        return -feature_roughness(self.graph(X), X, centre=True)

    def graph(self, X):
        return self._sample_graph(X)


BROKEN = []


def fails(check, message):
    """Register a broken selector with the check that must catch it and what it must say."""

    def register(cls):
        BROKEN.append(pytest.param(cls, check, message, id=f"{cls.__name__}-{check}"))
        return cls

    return register


# --- scores and ranking -----------------------------------------------------------------------


@fails("finite scores and ranking", "scores_ must be finite")
class NotFinite(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.scores_[0] = np.nan
        return self


@fails("finite scores and ranking", "scores_ has shape (10, 1), not (10,)")
class WrongShape(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.scores_ = self.scores_[:, None]
        return self


@fails("finite scores and ranking", "ranking_ must follow scores_, larger first")
class WorstFirst(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.ranking_ = len(self.ranking_) + 1 - self.ranking_
        return self


@fails("finite scores and ranking", "ranking_ must order 1 … d")
class RanksFromZero(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.ranking_ -= 1
        return self


@fails("finite scores and ranking", "ties must be broken by column index")
class LastOfTies(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.scores_ = np.zeros(X.shape[1])
        self.ranking_ = np.arange(X.shape[1], 0, -1)
        return self


# --- selection --------------------------------------------------------------------------------


@fails("late selection", "wanted=3 keeps 5 of 10 features, not 3")
class NumberFrozenByFit(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.n_kept_ = self._n_selected()
        return self

    def _get_support_mask(self):
        return self.ranking_ <= self.n_kept_


@fails("late selection", "the best features must be kept")
class KeepsTheWorst(Sound):
    def _get_support_mask(self):
        return self.ranking_ > self.n_features_in_ - self._n_selected()


@fails("degenerate shapes", "the only column must be selected")
class HalfOfOneIsNone(Sound):
    def _n_selected(self):
        wanted = self.n_features_to_select
        return self.n_features_in_ // 2 if wanted is None else super()._n_selected()


# --- randomness -------------------------------------------------------------------------------


@fails("seed", "fit must not touch numpy's global random generator")
class DrawsFromTheGlobalGenerator(Sound):
    def fit(self, X, y=None):
        np.random.random_sample()  # noqa: NPY002
        return super().fit(X, y)


@fails("seed", "the same seed must give identical scores")
class NeverTheSame(Sound):
    def _fit(self, X):
        return np.random.default_rng().random(X.shape[1])


@fails("seed", "the same seed must give identical scores")
class IgnoresItsSeed(RandomSubset):
    def fit(self, X, y=None):
        super().fit(X, y)
        return self._put_back(np.random.default_rng().random(X.shape[1]))


# --- invariances ------------------------------------------------------------------------------


@fails("row permutation", "another order of the samples must leave the scores as they are")
class TrustsTheFirstRows(Sound):
    def _fit(self, X):
        return variances(X[: X.shape[0] // 2])


@fails("row permutation", "another order of the samples must leave the scores as they are")
class BreaksTiesByRowNumber(Sound):
    def _fit(self, X):
        X = X.toarray() if sp.issparse(X) else X
        squared = ((X[:, None] - X) ** 2).sum(axis=2) + 1e9 * np.eye(len(X))
        nearest = squared.argsort(axis=1, kind="stable")[:, :3]
        return -((X[:, None] - X[nearest]) ** 2).mean(axis=(0, 1))


@fails("column permutation", "another order of the columns must leave the scores as they are")
class PrefersTheLastColumns(Sound):
    def _fit(self, X):
        return variances(X) * np.arange(1, X.shape[1] + 1)


@fails("sign flip", "the sign of a column must leave the scores as they are")
class PrefersPositive(Sound):
    def _fit(self, X):
        return np.asarray(X.mean(axis=0)).ravel()


@fails("translation", "an offset added to a column must leave the scores as they are")
class NotCentred(Sound):
    def _fit(self, X):
        return np.asarray((X * X).mean(axis=0)).ravel()


@fails("constant columns", "constant columns must have the lowest score")
class LikesConstants(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self._set_aside = np.zeros(len(self.scores_), dtype=bool)
        return self._put_back(-self.scores_)


@fails("constant columns", "constant columns must be ranked last")
class RanksByPosition(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.ranking_ = np.arange(1, len(self.scores_) + 1)
        return self


@fails("constant columns", "a constant column added at the end must leave the scores as they are")
class CountsConstants(Sound):
    def _fit(self, X):
        return variances(X) / self.n_features_in_


@fails("constant columns", "scores must be finite when all columns are constant")
@fails("duplicated rows", "equal rows must give finite scores")
class ShareOfVariance(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        if not self.scores_.any():
            self.scores_[:] = np.nan
        return self


@fails("duplicated columns", "being the second of two equal columns must leave the scores")
class ForgetsTwins(Sound):
    def _fit(self, X):
        scores = variances(X)
        first = np.unique(scores.round(12), return_index=True)[1]
        return np.where(np.isin(np.arange(len(scores)), first), scores, 0)


@fails("duplicated rows", "duplicated rows must give finite scores")
class DividesByDistances(Sound):
    def _fit(self, X):
        n_distinct = len(np.unique(X.toarray() if sp.issparse(X) else X, axis=0))
        return variances(X) if n_distinct == X.shape[0] else np.full(X.shape[1], np.inf)


@fails("degenerate shapes", "a disconnected sample graph must give finite scores")
class NeedsOneComponent(Sound):
    def _fit(self, X):
        return np.where(variances(X) > 1e5, np.inf, variances(X))


@fails("degenerate shapes", "columns of very different scale must give finite scores")
class NeedsOneScale(Sound):
    def _fit(self, X):
        return np.where(variances(X) < 1e-9, np.inf, variances(X))


# --- forms of input ---------------------------------------------------------------------------


@fails("sparse is dense", "the form csr_array must leave the scores as they are")
class ForgetsZeros(Sound):
    def _fit(self, X):
        if not sp.issparse(X):
            return variances(X)
        return np.array([X[:, [j]].data.var() for j in range(X.shape[1])])


@fails("sparse is dense", "transform must keep sparse input sparse")
class Densifies(Sound):
    def transform(self, X):
        selected = super().transform(X)
        return selected.toarray() if sp.issparse(selected) else selected


@fails("float32", "single precision must leave the scores as they are")
class RoundsSinglePrecision(Sound):
    def _fit(self, X):
        return variances(X).round(1) if X.dtype == np.float32 else variances(X)


@fails("float32", "transform must keep float32")
class AlwaysDouble(Sound):
    def transform(self, X):
        return super().transform(X).astype(np.float64)


@fails("pandas names", "feature_names_in_ must be the columns")
@fails("polars names", "feature_names_in_ must be the columns")
class OtherNames(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.feature_names_in_ = np.array([f"x{j}" for j in range(X.shape[1])], dtype=object)
        return self


@fails("pandas names", "has no attribute 'feature_names_in_'")
@fails("polars names", "has no attribute 'feature_names_in_'")
class LosesNames(Sound):
    def fit(self, X, y=None):
        return super().fit(X if sp.issparse(X) else np.asarray(X), y)


@fails("pandas names", "names must follow the selection")
@fails("polars names", "names must follow the selection")
class NamesTheFirst(Sound):
    def get_feature_names_out(self, input_features=None):
        return self.feature_names_in_[: self._n_selected()]


@fails("pandas names", "a pandas frame must leave the scores as they are")
@fails("polars names", "a polars frame must leave the scores as they are")
class OtherScoresForFrames(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.scores_ = self.scores_ * (2 if hasattr(X, "columns") else 1)
        return self


@fails("pandas names", "set_output must give a pandas frame")
@fails("polars names", "set_output must give a polars frame")
class IgnoresSetOutput(Sound):
    def set_output(self, *, transform=None):
        return self


@fails("labels are ignored", "labels must leave the scores as they are")
class UsesLabels(Sound):
    def fit(self, X, y=None):
        self._labels = y
        return super().fit(X, y)

    def _fit(self, X):
        if self._labels is None:
            return variances(X)
        labels = np.asarray(self._labels).reshape(X.shape[0], -1)[:, 0]
        codes = np.unique(labels, return_inverse=True)[1]
        return np.abs(X.T @ (codes - codes.mean()))


@fails("input is left alone", "fit must leave sparse input as it is")
class SpoilsSparseInput(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        if sp.issparse(X) and X.format == "csr":
            X.data[:] = 0
        return self


# --- what must be refused ---------------------------------------------------------------------


class ReadsAnything(Sound):
    """Takes what the base class refuses, and makes numbers of it."""

    def fit(self, X, y=None):
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        if sp.issparse(X):
            X = X.toarray()
        table = np.empty(np.shape(X))
        for j, column in enumerate(np.asarray(X, dtype=object).T):
            table[:, j] = [value if isinstance(value, int | float) else 0 for value in column]
        table = np.nan_to_num(table, posinf=0, neginf=0).clip(-1e9, 1e9)
        self.n_features_in_ = table.shape[1]
        self._set_aside = table.min(axis=0) == table.max(axis=0)
        return self._put_back(variances(table)[~self._set_aside])


fails("refuses bad values", "fit must refuse this input with a ValueError that names ('NaN', ")(
    ReadsAnything
)
fails("refuses text", "fit must refuse this input with a ValueError that names ('not numbers', ")(
    ReadsAnything
)
fails("refuses bad shapes", "fit must refuse this input with a ValueError that names ('1 sample',")(
    ReadsAnything
)


@fails("refuses bad values", "the error must name ['NaN', 'column 7'], but says: bad input")
@fails("refuses text", "the error must name ['not numbers', 'column 2'], but says: bad input")
@fails("refuses bad shapes", "the error must name ['1 sample'], but says: bad input")
class Terse(Sound):
    def fit(self, X, y=None):
        try:
            return super().fit(X, y)
        except ValueError:
            raise ValueError("bad input") from None


@fails("refuses bad values", "the error must be one line, but says: Sorry\nX contains NaN")
class Verbose(Sound):
    def fit(self, X, y=None):
        try:
            return super().fit(X, y)
        except ValueError as error:
            raise ValueError(f"Sorry\n{error}") from None


@fails("refuses bad values", "KeyError: ")
class WrongKindOfError(Sound):
    def fit(self, X, y=None):
        try:
            return super().fit(X, y)
        except ValueError as error:
            raise KeyError(str(error)) from None


@fails("refuses bad values", "the error must name ['column 7'], but says: Input X contains NaN.")
class DoesNotNameColumns(Sound):
    def fit(self, X, y=None):
        X = validate_data(self, X, accept_sparse="csr")
        self._set_aside = np.zeros(X.shape[1], dtype=bool)
        return self._put_back(variances(X))


@fails("refuses bad parameters", "a ValueError that names ('n_features_to_select',)")
class TakesWhatThereIs(Sound):
    def _validate_params(self):
        pass

    def _n_selected(self):
        return 3


@fails("refuses bad parameters", "a ValueError that names ('n_neighbors',)")
class ClipsNeighbours(SoundGraph):
    def fit(self, X, y=None):
        wanted, self.n_neighbors = self.n_neighbors, int(np.clip(self.n_neighbors, 1, len(X) - 1))
        super().fit(X, y)
        self.n_neighbors = wanted
        return self


@fails("refuses bad parameters", "a ValueError that names ('n_clusters',)")
class IgnoresClusters(Sound):
    def __init__(self, n_features_to_select=None, *, n_clusters=3):
        super().__init__(n_features_to_select)
        self.n_clusters = n_clusters

    def _check_parameters(self, n_samples):
        pass


@fails("precomputed graph", "a ValueError that names ('affinity', 'shape')")
class IgnoresTheGraph(SoundGraph):
    def graph(self, X):
        affinity, self.affinity = self.affinity, None
        graph = self._sample_graph(X)
        self.affinity = affinity
        return graph


@fails("precomputed graph", "a precomputed graph must leave the scores as they are")
class SquaresTheGraph(SoundGraph):
    def graph(self, X):
        graph = self._sample_graph(X)
        return graph if self.affinity is None else graph.power(2)


# --- objective --------------------------------------------------------------------------------


@fails("objective never rises", "objective_ rises by 0.5: [3.  2.  2.5]")
class ObjectiveRises(Sound):
    path = (3, 2, 2.5)

    def fit(self, X, y=None):
        super().fit(X, y)
        self.objective_ = list(self.path)
        return self


@fails("objective never rises", "objective_ must be finite")
class ObjectiveIsNotFinite(ObjectiveRises):
    path = (np.inf, 2, 1)


@fails("objective never rises", "objective_ must hold a value for each iteration")
class ObjectiveIsEmpty(ObjectiveRises):
    path = ()


# --- scikit-learn -----------------------------------------------------------------------------


@fails("scikit-learn contract", "read-only")
class SpoilsItsInput(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        if isinstance(X, np.ndarray):
            X *= 0
        return self


@fails("scikit-learn contract", "should not change or mutate")
class ChangesItsParameters(Sound):
    def fit(self, X, y=None):
        super().fit(X, y)
        self.n_features_to_select = 1
        return self


@pytest.mark.parametrize(("broken", "check", "message"), BROKEN)
def test_a_broken_selector_fails_the_check_of_its_fault(broken, check, message):
    with pytest.raises(AssertionError, match=re.escape(message)) as caught:
        run(broken(), check)
    assert str(caught.value).startswith(f"{broken.__name__} fails the check {check!r}: ")


def test_every_check_has_caught_something():
    assert {case.values[1] for case in BROKEN} == set(CHECKS)


# --- the report -------------------------------------------------------------------------------


def test_the_report_of_a_sound_selector_has_every_check():
    report = check_selector(Sound())
    assert list(report) == list(CHECKS)
    assert report.pop("objective never rises") == "skipped: the method has no objective"
    assert report.pop("precomputed graph") == "skipped: the method uses no graph"
    assert set(report.values()) == {"passed"}


def test_an_objective_that_falls_and_a_graph_that_is_used_pass():
    class Falls(ObjectiveRises):
        path = (3, 2, 2, 1)

    assert run(Falls(), "objective never rises") == "passed"
    assert run(SoundGraph(), "precomputed graph") == "passed"


def test_the_graph_of_the_check_has_the_bandwidth_of_the_selector():
    assert run(LaplacianScore(bandwidth=2.0), "precomputed graph") == "passed"


def test_check_selector_stops_at_the_first_check_that_fails():
    with pytest.raises(AssertionError, match="KeepsTheWorst fails the check 'late selection'"):
        check_selector(
            KeepsTheWorst(), expected_failed_checks={"scikit-learn contract": "not the point here"}
        )


def test_a_declared_lack_is_not_run_and_gives_its_reason():
    expected_failed_checks = {
        "sign flip": "it prefers positive columns",
        "translation": "it is not centred",
    }
    report = check_selector(PrefersPositive(), expected_failed_checks=expected_failed_checks)
    assert report["sign flip"] == "expected failure: it prefers positive columns"
    assert report["translation"] == "expected failure: it is not centred"
    assert report["row permutation"] == "passed"


def test_the_lacks_of_a_registered_method_are_known():
    assert run(RandomSubset(), "column permutation").startswith(
        "expected failure: scores are drawn"
    )
    with pytest.raises(AssertionError, match="'column permutation'"):
        run(RandomSubset(), "column permutation", expected_failed_checks={})


def test_a_lack_that_names_no_check_is_an_error():
    for call in (check_selector, lambda *a, **k: list(selector_checks(*a, **k))):
        with pytest.raises(
            ValueError, match=r"expected_failed_checks names no check: \['sign flop'\]"
        ) as caught:
            call(Sound(), expected_failed_checks={"sign flop": "a slip of the pen"})
        assert "'sign flip'" in str(caught.value)


def test_the_estimator_is_left_as_it_was():
    estimator = RandomSubset(2)
    before = estimator.get_params()
    run(estimator, "seed")
    assert estimator.get_params() == before
    assert not hasattr(estimator, "scores_")


def test_a_number_of_features_that_was_set_does_not_disturb_the_checks():
    for estimator in (PCAScore(1, n_components=1), MaxVariance(0.5)):
        assert check_selector(estimator)["late selection"] == "passed"
