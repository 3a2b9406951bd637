"""Landmarks: a few representatives of a long table, and how each row is tied to the nearest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.utils.blocks import row_blocks
from tamis.utils.rows import squared_row_norms
from tamis.utils.sparse import is_sparse
from tamis.utils.threads import side_by_side
from tamis.utils.ties import content_ranks

# Landmarks of a table that has rows enough for them, and ties of each row.
N_LANDMARKS = 2000
N_NEAREST = 5
# K-means sees so many rows per landmark, and steps so often.
ROWS_PER_LANDMARK = 20
MOST_STEPS = 10
# Distances between a block of rows and all landmarks, in numbers.
TILE_SIZE = 1 << 21
# Squared distances below this share of the squared norms need double precision.
FINE = 1e-4
# Distances are computed in so few principal components of the landmarks that what they leave out
# of a squared distance is typically no more than this share of the squared bandwidth; it is worth
# it where that is at most this share of the columns, and there are so many landmarks.
LEFT_OUT = 0.02
FEW_COMPONENTS = 0.5
MANY_LANDMARKS = 500


@dataclass(frozen=True)
class Landmarks:
    """Representatives of a table, and the width at which rows are tied to them.

    Attributes
    ----------
    centres : ndarray of shape (n_landmarks, n_features)
        Means of groups of rows, all different.
    n_nearest : int
        How many landmarks each row is tied to.
    bandwidth : float
        Of the heat weights ``exp(-r²/(2·bandwidth²))`` of the ties.
    """

    centres: FloatArray
    n_nearest: int
    bandwidth: float

    @property
    def n_landmarks(self) -> int:
        """How many there are."""
        return len(self.centres)

    def tie(self, X: Matrix) -> sp.csr_array:
        """Tie rows to their nearest landmarks, with weights that sum to one per row.

        Parameters
        ----------
        X : {ndarray, sparse} of shape (n_rows, n_features)
            Any rows: a row's ties depend on nothing but the row.

        Returns
        -------
        csr_array of shape (n_rows, n_landmarks)
            Float64, `n_nearest` numbers per row.

        Notes
        -----
        O(n·m·d) for n rows and m landmarks, in single precision where the landmarks are far enough
        apart for it; memory O(n·n_nearest + m·d) beyond the rows. Of 500 landmarks or more whose
        variance lies in k principal components, half as many as there are columns or fewer, the
        distances are those in these components, O(n·k·(m + d)): squared ones are typically off by
        no more than 2 % of the squared bandwidth, a weight by 1 %.
        """
        X = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.centres.shape[1]:
            raise ValueError(
                f"X has shape {X.shape}, but the landmarks have {self.centres.shape[1]} columns; "
                "tie rows of the table that the landmarks were chosen from."
            )
        indices, squared = self._nearest(X)
        weights = np.exp(-(squared - squared[:, :1]) / (2 * self.bandwidth**2))
        weights /= weights.sum(axis=1, keepdims=True)
        n_rows, n_nearest = indices.shape
        indptr = np.arange(0, n_rows * n_nearest + 1, n_nearest)
        ties = sp.csr_array(
            (weights.ravel(), indices.ravel(), indptr), shape=(n_rows, self.n_landmarks)
        )
        ties.sort_indices()
        return ties

    def _nearest(self, X: Matrix) -> tuple[IntArray, FloatArray]:
        """The nearest landmarks of each row, nearest first, and the squared distances."""
        n_rows = X.shape[0]
        indices = np.empty((n_rows, self.n_nearest), dtype=np.intp)
        squared = np.empty((n_rows, self.n_nearest))
        distances = self._search

        def search(rows: slice) -> None:
            tile = distances.tile(X[rows])
            everyone = np.arange(len(tile))
            for place in range(self.n_nearest):
                nearest = tile.argmin(axis=1)
                indices[rows, place] = nearest
                squared[rows, place] = tile[everyone, nearest]
                tile[everyone, nearest] = np.inf

        side_by_side(search, row_blocks(n_rows, self.n_landmarks, block_size=TILE_SIZE))
        # Without the norms of the rows, distances are known up to a number per row: enough here.
        return indices, squared / distances.scale**2

    @cached_property
    def _search(self) -> _Distances:
        return _Distances(self.centres, LEFT_OUT * self.bandwidth**2)


class _Distances:
    """Squared distances of rows to centres, less the squared norm of each row, in a unit.

    Parameters
    ----------
    centres : ndarray of shape (n_centres, n_features)
    tolerance : float
        What may be left out of a squared distance.
    """

    def __init__(self, centres: FloatArray, tolerance: float) -> None:
        self.origin = centres.mean(axis=0)
        centred = centres - self.origin
        largest = float(np.abs(centred).max(initial=0.0))
        self.scale = 2.0 ** -int(np.frexp(largest)[1]) if largest > 0 else 1.0
        centred *= self.scale
        norms = squared_row_norms(centred)
        self.dtype = np.float32 if _far_apart(centred, norms) else np.float64
        # ‖x − u‖² − ‖x‖² = ‖u‖² − 2uᵀx, a single product with the rows as they are centred.
        self.directions = np.ascontiguousarray((-2 * centred).T, dtype=self.dtype)
        self.norms = norms.astype(self.dtype)
        # Or with their components, and 1.
        self.axes = _leading_axes(centred, tolerance * self.scale**2)
        if self.axes is not None:
            directions = np.vstack([-2 * (centred @ self.axes).T, norms])
            self.of_components = directions.astype(self.dtype)

    def tile(self, X: Matrix) -> FloatArray:
        """The distances of a block of rows, to be changed at will."""
        if is_sparse(X):
            rows = sp.csr_array(X, dtype=np.float64) * self.scale
            offset = (self.origin * self.scale) @ self.directions.astype(np.float64)
            tile = rows @ self.directions.astype(np.float64)
            tile += self.norms - offset
            return tile
        rows = X - self.origin
        rows *= self.scale
        if self.axes is not None:
            components = np.ones((len(rows), self.axes.shape[1] + 1), dtype=self.dtype)
            components[:, :-1] = rows @ self.axes
            return components @ self.of_components
        tile = rows.astype(self.dtype, copy=False) @ self.directions
        tile += self.norms
        return tile


def _leading_axes(centred: FloatArray, tolerance: float) -> FloatArray | None:
    """The principal axes of the centres in which their distances to rows are all but decided.

    A row is a centre and what it has beyond it: along an axis on which the centres have the
    variance v the rows have v and a part of the squared bandwidth, and the product of both
    varies by the product of these variances. None where too many axes are needed.
    """
    n_centres, n_features = centred.shape
    if n_centres < MANY_LANDMARKS:
        return None
    values, axes = np.linalg.eigh(centred.T @ centred / n_centres)
    values = values.clip(min=0)
    within = tolerance / LEFT_OUT / n_features
    left_out = 2 * np.sqrt(np.cumsum(values * (values + within)))  # without the first i + 1 axes
    n_left_out = int(np.searchsorted(left_out, tolerance, side="right"))
    if n_left_out < (1 - FEW_COMPONENTS) * n_features:
        return None
    return np.ascontiguousarray(axes[:, n_left_out:])


def _far_apart(centred: FloatArray, norms: FloatArray) -> bool:
    """Whether single precision tells distances between the centres from rounding."""
    some = centred[:: max(1, len(centred) // 200)]
    squared = squared_row_norms(some)[:, None] + norms - 2 * some @ centred.T
    if len(centred) < 2:
        return True
    nearest = np.partition(squared, 1, axis=1)[:, 1]
    return bool(np.median(nearest) > FINE * norms.mean())


def landmarks_for(n_samples: int) -> int:
    """How many landmarks a table gets: 2000, or one per five rows if it has fewer than 10,000."""
    return max(1, min(N_LANDMARKS, n_samples // 5))


def choose_landmarks(
    X: Matrix,
    n_landmarks: int | None = None,
    *,
    n_nearest: int = N_NEAREST,
    random_state: int | np.random.RandomState | None = 0,
) -> Landmarks:
    """Landmarks of a table: the means of K-means on some of its rows.

    Parameters
    ----------
    X : {ndarray, sparse} of shape (n_samples, n_features)
        The table, or a sample of its rows.
    n_landmarks : int or None, default=None
        How many; there are fewer where fewer rows are distinct. None takes 2000, or one per five
        rows of a table of fewer than 10,000.
    n_nearest : int, default=5
        How many landmarks each row is tied to; at most their number.
    random_state : int, RandomState instance or None, default=0
        Draws the rows for K-means: 20 per landmark, in an order that their values decide, so that
        the order of the rows plays no part.

    Returns
    -------
    Landmarks
        The bandwidth is the median distance from a row to the farthest landmark that it is tied to.

    Notes
    -----
    O(nd + n log n) to order the rows, and O(m²d) per step of K-means, ten at most.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from tamis.graphs import choose_landmarks
    >>> X = load_digits().data
    >>> landmarks = choose_landmarks(X, 100)
    >>> landmarks.tie(X).shape
    (1797, 100)
    """
    X = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    n_samples = X.shape[0]
    wanted = n_landmarks or landmarks_for(n_samples)
    if not 1 <= wanted <= n_samples:
        raise ValueError(
            f"n_landmarks={n_landmarks} is out of range for {n_samples} samples; use a number from "
            f"1 to {n_samples}."
        )
    if n_nearest < 1:
        raise ValueError(f"n_nearest={n_nearest} must be at least 1.")
    rng = check_random_state(random_state)
    outwards = np.argsort(content_ranks(X))
    n_drawn = min(n_samples, ROWS_PER_LANDMARK * wanted)
    rows = X[outwards[np.sort(rng.choice(n_samples, n_drawn, replace=False))]]
    centres = _means_of_groups(rows, _distinct_rows(rows, wanted, rng))
    n_nearest = min(n_nearest, len(centres))
    return Landmarks(centres, n_nearest, _bandwidth(rows, centres, n_nearest))


def _distinct_rows(X: Matrix, wanted: int, rng: np.random.RandomState) -> FloatArray:
    """Up to `wanted` rows, dense, no two of them equal."""
    tried = rng.permutation(X.shape[0])
    found = np.empty((0, X.shape[1]))
    while len(found) < wanted and len(tried):
        some, tried = np.split(tried, [min(len(tried), wanted - len(found))])
        rows = X[np.sort(some)]
        rows = rows.toarray() if is_sparse(rows) else rows
        found = np.unique(np.vstack([found, rows.astype(np.float64) + 0.0]), axis=0)
    return found


def _means_of_groups(X: Matrix, centres: FloatArray) -> FloatArray:
    """The centres after some steps of K-means; those without a row are left out."""
    n_rows = X.shape[0]
    before = np.empty(0, dtype=np.intp)
    for _ in range(MOST_STEPS):
        nearest = Landmarks(centres, 1, 0.0)._nearest(X)[0][:, 0]
        if np.array_equal(nearest, before):
            break
        before = nearest
        members = sp.csr_array(
            (np.ones(n_rows), nearest, np.arange(n_rows + 1)), shape=(n_rows, len(centres))
        )
        sizes = np.bincount(nearest, minlength=len(centres))
        sums = members.T @ X
        sums = sums.toarray() if is_sparse(sums) else sums
        taken = sizes > 0
        centres = sums[taken] / sizes[taken, None]
    return centres


def _bandwidth(X: Matrix, centres: FloatArray, n_nearest: int) -> float:
    """The median distance from a row to the farthest of the landmarks that it is tied to."""
    indices, _ = Landmarks(centres, n_nearest, 0.0)._nearest(X)
    squared = np.empty(X.shape[0])
    for rows in row_blocks(*X.shape):
        some = X[rows].toarray() if is_sparse(X) else X[rows]
        squared[rows] = squared_row_norms(some - centres[indices[rows, -1]])
    for typical in (np.median(squared), squared.mean()):
        if typical > 0:
            return float(np.sqrt(typical))
    return 1.0  # every row is a landmark: any width ties it to that one
