from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tamis.evaluation import Record, Results, critical_difference, mean_ranks, paired_tests
from tamis.evaluation.results import Estimate
from tamis.evaluation.statistics import holm


def test_estimate_against_the_formulas():
    values = np.array([0.2, 0.4, 0.9, 0.7])
    estimate = Estimate.of(values, 3, {})
    interval = stats.t.interval(0.95, 3, loc=values.mean(), scale=stats.sem(values))
    assert estimate.mean == pytest.approx(0.55)
    assert estimate.sd == pytest.approx(np.std(values, ddof=1))
    assert (estimate.low, estimate.high) == pytest.approx(interval)
    single = Estimate.of(np.array([0.5]), None, {})
    assert (single.sd, single.low, single.high) == (0, 0.5, 0.5)


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


def results_of(tables: dict[tuple[str, str], np.ndarray]) -> Results:
    return Results(
        Record(
            {"set": name, "label": label, "method": label, "parameters": {}},
            [{"n_features": 2, "measure": "kmeans_acc", "values": list(values)}],
        )
        for (name, label), values in tables.items()
    )


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
