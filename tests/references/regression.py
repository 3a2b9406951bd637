"""Regressions of a table on its own columns, as their papers print them: dense, slow."""

from __future__ import annotations

import numpy as np


def rsr_objective(X, W, penalty, loss_smoothing, penalty_smoothing=1e-16):
    """‖X − XW‖21 + λ‖W‖21, both norms smoothed."""
    residuals = np.sqrt((np.linalg.norm(X - X @ W, axis=1) ** 2) + loss_smoothing)
    rows = np.sqrt(np.linalg.norm(W, axis=1) ** 2 + penalty_smoothing)
    return residuals.sum() + penalty * rows.sum()


def rsr_path(X, penalty, n_iter, loss_smoothing, *, accelerated=True):
    """Algorithm 1: W = (XᵀUX + λV)⁻¹XᵀUX with the weights of the last W, and the objective.

    Accelerated, the weights are those of the last W times a power of their last change, but where
    the objective would rise.
    """

    def step(residuals, rows):
        U, V = np.diag(1 / (2 * residuals)), np.diag(1 / (2 * rows))
        W = np.linalg.solve(X.T @ U @ X + penalty * V, X.T @ U @ X)
        residuals = np.sqrt(np.linalg.norm(X - X @ W, axis=1) ** 2 + loss_smoothing)
        rows = np.sqrt(np.linalg.norm(W, axis=1) ** 2 + 1e-16)
        return W, residuals, rows, rsr_objective(X, W, penalty, loss_smoothing)

    residuals = np.sqrt(np.linalg.norm(X, axis=1) ** 2 + loss_smoothing)
    rows = np.full(X.shape[1], np.sqrt(1 + 1e-16))
    before = residuals, rows
    objective = []
    inertia = 0
    for _ in range(n_iter):
        power = max(inertia - 1, 0) / (inertia + 2) if accelerated else 0
        ahead = residuals * (residuals / before[0]) ** power, rows * (rows / before[1]) ** power
        # No norm is less than nothing.
        floors = np.sqrt(loss_smoothing), 1e-8
        following = step(
            *(np.maximum(one, floor) for one, floor in zip(ahead, floors, strict=True))
        )
        inertia += 1
        if objective and following[-1] > objective[-1]:
            following, inertia = step(residuals, rows), 1
        before = residuals, rows
        W, residuals, rows, value = following
        objective.append(value)
    return W, np.array(objective)


def ridge_misfit(X, Y, ridge):
    """min_W ‖XW − Y‖² + μ‖W‖²."""
    W = np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T @ Y)
    return np.linalg.norm(X @ W - Y) ** 2 + ridge * np.linalg.norm(W) ** 2


def backward_elimination(X, Y, ridge):
    """Columns in the order in which the one whose loss costs least leaves, each by new fits."""
    left, order, costs = list(range(X.shape[1])), [], []
    while left:
        present = ridge_misfit(X[:, left], Y, ridge)
        rises = []
        for j in left:
            others = [other for other in left if other != j]
            rises.append(ridge_misfit(X[:, others], Y, ridge) - present)
        cheapest = int(np.argmin(rises))
        costs.append(rises[cheapest])
        order.append(left.pop(cheapest))
    return np.array(order), np.array(costs)


def ridge_with_intercept(X, y, penalty):
    """(w, b) that minimise Σ (y_i − ⟨w, x_i⟩ − b)² + Σ_l penalty_l w_l²."""
    n, d = X.shape
    design = np.hstack([X, np.ones((n, 1))])
    weights = np.append(np.broadcast_to(penalty, d), 0.0)
    found = np.linalg.solve(design.T @ design + np.diag(weights), design.T @ y)
    return found[:-1], found[-1]


def local_ridges(X, neighbors, Y, tau, ridge):
    """The regressions of LLCFS: one per sample and column of Y, on the neighbours of the sample.

    Returns what they predict of their own samples, and their weights.
    """
    n, d = X.shape
    predicted, W = np.empty(Y.shape), np.empty((n, d, Y.shape[1]))
    for i in range(n):
        some = neighbors[i]
        for c in range(Y.shape[1]):
            W[i, :, c], b = ridge_with_intercept(X[some], Y[some, c], ridge / tau)
            predicted[i, c] = X[i] @ W[i, :, c] + b
    return predicted, W


def leave_one_out_instability(X, y, penalty):
    """Σ_i ‖w − w_(i)‖² / ‖w‖², with a new fit without each sample."""
    w, _ = ridge_with_intercept(X, y, penalty)
    changes = [
        np.sum((w - ridge_with_intercept(np.delete(X, i, 0), np.delete(y, i), penalty)[0]) ** 2)
        for i in range(len(X))
    ]
    return w, np.sum(changes) / (w @ w)
