"""M3FS as its equations stand, in CVXPY: slow, dense, and independent of the library's solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def _solved(objective, constraints):
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def _regulariser(V, sigma, quadratic_of, H):
    """½ Σ ‖v_k‖² / σ_k + ½ θᵀHθ."""
    objective = sum(cp.quad_over_lin(V[k], sigma[k]) for k in range(V.shape[0])) / 2
    if H is not None:
        values, vectors = np.linalg.eigh(H)
        root = np.sqrt(values.clip(min=0))[:, None] * vectors.T
        objective += cp.sum_squares(root @ quadratic_of) / 2
    return objective


def inner_optimum(problem, H):
    """The optimal value of equation 10 (with a bias) or 17 (without); H is 2λQ or None.

    With a bias H has its row and column too.
    """
    _, d, n_blocks = problem.cuts.shape
    V, b, slack, sigma = cp.Variable((d, n_blocks)), cp.Variable(), cp.Variable(), cp.Variable(d)
    constraints = [slack >= 0, sigma >= 0, sigma <= 1, cp.sum(sigma) == problem.n_selected]
    if problem.balances is None:
        theta = cp.vstack([V, cp.reshape(b, (1, 1), order="C")])
        constraints.append(cp.abs(b) <= problem.limit)
    else:
        theta = V
        constraints += [
            cp.abs(cp.sum(cp.multiply(B, V))) <= problem.limit for B in problem.balances
        ]
    for A, a, h in zip(problem.cuts, problem.cut_biases, problem.cut_bounds, strict=True):
        constraints.append(cp.sum(cp.multiply(A, V)) + a * b >= h - slack)
    return _solved(_regulariser(V, sigma, theta, H) + problem.C * slack, constraints)


def labelled_optimum(X, labels, settings, H):
    """The optimal value of equation 6 or 14 with the labels fixed: one slack a sample.

    X is as the functions see it: centred for two classes, whose balance is then |b| ≤ l / n.
    `settings` has C, n_selected and limit.
    """
    n, d = X.shape
    n_clusters = labels.max() + 1
    sigma = cp.Variable(d)
    constraints = [sigma >= 0, sigma <= 1, cp.sum(sigma) == settings.n_selected]
    if n_clusters == 2:
        V, b = cp.Variable((d, 1)), cp.Variable()
        theta = cp.vstack([V, cp.reshape(b, (1, 1), order="C")])
        f = X @ V[:, 0] + b
        loss = cp.sum(cp.pos(1 - cp.multiply(np.where(labels > 0, 1, -1), f))) / n
        constraints.append(cp.abs(cp.sum(f)) <= settings.limit * n)
    else:
        theta = V = cp.Variable((d, n_clusters))
        F = X @ V
        own = cp.sum(cp.multiply(np.eye(n_clusters)[labels], F), axis=1)
        others = cp.max(F + 1 - np.eye(n_clusters)[labels], axis=1)
        loss = cp.sum(others - own) / n
        means = cp.sum(F, axis=0)
        constraints += [
            cp.abs(means[p] - means[q]) <= settings.limit * n
            for p in range(n_clusters)
            for q in range(p)
        ]
    return _solved(_regulariser(V, sigma, theta, H) + settings.C * loss, constraints)


def normalised_gaussian_laplacian(X, bandwidth):
    """``I − D^-½WD^-½`` of the complete graph without loops, dense."""
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    W = np.exp(-squared / (2 * bandwidth**2))
    np.fill_diagonal(W, 0)
    degree = W.sum(axis=1)
    return np.eye(len(X)) - W / np.sqrt(np.outer(degree, degree))
