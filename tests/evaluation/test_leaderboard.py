from __future__ import annotations

import json

import numpy as np
import pytest

from tamis import registry
from tamis.evaluation import Record, Results, experiments
from tamis.evaluation.leaderboard import (
    EXPERIMENT,
    _joined,
    candidates,
    eligible,
    standings,
    tables,
)


def made_up(figures: dict[str, list[float | None]]) -> Results:
    """Results with one value a set and label, spread a little over 20 clusterings."""
    rng = np.random.default_rng(0)
    records = []
    for label, values in figures.items():
        for i, value in enumerate(values):
            spread = rng.normal(0, 0.001, 20)
            rows = [
                {"n_features": 3, "measure": measure, "values": list(value + spread)}
                for measure in ("kmeans_acc", "kmeans_nmi")
                if value is not None
            ]
            key = {"set": f"set{i}", "label": label, "method": label, "parameters": {}}
            error = None if value is not None else "ValueError: no"
            records.append(Record(key, rows, {"fit": 0.5, "all": 1.0}, error))
    return Results(records)


RESULTS = made_up(
    {
        "All features": [0.5, 0.5, 0.5, 0.5],
        "Random subsets": [0.4, 0.4, 0.4, 0.4],
        "Good": [0.9, 0.8, 0.9, 0.45],
        "Bad": [0.1, 0.1, 0.1, 0.1],
        "Fragile": [0.95, 0.95, None, 0.6],
    }
)


def test_every_method_takes_part_as_it_comes():
    assert {c.method for c in candidates()} == set(registry.METHODS) - {"random_subset"}
    assert all(not c.parameters and not c.grid for c in candidates())


def test_narrow_and_derived_sets_do_not():
    assert eligible(["iris", "digits", "digits1v7"]) == ["digits"]


def test_standings_count_wins_and_failures():
    rows = {row.label: row for row in standings(RESULTS)}
    assert rows["Good"].beats_all == (3, 1)
    assert rows["Good"].surely_beats_all == (3, 1)
    assert rows["Good"].beats_random == (4, 0)
    assert rows["Bad"].beats_random == (0, 4)
    assert rows["All features"].beats_all == (0, 0)
    assert rows["Fragile"].failed == 1
    assert rows["Fragile"].rank == pytest.approx((1 + 1 + 5 + 1) / 4)
    assert rows["Good"].rank == pytest.approx((2 + 2 + 1 + 3) / 4)
    assert rows["Good"].accuracy == pytest.approx((0.9 + 0.8 + 0.45) / 3, abs=0.002)
    assert rows["Fragile"].accuracy == pytest.approx((0.95 + 0.95 + 0.6) / 3, abs=0.002)
    rarely = made_up({"All features": [0.5] * 2, "Random subsets": [0.4] * 2, "R": [None, 0.6]})
    others = {row.label: row for row in standings(rarely)}
    assert others["R"].accuracy is None
    assert others["All features"].accuracy == pytest.approx(0.5, abs=0.002)
    assert rows["Good"].seconds == 0.5
    ranks = [row.rank for row in standings(RESULTS)]
    assert ranks == sorted(ranks)


def test_tables_show_every_method_and_set():
    standing, figures = tables(RESULTS)
    for table in (standing, figures):
        for words in (table.text(), table.markdown()):
            assert "Fragile" in words
        json.dumps(table.as_dict(), allow_nan=False)
    assert "–" in figures.text()
    widths = {len(line) for line in figures.markdown().splitlines() if line.startswith("|")}
    assert len(widths) == 1


def test_bars_join_what_is_not_told_apart():
    assert _joined(np.array([1.0, 1.5, 2.2, 4.0]), 1.0) == [(0, 1), (1, 2)]
    assert _joined(np.array([1.0, 3.0, 5.0]), 1.0) == []
    assert _joined(np.array([1.0, 1.1, 1.2]), 1.0) == [(0, 2)]


@pytest.mark.slow
def test_it_runs_by_name(tmp_path):
    outcome = experiments.run(
        "leaderboard", output=tmp_path, quick=True, sets=["breast_cancer"], progress=False
    )
    folder = tmp_path / "leaderboard-quick"
    data = json.loads((folder / "leaderboard.json").read_text())
    assert {row["label"] for row in data["tables"][0]["rows"]} >= {"MRSF", "All features"}
    assert data["made_with"][0]["numpy"]
    for name in ("critical_difference.png", "critical_difference.svg"):
        assert (folder / name).stat().st_size > 1000
    assert "Standings on 1 sets" in outcome.text
    assert EXPERIMENT.time_limit
