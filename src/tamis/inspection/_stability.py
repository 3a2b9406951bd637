"""Whether a selector keeps the same columns when it sees only a part of the rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.base import Selector
from tamis.graphs import check_affinity
from tamis.inspection._selection import Selection
from tamis.metrics import nogueira_stability

FEWEST_ROWS = 10


@dataclass(frozen=True)
class Stability:
    """Selections of refits on subsamples.

    Attributes
    ----------
    masks : ndarray of bool of shape (n_runs, n_features)
    n_rows : int
        Rows of each subsample.
    note : str
        Why there are fewer runs than were asked for, or "".
    """

    masks: BoolArray
    n_rows: int
    note: str = ""

    @property
    def value(self) -> float | None:
        """Nogueira's measure: 1 is always the same columns, 0 is chance; None below two runs."""
        return nogueira_stability(self.masks) if len(self.masks) > 1 else None

    @property
    def frequencies(self) -> FloatArray:
        """Share of the runs that keep each column."""
        return self.masks.mean(axis=0)


def subsample_selections(
    selection: Selection,
    *,
    n_subsamples: int = 10,
    fraction: float = 0.8,
    most_numbers: float = np.inf,
    time_limit: float = np.inf,
    random_state: np.random.RandomState | int | None = None,
) -> Stability:
    """Refit copies of a selector on random subsamples of the rows.

    Parameters
    ----------
    selection : Selection
    n_subsamples : int, default=10
    fraction : float, default=0.8
        Share of the rows in a subsample.
    most_numbers : float, default=inf
        Rows are left out until a subsample holds at most so many numbers.
    time_limit : float, default=inf
        Seconds. No refit is begun that, judged by the slowest so far, would end later.
    random_state : RandomState, int or None, default=None

    Returns
    -------
    Stability
    """
    if not isinstance(random_state, np.random.RandomState):
        random_state = np.random.RandomState(random_state)
    n_samples, n_features = selection.X.shape
    n_rows = max(FEWEST_ROWS, int(min(fraction * n_samples, most_numbers / n_features)))
    masks: list[BoolArray] = []
    slowest, note = 0.0, ""
    if n_rows >= n_samples:
        note = f"Stability needs more than {FEWEST_ROWS} rows; there are {n_samples}."
        n_subsamples = 0
    start = time.perf_counter()
    for _ in range(n_subsamples):
        if time.perf_counter() - start + slowest > time_limit:
            note = (
                f"Only {len(masks)} of {n_subsamples} refits were made: one takes "
                f"{slowest:.0f} seconds."
            )
            break
        rows = np.sort(random_state.choice(n_samples, n_rows, replace=False))
        begun = time.perf_counter()
        try:
            masks.append(_refit(selection, rows).get_support())
        except ValueError as error:
            note = f"The selector cannot be refitted on {n_rows} rows: {error}"
            break
        slowest = max(slowest, time.perf_counter() - begun)
    return Stability(np.array(masks, dtype=bool).reshape(-1, n_features), n_rows, note)


def _refit(selection: Selection, rows: IntArray) -> Selector:
    """A copy of the selector, fitted on some rows; its graph, if given, is cut to them."""
    settings = selection.selector.get_params(deep=False)
    graph = settings.pop("affinity", None)
    settings = {name: clone(value, safe=False) for name, value in settings.items()}
    if graph is not None:
        settings["affinity"] = check_affinity(graph, selection.X.shape[0])[rows][:, rows]
    if "verbose" in settings:
        settings["verbose"] = False
    with warnings.catch_warnings():
        # The fit itself has warned of what there is to warn of.
        warnings.simplefilter("ignore")
        return type(selection.selector)(**settings).fit(selection.X[rows])
