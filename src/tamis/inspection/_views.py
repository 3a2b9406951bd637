"""Samples in the plane, seen in all columns and in the selected ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tamis._typing import FloatArray, Matrix
from tamis.utils.sparse import is_sparse

# Numbers in a dense block of columns.
BLOCK_SIZE = 1 << 20


@dataclass(frozen=True)
class View:
    """Samples in the plane.

    Attributes
    ----------
    points : ndarray of shape (n_rows, 2)
    variance : float or None
        Share of the variance that the plane shows; None where that has no meaning.
    """

    points: FloatArray
    variance: float | None = None


def column_blocks(table: Matrix) -> Iterator[FloatArray]:
    """A table as dense blocks of centred columns, fresh copies in float64."""
    if is_sparse(table):
        table = table.tocsc()
    step = max(1, BLOCK_SIZE // table.shape[0])
    for start in range(0, table.shape[1], step):
        block = table[:, start : start + step]
        dense = np.array(block.toarray() if is_sparse(block) else block, dtype=np.float64)
        yield dense - dense.mean(axis=0)


def centred_gram(table: Matrix) -> FloatArray:
    """Inner products of the rows after the columns are centred. O(m²d) for m rows."""
    gram = np.zeros((table.shape[0], table.shape[0]))
    for block in column_blocks(table):
        gram += block @ block.T
    return gram


def principal_coordinates(gram: FloatArray, n_coordinates: int) -> FloatArray:
    """Leading principal coordinates of rows with these inner products; zeros beyond their rank."""
    n_rows = len(gram)
    n_found = min(n_coordinates, n_rows)
    values, vectors = scipy.linalg.eigh(gram, subset_by_index=(n_rows - n_found, n_rows - 1))
    coordinates = np.zeros((n_rows, n_coordinates))
    coordinates[:, :n_found] = (vectors * np.sqrt(values.clip(min=0)))[:, ::-1]
    return coordinates


def principal_view(gram: FloatArray) -> View:
    """The plane of the two leading principal components."""
    points = principal_coordinates(gram, 2)
    total = float(np.trace(gram))
    return View(points, float(np.square(points).sum() / total) if total > 0 else 1.0)


def aligned(view: View, reference: View) -> View:
    """The view turned, or mirrored, towards the reference: eigenvectors have no sign."""
    rotation, _ = scipy.linalg.orthogonal_procrustes(view.points, reference.points)
    return View(view.points @ rotation, view.variance)


def planar_views(gram: FloatArray, kept_gram: FloatArray) -> tuple[View, View]:
    """Principal planes of the rows in all columns and in the selected ones, turned alike."""
    before = principal_view(gram)
    return before, aligned(principal_view(kept_gram), before)
