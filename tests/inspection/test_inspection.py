"""Evidence for a selection, against plain computations."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from references.memory import with_peak_memory
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from tamis import MCFS, LaplacianScore, MaxVariance, RandomSubset
from tamis.graphs import neighbor_graph
from tamis.inspection import (
    Sample,
    _loss,
    draw_sample,
    find_groups,
    knee,
    measure_groups,
    measure_loss,
    measure_redundancy,
    planar_views,
    read_selection,
    subsample_selections,
)
from tamis.inspection._group_evidence import _cloud
from tamis.inspection._groups import class_codes, group_labels


def make_table(n_samples=60, n_features=12, seed=0):
    rng = np.random.RandomState(seed)
    factors = rng.normal(size=(n_samples, 3))
    return factors @ rng.normal(size=(3, n_features)) + 0.3 * rng.normal(
        size=(n_samples, n_features)
    )


def measured(selector, X, seed=0):
    selection = read_selection(selector, X)
    sample = draw_sample(selection, np.random.RandomState(seed))
    return selection, sample, measure_loss(selection, sample)


class TestKnee:
    def test_a_cliff(self):
        scores = np.array([5.0, 4.9, 4.8, 4.7, 0.2, 0.1, 0.1, 0.0])
        assert knee(scores) == 4
        assert knee(scores[::-1]) == 4

    @pytest.mark.parametrize("scores", [[1.0], [2.0, 1.0], [1.0] * 9, [3.0, 2.0, 1.0, 0.0]])
    def test_no_bend(self, scores):
        assert knee(np.array(scores)) is None

    def test_huge_scores_do_not_overflow(self):
        with np.errstate(all="raise"):
            assert knee(np.array([1.7e308, 1.6e308, -1.6e308, -1.7e308, -1.7e308])) == 2


class TestReading:
    def test_best_first(self):
        X = make_table() * np.arange(1, 13)
        selector = MaxVariance(4).fit(X)
        kept = read_selection(selector, X).kept
        assert (np.diff(selector.ranking_[kept]) == 1).all()
        assert selector.ranking_[kept[0]] == 1

    def test_refuses_what_is_no_fitted_selector(self):
        X = make_table()
        with pytest.raises(TypeError, match="not Pipeline; of a pipeline, pass the step"):
            read_selection(make_pipeline(MaxVariance(2)).fit(X), X)
        with pytest.raises(ValueError, match="not fitted"):
            read_selection(MaxVariance(2), X)

    def test_refuses_another_table(self):
        X = make_table()
        selector = MaxVariance(2).fit(X)
        with pytest.raises(ValueError, match="X has 11 columns, but the selector was fitted on 12"):
            read_selection(selector, X[:, :-1])
        with pytest.raises(ValueError, match="feature_names has 1 names"):
            read_selection(selector, X, ["one"])
        with pytest.raises(ValueError, match="NaN in column 3"):
            read_selection(selector, np.where(np.arange(12) == 3, np.nan, X))

    def test_refuses_renamed_columns(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(make_table()).rename(columns=str)
        selector = MaxVariance(2).fit(frame)
        with pytest.raises(ValueError, match="column 'new' where the selector was fitted on '3'"):
            read_selection(selector, frame.rename(columns={"3": "new"}))


class TestAnotherTable:
    """A table that is not the one of the fit gives a warning, whatever differs."""

    @pytest.mark.parametrize(
        "change",
        [
            lambda X: StandardScaler().fit_transform(X),
            lambda X: MinMaxScaler().fit_transform(X),
            lambda X: X * 2,
            lambda X: X + 1,
            lambda X: np.where(np.arange(12) == 4, 3 * X, X),
            lambda X: StandardScaler().fit_transform(X[:40]),
        ],
        ids=["standardised", "to a range", "doubled", "moved", "one column", "fewer rows"],
    )
    def test_warns(self, change):
        X = 50 + 20 * make_table()
        selector = MaxVariance(2).fit(X)
        with pytest.warns(UserWarning, match=r"X is not as the selector saw it: column 'x\d' runs"):
            selection = read_selection(selector, change(X))
        assert "at the fit" in selection.caution

    @pytest.mark.parametrize(
        "change",
        [
            lambda X: X,
            lambda X: X[::-1],
            lambda X: X[:40],
            lambda X: X.astype(np.float32),
            sp.csr_array,
        ],
        ids=["the same", "other order", "fewer rows", "fewer digits", "sparse"],
    )
    def test_does_not_warn(self, change):
        X = 50 + 20 * make_table()
        X[:, 5] = 7.0
        assert read_selection(MaxVariance(2).fit(X), change(X)).caution == ""

    def test_sparse(self):
        X = sp.random_array((50, 30), density=0.2, format="csr", rng=0)
        selector = MaxVariance(2).fit(X)
        with pytest.warns(UserWarning, match="X is not as the selector saw it"):
            read_selection(selector, StandardScaler(with_mean=False).fit_transform(X))


class TestLoss:
    @pytest.mark.parametrize("standardised", [False, True])
    def test_variance_is_that_of_a_ridge_regression_in_held_out_rows(
        self, monkeypatch, standardised
    ):
        monkeypatch.setattr(_loss, "RIDGES", np.array([0.01]))
        X = make_table(63) * np.logspace(0, 2, 12)
        _, sample, loss = measured(MaxVariance(3).fit(X), X)
        measure = loss.reconstruction if standardised else loss.variance
        deviations = X.std(axis=0)
        X = X[sample.rows]
        weights = deviations**-2 if standardised else np.ones(12)
        bounds = [0, 12, 25, 37, 50, 63]
        for subset, value in zip(sample.subsets, [measure.selected, *measure.random], strict=True):
            others = np.setdiff1d(np.arange(12), subset)
            Z = X[:, subset] / deviations[subset]
            error = spread = np.zeros(9)
            for first, last in pairwise(bounds):
                test = np.isin(np.arange(63), np.arange(first, last))
                model = Ridge(0.01 * np.count_nonzero(~test)).fit(Z[~test], X[~test][:, others])
                truth = X[test][:, others]
                error = error + np.square(truth - model.predict(Z[test])).sum(axis=0)
                spread = spread + np.square(truth - X[~test][:, others].mean(axis=0)).sum(axis=0)
            told = 1 - weights[others] @ error / (weights[others] @ spread)
            own = (weights * deviations**2)[subset].sum() / (weights * deviations**2).sum()
            share = own + (1 - own) * max(0, told)
            assert value == pytest.approx(np.sqrt(1 - share) if standardised else share)

    def test_the_penalty_is_that_of_generalised_cross_validation(self):
        """Against the hat matrix, for more columns than rows too."""
        for n_columns in (3, 60):
            rng = np.random.RandomState(0)
            Z = rng.normal(size=(40, n_columns))
            B = Z[:, :2] @ rng.normal(size=(2, 5)) + rng.normal(size=(40, 5))
            B -= B.mean(axis=0)
            fold = slice(32, 40)
            fit = _loss._HeldOut(Z, fold)
            learned, mean = B[:32] - B[:32].mean(axis=0), B[:32].mean(axis=0)
            fit.learn(B, mean, np.square(learned).sum(axis=0), np.ones((2, 5)))
            Z = Z[:32] - Z[:32].mean(axis=0)
            errors = []
            for penalty in _loss.RIDGES * 32:
                hat = Z @ np.linalg.solve(Z.T @ Z + penalty * np.eye(n_columns), Z.T)
                residual = learned - hat @ learned
                errors.append(np.square(residual).sum() / (31 - np.trace(hat)) ** 2)
            expected = _loss.RIDGES[np.argmin(errors)] * 32
            assert fit._penalty(np.diagonal(fit._products[0]), fit._total[0]) == expected

    @pytest.mark.parametrize(
        ("n_samples", "n_features", "n_kept"), [(100, 1000, 90), (400, 60, 20)]
    )
    def test_noise_keeps_no_more_than_its_own_variance(self, n_samples, n_features, n_kept):
        X = np.random.RandomState(0).normal(size=(n_samples, n_features))
        _, _, loss = measured(MaxVariance(n_kept).fit(X), X)
        assert loss.noise == pytest.approx(n_kept / n_features, rel=0.4)
        assert loss.variance.selected == pytest.approx(loss.noise, abs=0.01)
        assert loss.told < 0.01
        assert loss.variance.random == pytest.approx(n_kept / n_features, abs=0.02)

    def test_the_noise_level_is_what_a_shuffled_table_keeps(self):
        X = make_table(200, 30)
        selector = MaxVariance(5).fit(X)
        _, _, loss = measured(selector, X)
        rng = np.random.RandomState(1)
        shuffled = np.column_stack([rng.permutation(column) for column in X.T])
        _, _, noise = measured(selector, shuffled)
        assert loss.variance.selected > loss.noise + 0.5
        assert noise.variance.selected == pytest.approx(loss.noise, abs=0.02)
        assert noise.noise == pytest.approx(loss.noise)

    def test_neighbours_are_those_of_a_search(self):
        X = make_table()
        selection, _, loss = measured(MaxVariance(3).fit(X), X)

        def found(table):
            search = NearestNeighbors(n_neighbors=loss.n_neighbors).fit(table)
            return search.kneighbors(return_distance=False)

        both = zip(found(X), found(X[:, selection.kept]), strict=True)
        overlap = np.mean([len(set(a) & set(b)) / loss.n_neighbors for a, b in both])
        assert loss.neighbors.selected == pytest.approx(overlap)

    def test_what_is_exactly_rebuilt(self):
        rng = np.random.RandomState(0)
        X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 10))
        _, _, loss = measured(MaxVariance(2).fit(X), X)
        assert loss.variance.selected == pytest.approx(1)
        assert loss.reconstruction.selected < 0.05

    def test_noise_cannot_be_rebuilt(self):
        X = np.random.RandomState(0).normal(size=(60, 300))
        _, _, loss = measured(MaxVariance(40).fit(X), X)
        assert loss.reconstruction.selected == pytest.approx(1, abs=0.1)

    def test_good_columns_beat_random_ones(self):
        rng = np.random.RandomState(0)
        X = rng.normal(size=(150, 40)) * 0.1
        X[:, :4] *= 100
        _, sample, loss = measured(MaxVariance(4).fit(X), X)
        assert len(sample.subsets) == 21
        assert loss.variance.n_beaten == 20
        assert loss.variance.percentile == 1
        assert loss.neighbors.n_beaten == 20

    def test_smaller_is_better_for_the_error(self):
        rng = np.random.RandomState(0)
        factors = rng.normal(size=(200, 3))
        X = np.hstack([factors, factors @ rng.normal(size=(3, 30)), rng.normal(size=(200, 15))])
        worst = MaxVariance(3).fit(X)
        worst.ranking_ = np.r_[np.arange(4, 37), 1, 2, 3, np.arange(37, 49)]
        _, _, loss = measured(worst, X)
        assert loss.reconstruction.n_beaten <= 2
        worst.ranking_ = np.arange(1, 49)
        _, _, loss = measured(worst, X)
        assert loss.reconstruction.n_beaten >= 18

    def test_sparse_gives_what_dense_gives(self):
        X = make_table(80, 30)
        X[np.abs(X) < 1] = 0
        dense = measured(MaxVariance(5).fit(X), X)[2]
        sparse = measured(MaxVariance(5).fit(X), sp.csr_array(X))[2]
        for name in ("variance", "neighbors", "reconstruction"):
            one, other = getattr(dense, name), getattr(sparse, name)
            assert one.selected == pytest.approx(other.selected)
            assert one.random == pytest.approx(other.random)

    def test_nothing_to_compare_with(self):
        X = make_table()
        X[:, 4:] = 1.0
        _, sample, loss = measured(MaxVariance(4).fit(X), X)
        assert len(sample.subsets) == 1
        assert loss.variance.selected == pytest.approx(1)
        assert loss.variance.percentile is None

    def test_random_subsets_are_others_and_vary(self):
        X = make_table(40, 6)
        X[:, 4:] = 2.0
        selection, sample, _ = measured(MaxVariance(2).fit(X), X)
        for subset in sample.subsets[1:]:
            assert set(subset) != set(selection.kept)
            assert subset.max() < 4

    def test_all_constant(self):
        X = np.ones((12, 5))
        _, _, loss = measured(MaxVariance(2).fit(X), X)
        assert np.isfinite(loss.variance.selected)
        assert np.isfinite(loss.reconstruction.selected)

    @pytest.mark.slow
    def test_wide_sparse_table_is_not_filled(self):
        X = sp.random_array((150, 60_000), density=0.001, format="csr", rng=0)
        selector = MaxVariance(5).fit(X)
        (_, sample, loss), peak = with_peak_memory(measured, selector, X)
        assert peak < 150 * 60_000 * 8
        assert len(sample.targets) == 10_000
        assert 0 < loss.variance.selected < 1

    def test_many_rows_are_sampled(self):
        X = make_table(2500, 6)
        _, sample, _ = measured(MaxVariance(2).fit(X), X)
        assert sample.is_partial
        assert len(np.unique(sample.rows)) == len(sample.rows) == 1000


def planted(n_samples=150, n_features=600, n_informative=8, seed=0):
    """Three groups in a few columns, among many of noise."""
    rng = np.random.RandomState(seed)
    y = np.arange(n_samples) % 3
    X = rng.normal(size=(n_samples, n_features))
    centres = rng.choice([-1.5, 1.5], size=(3, n_informative))
    centres[:, :3] = 3 * np.eye(3) - 1
    X[:, :n_informative] += centres[y]
    return X, y


def grouped(selector, X, labels=None):
    selection, sample, loss = measured(selector, X)
    return loss, measure_groups(
        selection, sample, loss, labels=labels, random_state=np.random.RandomState(0)
    )


class TestGroupEvidence:
    @pytest.mark.slow
    def test_groups_that_the_other_columns_hide(self):
        X, y = planted()
        loss, found = grouped(MaxVariance(8).fit(X), X, y)
        assert loss.neighbors.selected < 0.3
        assert found.repeat.measure.selected > 0.95
        assert found.repeat.everything < 0.5
        assert found.repeat.measure.random.max() < 0.6
        assert found.uncovered
        assert found.n_clusters == found.n_classes == 3
        assert found.nmi.measure.selected > 0.95 > found.nmi.everything + 0.3
        assert found.accuracy.measure.selected > 0.98
        # Without labels and without n_clusters, the number that repeats best is taken.
        _, alone = grouped(MaxVariance(8).fit(X), X)
        assert alone.numbers == (2, 3, 5, 8)
        assert alone.n_clusters == 3
        assert alone.nmi is None
        assert alone.uncovered

    @pytest.mark.slow
    @pytest.mark.parametrize("selector", [MaxVariance(10), LaplacianScore(10), MCFS(10)])
    @pytest.mark.parametrize("seed", [0, 1])
    def test_noise_has_none(self, selector, seed):
        X = np.random.RandomState(seed).normal(size=(100, 200))
        _, found = grouped(selector.fit(X), X)
        assert not found.found
        assert found.repeat.measure.selected < found.cloud + 0.2

    @pytest.mark.slow
    def test_a_long_cloud_is_no_group(self):
        """K-means cuts copies of one column at the same place in every half."""
        X = np.random.RandomState(0).normal(size=(200, 300))
        X[:, :10] = X[:, [0]] + 0.1 * X[:, :10]
        selector = MaxVariance(10).fit(X)
        selector.ranking_ = np.arange(1, 301)
        _, found = grouped(selector, X)
        assert found.repeat.measure.selected > found.repeat.measure.random.max() + 0.1
        assert not found.found

    def test_the_cloud_has_the_covariance_of_the_points(self):
        X = make_table(80, 5)
        cloud = _cloud(X, np.random.RandomState(0))
        assert cloud.mean(axis=0) == pytest.approx(0, abs=1e-12)
        found, expected = (np.linalg.eigvalsh(np.cov(part.T)) for part in (cloud, X))
        assert found == pytest.approx(expected)

    def test_the_number_of_clusters_is_the_selectors(self):
        X, y = planted(60, 20)
        _, found = grouped(MCFS(5, n_clusters=4).fit(X), X, y)
        assert found.numbers == (4,)
        assert found.n_classes == 3

    def test_too_few_rows_are_said(self):
        X = make_table(11)
        _, found = grouped(MCFS(3, n_clusters=3, n_neighbors=3).fit(X), X)
        assert found.repeat is None
        assert found.note == (
            "Whether 3 clusters repeat can be seen in no fewer than 12 rows; there are 11."
        )
        _, found = grouped(MCFS(3, n_clusters=1).fit(make_table()), make_table())
        assert found.note == "A single cluster has nothing to repeat."

    @pytest.mark.slow
    def test_a_constant_column_repeats_nothing(self):
        X = np.ones((40, 3))
        _, found = grouped(MaxVariance(1).fit(X), X)
        assert found.repeat.measure.selected == 0

    @pytest.mark.slow
    def test_wide_tables_and_rows_in_any_scale(self):
        X, y = planted(90, 400)
        for scale in (1e-20, 1e20):
            _, found = grouped(MaxVariance(200).fit(X * scale), X * scale, y)
            _, plain = grouped(MaxVariance(200).fit(X), X, y)
            assert found.repeat.measure.selected == pytest.approx(plain.repeat.measure.selected)
            assert found.nmi.everything == pytest.approx(plain.nmi.everything)

    def test_which_labels_are_classes(self):
        assert class_codes(np.array(["b", "a", "b", "a"])).tolist() == [1, 0, 1, 0]
        assert class_codes(np.array(["b", None, "b", "a", "a"], dtype=object)).tolist() == [
            1, -1, 1, 0, 0,
        ]  # fmt: skip
        assert class_codes(np.arange(20)) is None
        assert class_codes(np.repeat(np.linspace(0, 1, 20), 5)) is None
        assert class_codes(np.zeros(9)) is None
        assert class_codes(np.array([1.0, 2.0, np.nan, 1.0, 2.0])).tolist() == [0, 1, -1, 0, 1]


class TestRedundancy:
    def test_correlations(self):
        X = make_table()
        X[:, 5] = 1.0
        selection = read_selection(MaxVariance(6).fit(X), X)
        sample = Sample(np.arange(60), (selection.kept,), np.arange(12), 60)
        found = measure_redundancy(selection, sample, np.random.RandomState(0))
        expected = np.corrcoef(X[:, selection.kept].T)
        assert found.correlations == pytest.approx(expected)
        upper = np.abs(expected[np.triu_indices(6, k=1)])
        assert found.after == pytest.approx(upper.mean())
        left, right, value = found.strongest(1)[0]
        assert abs(value) == pytest.approx(upper.max())
        assert value == pytest.approx(np.corrcoef(X[:, left], X[:, right])[0, 1])
        assert found.n_before == 11


class TestStability:
    def test_a_clear_choice_is_stable(self):
        X = make_table() * np.r_[[50] * 3, [1] * 9]
        found = subsample_selections(read_selection(MaxVariance(3).fit(X), X), random_state=0)
        assert found.value == 1
        assert found.masks.shape == (10, 12)
        assert found.n_rows == 48
        assert not found.note

    def test_chance_is_not(self):
        X = make_table(60, 200)
        selector = RandomSubset(20, random_state=np.random.RandomState(0)).fit(X)
        before = selector.random_state.get_state()[1].copy()
        found = subsample_selections(read_selection(selector, X), random_state=0)
        # Each refit gets a copy of the generator: the caller's own does not move.
        assert (selector.random_state.get_state()[1] == before).all()
        assert found.frequencies.sum() == pytest.approx(20)

    def test_a_given_graph_is_cut(self):
        X = make_table()
        selector = LaplacianScore(3, affinity=neighbor_graph(X, 5)).fit(X)
        found = subsample_selections(read_selection(selector, X), random_state=0)
        assert len(found.masks) == 10

    def test_reasons_for_fewer(self):
        X = make_table(10)
        found = subsample_selections(read_selection(MaxVariance(3).fit(X), X))
        assert found.value is None
        assert found.note == "Stability needs more than 10 rows; there are 10."
        X = make_table(20)
        selector = LaplacianScore(3, n_neighbors=18).fit(X)
        found = subsample_selections(read_selection(selector, X))
        assert "cannot be refitted on 16 rows: n_neighbors=18 is too large" in found.note
        found = subsample_selections(read_selection(MaxVariance(3).fit(X), X), time_limit=-1)
        assert found.note.startswith("Only 0 of 10 refits were made")

    def test_large_tables_are_cut(self):
        X = make_table(1000)
        selection = read_selection(MaxVariance(3).fit(X), X)
        assert subsample_selections(selection, most_numbers=12 * 50).n_rows == 50


class TestViews:
    def test_principal_planes(self):
        X = make_table()
        centred = X - X.mean(axis=0)
        before, after = planar_views(centred @ centred.T, centred @ centred.T)
        values = np.linalg.svd(centred, compute_uv=False)
        assert before.variance == pytest.approx((values[:2] ** 2).sum() / (values**2).sum())
        assert after.points == pytest.approx(before.points)
        assert np.square(before.points).sum(axis=0) == pytest.approx(values[:2] ** 2)

    def test_views_are_turned_alike(self):
        X = make_table()[:, :2]
        centred = X - X.mean(axis=0)
        before, after = planar_views(centred @ centred.T, 4 * centred @ centred.T)
        assert after.points == pytest.approx(2 * before.points)


class TestGroups:
    def test_numbers_keep_their_order(self):
        groups = group_labels(np.array([10, 9, 2, 2]))
        assert groups.names == ("2", "9", "10")
        assert groups.codes.tolist() == [2, 1, 0, 0]

    def test_many_labels_share_the_last_colour(self):
        labels = np.repeat([f"name {i:02}" for i in range(30)], np.arange(1, 31))
        groups = group_labels(labels)
        assert len(groups.names) == 10
        assert groups.names[-2:] == ("name 29", "21 others")
        assert np.bincount(groups.codes)[-1] == sum(range(1, 22))

    def test_measured_numbers_become_ranges(self):
        values = np.linspace(0, 100, 101)
        values[3] = np.nan
        groups = group_labels(values)
        assert groups.ordered
        assert len(groups.names) == 6
        assert groups.names[-1] == "missing"
        assert groups.names[groups.codes[3]] == "missing"
        assert groups.names[groups.codes[100]] == groups.names[4]

    def test_clusters_of_the_table(self):
        X = np.repeat([[0.0, 0.0], [9.0, 0.0]], 10, axis=0)
        X += np.random.RandomState(0).normal(size=X.shape) * 0.1
        selector = LaplacianScore(1).fit(X)
        centred = X - X.mean(axis=0)
        groups = find_groups(
            selector,
            np.arange(20),
            centred @ centred.T,
            n_samples=20,
            random_state=np.random.RandomState(0),
        )
        assert groups.source == "clusters that K-means found in all columns"
        assert len(set(groups.codes[:10]) & set(groups.codes[10:])) == 0
