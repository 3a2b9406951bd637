"""CUFS: the paper's objective, blocks that descend, and features that tell the codes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.factorization import cufs_objective
from references.memory import with_peak_memory
from references.tables import non_negative_clusters as table
from sklearn.datasets import load_digits

from tamis import CUFS
from tamis.selectors.cufs import CoupledModel
from tamis.solvers.dictionary import within_unit_ball
from tamis.solvers.row_norms import row_norms

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(("tau", "reg"), [(1.0, 1.0), (3.0, 0.2), (0.1, 5.0)])
def test_the_last_objective_is_that_of_the_definition(tau, reg, shape, form):
    X = table(*shape)
    model = CUFS(n_atoms=6, tau=tau, reg=reg, random_state=0, max_iter=8, tol=0).fit(form(X))
    X = X / np.abs(X).max()
    expected = cufs_objective(X.T, model.dictionary_, model.codes_, model.coef_.T, tau, reg)
    assert model.objective_[-1] == pytest.approx(expected, rel=1e-5)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()
    np.testing.assert_allclose(model.scores_, row_norms(model.coef_))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize(("tau", "reg"), [(1.0, 1.0), (10.0, 0.1), (0.01, 10.0)])
def test_no_block_ever_raises_the_objective(tau, reg, shape, form):
    X = table(*shape)
    model = CoupledModel(CUFS(tau=tau, reg=reg), form(X), within_unit_ball(X[:6].T))
    values = [model.objective()]
    for _ in range(10):
        for update in (
            model.update_codes,
            model.update_dictionary,
            lambda: model.update_coef(5),
        ):
            update()
            values.append(model.objective())
    values = np.array(values)
    assert (np.diff(values) <= 1e-10 * values[:-1]).all()
    assert np.linalg.norm(model.D, axis=0).max() <= 1 + 1e-12


def test_the_codes_are_the_minimiser():
    X = table(60, 15)
    model = CoupledModel(CUFS(tau=2.0), X, within_unit_ball(X[:6].T))
    model.update_codes()
    A, P = model.A, model.W.T
    gradient = model.D.T @ (model.D @ A - X.T) + 2.0 * (A - P @ X.T)
    np.testing.assert_allclose(gradient, 0, atol=1e-9)


def test_larger_penalties_leave_fewer_features():
    X = table(60, 15)
    kept = []
    for reg in (0.01, 3.0, 30.0, 1e4):
        scores = CUFS(n_atoms=6, reg=reg, random_state=0).fit(X).scores_
        kept.append(int(np.count_nonzero(scores > 1e-3)))
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == 15
    assert kept[-1] == 0


def test_features_of_pure_noise_are_not_needed_for_the_codes():
    rng = np.random.default_rng(0)
    informative = np.eye(4)[rng.integers(0, 4, 150)] + 0.05 * rng.random((150, 4))
    X = np.hstack([informative, 0.1 * rng.random((150, 10))])
    model = CUFS(4, n_atoms=4, random_state=0).fit(X)
    assert set(np.flatnonzero(model.get_support())) == {0, 1, 2, 3}


@pytest.mark.parametrize("n_samples", [600])
def test_digits_are_learned(n_samples):
    X = load_digits().data[:n_samples] / 16
    model = CUFS(n_atoms=40, random_state=0, max_iter=6, tol=0).fit(X)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["warpPIE10P", "Isolet"])
def test_large_real_tables_are_learned(benchmark_set, name):
    X, _ = benchmark_set(name)
    X = (X - X.min()) / np.ptp(X)
    model = CUFS(n_atoms=30, random_state=0, max_iter=4, tol=0).fit(X)
    assert (np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all()


def test_a_wide_table_needs_no_square_of_its_features():
    X = np.random.default_rng(0).random((40, 6000))
    _, peak = with_peak_memory(CUFS(random_state=0, max_iter=2, tol=0).fit, X)
    assert peak < 12 * X.nbytes  # 6000 × 6000 numbers would be 150 times


def test_more_atoms_than_samples_are_refused():
    with pytest.raises(ValueError, match="n_atoms=61 is too large for n_samples=60"):
        CUFS(n_atoms=61).fit(table(60, 15))


def test_too_few_iterations_warn():
    with pytest.warns(UserWarning, match="did not converge in max_iter=2"):
        CUFS(max_iter=2, tol=1e-9, random_state=0).fit(table(60, 15))


def test_a_table_of_constants_is_ranked_by_position():
    model = CUFS().fit(np.ones((10, 4)))
    assert model.ranking_.tolist() == [1, 2, 3, 4]
    assert model.codes_.shape == (5, 10)
