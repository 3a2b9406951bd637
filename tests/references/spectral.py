"""UDFS, JELSR, MCFS and l2,1 regression as their papers print them: dense, slow, loop by loop."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from sklearn.linear_model import lars_path


def row_norms(W):
    return np.linalg.norm(W, axis=1)


# --- UDFS -------------------------------------------------------------------------------------


def udfs_sample_matrix(X, neighborhoods, reg):
    """Lines 1 to 3 of Algorithm 1: Σ_i S_i H (X̃_iᵀX̃_i + λI)⁻¹ H S_iᵀ, n × n."""
    X = np.asarray(X, dtype=np.float64)
    n_samples = len(X)
    total = np.zeros((n_samples, n_samples))
    for i, neighbors in enumerate(neighborhoods):
        if len(neighbors) == 0:
            continue
        members = [i, *neighbors]
        size = len(members)
        H = np.eye(size) - np.ones((size, size)) / size
        centred = X[members].T @ H  # d × (k + 1), as in the paper
        B = np.linalg.inv(centred.T @ centred + reg * np.eye(size))
        S = np.zeros((n_samples, size))
        S[members, range(size)] = 1
        total += S @ H @ B @ H @ S.T
    return total


def udfs_feature_matrix(X, neighborhoods, reg):
    """Line 4: M, d × d."""
    M = X.T @ udfs_sample_matrix(X, neighborhoods, reg) @ X
    return (M + M.T) / 2


def udfs_path(M, gamma, n_columns, n_iter, D=None, smoothing=1e-16):
    """Lines 5 to 11: W and the smoothed objective after each of `n_iter` iterations."""
    D = np.eye(len(M)) if D is None else D
    objective = []
    for _ in range(n_iter):
        W = np.linalg.eigh(M + gamma * D)[1][:, :n_columns]
        norms = np.sqrt(row_norms(W) ** 2 + smoothing)
        D = np.diag(1 / (2 * norms))
        objective.append(np.trace(W.T @ M @ W) + gamma * norms.sum())
    return W, np.array(objective)


def udfs_start(M, n_columns):
    """The first D where M is singular: rows of size M_ii^-½, as large as those of W together."""
    norms = 1 / np.sqrt(np.diag(M))
    norms *= np.sqrt(n_columns / (norms @ norms))
    return np.diag(1 / (2 * norms))


# --- JELSR ------------------------------------------------------------------------------------


def lle_laplacian(X, neighborhoods, reg=1e-3):
    """(I − S)ᵀ(I − S), S the weights that rebuild each sample from its neighbours."""
    n_samples = len(X)
    S = np.zeros((n_samples, n_samples))
    for i, neighbors in enumerate(neighborhoods):
        differences = X[neighbors] - X[i]
        gram = differences @ differences.T
        gram += reg * np.trace(gram) * np.eye(len(neighbors))
        weights = np.linalg.inv(gram).sum(axis=1)
        S[i, neighbors] = weights / weights.sum()
    return (np.eye(n_samples) - S).T @ (np.eye(n_samples) - S)


def jelsr_path(X, L, alpha, beta, n_components, n_iter, relative_smoothing=1e-8):
    """Stage two of Table 1: W, Y and the smoothed objective (7) after each iteration.

    U starts at the root mean square of the table, which is the identity for standardised columns.
    """
    X = X - X.mean(axis=0)
    n_samples, n_features = X.shape
    U = np.sqrt(np.mean(X**2)) * np.eye(n_features)
    smoothing = None
    objective = []
    for _ in range(n_iter):
        A = X.T @ X + alpha * U
        T = L + beta * np.eye(n_samples) - beta * X @ np.linalg.inv(A) @ X.T
        Y = np.linalg.eigh((T + T.T) / 2)[1][:, :n_components]
        W = np.linalg.inv(A) @ X.T @ Y
        if smoothing is None:
            smoothing = (relative_smoothing * row_norms(W).max()) ** 2
        norms = np.sqrt(row_norms(W) ** 2 + smoothing)
        U = np.diag(1 / (2 * norms))
        misfit = np.linalg.norm(X @ W - Y) ** 2
        objective.append(np.trace(Y.T @ L @ Y) + beta * (misfit + alpha * norms.sum()))
    return W, Y, np.array(objective)


# --- l2,1 regression --------------------------------------------------------------------------


def l21_objective(X, Y, W, penalty):
    return np.linalg.norm(X @ W - Y) ** 2 + penalty * row_norms(W).sum()


def nearness(X, Y, W, penalty):
    """How close each row of an l2,1 regression is to entering: 1 for rows that are not zero."""
    return 2 * row_norms(X.T @ (Y - X @ W)) / penalty


def l21_by_reweighting(X, Y, penalty, n_iter=3000):
    """min ‖XW − Y‖² + penalty·‖W‖21 by reweighted ridge regression; X is centred already."""
    n_samples, n_features = X.shape
    norms = np.ones(n_features)
    for _ in range(n_iter):
        E = np.diag(2 * norms / penalty)
        # The dual form of (XᵀX + penalty/(2‖w‖))⁻¹XᵀY needs no division by a norm that vanishes.
        W = E @ X.T @ np.linalg.solve(np.eye(n_samples) + X @ E @ X.T, Y)
        norms = row_norms(W)
    return W


# --- MCFS -------------------------------------------------------------------------------------


def generalized_eigenvectors(affinity, n_vectors):
    """The smallest eigenpairs of L y = λ D y, the constant one included; no isolated sample."""
    D = np.diag(affinity.sum(axis=1))
    values, vectors = scipy.linalg.eigh(D - affinity, D)
    return values[:n_vectors], vectors[:, :n_vectors]


def mcfs_coefficients(X, Y, n_steps):
    """Least angle regression of each column of Y on the centred X."""
    X = X - X.mean(axis=0)
    return np.column_stack([lars_path(X, y, max_iter=n_steps, method="lar")[2][:, -1] for y in Y.T])


# --- extended precision -----------------------------------------------------------------------


def precise_inverse(P):
    """The inverse of a positive definite matrix in extended precision, by Gauss and Jordan."""
    size = len(P)
    work = np.hstack([P.astype(np.longdouble), np.eye(size, dtype=np.longdouble)])
    for j in range(size):
        work[j] /= work[j, j]
        others = np.arange(size) != j
        work[others] -= np.outer(work[others, j], work[j])
    return work[:, size:]


def precise_smallest(P, n_pairs):
    """The smallest eigenpairs of a badly scaled P, small entries exact relative to themselves."""
    inverse = precise_inverse(P)
    _, vectors = np.linalg.eigh(inverse.astype(np.float64))
    V = vectors[:, : -n_pairs - 1 : -1].astype(np.longdouble)
    for _ in range(20):
        V = inverse @ V
        for j in range(n_pairs):
            for i in range(j):
                V[:, j] -= (V[:, i] @ V[:, j]) * V[:, i]
            V[:, j] /= np.sqrt(V[:, j] @ V[:, j])
    values = 1 / np.einsum("ij,ij->j", V, inverse @ V)
    return values.astype(np.float64), V.astype(np.float64)


# --- NDFS -------------------------------------------------------------------------------------


def ndfs_objective(X, L, F, W, b, alpha, penalty, orthogonality, smoothing):
    """Tr(FᵀLF) + α(‖XW + 1bᵀ − F‖² + penalty·Σ_i sqrt(‖w_i‖² + ζ)) + γ‖FᵀF − I‖²."""
    misfit = np.linalg.norm(X @ W + b - F) ** 2
    norms = np.sqrt(row_norms(W) ** 2 + smoothing)
    excess = np.linalg.norm(F.T @ F - np.eye(F.shape[1])) ** 2
    rough = np.trace(F.T @ L @ F)
    return rough + alpha * (misfit + penalty * norms.sum()) + orthogonality * excess


def normalized_laplacian(affinity):
    """I − D^-½SD^-½ of a graph without isolated samples."""
    scale = np.diag(1 / np.sqrt(affinity.sum(axis=1)))
    return np.eye(len(affinity)) - scale @ affinity @ scale


# --- SOGFS ------------------------------------------------------------------------------------


def sogfs_objective(X, S, W, F, alpha, penalty, structure, smoothing=1e-16):
    """Σ_ij ‖Wᵀx_i − Wᵀx_j‖² s_ij + α‖S‖² + γ‖W‖21 + 2λTr(FᵀL_SF), pair by pair."""
    Z = X @ W
    total = 0.0
    for i in range(len(X)):
        for j in range(len(X)):
            total += S[i, j] * ((Z[i] - Z[j]) ** 2).sum()
            total += structure * S[i, j] * ((F[i] - F[j]) ** 2).sum()
    norms = np.sqrt(row_norms(W) ** 2 + smoothing)
    return total + alpha * (S**2).sum() + penalty * norms.sum()


# --- FSASL ------------------------------------------------------------------------------------


def fsasl_objective(X, W, S, P, alpha, beta, mu, gamma, floor, weight_smoothing, row_smoothing):
    """The terms, with a ridge φ‖W‖², sample by sample and pair by pair; absolutes are smoothed."""
    Y = X @ W
    total = np.linalg.norm(Y - S @ Y) ** 2 + floor * np.linalg.norm(W) ** 2
    total += alpha * np.sqrt(S**2 + weight_smoothing)[S != 0].sum()
    for i in range(len(X)):
        for j in range(len(X)):
            total += beta * (((Y[i] - Y[j]) ** 2).sum() * P[i, j] + mu * P[i, j] ** 2)
    return total + gamma * np.sqrt(row_norms(W) ** 2 + row_smoothing).sum()


# --- DGUFS ------------------------------------------------------------------------------------


def label_projection(labels):
    """L = V(VᵀV)⁻¹Vᵀ of the label indicators V, n × n."""
    V = np.eye(labels.max() + 1)[labels]
    return V @ np.linalg.inv(V.T @ V) @ V.T


def dgufs_dependence(X, labels):
    """x_iᵀHLHx_i of each column, by n × n matrices."""
    H = np.eye(len(X)) - 1 / len(X)
    return np.diag(X.T @ H @ label_projection(labels) @ H @ X)


def dgufs_objective(X, S, labels, chosen, beta):
    """1 − (1 − β) tr(X_AᵀHLHX_A)/T − β tr(SHLH)/tr(S)."""
    H = np.eye(len(X)) - 1 / len(X)
    reach = np.sort(np.diag(X.T @ H @ X))[-len(chosen) :].sum()
    of_columns = dgufs_dependence(X, labels)[chosen].sum() / reach
    of_graph = np.trace(S @ H @ label_projection(labels) @ H) / np.trace(S)
    return 1 - (1 - beta) * of_columns - beta * of_graph


# --- EGCFS ------------------------------------------------------------------------------------


def egcfs_objective(X, W, P, labels, beta, mu, gamma, floor, row_smoothing):
    """Tr(WᵀS_wW) sample by sample, the graph pair by pair, a ridge and the smoothed row norms."""
    Y = X @ W
    total = floor * np.linalg.norm(W) ** 2
    for i in range(len(X)):
        total += ((Y[i] - Y[labels == labels[i]].mean(axis=0)) ** 2).sum()
        for j in range(len(X)):
            total += beta * (((Y[i] - Y[j]) ** 2).sum() * P[i, j] + mu * P[i, j] ** 2)
    return total + gamma * np.sqrt(row_norms(W) ** 2 + row_smoothing).sum()


def rne_objective(X, S, H, alpha, smoothing):
    """‖(X − SX)H‖1 + (α/4)‖HᵀH − I‖², the absolute values smoothed."""
    left = (X - S @ X) @ H
    excess = H.T @ H - np.eye(H.shape[1])
    return np.sqrt(left**2 + smoothing).sum() + alpha / 4 * np.linalg.norm(excess) ** 2


def two_medians(values):
    """The division of the values into two around their medians that costs least, by trying all."""
    best, upper = np.inf, np.zeros(len(values), dtype=bool)
    for threshold in np.unique(values)[1:]:
        above = values >= threshold
        cost = sum(np.abs(one - np.median(one)).sum() for one in (values[above], values[~above]))
        if cost < best - 1e-12:
            best, upper = cost, above
    return upper
