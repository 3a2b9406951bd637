"""Loadings of a factorization: the minimisers of their problems, exactly or by sweeps."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from tamis.solvers.loadings import (
    loss_smoothing,
    nonnegative_loadings,
    penalised_loadings,
    residual_norms,
    reweighted,
)
from tamis.utils.norms import squared_norm

FORMS = [np.asarray, sp.csr_array]


@pytest.mark.parametrize("penalty", [1e-3, 1.0, 5.0])
def test_penalised_loadings_meet_the_optimality_conditions(penalty):
    rng = np.random.default_rng(0)
    U = rng.random((30, 4))
    H, R = U.T @ U, rng.standard_normal((12, 30)) @ U
    V = penalised_loadings(H, R, penalty)
    pull = 2 * (R - V @ H)
    norms = np.linalg.norm(V, axis=1)
    used = norms > 0
    direction = V[used] / norms[used, None]
    np.testing.assert_allclose(pull[used], penalty * direction, atol=1e-8 * penalty)
    assert (np.linalg.norm(2 * R[~used], axis=1) <= penalty).all()


def test_penalised_loadings_are_zero_beyond_the_largest_useful_penalty():
    rng = np.random.default_rng(0)
    U = rng.random((30, 4))
    H, R = U.T @ U, rng.standard_normal((12, 30)) @ U
    strengths = 2 * np.linalg.norm(R, axis=1)
    penalty = np.sort(strengths)[6]
    np.testing.assert_array_equal(
        penalised_loadings(H, R, penalty).any(axis=1), strengths > penalty
    )
    assert not penalised_loadings(H, R, 1.01 * strengths.max()).any()


def test_penalised_loadings_take_a_singular_gram():
    rng = np.random.default_rng(0)
    U = rng.random((30, 2))
    U = np.column_stack([U, U[:, 0]])
    H, R = U.T @ U, rng.standard_normal((12, 30)) @ U
    V = penalised_loadings(H, R, 0.5)
    used = V.any(axis=1)
    pull = 2 * (R - V @ H)[used]
    expected = 0.5 * V[used] / np.linalg.norm(V[used], axis=1)[:, None]
    np.testing.assert_allclose(pull, expected, atol=1e-7)


def test_non_negative_loadings_are_those_of_non_negative_least_squares():
    from scipy.optimize import nnls

    rng = np.random.default_rng(0)
    U, X = rng.random((30, 4)), rng.standard_normal((30, 7))
    found = nonnegative_loadings(U.T @ U, X.T @ U, np.ones((7, 4)), max_iter=5000)
    expected = np.array([nnls(U, column)[0] for column in X.T])
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_sweeps_of_non_negative_loadings_never_climb():
    rng = np.random.default_rng(0)
    U, X = rng.random((30, 4)), rng.random((30, 7))
    V = np.ones((7, 4))
    errors = [np.linalg.norm(X - U @ V.T)]
    for _ in range(10):
        V = nonnegative_loadings(U.T @ U, X.T @ U, V, max_iter=1)
        errors.append(np.linalg.norm(X - U @ V.T))
    assert (np.diff(errors) <= 1e-12).all()
    assert V.min() >= 0


@pytest.mark.parametrize("form", FORMS)
def test_residual_norms_are_those_of_the_residual(form, monkeypatch):
    monkeypatch.setattr("tamis.utils.blocks.BLOCK_SIZE", 40)  # several blocks
    rng = np.random.default_rng(0)
    X = rng.random((30, 9)) * (rng.random((30, 9)) < 0.5)
    U, V = rng.random((30, 3)), rng.random((9, 3))
    expected = np.linalg.norm(X - U @ V.T, axis=1)
    np.testing.assert_allclose(residual_norms(form(X), U, V), expected, rtol=1e-9)
    assert squared_norm(form(X)) == pytest.approx((X**2).sum())


def test_the_reweighted_loss_majorises():
    rng = np.random.default_rng(0)
    before, after = rng.random(20), rng.random(20)
    smoothing = loss_smoothing(before)
    loss, weights = reweighted(before, smoothing)
    bound = loss + (weights * (after**2 - before**2)).sum()
    assert reweighted(after, smoothing)[0] <= bound
    assert loss == pytest.approx(before.sum(), rel=1e-2)
    assert smoothing == pytest.approx((0.01 * before.mean()) ** 2)
    assert loss_smoothing(np.zeros(3)) > 0
