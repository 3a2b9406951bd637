"""Cells and panels out of results: what the experiments have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tamis.evaluation.results import Estimate, Results
from tamis.reproduction.figures import Curves, HeatMap, Series
from tamis.reproduction.published_tables import NOTHING, Printed
from tamis.reproduction.tables import Cell

__all__ = ["cells_beside", "curves", "parameter_map"]

PERCENT = 100.0


def cells_beside(
    printed: Mapping[tuple[str, str], Printed],
    rows: Sequence[str],
    columns: Sequence[str],
    ours: Callable[[str, str], tuple[str, Estimate | None]],
) -> dict[tuple[str, str], Cell]:
    """Our figure beside the printed one, for every row and column.

    Parameters
    ----------
    printed : mapping
        The paper's table; pairs that it lacks are our additions.
    rows, columns : sequence of str
        The heads.
    ours : callable
        ``ours(row, column)``: the set that a cell is of, and our figure.

    Returns
    -------
    dict
        ``(row, column)`` to Cell.
    """
    cells = {}
    for row in rows:
        for column in columns:
            dataset, estimate = ours(row, column)
            figure = printed.get((row, column), NOTHING)
            cells[row, column] = figure.beside(estimate, dataset=dataset)
    return cells


def curves(
    results: Results,
    dataset: str,
    labels: Sequence[str],
    measure: str,
    *,
    title: str,
    y_label: str,
) -> Curves | None:
    """A measure in per cent over the number of features, one line per method with its interval.

    A method that was judged at one number only, all features, is a level line. None if the set
    was not judged at all.
    """
    series = []
    for label in labels:
        # All features give the same figure at every number, and so a single point.
        points = {
            estimate.n_features: estimate
            for number in results.counts(dataset)
            if (estimate := results.estimate(dataset, label, measure, n_features=number))
        }
        if points:
            series.append(
                Series(
                    label,
                    x=[number or 0 for number in points],
                    mean=[PERCENT * float(point.mean) for point in points.values()],
                    low=[PERCENT * point.low for point in points.values()],
                    high=[PERCENT * point.high for point in points.values()],
                )
            )
    if not series:
        return None
    return Curves(title, "number of selected features", y_label, series)


def parameter_map(
    results: Results,
    dataset: str,
    label: str,
    measure: str,
    *,
    across: str,
    down: str,
    n_features: int | None = None,
    title: str,
    value_label: str,
) -> HeatMap | None:
    """A measure in per cent over two parameters of a method.

    Parameters
    ----------
    results : Results
    dataset, label, measure : str
        What to show.
    across, down : str
        Names of the parameters; "n_features" is the number of features.
    n_features : int or None
        The number of features to look at, where neither parameter is that.
    title, value_label : str
        For the panel.

    Returns
    -------
    HeatMap or None
        Each place has the best mean over whatever else was varied. None if there is nothing.
    """
    means: dict[tuple[float, float], float] = {}
    for setting in results.settings(dataset, label):
        for number in results.counts(dataset) if n_features is None else [n_features]:
            values = results.values(dataset, label, measure, number, setting)
            if values is None:
                continue
            point: Mapping[str, Any] = {**setting, "n_features": number}
            place = (float(point[down]), float(point[across]))
            means[place] = max(PERCENT * float(np.mean(values)), means.get(place, -np.inf))
    if not means:
        return None
    rows, columns = (sorted({place[axis] for place in means}) for axis in (0, 1))
    return HeatMap(
        title,
        x_label=_words(across),
        y_label=_words(down),
        value_label=value_label,
        x=[f"{value:g}" for value in columns],
        y=[f"{value:g}" for value in rows],
        values=np.array([[means.get((row, column), np.nan) for column in columns] for row in rows]),
    )


def _words(parameter: str) -> str:
    return "number of selected features" if parameter == "n_features" else parameter
