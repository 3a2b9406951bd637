"""Stand-ins for pynndescent, which takes long to compile and finds nearly the neighbours only."""

from __future__ import annotations

import sys
import types
from importlib.machinery import ModuleSpec

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist


def stand_in(monkeypatch, neighbors_of):
    """Replace pynndescent: `neighbors_of(X, n_neighbors)` gives the index table it returns."""
    calls = []

    class NNDescent:
        def __init__(self, data, n_neighbors, random_state, n_jobs):
            calls.append(types.SimpleNamespace(data=data, random_state=random_state, n_jobs=n_jobs))
            dense = data.toarray() if sp.issparse(data) else data
            indices = neighbors_of(np.asarray(dense, dtype=np.float64), n_neighbors)
            self.neighbor_graph = indices.astype(np.int32), np.zeros(indices.shape, np.float32)

    module = types.ModuleType("pynndescent")
    module.NNDescent = NNDescent
    module.__spec__ = ModuleSpec("pynndescent", None)  # so that it is found
    monkeypatch.setitem(sys.modules, "pynndescent", module)
    return calls


def itself_and_nearest(X, n_neighbors):
    return np.argsort(cdist(X, X), axis=1, kind="stable")[:, :n_neighbors]


def farthest(X, n_neighbors):
    return np.argsort(-cdist(X, X), axis=1, kind="stable")[:, :n_neighbors]
