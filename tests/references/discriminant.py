"""TRACK and LDA-Km as their equations print them: dense scatter matrices, full decompositions."""

from __future__ import annotations

import numpy as np
import scipy.linalg


def row_norms(W):
    return np.linalg.norm(W, axis=1)


def whole_path(model):
    """The objective of every step of every round."""
    return np.concatenate(model.inner_objective_)


def never_rises(path):
    return np.diff(path).max(initial=-np.inf) <= 1e-9 * np.abs(path).max()


def normalised(X, norm):
    """The centred table, scaled to a Frobenius norm."""
    X = np.asarray(X, dtype=np.float64)
    X = X - X.mean(axis=0)
    return norm * X / np.linalg.norm(X)


def scatters(X, labels):
    """S_t and S_w of a centred table, equations 1 and 17 of the TRACK paper (rows are samples)."""
    G = np.eye(labels.max() + 1)[labels]
    residual = X - G @ np.linalg.inv(G.T @ G) @ G.T @ X
    return X.T @ X, residual.T @ residual


class TrackProblem:
    """Equation 16 for given clusters, with δ added to both scatters and ζ to the row norms."""

    def __init__(self, X, labels, gamma, ridge, smoothing=1e-10):
        self.total, self.within = scatters(X, labels)
        self.total += ridge * np.eye(len(self.total))
        self.within += ridge * np.eye(len(self.within))
        self.gamma, self.smoothing = gamma, smoothing

    def ratio(self, W):
        return np.trace(W.T @ self.within @ W) / np.trace(W.T @ self.total @ W)

    def norms(self, W):
        return np.sqrt(row_norms(W) ** 2 + self.smoothing)

    def objective(self, W):
        return self.ratio(W) + self.gamma * self.norms(W).sum()

    def matrix(self, W):
        """Equation 21."""
        t = np.trace(W.T @ self.total @ W)
        D = np.diag(1 / (2 * self.norms(W)))
        return self.within - self.ratio(W) * self.total + self.gamma * t * D

    def gradient(self, W):
        """Of the objective, for W free of the constraint."""
        t = np.trace(W.T @ self.total @ W)
        return 2 / t * self.matrix(W) @ W

    def step(self, W, hold=0.0):
        return np.linalg.eigh(self.matrix(W) - hold * W @ W.T)[1][:, : W.shape[1]]


def track_literal(problem, W, n_iter):
    """Step 2 of Algorithm 1: W and the objective at the start and after each step."""
    objective = [problem.objective(W)]
    for _ in range(n_iter):
        W = problem.step(W)
        objective.append(problem.objective(W))
    return W, np.array(objective)


def track_safeguarded(problem, W, n_iter):
    """The same, but a step that rises is held back: four times harder until it does not rise."""
    objective = [problem.objective(W)]
    hold = 0.0
    for _ in range(n_iter):
        M = problem.matrix(W)
        easy = True
        for _ in range(30):
            values, vectors = np.linalg.eigh(M - hold * W @ W.T)
            V = vectors[:, : W.shape[1]]
            if problem.objective(V) <= objective[-1]:
                break
            easy = False
            hold = 4 * hold if hold > 0 else 0.1 * np.abs(values[: W.shape[1]]).max()
        else:
            break
        scale = np.abs(values[: W.shape[1]]).max()
        hold = hold / 4 if easy and hold > 1e-3 * scale else 0.0
        W = V
        objective.append(problem.objective(W))
    return W, np.array(objective)


def between_directions(X, labels, n_columns):
    """The leading eigenvectors of S_b, from which W starts."""
    total, within = scatters(X, labels)
    return np.linalg.eigh(total - within)[1][:, ::-1][:, :n_columns]


def lda_km_path(X, labels, gamma, ridge, n_columns, n_iter):
    """Generalised eigenvectors of (S_w + δI + γD, S_t + δI): W and the objective of each step."""
    total, within = scatters(X, labels)
    size = len(total)
    total, within = total + ridge * np.eye(size), within + ridge * np.eye(size)
    smoothing = 1e-10 / ridge

    def step(weights):
        return scipy.linalg.eigh(within + gamma * np.diag(weights), total)[1][:, :n_columns]

    def norms(W):
        return np.sqrt(row_norms(W) ** 2 + smoothing)

    def objective(W):
        return np.trace(W.T @ within @ W) + gamma * norms(W).sum()

    W = step(np.ones(size))
    path = [objective(W)]
    for _ in range(n_iter):
        W = step(1 / (2 * norms(W)))
        path.append(objective(W))
    return W, np.array(path)
