"""What the user has decided, and the selection that follows from it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from tamis import registry
from tamis._typing import FloatArray, IntArray, Matrix
from tamis.auto import Auto, scores_again
from tamis.base import Selector
from tamis.grouped import GroupedSelector
from tamis.preprocessing import Preparation, drawn_samples, scaled
from tamis.studio._table import OpenTable
from tamis.utils.counts import NEIGHBOR_ROWS, number_by_default

SEED = 0


@dataclass(frozen=True)
class Decisions:
    """Everything that a click can change; one step of undo.

    Attributes
    ----------
    method : str
    number : int or None
        How many columns; None is found, or a tenth.
    clusters : int or None
    keep, drop : tuple of str
        Columns of the table.
    kinds : tuple of (str, str)
        What columns hold, where recognition was corrected.
    labels : str or None
        The column that is set aside as labels.
    ids : tuple of str
        Columns that name the rows, set aside.
    """

    method: str = registry.DEFAULT_METHOD
    number: int | None = None
    clusters: int | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    labels: str | None = None
    ids: tuple[str, ...] = ()

    @property
    def unseen(self) -> tuple[str, ...]:
        """The columns that no method looks at."""
        aside = () if self.labels is None else (self.labels,)
        return (*self.drop, *aside, *self.ids)

    def with_column(self, name: str, wish: str) -> Decisions:
        """A column kept, dropped, or left to the method ("free")."""
        keep = tuple(one for one in self.keep if one != name)
        drop = tuple(one for one in self.drop if one != name)
        ids = tuple(one for one in self.ids if one != name)
        labels = None if self.labels == name else self.labels
        if wish == "keep":
            keep = (*keep, name)
        elif wish == "drop":
            drop = (*drop, name)
        elif wish == "label":
            labels = name
        elif wish == "id":
            ids = (*ids, name)
        elif wish != "free":
            raise ValueError(f"{wish!r} is nothing that can be done with a column.")
        number = self.number
        if number is not None:
            number = max(number, len(keep))
        return replace(self, keep=keep, drop=drop, ids=ids, labels=labels, number=number)

    def with_kind(self, name: str, kind: str) -> Decisions:
        """A column taken for something else; "auto" leaves it to recognition."""
        kinds = tuple(pair for pair in self.kinds if pair[0] != name)
        return replace(self, kinds=kinds if kind == "auto" else (*kinds, (name, kind)))


@dataclass(frozen=True, eq=False)
class Numbers:
    """What a method is given of a table.

    Attributes
    ----------
    X : {ndarray, CSR} of shape (n_rows, n_outputs)
    outputs : list of str
    sources : list of str
        The columns of the table that there are numbers of, in order.
    sizes : ndarray of int
        How many outputs each of these has.
    preparation : Preparation or None
        None where the table is used as it is.
    """

    X: Matrix
    outputs: list[str]
    sources: list[str]
    sizes: IntArray
    preparation: Preparation | None = None

    @cached_property
    def starts(self) -> IntArray:
        """The first output of each source."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.intp)

    @property
    def rows(self) -> Any:
        """Which rows of the table these are."""
        return slice(None) if self.preparation is None else self.preparation.rows_

    def key(self) -> tuple[int, int]:
        """Tells two of these apart."""
        return id(self.X), len(self.sources)


def numbers_of(table: OpenTable, decisions: Decisions) -> Numbers:
    """The numbers of a table: as they are where it has no others, else prepared."""
    names = table.names
    if table.matrix is not None and not decisions.kinds:
        return Numbers(table.matrix, names, names, np.ones(len(names), dtype=np.intp))
    dropped = set(decisions.unseen)
    chosen = [name for name in names if name not in dropped]
    if not chosen:
        raise ValueError("all columns are dropped; take one back.")
    preparation = Preparation(missing="impute", kinds=dict(decisions.kinds) or None)
    columns = table.columns
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # its notes tell the same
        X = preparation.fit_transform({name: columns[name] for name in chosen})
    groups = preparation.groups_
    return Numbers(
        X,
        [str(name) for name in preparation.get_feature_names_out()],
        list(groups),
        np.array([len(made) for made in groups.values()], dtype=np.intp),
        preparation,
    )


@dataclass(frozen=True, eq=False)
class Chosen:
    """A fitted method and what it says of the columns of the table.

    Attributes
    ----------
    decisions : Decisions
    numbers : Numbers
    model : Selector
        Fitted on the numbers, output by output.
    X : {ndarray, CSR}
        What it was fitted on: rows drawn, columns scaled.
    scores : ndarray of shape (n_sources,)
    ranking : ndarray of shape (n_sources,)
        1 is the best.
    number : int
        How many are kept: those of the lowest ranks.
    found : bool
        Whether the method found the number.
    said : tuple of str
        What was done to the table and what the method warned of, a sentence each.
    """

    decisions: Decisions
    numbers: Numbers
    model: Selector
    X: Matrix
    scores: FloatArray
    ranking: IntArray
    number: int
    found: bool
    said: tuple[str, ...] = field(default=())

    @property
    def order(self) -> IntArray:
        """The sources, the best first."""
        return np.argsort(self.ranking, kind="stable")

    def kept(self, number: int | None = None) -> list[str]:
        """The names of the kept columns, the best first."""
        number = self.number if number is None else number
        return [self.numbers.sources[j] for j in self.order[:number]]

    @property
    def representative(self) -> IntArray:
        """Of each source the output that scores best."""
        numbers = self.numbers
        if len(numbers.outputs) == len(numbers.sources):
            return np.arange(len(numbers.sources))
        scores = self.model.scores_
        return np.array(
            [
                start + int(np.argmax(scores[start : start + size]))
                for start, size in zip(numbers.starts, numbers.sizes, strict=True)
            ],
            dtype=np.intp,
        )


def choose(numbers: Numbers, decisions: Decisions) -> Chosen:
    """Rank the columns as ``tamis select`` does with the same decisions."""
    method = registry.get(decisions.method)
    model = method.selector()
    settings = {"random_state": SEED, "verbose": False}
    if decisions.clusters is not None and method.cluster_parameter:
        settings[method.cluster_parameter] = decisions.clusters
    model.set_params(**{k: v for k, v in settings.items() if k in model.get_params()})
    n_sources = len(numbers.sources)
    X, said = numbers.X, []
    if method.compares_rows:
        rows = drawn_samples(X.shape[0], NEIGHBOR_ROWS, SEED)
        if not isinstance(rows, slice):
            said.append(f"Ranked on {NEIGHBOR_ROWS:,} of the {X.shape[0]:,} rows, drawn at random.")
            X = X[rows]
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        if method.scaling != "none":
            X = scaled(X, method.scaling, np.array(numbers.outputs, dtype=object))
            if numbers.sizes.max() > 1:  # what was made of one column counts as one
                X = X / np.sqrt(np.repeat(numbers.sizes, numbers.sizes))
        _fit_defaults(model, method, X.shape[0], decisions)
        places = {name: place for place, name in enumerate(numbers.sources)}
        keep = [places[name] for name in decisions.keep if name in places]
        drop = [places[name] for name in decisions.unseen if name in places]
        finds = isinstance(model.n_features_to_select, str)
        number = decisions.number
        n_left = n_sources - len(drop)
        if number is None and not finds:
            number = number_by_default(n_left)
        if number is not None:
            number = max(min(number, n_left), len(keep), 1)
        fitted = _fitted(model, numbers, X, number, keep, drop)
    said += dict.fromkeys(str(one.message) for one in warned)
    if isinstance(fitted, GroupedSelector):
        ranking, scores = fitted.group_ranking_, fitted.group_scores_
        model = fitted.selector_
        support = fitted.get_support()
        found_number = int(np.count_nonzero(np.logical_or.reduceat(support, numbers.starts)))
    else:
        model, ranking, scores = fitted, fitted.ranking_, fitted.scores_
        found_number = int(fitted.get_support().sum())
    found = number is None
    return Chosen(
        decisions,
        numbers,
        model,
        X,
        np.asarray(scores, dtype=np.float64),
        np.asarray(ranking),
        max(1, found_number) if number is None else number,
        found,
        tuple(said),
    )


def quick_answer(before: Chosen, decisions: Decisions) -> Chosen | None:
    """What other columns to keep and to drop will change, in a fraction of a fit; None if unknown.

    The groups stay as they were found: the fit that follows may differ in a few columns.
    """
    model, numbers = before.model, before.numbers
    same = replace(decisions, keep=(), drop=(), number=None) == replace(
        before.decisions, keep=(), drop=(), number=None
    )
    listed = (decisions.keep, decisions.drop) != (before.decisions.keep, before.decisions.drop)
    plain = numbers.preparation is None
    if not (same and listed and plain and isinstance(model, Auto)):
        return None
    keep = np.isin(np.array(numbers.sources, dtype=object), list(decisions.keep))
    drop = np.isin(np.array(numbers.sources, dtype=object), list(decisions.unseen))
    scores = scores_again(model, before.X, keep, drop)
    ranking = np.empty(len(scores), dtype=np.intp)
    ranking[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    number = before.number if decisions.number is None else decisions.number
    number = max(1, min(number, int(np.count_nonzero(~drop))))
    return replace(before, decisions=decisions, scores=scores, ranking=ranking, number=number)


def _fitted(
    model: Selector,
    numbers: Numbers,
    X: Matrix,
    number: int | None,
    keep: Sequence[int],
    drop: Sequence[int],
) -> Selector:
    """The method fitted, by groups where a column of the table became several."""
    if numbers.preparation is None:
        model.set_params(keep=list(keep) or None, drop=list(drop) or None)
        if number is not None:
            model.set_params(n_features_to_select=number)
        return model.fit(X)
    labels = np.repeat(np.arange(len(numbers.sources)), numbers.sizes)
    kept = [int(j) for j in np.flatnonzero(np.isin(labels, keep))]
    grouped = GroupedSelector(model, labels, n_features_to_select=number, keep=kept or None)
    return grouped.fit(X)


def _fit_defaults(
    model: Selector, method: registry.Method, n_rows: int, decisions: Decisions
) -> None:
    """Lower the defaults that are too large for the rows to the largest that fit."""
    largest = n_rows - 1
    for name in ("n_neighbors", "n_clusters", method.cluster_parameter or ""):
        if name == method.cluster_parameter and decisions.clusters is not None:
            continue
        default = model.get_params().get(name)
        if isinstance(default, int) and default > largest >= 1:
            model.set_params(**{name: largest})
