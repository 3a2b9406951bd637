from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tamis.evaluation import (
    Record,
    Results,
    critical_difference,
    fewest_pairs,
    mean_ranks,
    paired_tests,
)
from tamis.evaluation.results import Estimate
from tamis.evaluation.statistics import holm


def test_estimate_against_the_formulas():
    values = np.array([0.2, 0.4, 0.9, 0.7])
    estimate = Estimate.of(values, 3, {})
    interval = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert estimate.mean == pytest.approx(0.55)
    assert estimate.sd == pytest.approx(np.std(values, ddof=1))
    assert (estimate.low, estimate.high) == pytest.approx(interval)


def test_one_value_has_no_spread():
    single = Estimate.of(np.array([0.5]), None, {})
    assert single.mean == 0.5
    assert np.isnan([single.sd, single.low, single.high]).all()
    one_subset = Estimate.of(np.array([0.5, 0.6]), None, {}, groups=(2,))
    assert one_subset.sd == pytest.approx(0.1 / np.sqrt(2))
    assert np.isnan([one_subset.low, one_subset.high]).all()


def test_the_interval_is_over_groups():
    values = np.array([0.2, 0.22, 0.4, 0.41, 0.9, 0.87])
    means = values.reshape(3, 2).mean(axis=1)
    grouped = Estimate.of(values, 3, {}, groups=(2, 2, 2))
    interval = stats.t.interval(0.95, 2, loc=means.mean(), scale=stats.sem(means))
    assert (grouped.low, grouped.high) == pytest.approx(interval)
    plain = Estimate.of(values, 3, {})
    assert (grouped.mean, grouped.sd) == (plain.mean, plain.sd)
    assert grouped.high - grouped.low > 1.5 * (plain.high - plain.low)
    each = Estimate.of(values, 3, {}, groups=(1,) * 6)
    assert (each.low, each.high) == pytest.approx((plain.low, plain.high))
    with pytest.raises(ValueError, match="groups of 4 values do not fit 6"):
        Estimate.of(values, 3, {}, groups=(2, 2))


def test_intervals_of_random_subsets_cover_the_truth():
    """Few subsets with many runs each: an interval over runs would be right half of the time."""
    rng = np.random.default_rng(0)
    right = 0
    for _ in range(200):
        values = (rng.normal(size=(4, 1)) + 0.1 * rng.normal(size=(4, 5))).ravel()
        found = results_of(
            {("s", "Random subsets"): values}, {"n_random": 4}, method="random_subset"
        ).estimate("s", "Random subsets", "kmeans_acc")
        assert found.groups == (5, 5, 5, 5)
        right += found.low <= 0 <= found.high
    assert right >= 180


@pytest.mark.parametrize(
    ("method", "measure", "n_random", "groups"),
    [
        ("random_subset", "kmeans_nmi", 2, (2, 2)),
        ("random_subset", "ncut_acc", 3, (2, 1, 1)),
        ("random_subset", "agreement", 2, (2, 2)),
        ("random_subset", "kmeans_acc", 4, ()),
        ("random_subset", "kmeans_acc", 20, ()),
        ("random_subset", "kmeans_acc", None, ()),
        ("random_subset", "1nn", 2, ()),  # folds, each of all subsets
        ("random_subset", "accuracy", 2, ()),  # of M3FS, whose every run has its own subset
        ("mrsf", "kmeans_nmi", 2, ()),
    ],
)
def test_the_rows_tell_which_values_belong_together(method, measure, n_random, groups):
    header = {} if n_random is None else {"n_random": n_random}
    results = results_of({("s", "R"): np.arange(4.0)}, header, method=method, measure=measure)
    assert results.estimate("s", "R", measure).groups == groups
    assert results.estimate("s", "R", measure, pick="mean").groups == groups


def test_holm_is_the_step_down_procedure():
    rng = np.random.default_rng(0)
    p = rng.random(20) ** 3
    adjusted = holm(p)
    order = np.argsort(p)
    worst = 0.0
    for step, i in enumerate(order):  # as in the textbook
        worst = max(worst, (20 - step) * p[i])
        assert adjusted[i] == pytest.approx(min(1, worst))
    assert holm([]).shape == (0,)


@pytest.mark.parametrize(("n_methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_has_the_tabled_quantiles(n_methods, q):
    expected = q * np.sqrt(n_methods * (n_methods + 1) / (6 * 30))
    assert critical_difference(n_methods, 30) == pytest.approx(expected, abs=5e-4)


def test_ranks_share_ties_and_put_failures_last():
    found = mean_ranks("abcd", [[0.9, 0.9, 0.1, np.nan], [np.nan, 0.5, 0.4, np.nan]])
    np.testing.assert_allclose(found.ranks, [(1.5 + 3.5) / 2, (1.5 + 1) / 2, 2.5, 3.75])
    assert found.n_sets == 2
    np.testing.assert_allclose(found.ranks.sum(), 4 * 5 / 2)


def test_ranks_tell_a_better_method_and_not_a_lucky_one():
    rng = np.random.default_rng(1)
    figures = rng.random((30, 4))
    assert mean_ranks("abcd", figures).p_value > 0.01
    figures[:, 2] += 1
    found = mean_ranks("abcd", figures)
    assert found.p_value < 1e-6
    assert found.ranks[2] == 1
    assert mean_ranks("abc", np.ones((5, 3))).p_value == 1


def results_of(
    tables: dict[tuple[str, str], np.ndarray],
    header: dict[str, object] | None = None,
    *,
    method: str | None = None,
    measure: str = "kmeans_acc",
) -> Results:
    return Results(
        [
            Record(
                {"set": name, "label": label, "method": method or label, "parameters": {}},
                [{"n_features": 2, "measure": measure, "values": list(values)}],
            )
            for (name, label), values in tables.items()
        ],
        header,
    )


def test_rounding_parts_no_ranks():
    table = [[0.93, 0.93 + 1e-15, 0.93 - 1e-15, 0.5], [0.4, 0.4 + 1e-16, 0.4 - 2e-16, np.nan]]
    found = mean_ranks("abcd", table)
    np.testing.assert_array_equal(found.ranks, [2, 2, 2, 4])


def test_rounding_is_no_difference():
    base = np.linspace(0.11, 0.77, 20)
    # Named otherwise, clusters gave figures that were larger in the last bits, twenty times.
    larger = base + 3e-16
    assert (larger > base).all()
    results = results_of({("s", "All features"): base, ("s", "same"): larger})
    (found,) = paired_tests(results, "kmeans_acc")
    assert found.p_value == 1
    # Sizes that part over rounding alone share a rank.
    step = base + 0.01 * np.array([1, -1] * 10)
    clean = base + np.array([1, -1] * 10) * 0.01 + 1e-15 * np.arange(20)
    pairs = [
        paired_tests(results_of({("s", "All features"): base, ("s", "m"): one}), "kmeans_acc")
        for one in (step, clean)
    ]
    assert pairs[0][0].p_value == pytest.approx(pairs[1][0].p_value)
    assert pairs[0][0].p_value > 0.9


def test_rounding_chooses_no_setting():
    def record(alpha, values):
        key = {"set": "s", "label": "m", "method": "m", "parameters": {"alpha": alpha}}
        return Record(key, [{"n_features": 2, "measure": "kmeans_acc", "values": list(values)}])

    values = np.array([0.3, 0.6])
    results = Results(
        [record(1, values), record(2, values + 1e-16), record(3, values - 0.1)],
        {"tuning": "oracle"},
    )
    assert results.estimate("s", "m", "kmeans_acc").parameters == {"alpha": 1}


def test_runs_on_one_subset_are_tested_together():
    rng = np.random.default_rng(0)
    base = rng.normal(size=20) / 100
    draws = np.repeat(rng.normal(size=4), 5) + 1.5
    tables = {("s", "All features"): base, ("s", "Random subsets"): base + draws}
    together = results_of(tables, {"n_random": 4}, method="random_subset")
    apart = results_of(tables, {"n_random": 20}, method="random_subset")
    (first,) = paired_tests(together, "kmeans_acc")
    (second,) = paired_tests(apart, "kmeans_acc")
    assert (first.n_pairs, second.n_pairs) == (4, 20)
    assert first.p_value >= 0.125 > 0.01 > second.p_value
    assert first.difference == second.difference


@pytest.mark.parametrize("n_tests", [1, 2, 7, 119, 510])
def test_with_fewer_pairs_no_test_could_show_anything(n_tests):
    least = fewest_pairs(n_tests)
    smallest = {n: stats.wilcoxon(np.arange(1.0, n + 1)).pvalue for n in (least - 1, least)}
    assert n_tests * smallest[least] < 0.05 <= n_tests * smallest[least - 1]


def test_paired_tests_see_a_small_steady_gain_and_no_other():
    rng = np.random.default_rng(0)
    base = rng.random(20)
    results = results_of(
        {
            ("s", "All features"): base,
            ("s", "steady"): base + 0.01 + 0.001 * rng.random(20),
            ("s", "same"): base,
            ("s", "noise"): rng.permutation(base),
        }
    )
    found = {c.label: c for c in paired_tests(results, "kmeans_acc")}
    assert found["steady"].adjusted < 0.001
    assert found["steady"].difference == pytest.approx(0.0105, abs=0.001)
    assert found["same"].p_value == 1
    assert found["noise"].adjusted > 0.05
    raw = [c.p_value for c in found.values()]
    np.testing.assert_allclose([c.adjusted for c in found.values()], holm(raw))


def test_results_pick_the_best_number_or_the_mean():
    record = Record(
        {"set": "s", "label": "m", "method": "m", "parameters": {"a": 1}},
        [
            {"n_features": n, "measure": "kmeans_acc", "values": [v, v + 0.1]}
            for n, v in ((5, 0.3), (10, 0.6), (20, 0.5))
        ],
    )
    results = Results([record])
    assert results.estimate("s", "m", "kmeans_acc").n_features == 10
    assert results.estimate("s", "m", "kmeans_acc", 20).mean == pytest.approx(0.55)
    mean = results.estimate("s", "m", "kmeans_acc", pick="mean")
    assert mean.mean == pytest.approx((0.35 + 0.65 + 0.55) / 3)
    assert mean.n_features is None
    assert results.estimate("s", "m", "svm") is None
    assert results.estimate("other", "m", "kmeans_acc") is None
    assert results.counts("s") == [5, 10, 20]


def test_what_cannot_be_paired_is_refused():
    results = results_of({("s", "All features"): np.ones(3), ("s", "m"): np.ones(1)})
    with pytest.raises(ValueError, match="cannot be paired"):
        paired_tests(results, "kmeans_acc")
    with pytest.raises(ValueError, match="no 'Everything' to compare with"):
        paired_tests(results, "kmeans_acc", "Everything")


def test_several_settings_need_a_way_to_choose():
    def record(value):
        key = {"set": "s", "label": "m", "method": "m", "parameters": {"a": value}}
        return Record(key, [{"n_features": 2, "measure": "kmeans_acc", "values": [value]}])

    records = [record(0.2), record(0.6)]
    assert Results(records, {"tuning": "oracle"}).estimate("s", "m", "kmeans_acc").mean == 0.6
    with pytest.raises(ValueError, match="2 settings of 'm'"):
        Results(records).estimate("s", "m", "kmeans_acc")
