"""Groups of columns that a user names."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any

import numpy as np

from tamis._typing import BoolArray, IntArray
from tamis.utils.messages import describe_columns, did_you_mean
from tamis.utils.named_columns import column_mask

Groups = dict[Hashable, IntArray]


def groups_of(groups: Any, n_features: int, names: Any = None) -> Groups:
    """The columns of each group, by index; every column is in exactly one.

    Parameters
    ----------
    groups : mapping, array-like of shape (n_features,) or None
        A mapping from the name of a group to its columns, by name, pattern or index; or one label
        per column, where None and NaN are in no group.
    n_features : int
    names : array-like of shape (n_features,) or None, default=None
        Names of the columns.

    Returns
    -------
    dict
        In the order of their first columns. A column in no group is a group of its own, under its
        name, or "x0", "x1", … where columns have none.
    """
    if groups is None:
        masks: dict[Hashable, BoolArray] = {}
    elif isinstance(groups, Mapping):
        masks = _listed_groups(groups, n_features, names)
    else:
        masks = _labelled_groups(groups, n_features)
    grouped = np.zeros(n_features, dtype=bool)
    for mask in masks.values():
        grouped |= mask
    found = {name: np.flatnonzero(mask) for name, mask in masks.items()}
    own_names = [f"x{j}" for j in range(n_features)] if names is None else [str(n) for n in names]
    for j in np.flatnonzero(~grouped):
        own = own_names[j]
        if own in masks:
            raise ValueError(
                f"groups has a group {own!r}, but a column outside of it has that name too; rename "
                "the group."
            )
        # Two columns of one name are still two groups.
        found[f"{own} ({j})" if own in found else own] = np.array([j])
    return dict(sorted(found.items(), key=lambda group: group[1][0]))


def _listed_groups(
    groups: Mapping[Hashable, Any], n_features: int, names: Any
) -> dict[Hashable, BoolArray]:
    """The mask of each group of a mapping."""
    masks: dict[Hashable, BoolArray] = {}
    taken = np.full(n_features, None, dtype=object)
    for group, columns in groups.items():
        if isinstance(columns, str | Integral):
            columns = [columns]
        if not isinstance(columns, Iterable):
            raise ValueError(
                f"groups[{group!r}] is {columns!r}; give a list of names or indices of columns."
            )
        mask = column_mask(columns, f"groups[{group!r}]", n_features, names)
        if not mask.any():
            raise ValueError(f"groups[{group!r}] lists no column; leave it out, or list some.")
        shared = np.flatnonzero(mask & np.array([other is not None for other in taken]))
        if len(shared):
            raise ValueError(
                f"groups has {describe_columns(shared, names)} in {taken[shared[0]][0]!r} and in "
                f"{group!r}; a column can be in one group only."
            )
        for j in np.flatnonzero(mask):
            taken[j] = (group,)
        masks[group] = mask
    return masks


def _labelled_groups(labels: Any, n_features: int) -> dict[Hashable, BoolArray]:
    """The mask of each label."""
    labels = np.asarray(labels, dtype=object)
    if labels.shape != (n_features,):
        raise ValueError(
            f"groups has the shape {labels.shape}, but X has {n_features} features; give one label "
            "per column, or a dict from names of groups to their columns."
        )
    masks: dict[Hashable, BoolArray] = {}
    for j, label in enumerate(labels):
        if label is None or label != label:  # NaN
            continue
        if not isinstance(label, Hashable):
            raise ValueError(f"groups has the label {label!r}; use texts or numbers.")
        masks.setdefault(label, np.zeros(n_features, dtype=bool))[j] = True
    return masks


def group_mask(
    wanted: Iterable[Any] | None, parameter: str, groups: Groups, n_features: int, names: Any = None
) -> BoolArray:
    """The mask of the columns that a parameter lists, by the name of a group too.

    As :func:`tamis.utils.named_columns.column_mask`, but a text is first looked up among the names
    of the groups. Numbers are always indices of columns.
    """
    mask = np.zeros(n_features, dtype=bool)
    for entry in () if wanted is None else wanted:
        if not isinstance(entry, str):
            mask |= column_mask([entry], parameter, n_features, names)
            continue
        members = [groups[entry]] if entry in groups else _matching(entry, groups)
        for columns in members:
            mask[columns] = True
        known = [] if names is None else [str(name) for name in names]
        if entry in known or (not members and any(fnmatchcase(name, entry) for name in known)):
            mask |= column_mask([entry], parameter, n_features, names)
        elif not members:
            texts = [group for group in groups if isinstance(group, str)]
            hint = did_you_mean(entry, dict.fromkeys([*known, *texts]))
            raise ValueError(
                f"{parameter} lists {entry!r}, but there is neither a column nor a group of that "
                f"name{hint}."
            )
    return mask


def _matching(pattern: str, groups: Groups) -> list[IntArray]:
    """The groups whose names match a pattern of the shell."""
    if not any(sign in pattern for sign in "*?["):
        return []
    texts = [group for group in groups if isinstance(group, str)]
    return [groups[group] for group in texts if fnmatchcase(group, pattern)]
