from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from tamis.evaluation import Record, Results
from tamis.reproduction.leaderboard_rows import MEASURES

Figures = Mapping[str, list[float | None]]


@pytest.fixture
def leaderboard_of() -> Callable[..., Results]:
    """Results with one value a set and label, spread a little over clusterings."""

    def leaderboard_of(
        figures: Figures, n_clusterings: int = 20, nmi: Figures | None = None
    ) -> Results:
        rng = np.random.default_rng(0)
        records = []
        for label, values in figures.items():
            for i, value in enumerate(values):
                spread = rng.normal(0, 0.001, n_clusterings)
                means = dict.fromkeys((one.name for one in MEASURES), value)
                means["kmeans_nmi"] = (nmi or figures)[label][i]
                rows = [
                    {"n_features": 3, "measure": measure, "values": list(mean + spread)}
                    for measure, mean in means.items()
                    if mean is not None
                ]
                key = {"set": f"set{i}", "label": label, "method": label, "parameters": {}}
                error = None if value is not None else "ValueError: no"
                records.append(Record(key, rows, {"fit": 0.5, "all": 1.0}, error))
        return Results(records)

    return leaderboard_of


@pytest.fixture
def leaderboard_results(leaderboard_of: Callable[..., Results]) -> Results:
    return leaderboard_of(
        {
            "All features": [0.5, 0.5, 0.5, 0.5],
            "Random subsets": [0.4, 0.4, 0.4, 0.4],
            "Good": [0.9, 0.8, 0.9, 0.45],
            "Bad": [0.1, 0.1, 0.1, 0.1],
            "Fragile": [0.95, 0.95, None, 0.6],
        }
    )
