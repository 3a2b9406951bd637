"""Which sets a run is on: the experiment's, those of them that are named, or others beside them."""

from __future__ import annotations

from collections.abc import Sequence

from tamis import datasets
from tamis.reproduction.experiment import Experiment

__all__ = ["at_hand", "wanted"]


def wanted(
    experiment: Experiment, quick: bool, sets: Sequence[str] | None = None
) -> tuple[str, ...]:
    """The sets to run, in the experiment's order; others that it takes come last.

    Parameters
    ----------
    experiment : Experiment
    quick : bool
        Whether it is the quick version, which has fewer sets unless some are named.
    sets : sequence of str or None, default=None
        Names as the registry or the experiment's paper has them; where the experiment takes other
        sets, also that of a file in the folder that TAMIS_DATA names.
    """
    if sets is None:
        return experiment.quick_sets if quick else experiment.sets
    chosen = dict.fromkeys(_our_name(experiment, name) for name in sets)
    strangers = [name for name in chosen if name not in experiment.sets]
    if not chosen or (strangers and not experiment.takes_sets):
        problem = f"{min(strangers)} is no set" if strangers else "no set is named"
        raise ValueError(
            f"{experiment.name}: {problem} of this experiment; its sets are "
            f"{', '.join(experiment.sets)}."
        )
    return (*(name for name in experiment.sets if name in chosen), *strangers)


def at_hand(sets: Sequence[str]) -> list[str]:
    """Those of the sets that can be loaded without the network."""
    known = datasets.available()
    return [name for name in sets if name in known or _is_own_file(name)]


def _our_name(experiment: Experiment, name: str) -> str:
    for theirs, ours in experiment.other_names.items():
        if theirs.casefold() == name.casefold():
            return ours
    if experiment.takes_sets and _is_own_file(name):
        return name
    try:
        return datasets.entry(name).name
    except datasets.DatasetError as error:
        if not experiment.takes_sets:
            raise
        raise datasets.DatasetError(
            f"{error} A set of your own is taken by its name once {name}.npz (or .mat, .csv) is in "
            "the folder that TAMIS_DATA names."
        ) from None


def _is_own_file(name: str) -> bool:
    """Whether the name is not registered, and a file of that name is in the local folder."""
    if _is_registered(name):
        return False
    try:
        return datasets.origin(name) is not None
    except datasets.DatasetError:
        return False


def _is_registered(name: str) -> bool:
    try:
        datasets.entry(name)
    except datasets.DatasetError:
        return False
    return True
