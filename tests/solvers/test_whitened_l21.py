"""Quadratic forms with an l2,1 penalty over projections in which the table is white."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from references.tables import three_levels as table

from tamis.graphs import laplacian, neighbor_graph
from tamis.solvers.ratio_trace import scatter_root
from tamis.solvers.table_operator import TableOperator
from tamis.solvers.weighted_gram import WeightedGram
from tamis.solvers.whitened_l21 import whitened_l21

SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def problem(shape, form=np.asarray):
    X = table(*shape)
    L = laplacian(neighbor_graph(X, 4))
    T = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) + 0.1 * np.eye(shape[1])
    root = scatter_root(TableOperator.centred(form(X)), 0.1)
    return WeightedGram(form(X), L), root, X.T @ L @ X, T


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_each_step_solves_the_generalised_eigenproblem(shape, form):
    gram, root, M, T = problem(shape, form)
    W, path = None, []
    norms = np.full(shape[1], 0.1**-0.5)
    for _ in range(4):
        D = np.diag(0.3 + 0.5 / (2 * norms))
        W = scipy.linalg.eigh(M + D, T, subset_by_index=(0, 2))[1]
        norms = np.sqrt((W**2).sum(axis=1) + 1e-10 / 0.1)
        path.append(np.trace(W.T @ M @ W) + 0.3 * (W**2).sum() + 0.5 * norms.sum())
    found = whitened_l21(gram, root, 0.1, 0.3, 0.5, 3, max_iter=4, tol=0)
    np.testing.assert_allclose(found.objective, path, rtol=1e-7)
    expected = np.linalg.norm(W, axis=1)
    rows = np.linalg.norm(found.solution, axis=1)
    np.testing.assert_allclose(rows, expected, atol=1e-5 * expected.max())


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_it_descends_to_a_stationary_point_from_any_start(shape):
    gram, root, _, T = problem(shape)
    first = whitened_l21(gram, root, 0.1, 0.3, 0.2, 2, max_iter=3, tol=0)
    later = whitened_l21(
        gram, root, 0.1, 0.3, 0.2, 2, start=first.solution, max_iter=2000, tol=1e-13
    )
    path = np.concatenate([first.objective, later.objective])
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    assert later.optimality < 1e-3
    np.testing.assert_allclose(later.solution.T @ T @ later.solution, np.eye(2), atol=1e-7)
