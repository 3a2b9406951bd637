"""The sample graph over which the functions of maximum margin clustering vary little."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tamis._typing import Matrix, SparseMatrix
from tamis.graphs import neighbor_graph, normalized_laplacian
from tamis.solvers.margin_hessian import GaussianLaplacian, SparseLaplacian
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import variances

ManifoldGraph = Literal["auto", "full", "knn"]

# "auto" takes the complete graph up to this many samples.
COMPLETE_GRAPH_MAX = 3000


def is_complete(graph: ManifoldGraph, n_samples: int) -> bool:
    """Whether the graph of so many samples is the complete one."""
    return graph == "full" or (graph == "auto" and n_samples <= COMPLETE_GRAPH_MAX)


def manifold_laplacian(
    X: Matrix,
    graph: ManifoldGraph | SparseMatrix,
    n_neighbors: int,
    *,
    bandwidth: float | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> SparseLaplacian | GaussianLaplacian:
    """The normalised Laplacian of a graph of the samples.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    graph : {"auto", "full", "knn"} or csr_array of shape (n_samples, n_samples)
        The complete graph, that of the nearest neighbours, or one that is given; "auto" takes the
        complete graph up to 3000 samples.
    n_neighbors, n_jobs, verbose
        Of the neighbours, as in :func:`tamis.graphs.neighbor_graph`.
    bandwidth : float or None, default=None
        ρ of the Gaussian weights. None takes half of the root mean square distance between samples
        for the complete graph, the median distance between neighbours for the other.
    """
    if not isinstance(graph, str):
        return SparseLaplacian(normalized_laplacian(graph))
    if is_complete(graph, X.shape[0]):
        # The mean of ‖x_i − x_j‖² over all pairs is twice the total variance.
        bandwidth = bandwidth or 0.5 * float(np.sqrt(2 * variances(X).sum()))
        return GaussianLaplacian(TableOperator.centred(X), bandwidth)
    found = neighbor_graph(X, n_neighbors, bandwidth=bandwidth, n_jobs=n_jobs, verbose=verbose)
    return SparseLaplacian(normalized_laplacian(found))
