"""Regressions of a table on its own columns, as their papers print them: dense, slow."""

from __future__ import annotations

import numpy as np


def rsr_objective(X, W, penalty, loss_smoothing, penalty_smoothing=1e-16):
    """‖X − XW‖21 + λ‖W‖21, both norms smoothed."""
    residuals = np.sqrt((np.linalg.norm(X - X @ W, axis=1) ** 2) + loss_smoothing)
    rows = np.sqrt(np.linalg.norm(W, axis=1) ** 2 + penalty_smoothing)
    return residuals.sum() + penalty * rows.sum()


def rsr_path(X, penalty, n_iter, loss_smoothing):
    """Algorithm 1: W = (XᵀUX + λV)⁻¹XᵀUX with the weights of the last W, and the objective."""
    d = X.shape[1]
    residuals = np.sqrt(np.linalg.norm(X, axis=1) ** 2 + loss_smoothing)
    rows = np.full(d, np.sqrt(1 + 1e-16))
    objective = []
    for _ in range(n_iter):
        U, V = np.diag(1 / (2 * residuals)), np.diag(1 / (2 * rows))
        W = np.linalg.solve(X.T @ U @ X + penalty * V, X.T @ U @ X)
        residuals = np.sqrt(np.linalg.norm(X - X @ W, axis=1) ** 2 + loss_smoothing)
        rows = np.sqrt(np.linalg.norm(W, axis=1) ** 2 + 1e-16)
        objective.append(rsr_objective(X, W, penalty, loss_smoothing))
    return W, np.array(objective)
