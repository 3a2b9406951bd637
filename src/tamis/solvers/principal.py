"""Leading principal components of a dense or sparse table."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from tamis._typing import FloatArray, Matrix
from tamis.solvers.dense import eigh
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import variances
from tamis.utils.condensed import Condensed

# Up to this side the smaller Gram matrix of a dense table is formed and decomposed directly.
DENSE_GRAM_MAX = 2000


def principal_components(
    X: Matrix | Condensed, wanted: int | float
) -> tuple[FloatArray, FloatArray]:
    """Variances and unit directions of the leading components of the centred table.

    Parameters
    ----------
    X : {ndarray, CSR, Condensed} of shape (n_samples, n_features)
    wanted : int or float
        Their number, at most min(n_samples, n_features), or the fraction in (0, 1) of the total
        variance that they must carry.

    Returns
    -------
    variances : ndarray of shape (n_components,)
        Descending.
    directions : ndarray of shape (n_features, n_components)

    Notes
    -----
    The smaller of the d × d covariance and the n × n Gram matrix is formed where the table is
    dense and that side at most 2000: O(nd·min(n, d)). Otherwise Lanczos applies it implicitly.
    """
    components = _Components(X)
    if isinstance(wanted, Integral):
        return components.leading(int(wanted))
    return _carrying(components, wanted * variances(X).sum())


def _carrying(components: _Components, variance: float) -> tuple[FloatArray, FloatArray]:
    """As many leading components as carry the given variance: tried in doubling numbers."""
    n_tried = components.side if components.is_dense else min(16, components.side)
    while True:
        values, directions = components.leading(n_tried)
        # Rounding may keep the sum of all components just below the total.
        enough = np.cumsum(values) >= variance * (1 - 1e-12)
        if enough.any() or n_tried == components.side:
            n_needed = int(enough.argmax()) + 1 if enough.any() else n_tried
            return values[:n_needed], directions[:, :n_needed]
        n_tried = min(2 * n_tried, components.side)


class _Components:
    """Finds leading components of a centred table, of any number, by its smaller Gram matrix."""

    def __init__(self, X: Matrix | Condensed) -> None:
        self.X = TableOperator.centred(X, copied=False)
        self.n_samples, n_features = X.shape
        self.side = min(X.shape)
        self.by_features = n_features <= self.n_samples
        self.is_dense = not self.X.is_sparse and self.side <= DENSE_GRAM_MAX
        self._gram: FloatArray | None = None

    def leading(self, n_components: int) -> tuple[FloatArray, FloatArray]:
        """The `n_components` leading variances and directions."""
        if self.is_dense or n_components > self.side // 2:
            if self._gram is None:
                by_features = self.by_features
                gram = self.X.gram_of_features() if by_features else self.X.gram_of_samples()
                self._gram = gram
            wanted = (self.side - n_components, self.side - 1)
            values, vectors = eigh(self._gram, subset_by_index=wanted)
        else:
            operator = LinearOperator(
                (self.side, self.side), matvec=self._apply_gram, dtype=np.float64
            )
            start = np.random.default_rng(0).standard_normal(self.side)
            if self._apply_gram(start).any():
                values, vectors = eigsh(operator, n_components, which="LA", v0=start)
            else:  # no variance at all, which ARPACK does not take
                values, vectors = np.zeros(n_components), np.eye(self.side, n_components)
        order = np.argsort(-values)
        values, vectors = values[order].clip(min=0), vectors[:, order]
        if not self.by_features:
            vectors = self.X.transposed_times(vectors)
            norms = np.linalg.norm(vectors, axis=0)
            vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        return values / self.n_samples, vectors

    def _apply_gram(self, v: FloatArray) -> FloatArray:
        if self.by_features:
            return self.X.transposed_times(self.X.times(v))
        return self.X.times(self.X.transposed_times(v))
