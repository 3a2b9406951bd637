"""Ridge regressions of any values on the features, one in the neighbourhood of each sample."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.graphs._local_geometry import local_gram, neighborhood_blocks


class LocalRegressions:
    """For each sample i a regression of values y on its neighbours' features, without i itself.

    It minimises ``Σ_j (y_j − ⟨w, x_j⟩ − b)² + λ‖w‖²`` over the neighbours j of i.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    sets : list of (centres, indices)
        The neighbours of each sample; see :func:`local_sets`.
    ridge : float
        λ, positive.

    Attributes
    ----------
    predictions : csr_array of shape (n_samples, n_samples)
        A: ``Ay`` has what each regression says of its own sample. Rows of samples with a neighbour
        sum to one.

    Notes
    -----
    O(nk²d + nk³) for k neighbours; memory O(nk²).
    """

    def __init__(self, X: Matrix, sets: list[tuple[IntArray, IntArray]], ridge: float) -> None:
        self._n_samples = X.shape[0]
        self._sets = sets
        self._duals: list[FloatArray] = []
        rows, columns, values = [], [], []
        for centres, indices in sets:
            n_sets, k = indices.shape
            duals, weights = np.empty((n_sets, k, k)), np.empty((n_sets, k))
            for some in neighborhood_blocks(X, n_sets, k):
                gram = local_gram(X, centres[some], indices[some])
                duals[some] = _dual_maps(gram, ridge)
                # With the sample as the origin its own features are zero.
                weights[some] = 1 / k - np.einsum("mj,mjl->ml", gram.mean(axis=1), duals[some])
            self._duals.append(duals)
            rows.append(np.repeat(centres, k))
            columns.append(indices.ravel())
            values.append(weights.ravel())
        self.predictions = self._sparse(rows, columns, values, self._n_samples)

    def weights_map(self, Y: FloatArray) -> SparseMatrix:
        """D of which ``DX`` has the weights w of all regressions as rows, for each column of Y.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_targets)

        Returns
        -------
        csr_array of shape (n_targets * n_samples, n_samples)
            First all samples for the first column of Y. Its rows sum to zero.
        """
        rows, columns, values = [], [], []
        for (centres, indices), duals in zip(self._sets, self._duals, strict=True):
            found = np.einsum("mjl,mlc->cmj", duals, Y[indices])
            for target, one in enumerate(found):
                rows.append(np.repeat(centres + target * self._n_samples, indices.shape[1]))
                columns.append(indices.ravel())
                values.append(one.ravel())
        return self._sparse(rows, columns, values, Y.shape[1] * self._n_samples)

    def _sparse(
        self, rows: list[IntArray], columns: list[IntArray], values: list[FloatArray], n_rows: int
    ) -> SparseMatrix:
        coordinates = (np.concatenate(rows), np.concatenate(columns))
        return sp.csr_array((np.concatenate(values), coordinates), shape=(n_rows, self._n_samples))


def mean_spread(X: Matrix, sets: list[tuple[IntArray, IntArray]]) -> float:
    """The mean squared distance of a neighbour from the mean of its neighbourhood. O(nk²d)."""
    total, count = 0.0, 0
    for centres, indices in sets:
        for some in neighborhood_blocks(X, *indices.shape):
            gram = local_gram(X, centres[some], indices[some])
            total += float(np.trace(gram, axis1=1, axis2=2).sum() - gram.mean(axis=2).sum())
        count += indices.size
    return max(total, 0.0) / count


def _dual_maps(grams: FloatArray, ridge: float) -> FloatArray:
    """``H(HGH + λI)⁻¹H`` for each Gram matrix G, with H = I − 11ᵀ/k. O(mk³)."""
    k = grams.shape[1]
    H = np.eye(k) - 1 / k
    system = H @ grams @ H
    system[:, np.arange(k), np.arange(k)] += ridge
    # The constant vector, which H removes, is an eigenvector of the system.
    solved: FloatArray = np.linalg.solve(system, np.broadcast_to(H, system.shape))
    return H @ solved
