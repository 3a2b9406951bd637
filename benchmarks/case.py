"""What a benchmark case is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Work = Callable[[Any], Any]


@dataclass(frozen=True)
class Case:
    """One row of the table.

    `ours` and `peer` take the loaded table; what they return must be equal when `same_result`. A
    dictionary may overrule the measured "seconds" and carry a "note". `min_ratio` is peer seconds
    over ours, `max_megabytes` our peak memory beyond the data.
    """

    name: str
    shape: str
    load: Callable[[], Any]
    ours: Work
    peer: Work | None = None
    peer_name: str = ""
    min_ratio: float | None = None
    max_megabytes: float | None = None
    same_result: bool = False
    needs: str | None = None
    repeats: int = 1


SKFEATURE = "skfeature-chappers 1.2.1"


def fit(X: Any, method: str, **parameters: Any) -> None:
    """Fit a registered method."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    from tamis.registry import make

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        make(method, **parameters).fit(X)
