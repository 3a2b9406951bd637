from __future__ import annotations

import pytest

from tamis.evaluation import Record, Results
from tamis.reproduction.leaderboard_rows import MEASURES, leaderboard_rows, sets_in_means


def test_standings_count_wins_and_failures(leaderboard_results, leaderboard_of):
    rows = {row.label: row for row in leaderboard_rows(leaderboard_results)}
    assert rows["Good"].beats_all == (3, 1)
    assert rows["Good"].surely_beats_all == (3, 1)
    assert rows["Good"].beats_random == (4, 0)
    assert rows["Bad"].beats_random == (0, 4)
    assert rows["All features"].beats_all == (0, 0)
    assert rows["Fragile"].failed == 1
    assert rows["Fragile"].rank == pytest.approx((1 + 1 + 5 + 1) / 4)
    assert rows["Good"].rank == pytest.approx((2 + 2 + 1 + 3) / 4)
    assert rows["Good"].means["ACC"] == pytest.approx((0.9 + 0.8 + 0.45) / 3, abs=0.002)
    assert rows["Fragile"].means["ACC"] == pytest.approx((0.95 + 0.95 + 0.6) / 3, abs=0.002)
    assert sets_in_means(leaderboard_results) == 3
    rarely = leaderboard_of(
        {"All features": [0.5] * 2, "Random subsets": [0.4] * 2, "R": [None, 0.6]}
    )
    others = {row.label: row for row in leaderboard_rows(rarely)}
    assert others["R"].means["forest"] is None
    assert others["All features"].means["ACC"] == pytest.approx(0.5, abs=0.002)
    assert sets_in_means(rarely) == 2
    assert rows["Good"].seconds == 0.5
    ranks = [row.rank for row in leaderboard_rows(leaderboard_results)]
    assert ranks == sorted(ranks)


def test_ranks_by_information_have_their_own_order(leaderboard_of):
    accuracy = {"All features": [0.9, 0.9], "Random subsets": [0.5, 0.5], "M": [0.1, 0.1]}
    information = {"All features": [0.1, 0.1], "Random subsets": [0.5, 0.5], "M": [0.9, 0.9]}
    rows = leaderboard_rows(leaderboard_of(accuracy, nmi=information))
    assert [(row.label, row.ranks["ACC"], row.ranks["NMI"]) for row in rows] == [
        ("All features", 1, 3),
        ("Random subsets", 2, 2),
        ("M", 3, 1),
    ]


def test_partitions_with_other_names_are_neither_better_nor_worse():
    """Means that part in the last bits share a rank and win nothing."""
    values = {"All features": 0.93, "Random subsets": 0.5, "A": 0.93 + 3e-16, "B": 0.93 - 3e-16}
    results = Results(
        Record(
            {"set": "s", "label": label, "method": label, "parameters": {}},
            [
                {"n_features": 3, "measure": measure, "values": [value] * 20}
                for measure in (one.name for one in MEASURES)
            ],
            {"fit": 0.5},
        )
        for label, value in values.items()
    )
    rows = {row.label: row for row in leaderboard_rows(results)}
    assert {rows[label].rank for label in ("All features", "A", "B")} == {2.0}
    for label in ("A", "B"):
        assert rows[label].beats_all == rows[label].surely_beats_all == (0, 0)
        assert rows[label].surely_beats_random == (1, 0)


def test_few_clusterings_make_nobody_sure(leaderboard_of):
    figures = {"All features": [0.5] * 3, "Random subsets": [0.4] * 3, "Good": [0.9] * 3}
    for n_clusterings, sure in ((5, None), (7, None), (8, (3, 0))):  # 6 tests: 6 · 2 / 2⁸ < 0.05
        good = leaderboard_rows(leaderboard_of(figures, n_clusterings))[0]
        assert good.label == "Good"
        assert good.beats_all == (3, 0)
        assert good.surely_beats_all == sure
        assert good.surely_beats_random == sure


def results_by_kind(figures, fit_seconds=(0.5,), errors=()):
    """By label the figure of every clustering measure and of every classifier, on each set."""
    records = []
    for label, (clustering, classification) in figures.items():
        for i, seconds in enumerate(fit_seconds):
            rows = [
                {
                    "n_features": 3,
                    "measure": one.name,
                    "values": [clustering if one.is_clustering else classification] * 5,
                }
                for one in MEASURES
            ]
            error = dict(errors).get((label, f"s{i}"))
            key = {"set": f"s{i}", "label": label, "method": label, "parameters": {}}
            records.append(Record(key, [] if error else rows, {"fit": seconds}, error))
    return Results(records)


def test_clustering_and_classification_count_alike():
    """Though K-means has three measures and the classifiers have two."""
    results = results_by_kind(
        {"All features": (0.9, 0.1), "Random subsets": (0.5, 0.5), "M": (0.1, 0.9)}
    )
    for row in leaderboard_rows(results):
        assert row.rank == 2.0
        assert set(row.ranks) == set(row.means) == {one.head for one in MEASURES}
    best = next(row for row in leaderboard_rows(results) if row.label == "M")
    assert (best.ranks["ARI"], best.ranks["5-NN"], best.ranks["forest"]) == (3, 1, 1)


def test_run_times_and_what_did_not_finish_are_told_apart():
    results = results_by_kind(
        {"All features": (0.9, 0.9), "Random subsets": (0.5, 0.5), "M": (0.1, 0.1)},
        fit_seconds=(1.0, 7.0, 2.0, 3.0),
        errors={("M", "s0"): "ValueError: no", ("M", "s1"): "TimeLimitError: too long"}.items(),
    )
    row = next(row for row in leaderboard_rows(results) if row.label == "M")
    assert (row.too_long, row.failed) == (1, 1)
    assert (row.seconds, row.most_seconds, row.slowest_set) == (2.5, 7.0, "s1")
