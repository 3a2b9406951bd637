"""Leading principal components of a dense or sparse table, centred without a copy."""

from __future__ import annotations

from numbers import Integral

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from tamis._typing import FloatArray, Matrix
from tamis.columns import row_blocks, variances, weighted_moments

# Up to this side the smaller Gram matrix of a dense table is formed and decomposed directly.
DENSE_GRAM_MAX = 2000


def principal_components(X: Matrix, wanted: int | float) -> tuple[FloatArray, FloatArray]:
    """Variances and unit directions of the leading components of the centred table.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
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
    centred = _Centred(X)
    if isinstance(wanted, Integral):
        return centred.leading(int(wanted))
    return _carrying(centred, wanted * variances(X).sum())


def _carrying(centred: _Centred, variance: float) -> tuple[FloatArray, FloatArray]:
    """As many leading components as carry the given variance: tried in doubling numbers."""
    n_tried = min(16, centred.side)
    while True:
        values, directions = centred.leading(n_tried)
        # Rounding may keep the sum of all components just below the total.
        enough = np.cumsum(values) >= variance * (1 - 1e-12)
        if enough.any() or n_tried == centred.side:
            n_needed = int(enough.argmax()) + 1 if enough.any() else n_tried
            return values[:n_needed], directions[:, :n_needed]
        n_tried = min(2 * n_tried, centred.side)


class _Centred:
    """A table minus its column means, as an operator."""

    def __init__(self, X: Matrix) -> None:
        self.X = X
        self.n_samples, self.n_features = X.shape
        self.mean = weighted_moments(X, np.ones(self.n_samples))[0]
        self.side = min(X.shape)
        self.by_features = self.n_features <= self.n_samples
        self._gram: FloatArray | None = None

    def leading(self, n_components: int) -> tuple[FloatArray, FloatArray]:
        """The `n_components` leading variances and directions."""
        dense = not sp.issparse(self.X) and self.side <= DENSE_GRAM_MAX
        if dense or n_components > self.side // 2:
            if self._gram is None:
                self._gram = self._form_gram()
            wanted = (self.side - n_components, self.side - 1)
            values, vectors = scipy.linalg.eigh(self._gram, subset_by_index=wanted)
        else:
            operator = LinearOperator(
                (self.side, self.side), matvec=self._apply_gram, dtype=np.float64
            )
            start = np.random.default_rng(0).standard_normal(self.side)
            values, vectors = eigsh(operator, n_components, which="LA", v0=start)
        order = np.argsort(-values)
        values, vectors = values[order].clip(min=0), vectors[:, order]
        if not self.by_features:
            vectors = self._transposed(vectors)
            norms = np.linalg.norm(vectors, axis=0)
            vectors = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
        return values / self.n_samples, vectors

    def _times(self, v: FloatArray) -> FloatArray:
        return self.X @ v - self.mean @ v

    def _transposed(self, u: FloatArray) -> FloatArray:
        correction = np.multiply.outer(self.mean, u.sum(axis=0))
        return self.X.T @ u - correction

    def _apply_gram(self, v: FloatArray) -> FloatArray:
        if self.by_features:
            return self._transposed(self._times(v))
        return self._times(self._transposed(v))

    def _form_gram(self) -> FloatArray:
        if sp.issparse(self.X):
            return self._apply_gram(np.eye(self.side))
        gram = np.zeros((self.side, self.side))
        if self.by_features:
            for rows in row_blocks(self.n_samples, self.n_features):
                block = self.X[rows] - self.mean
                gram += block.T @ block
        else:
            for columns in row_blocks(self.n_features, self.n_samples):
                block = self.X[:, columns] - self.mean[columns]
                gram += block @ block.T
        return gram
