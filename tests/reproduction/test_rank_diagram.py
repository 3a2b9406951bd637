from __future__ import annotations

import numpy as np

from tamis.evaluation import mean_ranks
from tamis.reproduction.rank_diagram import _joined, critical_difference_figure


def test_bars_join_what_is_not_told_apart():
    assert _joined(np.array([1.0, 1.5, 2.2, 4.0]), 1.0) == [(0, 1), (1, 2)]
    assert _joined(np.array([1.0, 3.0, 5.0]), 1.0) == []
    assert _joined(np.array([1.0, 1.1, 1.2]), 1.0) == [(0, 2)]


def test_it_is_drawn(tmp_path):
    found = mean_ranks(["a", "b", "c"], np.random.default_rng(0).random((4, 3)))
    files = critical_difference_figure(found, tmp_path, "diagram", bold=("a",))
    assert [path.name for path in files] == ["diagram.png", "diagram.svg"]
    assert all(path.stat().st_size > 1000 for path in files)
