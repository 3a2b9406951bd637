"""Sample graphs, always sparse: neighbours, weights, Laplacians, spectral embedding.

Compute a graph once and pass it to any graph method as ``affinity=``:

>>> from sklearn.datasets import load_iris
>>> from tamis import SPEC, LaplacianScore
>>> from tamis.graphs import neighbor_graph
>>> X = load_iris().data
>>> affinity = neighbor_graph(X, n_neighbors=5)
>>> LaplacianScore(affinity=affinity).fit(X).ranking_
array([3, 4, 1, 2])
>>> SPEC(affinity=affinity, style=3).fit(X).ranking_
array([3, 4, 2, 1])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.preprocessing import normalize

from tamis._neighbor_memory import shared_neighbors
from tamis._neighbors import Neighbors, nearest_neighbors
from tamis._tiles import pair_distances, power_of_two_scale
from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.columns import dirichlet_energies, neighborhood_blocks, weighted_moments

__all__ = [
    "Neighbors",
    "check_affinity",
    "degrees",
    "dirichlet_energies",
    "feature_roughness",
    "laplacian",
    "laplacian_eigenvectors",
    "lle_laplacian",
    "lle_weights",
    "local_gram",
    "local_sets",
    "n_components",
    "nearest_neighbors",
    "neighbor_graph",
    "normalized_laplacian",
    "shared_neighbors",
    "spectral_embedding",
    "symmetrize",
]

Weights = Literal["binary", "heat", "cosine"]
Symmetry = Literal["max", "mean", "min"]

# Below this many samples a dense eigensolver is faster than Lanczos, and always converges.
DENSE_EIGEN_MAX = 400
# Edges of less relative weight do not count for the eigenvectors.
NEGLIGIBLE_WEIGHT = 1e-8


def neighbor_graph(
    X: Matrix,
    n_neighbors: int = 5,
    *,
    weights: Weights = "heat",
    bandwidth: float | None = None,
    symmetry: Symmetry = "max",
    neighbors: Neighbors | None = None,
    approximate: bool = False,
    random_state: int | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> SparseMatrix:
    """The symmetric, weighted graph of each sample and its nearest neighbours.

    Parameters
    ----------
    X : {array-like, sparse} of shape (n_samples, n_features)
    n_neighbors : int, default=5
        Neighbours of each sample, itself not counted; less than `n_samples`.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weight of the edge between two neighbours at distance r: ``exp(-r²/(2·bandwidth²))``, 1, or
        the cosine of their angle (negative ones count as 0). With "cosine" the neighbours too are
        those of smallest angle.
    bandwidth : float or None, default=None
        Of the heat weights. None takes the median distance between neighbours, which makes the
        weights free of the data's scale.
    symmetry : {"max", "mean", "min"}, default="max"
        How the two directions of an edge become one: "max" keeps an edge that either end chose,
        "min" one that both chose, "mean" halves an edge that only one end chose.
    neighbors : Neighbors or None, default=None
        Already known Euclidean neighbours, for heat and binary weights; `n_neighbors` is then
        unused.
    approximate, random_state, n_jobs, verbose
        As in :func:`nearest_neighbors`.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Symmetric, non-negative, zero diagonal, float64.

    Notes
    -----
    The cost is that of :func:`nearest_neighbors` and O(nk).

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.graphs import neighbor_graph
    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, weights="binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if weights not in ("heat", "binary", "cosine"):
        raise ValueError(f"weights={weights!r} is unknown; use 'heat', 'binary' or 'cosine'.")
    if bandwidth is not None and not bandwidth > 0:
        raise ValueError(f"bandwidth={bandwidth} must be positive, or None for the median.")
    _check_symmetry(symmetry)
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    n_samples = X.shape[0]
    directed = np.arange(n_samples)  # samples that have a direction, with cosine weights
    if weights == "cosine":
        if neighbors is not None:
            raise ValueError("weights='cosine' has neighbours of its own; leave out neighbors.")
        X, directed = _unit_rows(X)
        if n_neighbors >= len(directed):
            raise ValueError(
                f"n_neighbors={n_neighbors} is too large: weights='cosine' needs rows that are not "
                f"zero, and X has {len(directed)} of them."
            )
    if neighbors is None:
        neighbors = nearest_neighbors(
            X,
            n_neighbors,
            approximate=approximate,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
    if weights == "heat":
        values = _heat(neighbors.distances, bandwidth)
    elif weights == "cosine":
        values = 1 - neighbors.distances**2 / 2
        values[values < 1e-12] = 0  # of right angles only rounding is left
    else:
        values = np.ones_like(neighbors.distances)
    graph = _directed_graph(neighbors.indices, values)
    if len(directed) < n_samples:
        edges = sp.coo_array(graph)
        place = tuple(directed[ends] for ends in edges.coords)
        graph = sp.csr_array((edges.data, place), shape=(n_samples, n_samples))
    return symmetrize(graph, symmetry)


def _unit_rows(X: Matrix) -> tuple[Matrix, IntArray]:
    """The rows that are not zero, scaled to unit length in float64, and which they are."""
    X = X.astype(np.float64)
    X = X * power_of_two_scale(max(float(X.max()), -float(X.min())))
    squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else np.einsum("nd,nd->n", X, X)
    directed = np.flatnonzero(squares)
    return normalize(X[directed]), directed


def _heat(distances: FloatArray, bandwidth: float | None) -> FloatArray:
    if bandwidth is None:
        bandwidth = float(np.median(distances))
        if bandwidth == 0:  # at least half of the neighbours are duplicates
            bandwidth = float(distances.mean())
        if bandwidth == 0:
            return np.ones_like(distances)
    weights = np.exp(-0.5 * (distances / bandwidth) ** 2)
    if not weights.any():
        raise ValueError(
            f"bandwidth={bandwidth:g} leaves no edge: the nearest neighbours are "
            f"{distances.min():.3g} or more apart; use a larger one, or None for the median."
        )
    return weights


def _directed_graph(indices: IntArray, values: FloatArray) -> SparseMatrix:
    n_samples, n_neighbors = indices.shape
    indptr = np.arange(0, n_samples * n_neighbors + 1, n_neighbors)
    graph = sp.csr_array((values.ravel(), indices.ravel(), indptr), shape=(n_samples, n_samples))
    graph.sort_indices()
    return graph


def symmetrize(graph: Any, symmetry: Symmetry = "max") -> SparseMatrix:
    """One weight for both directions of each edge: their maximum, mean or minimum. O(nk).

    Use it on directed graphs from elsewhere, such as scikit-learn's ``kneighbors_graph``, before
    they are passed as ``affinity=``.
    """
    _check_symmetry(symmetry)
    graph = sp.csr_array(graph)
    if symmetry == "max":
        graph = graph.maximum(graph.T)
    elif symmetry == "mean":
        graph = (graph + graph.T) / 2
    else:
        graph = graph.minimum(graph.T)
    graph = sp.csr_array(graph)
    graph.eliminate_zeros()
    return graph


def _check_symmetry(symmetry: str) -> None:
    if symmetry not in ("max", "mean", "min"):
        raise ValueError(f"symmetry={symmetry!r} is unknown; use 'max', 'mean' or 'min'.")


def lle_weights(
    X: Matrix, n_neighbors: int = 5, *, reg: float = 1e-3, neighbors: Neighbors | None = None
) -> SparseMatrix:
    """Weights that best rebuild each sample from its neighbours (locally linear embedding).

    Each row minimises ``‖x_i − Σ_j S_ij x_j‖²`` under ``Σ_j S_ij = 1``, with `reg` times the trace
    of the local Gram matrix added to its diagonal, as in scikit-learn.

    Parameters
    ----------
    X : {ndarray, sparse} of shape (n_samples, n_features)
    n_neighbors : int, default=5
    reg : float, default=1e-3
    neighbors : Neighbors or None, default=None
        Already known neighbours; `n_neighbors` is then unused.

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Directed, rows sum to one. O(nk²d + nk³) beyond the search.
    """
    if neighbors is None:
        neighbors = nearest_neighbors(X, n_neighbors)
    indices = neighbors.indices
    n_samples, n_neighbors = indices.shape
    X = sp.csr_array(X, dtype=np.float64) if sp.issparse(X) else np.asarray(X)
    values = np.empty((n_samples, n_neighbors))
    for rows in neighborhood_blocks(X, n_samples, n_neighbors):
        gram = local_gram(X, np.arange(rows.start, rows.stop), indices[rows])
        trace = np.trace(gram, axis1=1, axis2=2)
        ridge = np.where(trace > 0, reg * trace, reg)
        gram[:, np.arange(n_neighbors), np.arange(n_neighbors)] += ridge[:, None]
        solution = np.linalg.solve(gram, np.ones((len(gram), n_neighbors, 1)))[:, :, 0]
        values[rows] = solution / solution.sum(axis=1, keepdims=True)
    return _directed_graph(indices, values)


def lle_laplacian(X: Matrix, neighbors: Neighbors, reg: float) -> SparseMatrix:
    """``(I − S)ᵀ(I − S)`` with S the weights of :func:`lle_weights`: sparse, its rows sum to zero.

    Its form is small for values that each sample's neighbours rebuild as they rebuild the sample.
    O(nk²d + nk³).
    """
    remainder = sp.eye_array(X.shape[0]) - lle_weights(X, reg=reg, neighbors=neighbors)
    return sp.csr_array(remainder.T @ remainder)


def local_gram(X: Matrix, centres: IntArray, indices: IntArray) -> FloatArray:
    """Inner products of the differences between samples and their neighbours. O(mk²d).

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    centres : ndarray of shape (m,)
    indices : ndarray of shape (m, k)
        The neighbours of each centre.

    Returns
    -------
    ndarray of shape (m, k, k)
    """
    if not sp.issparse(X):
        differences = np.subtract(X[indices], X[centres][:, None], dtype=np.float64)
        return differences @ differences.transpose(0, 2, 1)
    # ⟨a − x, b − x⟩ = (‖a − x‖² + ‖b − x‖² − ‖a − b‖²) / 2 needs distances only.
    m, k = indices.shape
    to_centre = pair_distances(X, np.repeat(centres, k), indices.ravel()).reshape(m, k)
    left = np.repeat(indices, k, axis=1).ravel()
    right = np.tile(indices, k).ravel()
    between = pair_distances(X, left, right).reshape(m, k, k)
    return (to_centre[:, :, None] + to_centre[:, None, :] - between) / 2


def local_sets(affinity: SparseMatrix) -> list[tuple[IntArray, IntArray]]:
    """The neighbours of each sample in a graph, grouped by their number. O(nnz).

    Returns
    -------
    list of (centres, indices)
        For each number k of neighbours that occurs: the m samples that have k, and their
        neighbours, of shape (m, k). Samples without a neighbour are left out.
    """
    edges = sp.coo_array(affinity)
    row, column = edges.coords
    proper = (row != column) & (edges.data != 0)
    graph = sp.csr_array((edges.data[proper], (row[proper], column[proper])), shape=edges.shape)
    counts = np.diff(graph.indptr)
    sets = []
    for k in np.unique(counts[counts > 0]):
        centres = np.flatnonzero(counts == k)
        sets.append((centres, graph.indices[graph.indptr[centres][:, None] + np.arange(k)]))
    return sets


def check_affinity(affinity: Any, n_samples: int) -> SparseMatrix:
    """A precomputed graph as a CSR array, or an error that says what is wrong with it. O(nnz)."""
    try:
        graph = sp.csr_array(affinity, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"affinity must be a sparse or dense matrix of numbers, not "
            f"{type(affinity).__name__}; build one with tamis.graphs.neighbor_graph."
        ) from error
    if graph.shape != (n_samples, n_samples):
        raise ValueError(
            f"affinity has shape {graph.shape}, but X has {n_samples} samples: it must be "
            f"({n_samples}, {n_samples}), computed from the same rows."
        )
    if not np.isfinite(graph.data).all():
        raise ValueError("affinity contains NaN or infinity; its weights must be finite.")
    if (graph.data < 0).any():
        raise ValueError("affinity contains negative weights; they must be at least zero.")
    asymmetry = abs(graph - graph.T)
    if asymmetry.nnz and asymmetry.max() > 1e-10 * graph.max():
        raise ValueError(
            "affinity is not symmetric; pass tamis.graphs.symmetrize(affinity) instead."
        )
    if not graph.data.any():
        raise ValueError("affinity has no edge of positive weight.")
    graph.eliminate_zeros()
    return graph


def degrees(affinity: SparseMatrix) -> FloatArray:
    """Sum of the weights at each sample. O(nnz)."""
    return np.asarray(affinity.sum(axis=1)).ravel()


def laplacian(affinity: SparseMatrix) -> SparseMatrix:
    """``L = D − W``: the graph Laplacian, sparse. O(nnz)."""
    return sp.csr_array(sp.diags_array(degrees(affinity)) - affinity)


def normalized_laplacian(affinity: SparseMatrix) -> SparseMatrix:
    """``D^-½ (D − W) D^-½``; the rows of samples without an edge are zero. O(nnz)."""
    scale = sp.diags_array(_inverse_sqrt(degrees(affinity)))
    return sp.csr_array(scale @ laplacian(affinity) @ scale)


def _inverse_sqrt(values: FloatArray) -> FloatArray:
    return np.divide(1, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def n_components(affinity: SparseMatrix) -> int:
    """Number of connected components; a sample without an edge is one of its own. O(nnz)."""
    graph = sp.csr_array(affinity, copy=True)
    graph.eliminate_zeros()  # a stored zero is no edge
    return int(connected_components(graph, directed=False, return_labels=False))


def feature_roughness(affinity: SparseMatrix, X: Matrix, *, centre: bool) -> FloatArray:
    """``fᵀLf / fᵀDf`` for each column f: how much it varies along the edges, within [0, 2].

    With `centre` the denominator is taken after the weighted mean of f is removed (the numerator
    never feels it): that is the Laplacian score. Columns with a zero denominator get 2, the worst.
    Cost as :func:`dirichlet_energies`.
    """
    degree = degrees(affinity)
    mean, scatter = weighted_moments(X, degree)
    squared_norm = scatter + degree.sum() * mean**2
    denominator = scatter if centre else squared_norm
    ratio = np.full(X.shape[1], 2.0)
    energies = dirichlet_energies(affinity, X)
    # The scatter of a column that is constant on all samples with an edge is a rounding error.
    rounding = 16 * X.shape[0] ** 2 * np.finfo(np.float64).eps ** 3
    np.divide(energies, denominator, out=ratio, where=denominator > rounding * squared_norm)
    return ratio.clip(0, 2)


def laplacian_eigenvectors(
    affinity: SparseMatrix, n_vectors: int, *, drop_constant: bool = True
) -> tuple[FloatArray, FloatArray]:
    """The smoothest unit eigenvectors of the normalised Laplacian, and their eigenvalues.

    A graph of q components has the eigenvalue 0 q times. Its eigenvectors are known: they are
    constant (times D^½) on each component. They are written down, not searched for: first the one
    that is constant everywhere (left out with `drop_constant`), then contrasts that set each
    component, the largest first, against all larger ones. Lanczos finds the rest, in their
    orthogonal complement, so that no multiple eigenvalue 0 can mislead it.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
        Symmetric and non-negative. Samples without an edge get zeros.
    n_vectors : int
        At most the number of samples with an edge, less one if `drop_constant`.
    drop_constant : bool, default=True

    Returns
    -------
    eigenvalues : ndarray of shape (n_vectors,)
        Ascending, within [0, 2].
    eigenvectors : ndarray of shape (n_samples, n_vectors)
        Orthonormal, each with its largest entry positive.

    Notes
    -----
    O(nnz) a Lanczos step, O(n·n_vectors) memory; a dense solver for small graphs.
    """
    affinity = _without_negligible_edges(affinity)
    degree = degrees(affinity)
    connected = np.flatnonzero(degree > 0)
    available = len(connected) - drop_constant
    if not 1 <= n_vectors <= available:
        raise ValueError(
            f"{n_vectors} eigenvectors were asked of a graph that has {available} "
            f"({len(connected)} samples have an edge); ask for fewer (n_clusters, n_components)."
        )
    indicators = _component_indicators(affinity, degree)
    vectors = _component_contrasts(indicators, degree, n_vectors + drop_constant)
    vectors = vectors[:, int(drop_constant) :]
    values = np.zeros(vectors.shape[1])
    n_missing = n_vectors - len(values)
    if n_missing > 0:
        inner = affinity[connected][:, connected]
        more_values, more_vectors = _smoothest(
            inner, degree[connected], indicators[connected], n_missing
        )
        padded = np.zeros((len(degree), n_missing))
        padded[connected] = more_vectors
        values = np.concatenate([values, more_values])
        vectors = np.hstack([vectors, padded])
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(n_vectors)])
    return values, vectors * signs


def _without_negligible_edges(affinity: SparseMatrix) -> SparseMatrix:
    """The graph without the edges that an eigensolver cannot see. O(nnz).

    Heat weights span hundreds of digits. Parts that hang together by edges of relative weight
    ``w_ij / sqrt(d_i d_j)`` below 1e-8 alone have eigenvalues that are zero but for rounding;
    without those edges they are components like others.
    """
    root = np.sqrt(degrees(affinity))
    edges = sp.coo_array(affinity)
    left, right = edges.coords
    visible = edges.data > NEGLIGIBLE_WEIGHT * root[left] * root[right]
    kept = (edges.data[visible], (left[visible], right[visible]))
    return sp.csr_array(kept, shape=affinity.shape)


def _component_indicators(affinity: SparseMatrix, degree: FloatArray) -> SparseMatrix:
    """D^½ restricted to each component, as unit columns: a basis of the Laplacian's null space.

    The largest component first, equal sizes by the sum of their degrees, so that the order of the
    samples plays no part; samples without an edge belong to none. Sparse, one number a sample.
    """
    _, component = connected_components(affinity, directed=False)
    member = np.flatnonzero(degree > 0)
    _, first, name, size = np.unique(
        component[member], return_index=True, return_inverse=True, return_counts=True
    )
    volume = np.bincount(name, degree[member])
    rank = np.empty(len(size), dtype=np.intp)
    rank[np.lexsort((first, -volume, -size))] = np.arange(len(size))
    values = np.sqrt(degree[member] / volume[name])
    return sp.csr_array((values, (member, rank[name])), shape=(len(degree), len(size)))


def _component_contrasts(
    indicators: SparseMatrix, degree: FloatArray, n_vectors: int
) -> FloatArray:
    """The constant vector, then each component against all larger ones: orthonormal columns.

    At most `n_vectors` of them.
    """
    volume = (abs(indicators) > 0).T @ degree
    n_columns = min(n_vectors, len(volume))
    before = np.concatenate([[0.0], np.cumsum(volume)[:-1]])
    mixing = np.zeros((len(volume), n_columns))
    mixing[:, 0] = np.sqrt(volume / volume.sum())
    for j in range(1, n_columns):
        # Both sides weigh the same, so that it is orthogonal to all that is constant on 0 … j.
        both = before[j] + volume[j]
        mixing[:j, j] = -np.sqrt(volume[:j] / before[j]) * np.sqrt(volume[j] / both)
        mixing[j, j] = np.sqrt(before[j] / (before[j] + volume[j]))
    return indicators @ mixing


def _smoothest(
    affinity: SparseMatrix, degree: FloatArray, null_space: SparseMatrix, n_vectors: int
) -> tuple[FloatArray, FloatArray]:
    """The eigenpairs of the normalised Laplacian that follow its null space."""
    n_samples = affinity.shape[0]
    n_null = null_space.shape[1]
    scale = sp.diags_array(1 / np.sqrt(degree))
    similarity = sp.csr_array(scale @ affinity @ scale)
    if n_samples <= DENSE_EIGEN_MAX or n_null + n_vectors > n_samples // 2:
        # Shifted to −1.5, below all others, the null space does not come among the largest.
        shifted = similarity.toarray() - 2.5 * (null_space @ null_space.T).toarray()
        wanted = (n_samples - n_vectors, n_samples - 1)
        values, vectors = scipy.linalg.eigh(shifted, subset_by_index=wanted)
    else:

        def apply(v: FloatArray) -> FloatArray:
            return similarity @ v - 2.5 * (null_space @ (null_space.T @ v))

        values, vectors = _largest_with_copies(apply, n_samples, n_vectors)
    order = np.argsort(-values)
    return (1 - values[order]).clip(0, 2), vectors[:, order]


def _largest_with_copies(
    apply: Callable[[FloatArray], FloatArray], size: int, n_vectors: int
) -> tuple[FloatArray, FloatArray]:
    """The largest eigenpairs of an operator with eigenvalues in [-1.5, 1], copies included.

    Lanczos from one vector may miss copies of a multiple eigenvalue. What it found is pushed below
    all others, and the search goes on while something larger than the smallest found remains.
    """
    rng = np.random.default_rng(0)
    values, vectors = np.empty(0), np.empty((size, 0))
    while True:
        found = vectors

        def deflated(v: FloatArray, found: FloatArray = found) -> FloatArray:
            return apply(v) - 3 * (found @ (found.T @ v))

        n_more = max(1, n_vectors - len(values))
        more_values, more_vectors = eigsh(
            LinearOperator((size, size), matvec=deflated, dtype=np.float64),
            n_more,
            which="LA",
            v0=rng.standard_normal(size),
            ncv=min(size, max(2 * n_more + 1, 40)),
        )
        complete = len(values) == n_vectors
        if complete and more_values.max() <= values.min() + 1e-9:
            return values, vectors
        values = np.concatenate([values, more_values])
        vectors = np.linalg.qr(np.hstack([vectors, more_vectors]))[0]
        largest = np.argsort(-values)[:n_vectors]
        values, vectors = values[largest], vectors[:, largest]


def spectral_embedding(
    affinity: SparseMatrix, n_components: int, *, drop_constant: bool = True
) -> tuple[FloatArray, FloatArray]:
    """The smoothest solutions of ``L y = λ D y`` on a graph (Laplacian eigenmaps).

    Disconnected graphs are handled: only the constant vector is dropped, the vectors that tell the
    components apart stay; see :func:`laplacian_eigenvectors`.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
    n_components : int
    drop_constant : bool, default=True

    Returns
    -------
    eigenvalues : ndarray of shape (n_components,)
        Ascending.
    embedding : ndarray of shape (n_samples, n_components)
        ``YᵀDY = I``; zeros for samples without an edge.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.graphs import neighbor_graph, spectral_embedding
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])  # two components
    >>> eigenvalues, embedding = spectral_embedding(neighbor_graph(X, 1), 1)
    >>> (embedding > 0).ravel()
    array([False, False, False,  True,  True,  True])
    """
    affinity = _without_negligible_edges(affinity)
    values, vectors = laplacian_eigenvectors(affinity, n_components, drop_constant=drop_constant)
    return values, _inverse_sqrt(degrees(affinity))[:, None] * vectors
