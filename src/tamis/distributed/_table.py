"""A table that was read in blocks, as selectors see it: its products, and its graph on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from sklearn.preprocessing import normalize

from tamis._typing import BoolArray, FloatArray, IntArray
from tamis.distributed._checkpoint import Checkpoint
from tamis.distributed._passes import RowSource, run_pass
from tamis.distributed._survey import (
    MomentsStep,
    affine_scale,
    drawn_rows,
    rounding_among,
)
from tamis.distributed._ties import TieProducts
from tamis.graphs import Landmarks, Weights, landmarks_for, weighted_landmarks
from tamis.io import LazyTable, TableError
from tamis.utils.condensed import Condensed
from tamis.utils.validation import Table, check_table, constant_columns, decides_on

__all__ = ["CondensedTable", "Needs", "condense"]

# What a method needs of a table that is read in blocks: the variances of the columns, their
# products, also their products with a graph of the rows, or all of these at once in one matrix; or
# rows, of which some have to do.
Needs = Literal["variances", "products", "graph", "joint products", "rows"]

# Rows that landmarks are chosen among.
DRAWN_ROWS = 40_000
# Rows on which a method decides that compares rows.
SAMPLED_ROWS = 20_000
# A table that is read whole is copied, centred and scaled.
COPIES_OF_ROWS = 6
# Products are held a few times over: added up, merged, decomposed.
COPIES_OF_PRODUCTS = 6


@dataclass(frozen=True, eq=False)
class CondensedTable(Condensed):
    """A condensed table that can go back to the rows it was made of.

    Attributes
    ----------
    source : LazyTable
    columns : ndarray of int
        Which columns of the source these are.
    shift, scale : ndarray of shape (n_features,)
        What was subtracted from the columns, and what they were divided by.
    drawn : ndarray of shape (n_drawn, n_features)
        Rows that were drawn at random, scaled.
    checkpoint : Checkpoint or None
    """

    source: RowSource
    columns: IntArray
    shift: FloatArray
    scale: FloatArray
    drawn: FloatArray
    checkpoint: Checkpoint | None

    def of_columns(self, chosen: BoolArray | Sequence[int]) -> Self:
        """Some of the columns."""
        return replace(
            super().of_columns(chosen),
            columns=self.columns[chosen],
            shift=self.shift[chosen],
            scale=self.scale[chosen],
            drawn=self.drawn[:, chosen],
        )

    def tie_products(
        self, n_nearest: int, weights: Weights = "heat", bandwidth: float | None = None
    ) -> TieProducts:
        """The products with the ties of all rows to landmarks: a pass over the table.

        Parameters
        ----------
        n_nearest : int
            How many landmarks each row is tied to.
        weights, bandwidth
            Of the ties, as :func:`tamis.graphs.sample_graph` has them.
        """
        by_direction = weights == "cosine"
        kept = {} if self.checkpoint is None else self.checkpoint.kept
        if "centres" in kept:
            landmarks = Landmarks(kept["centres"], int(kept["n_nearest"]), float(kept["bandwidth"]))
        else:
            drawn = normalize(self.drawn) if by_direction else self.drawn
            landmarks = weighted_landmarks(drawn, n_nearest, weights, bandwidth)
            kept["centres"] = landmarks.centres
            kept["n_nearest"] = np.array(landmarks.n_nearest)
            kept["bandwidth"] = np.array(landmarks.bandwidth)
        step = TiesStep(landmarks, by_direction, self.columns, self.shift, self.scale, self.mean)
        products: TieProducts = run_pass(self.source, step, self.checkpoint)
        return products.with_landmarks_in_use()

    def finished(self) -> None:
        """Take the checkpoint away: all passes are over."""
        if self.checkpoint is not None:
            self.checkpoint.remove()


@dataclass(frozen=True, eq=False)
class TiesStep:
    """What the second pass computes of a block."""

    landmarks: Landmarks
    by_direction: bool
    columns: IntArray
    shift: FloatArray
    scale: FloatArray
    mean: FloatArray
    number: int = 2
    label: str = "ties to landmarks"

    def __call__(self, X: FloatArray, start: int, place: str) -> TieProducts:
        """The products of a block."""
        everything = np.array_equal(self.columns, np.arange(X.shape[1]))
        rows = (X if everything else X[:, self.columns]).astype(np.float64, order="C")
        rows -= self.shift
        rows /= self.scale
        ties = self.landmarks.tie(normalize(rows) if self.by_direction else rows)
        rows -= self.mean
        return TieProducts.of(rows, ties)

    def restored(self, held: Mapping[str, FloatArray]) -> TieProducts:
        """The products from their arrays."""
        return TieProducts.from_arrays(held)


def condense(source: RowSource, needs: Needs, task: Mapping[str, Any]) -> Table:
    """Read a table once, and check it as those in memory are checked.

    Parameters
    ----------
    source : LazyTable or DaskTable
    needs : {"variances", "products", "graph", "joint products", "rows"}
    task : dict
        What is computed, for the checkpoint: a name and parameters.

    Returns
    -------
    Table
        Its X is a CondensedTable; or rows, where these are needed, or where all of them take less
        memory than the products of their columns.
    """
    checkpoint = _checkpoint_of(source, task)
    if needs == "rows":
        table = _rows_of(source, drawn_rows(source.shape[0], SAMPLED_ROWS), checkpoint)
        if checkpoint is not None:
            checkpoint.remove()
        return table
    with_graph = needs in ("graph", "joint products")
    n_landmarks = landmarks_for(source.shape[0]) if needs == "joint products" else 0
    if needs != "variances" and _is_wide(source, n_landmarks):
        _refuse_wide(source, n_landmarks)
        return _rows_of(source, np.arange(source.shape[0]), None)
    run = partial(run_pass, source, checkpoint=checkpoint)
    wanted = drawn_rows(source.shape[0], DRAWN_ROWS if with_graph else 0)
    step = MomentsStep(source.first_row(), needs != "variances", wanted, source.names)
    survey = run(step)
    moments = survey.moments
    rounding = rounding_among(source, moments, run)
    constant, cautions = constant_columns(moments.lowest, moments.highest, rounding, source.names)
    shift, scale = affine_scale(moments, source.scaling, constant)
    unit = np.multiply.outer(scale, scale) if moments.products.ndim == 2 else scale**2
    X = CondensedTable(
        n_samples=moments.count,
        mean=(moments.origin - shift + moments.shift) / scale,
        gram=moments.products / unit,
        lowest=(moments.lowest - shift) / scale,
        highest=(moments.highest - shift) / scale,
        source=source,
        columns=np.arange(source.shape[1]),
        shift=shift,
        scale=scale,
        drawn=(survey.drawn - shift) / scale,
        checkpoint=checkpoint,
    )
    names = None if source.names is None else np.array(source.names, dtype=object)
    return Table(X, names, X.lowest, X.highest, constant, cautions)  # type: ignore[arg-type]


def _checkpoint_of(source: RowSource, task: Mapping[str, Any]) -> Checkpoint | None:
    if not isinstance(source, LazyTable) or source.checkpoint is None:
        return None
    return Checkpoint(source.checkpoint, source, {**task, "scaling": source.scaling})


def _rows_of(source: RowSource, wanted: IntArray, checkpoint: Checkpoint | None) -> Table:
    """Some rows as a table in memory; the values of all rows are checked, and scale the columns."""
    step = MomentsStep(source.first_row(), False, wanted, source.names)
    survey = run_pass(source, step, checkpoint)
    moments = survey.moments
    shift, scale = affine_scale(moments, source.scaling, moments.lowest == moments.highest)
    table = check_table((survey.drawn - shift) / scale)
    names = None if source.names is None else np.array(source.names, dtype=object)
    cautions = table.cautions
    if len(wanted) < moments.count:
        cautions += (decides_on(len(wanted), moments.count),)
    return replace(table, names=names, cautions=cautions)


def _is_wide(source: RowSource, n_landmarks: int) -> bool:
    """Whether the products of the columns take more than the memory allowed, or than all rows."""
    n_rows, n_columns = source.shape
    products = _bytes_of_products(n_columns + n_landmarks)
    return products > source.memory or (n_rows < n_columns and _fits(source))


def _bytes_of_products(n_columns: int) -> int:
    return COPIES_OF_PRODUCTS * 8 * n_columns**2


def _fits(source: RowSource) -> bool:
    n_rows, n_columns = source.shape
    return COPIES_OF_ROWS * 8 * n_rows * n_columns <= source.memory


def _refuse_wide(source: RowSource, n_landmarks: int) -> None:
    """Refuse a table of which neither the products nor the rows fit into the memory allowed."""
    if not _fits(source):
        n_columns = source.shape[1]
        needed = _bytes_of_products(n_columns + n_landmarks)
        raise TableError(
            f"{source.name}: the products of {n_columns:,} columns "
            f"{f'and {n_landmarks:,} landmarks ' * bool(n_landmarks)}take {needed / 1e9:.1f} GB, "
            f"more than the memory allowed, {source.memory / 1e9:.1f} GB; allow more, leave "
            "columns out, or use MaxVariance, which needs no products."
        )
