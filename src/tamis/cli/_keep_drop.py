"""The columns that --keep and --drop name: told to the selector, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tamis.cli._failures import CommandError
from tamis.cli._mixed import listed, refuse_both

if TYPE_CHECKING:
    from tamis.base import Selector
    from tamis.cli._source import Source

__all__ = ["at_least_the_kept", "list_columns"]


def list_columns(model: Selector, source: Source, keep: Sequence[str], drop: Sequence[str]) -> int:
    """Tell the selector what to keep and to drop; return how many columns are chosen among."""
    import numpy as np

    if source.mixed is not None:  # what to drop is not in the table
        groups = source.mixed.preparation.groups_
        outputs = [output for name in source.mixed.keep for output in groups[name]]
        places = {name: place for place, name in enumerate(source.table.feature_names)}
        if outputs:
            model.set_params(keep=[places[output] for output in outputs])
        return len(groups)
    names = [str(name) for name in source.table.feature_names]
    kept = listed(keep, "--keep", names, source.name)
    dropped = listed(drop, "--drop", names, source.name)
    refuse_both(kept, dropped, names)
    if kept.any():
        model.set_params(keep=np.flatnonzero(kept).tolist())
    if dropped.any():
        model.set_params(drop=np.flatnonzero(dropped).tolist())
    n_left = int(np.count_nonzero(~dropped))
    if n_left == 0:
        raise CommandError(f"{source.name}: nothing to select: --drop names all of its columns.")
    return n_left


def at_least_the_kept(
    number: int, wanted: int | float | None, model: Selector, source: Source
) -> int:
    """The number of columns, which those to keep may raise where none was asked for."""
    n_kept = len(source.mixed.keep) if source.mixed is not None else len(model.keep or ())
    if n_kept > number and wanted is not None:
        raise CommandError(
            f"-k keeps {number} columns, but --keep names {n_kept}; ask for at least {n_kept}."
        )
    return max(n_kept, number)
