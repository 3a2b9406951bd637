"""JDLUFS, CUFS, EUFS and RUFS as their papers print them: dense, slow, term by term."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from tamis.solvers.dictionary import within_unit_ball
from tamis.solvers.result import SolverResult


def l21(W, smoothing=0.0):
    return np.sqrt((W**2).sum(axis=1) + smoothing).sum()


# --- blocks, by a generic optimiser -----------------------------------------------------------


def smallest_over(function, start, *, bounds=None, constraints=()):
    """The least value of a function of a matrix that SLSQP finds from a start."""
    shape = start.shape

    def flat(x):
        return function(x.reshape(shape))

    rules = [
        {"type": "ineq", "fun": lambda x, rule=rule: rule(x.reshape(shape))} for rule in constraints
    ]
    found = minimize(
        flat,
        start.ravel(),
        method="SLSQP",
        bounds=bounds,
        constraints=rules,
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return found.fun


def best_dictionary_error(Y, A, start):
    """The least ‖Y − DA‖² over atoms within the unit ball."""
    return smallest_over(
        lambda D: np.linalg.norm(Y - D @ A) ** 2,
        start,
        constraints=[lambda D: 1 - (D**2).sum(axis=0)],
    )


def codes_by_coordinate_descent(Y, D, penalty, n_sweeps=2000):
    """The minimiser of ‖Y − DA‖² + penalty·‖A‖1, one entry after the other."""
    A = np.zeros((D.shape[1], Y.shape[1]))
    for _ in range(n_sweeps):
        for k in range(len(A)):
            rest = Y - D @ A + np.outer(D[:, k], A[k])
            pull = D[:, k] @ rest
            A[k] = np.sign(pull) * np.maximum(np.abs(pull) - penalty / 2, 0) / (D[:, k] @ D[:, k])
    return A


# ADMM multiplies its step by this after each iteration, until it has grown tenfold: growing
# on, it would freeze the atoms wherever they are.
ADMM_GROWTH = 1.2
ADMM_MOST_GROWTH = 10.0


def dictionary_by_admm(A_gram, YA, start, *, max_iter=10, tol=1e-6):
    """Minimise ‖Y − DA‖² over atoms within the unit ball by ADMM, as the JDLUFS poster has it.

    All atoms are solved for at once and projected, D = (YAᵀ + μ(H − S))(AAᵀ + μI)⁻¹, with H the
    projection of D + S and S += D − H. The iterates do not descend: the best H is returned.
    """
    values, vectors = np.linalg.eigh(A_gram)
    mu = max(float(values.clip(min=0).mean()), np.finfo(float).tiny)
    largest_mu = ADMM_MOST_GROWTH * mu
    H, S = start, np.zeros_like(start)
    best, objective, converged = start, [_dictionary_objective(start, A_gram, YA)], False
    for _ in range(max_iter):
        target = YA + mu * (H - S)
        D = (target @ vectors / (values + mu)) @ vectors.T
        previous, H = H, within_unit_ball(D + S)
        S = S + D - H
        if mu < largest_mu:
            mu *= ADMM_GROWTH
            S = S / ADMM_GROWTH
        value = _dictionary_objective(H, A_gram, YA)
        if value <= objective[-1]:
            best = H
        objective.append(min(value, objective[-1]))
        moves = np.linalg.norm(H - previous, axis=0) + np.linalg.norm(D - H, axis=0)
        if moves.max() <= tol:
            converged = True
            break
    used = np.diag(A_gram) > 0
    pull = (YA - best @ A_gram)[:, used] / np.diag(A_gram)[used]
    moves = within_unit_ball(best[:, used] + pull) - best[:, used]
    return SolverResult(
        solution=best,
        objective=np.array(objective),
        optimality=float(np.linalg.norm(moves, axis=0).max(initial=0)),
        converged=converged,
        solver="alternating direction method of multipliers",
    )


def _dictionary_objective(D, A_gram, YA):
    return np.einsum("ij,ij->", D, D @ A_gram) - 2 * np.einsum("ij,ij->", D, YA)


# --- JDLUFS -----------------------------------------------------------------------------------


def jdlufs_objective(X, L, Dx, Du, A, W, b, U, *, alpha, beta, gamma, delta, penalty, coding="l1"):
    """Equation 4 of the poster, X of shape d × n, with an intercept and λ‖UᵀU − I‖²."""
    size = np.abs(A).sum() if coding == "l1" else (A**2).sum()
    return (
        np.linalg.norm(X - Dx @ A) ** 2
        + np.linalg.norm(U.T - Du @ A) ** 2
        + beta * size
        + alpha * np.linalg.norm(U - X.T @ W - b) ** 2
        + gamma * np.trace(U.T @ L @ U)
        + delta * l21(W)
        + penalty * np.linalg.norm(U.T @ U - np.eye(U.shape[1])) ** 2
    )


def factor_objective(U, P, q, L, penalty):
    """q‖U‖² − 2⟨P, U⟩ + Tr(UᵀLU) + λ‖UᵀU − I‖², row by row."""
    total = np.trace(U.T @ L @ U) + penalty * np.linalg.norm(U.T @ U - np.eye(U.shape[1])) ** 2
    for u, p in zip(U, P, strict=True):
        total += q * u @ u - 2 * p @ u
    return total


def poster_label_step(U, P, alpha, gamma, L, penalty):
    """The U update as the poster prints it: no root, and nothing split into signed parts."""
    numerator = P + 2 * penalty * U
    denominator = U + alpha * U + gamma * L @ U + 2 * penalty * U @ U.T @ U
    return U * numerator / denominator


# --- CUFS, EUFS, RUFS -------------------------------------------------------------------------


def cufs_objective(X, D, A, P, tau, reg):
    """The paper's problem, X of shape d × n, P of shape atoms × d: a column a feature."""
    return (
        np.linalg.norm(X - D @ A) ** 2
        + tau * np.linalg.norm(A - P @ X) ** 2
        + reg * sum(np.linalg.norm(column) for column in P.T)
    )


def loss(residual, rows):
    """The l2,1 loss, smoothed at a hundredth of the mean row."""
    return l21(residual, (0.01 * np.linalg.norm(rows, axis=1).mean()) ** 2)


def eufs_objective(X, L, U, V, alpha, beta, penalty):
    """The paper's problem, X of shape n × d, with the orthogonality as a penalty."""
    return (
        loss(X - U @ V.T, X)
        + alpha * l21(V)
        + beta * np.trace(U.T @ L @ U)
        + penalty * np.linalg.norm(U.T @ U - np.eye(U.shape[1])) ** 2
    )


def rufs_objective(X, L, G, F, W, nu, alpha, beta, penalty, first):
    """The paper's problem, X of shape n × d, and GᵀG = I as a penalty; `first` labels."""
    return (
        loss(X - G @ F, X)
        + nu * np.trace(G.T @ L @ G)
        + alpha * loss(X @ W - G, first)
        + beta * l21(W)
        + penalty * np.linalg.norm(G.T @ G - np.eye(G.shape[1])) ** 2
    )


def local_learning_matrix(X, neighborhoods, reg):
    """(I − S)ᵀ(I − S); row i of S predicts sample i by ridge regression on its neighbours.

    The regression is linear with a free intercept, and predicts at the sample itself; the ridge is
    `reg` times the trace of the local Gram matrix.
    """
    n_samples = len(X)
    S = np.zeros((n_samples, n_samples))
    for i, neighbors in enumerate(neighborhoods):
        Z = X[neighbors] - X[i]
        ridge = reg * np.trace(Z @ Z.T)
        design = np.column_stack([np.ones(len(Z)), Z])
        shrink = ridge * np.eye(design.shape[1])
        shrink[0, 0] = 0  # the intercept is free
        hat = np.linalg.solve(design.T @ design + shrink, design.T)
        S[i, neighbors] = hat[0]  # the prediction at Z = 0
    return (np.eye(n_samples) - S).T @ (np.eye(n_samples) - S)
