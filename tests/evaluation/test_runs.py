from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectorMixin, SequentialFeatureSelector, VarianceThreshold
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from tamis import LaplacianScore, MaxVariance, Selector
from tamis.datasets import Dataset
from tamis.evaluation import (
    Candidate,
    Protocol,
    SweepError,
    evaluate,
    selection_tasks,
    with_baselines,
)
from tamis.graphs import nearest_neighbors, neighbor_graph, shared_neighbors
from tamis.metrics import clustering_accuracy
from tamis.preprocessing import scaled

N_INFORMATIVE = 5


def planted(n_samples: int = 150, n_noise: int = 45) -> Dataset:
    """Three clusters in five columns, in the midst of noise."""
    rng = np.random.default_rng(0)
    informative, y = make_blobs(n_samples, N_INFORMATIVE, centers=3, cluster_std=2, random_state=0)
    X = np.hstack([informative, 3 * rng.standard_normal((n_samples, n_noise))])
    return Dataset("planted", X, y)


class Oracle(Selector):
    """Knows which columns are informative."""

    def __init__(self, n_informative=N_INFORMATIVE, n_features_to_select=None):
        super().__init__(n_features_to_select)
        self.n_informative = n_informative

    def _fit(self, X):
        return np.arange(X.shape[1]) < self.n_informative


class Reader(Selector):
    """Fails, as a method on data it was not made for."""

    def fit(self, X, y=None):
        raise ValueError("not for me")


@pytest.mark.slow
def test_a_planted_method_is_ranked_above_random_and_all_features():
    protocol = Protocol(n_features=(N_INFORMATIVE,), classifiers=("1nn", "5nn", "svm"))
    candidates = [Candidate("Oracle", "oracle", selector=Oracle())]
    results = evaluate([planted()], candidates, protocol)
    for measure in ("kmeans_acc", "kmeans_nmi", "kmeans_nmi_max", "kmeans_purity", "kmeans_rand"):
        oracle, everything, random = (
            results.estimate("planted", label, measure)
            for label in ("Oracle", "All features", "Random subsets")
        )
        assert oracle.low > everything.high
        assert oracle.low > random.high
    for measure in ("1nn", "5nn", "svm"):
        oracle, random = (
            results.estimate("planted", label, measure) for label in ("Oracle", "Random subsets")
        )
        assert len(oracle.values) == 5
        assert oracle.mean > random.mean


def test_all_features_and_random_subsets_are_always_there():
    labels = [c.label for c in with_baselines([Candidate("MV", "max_variance")])]
    assert labels == ["All features", "Random subsets", "MV"]
    mine = [Candidate("Everything", "all_features"), Candidate("Luck", "random_subset")]
    assert [c.label for c in with_baselines(mine)] == ["Everything", "Luck"]
    with pytest.raises(ValueError, match="two candidates have the label 'A'"):
        with_baselines([Candidate("A", "spec"), Candidate("A", "mcfs")])
    with pytest.raises(ValueError, match="two candidates have the label 'All features'"):
        with_baselines([Candidate("All features", "spec")])


def test_random_subsets_are_several():
    protocol = Protocol(n_features=(3,), n_repeats=6, n_random=3)
    results = evaluate([planted()], [], protocol)
    values = results.values("planted", "Random subsets", "kmeans_acc", 3)
    assert len(values) == 6
    assert len(set(values)) > 2


def test_what_is_judged_is_what_the_selector_selects():
    data = planted()
    protocol = Protocol(n_features=(4,), scaling="none", n_repeats=3, seed=5)
    results = evaluate([data], [Candidate("MV", "max_variance")], protocol)
    selected = MaxVariance(4).fit_transform(data.X)
    expected = [
        clustering_accuracy(
            data.y, KMeans(3, init="random", n_init=1, random_state=seed).fit_predict(selected)
        )
        for seed in (5, 6, 7)
    ]
    np.testing.assert_array_equal(results.values("planted", "MV", "kmeans_acc", 4), expected)


def test_parameters_reach_the_selector_and_classes_are_counted():
    candidate = Candidate("MCFS", "mcfs", {"n_clusters": "n_classes"}, grid={"n_neighbors": (3, 4)})
    settings = list(candidate.settings(tuned=True))
    assert settings == [
        {"n_clusters": "n_classes", "n_neighbors": 3},
        {"n_clusters": "n_classes", "n_neighbors": 4},
    ]
    assert list(candidate.settings(tuned=False)) == [{"n_clusters": "n_classes"}]
    model = candidate.make(settings[1], n_classes=7, seed=0)
    assert (model.n_clusters, model.n_neighbors) == (7, 4)
    with pytest.raises(ValueError, match="mcfs has no parameter 'gamma'; it has"):
        Candidate("MCFS", "mcfs", {"gamma": 1})


def test_the_grid_is_tried_only_when_the_protocol_tunes():
    candidates = [Candidate("LS", "laplacian_score", grid={"n_neighbors": (3, 5, 7)})]
    for tuning, number in (("defaults", 3), ("oracle", 5), ("agreement", 5)):
        tasks = selection_tasks(["iris"], candidates, Protocol(tuning=tuning))
        assert len(tasks) == number


@pytest.mark.slow
def test_oracle_and_agreement_choose_settings():
    data = planted()
    candidates = [Candidate("MCFS", "mcfs", grid={"n_clusters": (2, 3), "n_neighbors": (3, 9)})]
    for tuning, merit in (("oracle", "kmeans_acc"), ("agreement", "agreement")):
        protocol = Protocol(n_features=(3, 8), n_repeats=4, tuning=tuning)
        results = evaluate([data], candidates, protocol)
        for count in (3, 8):
            means = {
                str(s): results.values("planted", "MCFS", merit, count, s).mean()
                for s in results.settings("planted", "MCFS")
            }
            chosen = results.estimate("planted", "MCFS", "kmeans_acc", count)
            assert means[str(chosen.parameters)] == max(means.values())
            expected = results.values("planted", "MCFS", "kmeans_acc", count, chosen.parameters)
            np.testing.assert_array_equal(chosen.values, expected)
        best = results.estimate("planted", "MCFS", "kmeans_acc")
        at = [results.estimate("planted", "MCFS", "kmeans_acc", n).mean for n in (3, 8)]
        assert best.mean == max(at)


def test_a_table_without_labels_is_judged_by_agreement():
    data = planted()
    unlabelled = Dataset("mine", data.X, n_clusters=3)
    results = evaluate([unlabelled], [Candidate("LS", "laplacian_score")], Protocol(n_repeats=3))
    assert {row["measure"] for r in results.records for row in r.rows} == {"agreement"}


def test_a_method_that_fails_leaves_a_gap_and_its_reason():
    candidates = [Candidate("R", "reader", selector=Reader())]
    with pytest.warns(RuntimeWarning, match="1 of 3 runs failed; the first, R on iris"):
        results = evaluate(["iris"], candidates, Protocol(n_features=(2,), n_repeats=2))
    assert results.estimate("iris", "R", "kmeans_acc") is None
    assert results.errors("iris", "R") == ["ValueError: not for me"]
    assert results.estimate("iris", "All features", "kmeans_acc", 2).n_features == 4


def test_a_method_whose_number_is_fitted_is_fitted_for_each():
    protocol = Protocol(n_features=(1, 2), scaling="columns", n_repeats=2)
    results = evaluate(["iris"], [Candidate("M3FS", "m3fs")], protocol)
    assert results.errors("iris", "M3FS") == []
    assert results.counts("iris") == [1, 2]


def test_normalised_cut_judges_too():
    protocol = Protocol(n_features=(N_INFORMATIVE,), clusterers=("kmeans", "ncut"), n_repeats=3)
    results = evaluate([planted()], [Candidate("O", "oracle", selector=Oracle())], protocol)
    assert np.median(results.values("planted", "O", "ncut_acc", N_INFORMATIVE)) > 0.9


@pytest.mark.parametrize("scaling", ["none", "unit", "columns", "standard"])
def test_scalings(scaling):
    X = np.array([[0, 2, 5], [4, 2, 6], [1, 2, 10]])
    dense = scaled(X, scaling)
    sparse = scaled(sp.csr_array(X), scaling)
    assert dense.dtype == sparse.dtype == np.float64
    expected = {
        "none": X,
        "unit": X / 10,
        "columns": np.array([[0, 0, 0], [1, 0, 0.2], [0.25, 0, 1]]),
        "standard": (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1),
    }
    np.testing.assert_allclose(dense, expected[scaling])
    assert ((sparse.toarray() == 0) == (X == 0)).all()


def test_sparse_tables_are_judged_whatever_their_indices():
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 200), density=0.02, rng=rng, format="csr")
    for kind in (np.int32, np.int64):
        X.indices, X.indptr = X.indices.astype(kind), X.indptr.astype(kind)
        protocol = Protocol(n_features=(20,), n_repeats=2, classifiers=("1nn", "svm"))
        results = evaluate([Dataset("s", X, np.arange(60) % 3)], [Candidate("MV", "max_variance")],
                           protocol)  # fmt: skip
        assert all(record.error is None for record in results.records)


def test_drawn_samples_are_the_same_for_every_method():
    protocol = Protocol(n_features=(2,), n_repeats=2, max_samples=60)
    results = evaluate(["iris"], [Candidate("MV", "max_variance")], protocol)
    again = evaluate(["iris"], [Candidate("MV", "max_variance")], protocol)
    assert [r.rows for r in results.records] == [r.rows for r in again.records]
    whole = evaluate(["iris"], [], Protocol(n_features=(2,), n_repeats=2))
    assert results.records[0].rows != whole.records[0].rows


@pytest.mark.slow
def test_another_table_or_another_default_is_not_mistaken_for_the_old_one(tmp_path):
    rng = np.random.default_rng(0)
    clear, noise = planted(), rng.standard_normal((150, 50))
    protocol = Protocol(n_features=(N_INFORMATIVE,), n_repeats=3)

    def accuracy(table, *, informative=N_INFORMATIVE, path=None):
        candidate = Candidate("O", "oracle", selector=Oracle(informative))
        results = evaluate([table], [candidate], protocol, path=path)
        return results.estimate("planted", "O", "kmeans_acc").mean

    path = tmp_path / "r.jsonl"
    for table in (clear, Dataset("planted", noise, clear.y), clear):
        assert accuracy(table, path=path) == accuracy(table)
    assert accuracy(clear, informative=7, path=path) == accuracy(clear, informative=7)


def test_no_number_that_fits_is_said():
    with pytest.warns(RuntimeWarning, match=r"asked for \(50\) is below 4"):
        evaluate(["iris"], [], Protocol(n_features=(50,), n_repeats=1))


def test_classification_of_random_subsets_is_of_all_of_them():
    data = planted()
    protocol = Protocol(n_features=(2,), n_repeats=3, n_random=3, classifiers=("1nn",))
    found = evaluate([data], [], protocol).values("planted", "Random subsets", "1nn", 2)
    each = [
        evaluate([data], [], Protocol(
            n_features=(2,), n_repeats=1, n_random=1, classifiers=("1nn",), seed=seed
        )).values("planted", "Random subsets", "1nn", 2)
        for seed in (0,)
    ]  # fmt: skip
    assert len(found) == 5
    assert not np.array_equal(found, each[0])


def test_a_forest_is_scikit_learns_in_folds_of_its_own_seeds():
    data = planted()
    protocol = Protocol(
        n_features=(2,), n_repeats=1, classifiers=("rf", "1nn"), n_folds=3, n_fold_repeats=2
    )
    results = evaluate([data], [Candidate("MV", "max_variance")], protocol)
    expected = [
        cross_val_score(
            RandomForestClassifier(random_state=seed),
            scaled(data.X, "standard"),
            data.y,
            cv=StratifiedKFold(3, shuffle=True, random_state=seed),
        )
        for seed in (0, 1)
    ]
    found = results.values("planted", "All features", "rf", None)
    np.testing.assert_array_equal(found, np.concatenate(expected))
    assert len(results.values("planted", "MV", "1nn", 2)) == 6


def test_neighbour_searches_are_shared_and_change_nothing(tmp_path, monkeypatch):
    X = planted().X
    plain = LaplacianScore().fit(X).scores_
    with shared_neighbors(tmp_path / "kept"):
        first = LaplacianScore().fit(X).scores_
        assert len(list((tmp_path / "kept").iterdir())) == 1
        import tamis.graphs._neighbors

        def refuse(*_):
            raise AssertionError("searched again")

        monkeypatch.setattr(tamis.graphs._neighbors, "_exact_search", refuse)
        again = LaplacianScore().fit(X).scores_
        with pytest.raises(AssertionError, match="searched again"):
            nearest_neighbors(X, 4)
        with pytest.raises(AssertionError, match="searched again"):
            nearest_neighbors(sp.csr_array(X), 5)
    np.testing.assert_array_equal(plain, first)
    np.testing.assert_array_equal(plain, again)


def test_a_graph_may_be_a_parameter_and_two_graphs_a_grid(tmp_path):
    data = planted()
    graphs = [neighbor_graph(data.X, n_neighbors) for n_neighbors in (3, 9)]
    protocol = Protocol(n_features=(4,), scaling="none", n_repeats=2, tuning="oracle")
    given = Candidate("One", "laplacian_score", {"affinity": graphs[0]})
    tuned = Candidate("Grid", "laplacian_score", grid={"affinity": graphs})
    path = tmp_path / "r.jsonl"
    results = evaluate([data], [given, tuned], protocol, path=path)
    one, *several = (results.settings("planted", label) for label in ("One", "Grid"))
    assert one[0]["affinity"].startswith("csr_array ")
    assert len({setting["affinity"] for setting in several[0]}) == 2
    chosen = LaplacianScore(4, affinity=graphs[0]).fit_transform(data.X)
    labels = KMeans(3, init="random", n_init=1, random_state=0).fit_predict(chosen)
    values = results.values("planted", "One", "kmeans_acc", 4)
    assert values[0] == clustering_accuracy(data.y, labels)
    before = path.read_bytes()
    evaluate([data], [given, tuned], protocol, path=path)
    assert path.read_bytes() == before


class Scorer(TransformerMixin, BaseEstimator):
    """Has scores, and nothing else of ours."""

    def fit(self, X, y=None):
        self.scores_ = np.r_[np.ones(N_INFORMATIVE), np.zeros(X.shape[1] - N_INFORMATIVE)]
        return self


class Counter(SelectorMixin, BaseEstimator):
    """Keeps the first columns, as many as it is told to, or as it likes."""

    def __init__(self, n_features_to_select=1, excess=0):
        self.n_features_to_select = n_features_to_select
        self.excess = excess

    def fit(self, X, y=None):
        self.mask_ = np.arange(X.shape[1]) < self.n_features_to_select + self.excess
        return self

    def _get_support_mask(self):
        return self.mask_


@pytest.mark.parametrize("selector", [Scorer(), Counter()])
def test_a_selector_of_scikit_learns_kind_takes_part(selector):
    protocol = Protocol(n_features=(N_INFORMATIVE,), n_repeats=3)
    mine = Candidate("Mine", "mine", selector=selector)
    oracle = Candidate("Oracle", "oracle", selector=Oracle())
    results = evaluate([planted()], [mine, oracle], protocol)
    first, second = (
        results.values("planted", label, "kmeans_acc", N_INFORMATIVE)
        for label in ("Mine", "Oracle")
    )
    np.testing.assert_array_equal(first, second)


def test_scikit_learns_own_sequential_selection_takes_part():
    selector = SequentialFeatureSelector(
        KMeans(3, n_init=1, random_state=0), scoring=lambda model, X, y=None: model.score(X), cv=2
    )
    candidates = [Candidate("Sequential", "sequential", selector=selector)]
    results = evaluate(["iris"], candidates, Protocol(n_features=(1, 2), n_repeats=1))
    assert results.errors("iris", "Sequential") == []
    assert results.counts("iris") == [1, 2]


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (VarianceThreshold(), "VarianceThreshold has no parameter n_features_to_select and no"),
        (Counter(excess=1), "Counter keeps 3 features where 2 were asked for"),
    ],
)
def test_what_tells_no_selection_says_so(selector, words):
    candidates = [Candidate("S", "s", selector=selector)]
    with pytest.warns(RuntimeWarning, match=words):
        evaluate(["iris"], candidates, Protocol(n_features=(2,), n_repeats=1))


@pytest.mark.parametrize("selector", [Oracle, "mrsf", StandardScaler])
def test_what_is_no_estimator_is_refused(selector):
    with pytest.raises(TypeError, match=r"S: selector=.* is no estimator; give an instance of a"):
        Candidate("S", "s", selector=selector)


def test_unknown_parameters_of_an_own_selector_are_named():
    with pytest.raises(ValueError, match="Oracle has no parameter 'gamma'; it has n_features_to"):
        Candidate("O", "oracle", {"gamma": 1}, selector=Oracle())


def test_evaluate_can_begin_anew(tmp_path):
    path = tmp_path / "r.jsonl"
    evaluate(["iris"], [], Protocol(n_features=(2,), n_repeats=1), path=path)
    with pytest.raises(SweepError, match=r"n_repeats=1, not 2; .* discard them \(fresh=True\)"):
        evaluate(["iris"], [], Protocol(n_features=(2,), n_repeats=2), path=path)
    results = evaluate(["iris"], [], Protocol(n_features=(2,), n_repeats=2), path=path, fresh=True)
    assert len(results.records) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "everything", "variance"),
    [
        ("isolet", (57.8, 4.0), (56.6, 2.6)),
        ("umist", (41.9, 3.0), (46.2, 2.3)),
        ("usps", (62.9, 4.3), (63.4, 3.1)),
    ],
)
def test_figures_of_the_udfs_paper(benchmark_set, name, everything, variance):
    """All features and max variance, mean and sd as printed in its Table 2, within two sd."""
    X, y = benchmark_set({"isolet": "Isolet", "umist": "UMIST", "usps": "USPS"}[name])
    protocol = Protocol(scaling="unit", n_features=(50, 100, 150, 200, 250, 300), tuning="oracle")
    results = evaluate([Dataset(name, X, y)], [Candidate("MV", "max_variance")], protocol)
    for label, (mean, sd) in (("All features", everything), ("MV", variance)):
        ours = 100 * results.estimate(name, label, "kmeans_acc").mean
        assert abs(ours - mean) <= 2 * sd, (label, ours)


def test_a_forest_has_as_many_trees_as_told():
    data = planted()
    protocol = Protocol(n_features=(2,), n_repeats=1, n_random=1, classifiers=("rf",), n_trees=7)
    found = evaluate([data], [], protocol).values("planted", "All features", "rf", None)
    expected = cross_val_score(
        RandomForestClassifier(7, random_state=0),
        scaled(data.X, "standard"),
        data.y,
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    np.testing.assert_array_equal(found, expected)


def test_only_so_many_random_subsets_are_classified():
    data = planted()
    some = Protocol(n_features=(2,), n_repeats=4, n_random=4, classifiers=("1nn",))
    found = evaluate([data], [], replace(some, n_random_classified=2))
    first_two = evaluate([data], [], replace(some, n_repeats=2, n_random=2))
    for results in (found, first_two):
        assert len(results.values("planted", "Random subsets", "1nn", 2)) == 5
    np.testing.assert_array_equal(
        found.values("planted", "Random subsets", "1nn", 2),
        first_two.values("planted", "Random subsets", "1nn", 2),
    )
    assert len(found.values("planted", "Random subsets", "kmeans_acc", 2)) == 4


def test_samples_that_are_alone_in_their_class_are_clustered_but_not_classified():
    data = planted()
    alone = data.y.copy()
    alone[0] = 3
    X, y = scaled(data.X, "standard"), data.y
    protocol = Protocol(n_features=(2,), n_repeats=1, n_random=1, classifiers=("5nn",))
    results = evaluate([Dataset("planted", data.X, alone)], [], protocol)
    expected = cross_val_score(
        KNeighborsClassifier(5), X[1:], y[1:], cv=StratifiedKFold(5, shuffle=True, random_state=0)
    )
    np.testing.assert_array_equal(results.values("planted", "All features", "5nn", None), expected)
    assert results.estimate("planted", "All features", "kmeans_acc") is not None
    with pytest.warns(RuntimeWarning, match="every class has a single sample"):
        evaluate([Dataset("lone", data.X[:4], np.arange(4))], [], protocol)
