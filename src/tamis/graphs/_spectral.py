"""The smoothest eigenvectors of a graph's Laplacian, of disconnected graphs too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from tamis._typing import FloatArray, Matrix, SparseMatrix
from tamis.graphs._landmark_graph import Graph, LandmarkGraph
from tamis.graphs._laplacians import degrees, inverse_sqrt

# Below this many samples a dense eigensolver is faster than Lanczos, and always converges.
DENSE_EIGEN_MAX = 400
# Lanczos that has not found the eigenvectors after so many restarts meets a clustered spectrum.
LANCZOS_RESTARTS = 300
# What is added to the Laplacian before it is inverted: less than the eigenvalues to be told apart.
INVERSE_SHIFT = 1e-6
# Edges of less relative weight do not count for the eigenvectors.
NEGLIGIBLE_WEIGHT = 1e-8
# An eigenvalue of a landmark graph's affinity below this is rounding, and its vector arbitrary.
SMALLEST_AFFINITY = 1e-10


def laplacian_eigenvectors(
    affinity: Graph, n_vectors: int, *, drop_constant: bool = True
) -> tuple[FloatArray, FloatArray]:
    """The smoothest unit eigenvectors of the normalised Laplacian, and their eigenvalues.

    A graph of q components has the eigenvalue 0 q times. Its eigenvectors are known: they are
    constant (times D^½) on each component. They are written down, not searched for: first the one
    that is constant everywhere (left out with `drop_constant`), then contrasts that set each
    component, the largest first, against all larger ones. Lanczos finds the rest, in their
    orthogonal complement, so that no multiple eigenvalue 0 can mislead it.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples) or LandmarkGraph
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
    O(nnz) per Lanczos step, O(n·n_vectors) memory; a dense solver for small graphs. Where Lanczos
    does not converge (chains and other thin graphs), it works on a sparse factor of the Laplacian.
    A landmark graph of m landmarks needs that of their m × m matrix only, and O(n) per eigenvector.
    """
    if isinstance(affinity, LandmarkGraph):
        values, B = landmark_embedding(
            affinity.tie_gram, affinity.mass, n_vectors, drop_constant=drop_constant
        )
        return values, affinity.ties @ B
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


def spectral_embedding(
    affinity: Graph, n_components: int, *, drop_constant: bool = True
) -> tuple[FloatArray, FloatArray]:
    """The smoothest solutions of ``L y = λ D y`` on a graph (Laplacian eigenmaps).

    Disconnected graphs are handled: only the constant vector is dropped, the vectors that tell the
    components apart stay; see :func:`laplacian_eigenvectors`.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples) or LandmarkGraph
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
    if isinstance(affinity, LandmarkGraph):  # its degrees are 1
        return laplacian_eigenvectors(affinity, n_components, drop_constant=drop_constant)
    affinity = _without_negligible_edges(affinity)
    values, vectors = laplacian_eigenvectors(affinity, n_components, drop_constant=drop_constant)
    return values, inverse_sqrt(degrees(affinity))[:, None] * vectors


def smallest_cut_vectors(affinity: SparseMatrix, n_vectors: int) -> FloatArray:
    """The smoothest unit eigenvectors of ``D − W``, the constant one included.

    The indicators of the components come first. Where there are more components than vectors were
    asked for, all of them are returned: which to leave out, rounding would decide.

    Parameters
    ----------
    affinity : csr_array of shape (n_samples, n_samples)
        Symmetric and non-negative; a sample without an edge is a component.
    n_vectors : int
        At most n_samples.

    Returns
    -------
    ndarray of shape (n_samples, n_found)
        Orthonormal.

    Notes
    -----
    A dense solver for small graphs; else Lanczos on a sparse factor of the Laplacian.
    """
    n_samples = affinity.shape[0]
    degree = degrees(affinity)
    _, component = connected_components(affinity, directed=False)
    values = 1 / np.sqrt(np.bincount(component)[component])
    indicators = sp.csr_array((values, (np.arange(n_samples), component)))
    n_missing = n_vectors - indicators.shape[1]
    if n_missing <= 0:
        return np.asarray(indicators.toarray())
    scaled = (sp.diags_array(degree) - affinity) / (2 * degree.max())
    if n_samples <= DENSE_EIGEN_MAX or n_vectors > n_samples // 2:
        lifted = scaled.toarray() + 2 * (indicators @ indicators.T).toarray()
        others = scipy.linalg.eigh(lifted, subset_by_index=(0, n_missing - 1))[1]
    else:
        similarity = sp.csr_array(sp.eye_array(n_samples) - scaled)
        others = _smoothest_by_inverse(similarity, indicators, n_missing)
    return np.hstack([indicators.toarray(), others])


def landmark_embedding(
    tie_gram: Matrix, mass: FloatArray, n_vectors: int, *, drop_constant: bool = True
) -> tuple[FloatArray, FloatArray]:
    """The smoothest eigenvectors ``Y = ZB`` of a landmark graph, from ``ZᵀZ`` alone.

    With ``Λ = diag(mass)``, the singular vectors of ``ZΛ^-½`` come from the eigenpairs (σ, V) of
    the m × m matrix ``Λ^-½ ZᵀZ Λ^-½``: ``Y = ZΛ^-½Vσ^-½``. The rows of Z are not needed: ``XᵀY``
    is ``(XᵀZ)B``.

    Parameters
    ----------
    tie_gram : {ndarray, sparse} of shape (n_landmarks, n_landmarks)
        ``ZᵀZ``. As the affinity of a graph of landmarks it has the degrees `mass`, so that
        landmarks that share no sample, directly or through others, are components of it.
    mass : ndarray of shape (n_landmarks,)
        Sums of the columns of Z. Landmarks of mass 0 get zeros.
    n_vectors : int
        Less than the number of landmarks with a mass.
    drop_constant : bool, default=True
        Whether to leave the constant vector out.

    Returns
    -------
    eigenvalues : ndarray of shape (n_vectors,)
        Of the Laplacian I − W: ascending, within [0, 1].
    B : ndarray of shape (n_landmarks, n_vectors)
        ``Y = ZB`` has orthonormal columns.

    Notes
    -----
    O(nnz) per Lanczos step, or O(m³) for few landmarks; independent of the number of samples.
    """
    values, vectors = laplacian_eigenvectors(
        sp.csr_array(tie_gram), n_vectors, drop_constant=drop_constant
    )
    affinity = 1 - values
    if affinity.min() < SMALLEST_AFFINITY:
        n_found = int(np.count_nonzero(affinity >= SMALLEST_AFFINITY))
        raise ValueError(
            f"{n_vectors} eigenvectors were asked of a graph of {len(mass)} landmarks that has "
            f"{n_found}; take more landmarks, or ask for fewer (n_clusters, n_components)."
        )
    return values, inverse_sqrt(mass)[:, None] * vectors / np.sqrt(affinity)


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
    samples plays no part; samples without an edge belong to none. Sparse, one number per sample.
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

        try:
            values, vectors = _largest_with_copies(apply, n_samples, n_vectors)
        except ArpackNoConvergence:
            vectors = _smoothest_by_inverse(similarity, null_space, n_vectors)
            values = np.einsum("ij,ij->j", vectors, similarity @ vectors)
    order = np.argsort(-values)
    return (1 - values[order]).clip(0, 2), vectors[:, order]


def _smoothest_by_inverse(
    similarity: SparseMatrix, null_space: SparseMatrix, n_vectors: int
) -> FloatArray:
    """The eigenvectors that follow the null space, by Lanczos on the inverse of the Laplacian.

    Graphs like chains (of samples with few distinct columns) have many eigenvalues next to zero,
    which Lanczos on the Laplacian itself does not tell apart. Their factors have little fill-in.
    """
    n_samples = similarity.shape[0]
    laplacian_ = sp.identity(n_samples, format="csc") - sp.csc_matrix(similarity)
    factor = splu(sp.csc_matrix(laplacian_ + INVERSE_SHIFT * sp.identity(n_samples)))

    def without_null_space(v: FloatArray) -> FloatArray:
        return v - null_space @ (null_space.T @ v)

    def apply(v: FloatArray) -> FloatArray:
        return INVERSE_SHIFT * without_null_space(factor.solve(without_null_space(v)))

    return _largest_with_copies(apply, n_samples, n_vectors, relative=True)[1]


def _largest_with_copies(
    apply: Callable[[FloatArray], FloatArray],
    size: int,
    n_vectors: int,
    *,
    relative: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """The largest eigenpairs of an operator with eigenvalues in [-1.5, 1], copies included.

    Eigenvalues within 1e-9, or within that share of them if `relative`, count as copies.

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
            maxiter=LANCZOS_RESTARTS,
        )
        complete = len(values) == n_vectors
        slack = 1e-9 * (values.min() if complete and relative else 1)
        if complete and more_values.max() <= values.min() + slack:
            return values, vectors
        values = np.concatenate([values, more_values])
        vectors = np.linalg.qr(np.hstack([vectors, more_vectors]))[0]
        largest = np.argsort(-values)[:n_vectors]
        values, vectors = values[largest], vectors[:, largest]
