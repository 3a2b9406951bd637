"""Local quadratic regression of one variable on another."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray

# A cell of the interpolation is halved while it holds more than this share of a neighbourhood.
CELL = 0.2
# By which share of its range the interval of x is widened on either side.
MARGIN = 0.005
# Singular values below this share of the largest are zero: 100 units of rounding.
SINGULAR = 100 * float(np.finfo(float).eps)


def loess(x: FloatArray, y: FloatArray, span: float = 0.3) -> FloatArray:
    """The values at `x` of a smooth curve through the points (x, y).

    At each of a few vertices a parabola is fitted to the nearest share `span` of the points, by
    least squares with tricube weights; between two vertices runs the cubic with their values and
    slopes. Vertices are the ends of the interval and where it is halved by the number of points.

    Parameters
    ----------
    x, y : ndarray of shape (n_points,)
    span : float, default=0.3
        The share of the points that a parabola is fitted to.

    Returns
    -------
    ndarray of shape (n_points,)

    Notes
    -----
    O(n log n) for n points. Where points of a neighbourhood have fewer than three different x,
    the parabola of smallest coefficients is taken.

    References
    ----------
    W. S. Cleveland, E. Grosse. Computational methods for local regression. Statistics and
    Computing 1, 1991.
    """
    n_points = len(x)
    n_near = min(n_points, int(n_points * span + 1e-5))
    if n_near < 3:
        raise ValueError(
            f"A local parabola needs three points, but span={span} takes {n_near} of {n_points}; "
            "use more points or a larger span."
        )
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    vertices = _vertices(ordered, int(n_points * span * CELL))
    fits = np.array([_parabola(ordered, y[order], vertex, n_near) for vertex in vertices])
    return _cubics(x, vertices, fits[:, 0], fits[:, 1])


def _vertices(x: FloatArray, n_per_cell: int) -> FloatArray:
    """Where the curve is fitted, ascending; x is sorted.

    A cell is halved at its median, or at the nearest value to it after which a larger one follows.
    """
    margin = MARGIN * max(x[-1] - x[0], 1e-10 * max(abs(x[0]), abs(x[-1])) + 1e-30)
    vertices = [x[0] - margin, x[-1] + margin]
    cells = [(0, len(x) - 1, vertices[0], vertices[1])]
    while cells:
        first, last, left, right = cells.pop()
        if last - first + 1 <= n_per_cell:
            continue
        middle = _end_of_lower_half(x, first, last)
        cut = x[middle]
        if cut in (left, right):
            continue
        vertices.append(cut)
        cells += [(first, middle, left, cut), (middle + 1, last, cut, right)]
    return np.unique(vertices)


def _end_of_lower_half(x: FloatArray, first: int, last: int) -> int:
    """The place nearest to the middle after which a larger value follows."""
    middle, offset = (first + last) // 2, 0
    while first <= middle + offset < last:
        if x[middle + offset] != x[middle + offset + 1]:
            return middle + offset
        offset = -offset if offset > 0 else 1 - offset
    return middle


def _parabola(x: FloatArray, y: FloatArray, at: float, n_near: int) -> FloatArray:
    """Value and slope at one place of the parabola fitted to the nearest points; x is sorted."""
    # The nearest are consecutive: the first of them is where the left end is no farther.
    low, high = 0, len(x) - n_near
    while low < high:
        start = (low + high) // 2
        if at - x[start] > x[start + n_near] - at:
            low = start + 1
        else:
            high = start
    near = slice(low, low + n_near)
    distance = x[near] - at
    farthest = np.abs(distance).max()
    if farthest == 0:
        return np.array([y[near].mean(), 0.0])
    weights = np.sqrt(np.clip(1 - (np.abs(distance) / farthest) ** 3, 0, None) ** 3)
    design = weights[:, None] * np.column_stack([np.ones(n_near), distance, distance**2])
    lengths = np.linalg.norm(design, axis=0)
    lengths[lengths == 0] = 1
    coefficients = np.linalg.lstsq(design / lengths, weights * y[near], rcond=SINGULAR)[0]
    return (coefficients / lengths)[:2]


def _cubics(
    x: FloatArray, vertices: FloatArray, values: FloatArray, slopes: FloatArray
) -> FloatArray:
    """The piecewise cubic with given values and slopes at the vertices."""
    cell = np.clip(np.searchsorted(vertices, x, side="left") - 1, 0, len(vertices) - 2)
    width = vertices[cell + 1] - vertices[cell]
    t = (x - vertices[cell]) / width
    s = 1 - t
    return (
        s**2 * (1 + 2 * t) * values[cell]
        + t**2 * (1 + 2 * s) * values[cell + 1]
        + width * s * t * (s * slopes[cell] - t * slopes[cell + 1])
    )
