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

from tamis.graphs._adaptive import (
    WEIGHT_SMOOTHING,
    CandidateEdges,
    affine_weights,
    simplex_weights,
)
from tamis.graphs._cache import shared_neighbors
from tamis.graphs._hubness import Hubness, hubness, is_star
from tamis.graphs._landmark_graph import Graph, LandmarkGraph
from tamis.graphs._landmark_search import weighted_landmarks
from tamis.graphs._landmarks import Landmarks, choose_landmarks, landmarks_for
from tamis.graphs._laplacians import (
    degrees,
    dirichlet_energies,
    feature_roughness,
    laplacian,
    n_components,
    normalized_laplacian,
)
from tamis.graphs._local_geometry import (
    lle_laplacian,
    lle_weights,
    local_gram,
    local_sets,
    neighborhood_blocks,
)
from tamis.graphs._local_regression import LocalRegressions, mean_spread
from tamis.graphs._method import GraphReport, Method, affordable_method
from tamis.graphs._neighbor_graph import neighbor_graph
from tamis.graphs._neighbors import Neighbors, nearest_neighbors
from tamis.graphs._sample_graph import leading_scores, sample_graph, sample_neighbors
from tamis.graphs._spectral import (
    landmark_embedding,
    laplacian_eigenvectors,
    smallest_cut_vectors,
    spectral_embedding,
)
from tamis.graphs._weights import Symmetry, Weights, check_affinity, symmetrize

__all__ = [
    "WEIGHT_SMOOTHING",
    "CandidateEdges",
    "Graph",
    "GraphReport",
    "Hubness",
    "LandmarkGraph",
    "Landmarks",
    "LocalRegressions",
    "Method",
    "Neighbors",
    "Symmetry",
    "Weights",
    "affine_weights",
    "affordable_method",
    "check_affinity",
    "choose_landmarks",
    "degrees",
    "dirichlet_energies",
    "feature_roughness",
    "hubness",
    "is_star",
    "landmark_embedding",
    "landmarks_for",
    "laplacian",
    "laplacian_eigenvectors",
    "leading_scores",
    "lle_laplacian",
    "lle_weights",
    "local_gram",
    "local_sets",
    "mean_spread",
    "n_components",
    "nearest_neighbors",
    "neighbor_graph",
    "neighborhood_blocks",
    "normalized_laplacian",
    "sample_graph",
    "sample_neighbors",
    "shared_neighbors",
    "simplex_weights",
    "smallest_cut_vectors",
    "spectral_embedding",
    "symmetrize",
    "weighted_landmarks",
]
