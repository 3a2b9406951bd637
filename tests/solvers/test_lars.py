"""Least angle regression by its defining property, and against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.spectral import mcfs_coefficients

from tamis.solvers.active_features import ActiveBySamples, GramColumns
from tamis.solvers.l21 import alpha_max, l21_regression
from tamis.solvers.lars import least_angle_regression, scores_along_paths
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (80, 20), "more features": (25, 60)}


def problem(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    X = 0.5 + rng.standard_normal((n_samples, n_features))
    X[rng.random(X.shape) < 0.2] = 0
    y = rng.standard_normal(n_samples)
    return X, y - y.mean()


def regress(X, y, n_steps):
    centred = TableOperator.centred(X)
    path = least_angle_regression(
        GramColumns(centred), centred.transposed_times(y[:, None]), n_steps
    )
    nearness = path.sizes / path.level if path.level > 0 else np.zeros_like(path.sizes)
    return path.solution[:, 0], nearness


def correlations(X, y, coef):
    X = X - X.mean(axis=0)
    return np.abs(X.T @ (y - X @ coef))


def assert_equiangular(X, y, coef, tol=1e-9):
    """The features that entered have equal correlations, and no other has a larger one."""
    remaining = correlations(X, y, coef)
    scale = correlations(X, y, np.zeros_like(coef)).max()
    active = coef != 0
    assert np.ptp(remaining[active]) <= tol * scale
    assert remaining.max() <= remaining[active].max() + tol * scale


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("n_steps", [1, 2, 7, 19])
def test_each_step_is_equiangular(n_steps, shape, form):
    X, y = problem(*shape)
    coef, nearness = regress(form(X), y, n_steps)
    assert np.count_nonzero(coef) == n_steps
    assert_equiangular(X, y, coef)
    remaining = correlations(X, y, coef)
    np.testing.assert_allclose(nearness, remaining / remaining.max(), atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("shape", "n_steps"), [((80, 20), 1), ((80, 20), 7), ((80, 20), 19), ((25, 60), 7)]
)
def test_well_conditioned_paths_agree_with_scikit_learn(shape, n_steps, form):
    X, y = problem(*shape)
    coef, _ = regress(form(X), y, n_steps)
    expected = mcfs_coefficients(X, y[:, None], n_steps)[:, 0]
    np.testing.assert_allclose(coef, expected, rtol=1e-7, atol=1e-12)


def test_single_precision_columns_are_used_in_double():
    X, y = problem(80, 20)
    X = X.astype(np.float32)
    coef, _ = regress(X, y, 7)
    np.testing.assert_allclose(coef, regress(X.astype(np.float64), y, 7)[0], rtol=1e-12)


def test_the_first_feature_to_enter_is_the_most_correlated_whatever_its_sign():
    X, y = problem(80, 20)
    coef, _ = regress(X, y, 1)
    assert np.flatnonzero(coef) == [correlations(X, y, np.zeros(20)).argmax()]
    negated, _ = regress(-X, y, 5)
    np.testing.assert_allclose(negated, -regress(X, y, 5)[0])


def test_all_features_give_least_squares():
    X, y = problem(80, 20)
    coef, _ = regress(X, y, 20)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(coef, np.linalg.lstsq(centred, y, rcond=None)[0], atol=1e-10)


@pytest.mark.parametrize("n_steps", [24, 25, 60])
def test_more_steps_than_the_rank_end_with_a_perfect_fit(n_steps):
    X, y = problem(25, 60)
    coef, nearness = regress(X, y, n_steps)
    assert np.count_nonzero(coef) == 24
    assert correlations(X, y, coef).max() < 1e-9
    assert np.isfinite(nearness).all()


@pytest.mark.parametrize("form", FORMS)
def test_after_a_perfect_fit_the_others_keep_the_order_they_had_before_it(form):
    # All other features depend on those that entered: their share of the common correlation stays
    # the same on the last step, down to the point where all vanish.
    X, y = problem(25, 60)
    coef, nearness = regress(form(X), y, 24)
    active = coef != 0
    before, _ = regress(X, y, 23)
    remaining = correlations(X, y, before)
    expected = remaining / remaining.max()
    np.testing.assert_allclose(nearness[~active], expected[~active], atol=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_of_two_equal_features_the_first_enters(sign):
    X, y = problem(80, 10)
    alone, _ = regress(X, y, 6)
    coef, nearness = regress(np.hstack([X, sign * X]), y, 6)
    np.testing.assert_allclose(coef[:10], alone, rtol=1e-8)
    assert not coef[10:].any()
    np.testing.assert_allclose(nearness[10:], nearness[:10], atol=1e-8)


def test_duplicates_do_not_use_up_steps():
    X, y = problem(80, 10)
    coef, _ = regress(np.hstack([X, X, -X, 2 * X[:, :3]]), y, 40)
    assert np.count_nonzero(coef) == 10


@pytest.mark.parametrize("noise", [1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("seed", range(5))
def test_near_copies_and_copies_together_stay_equiangular(seed, noise):
    rng = np.random.default_rng(seed)
    base, y = problem(60, 8, seed)
    near = base + noise * rng.standard_normal(base.shape)
    X = np.hstack([base, near, base, -base[:, :4], base @ rng.standard_normal((8, 5))])
    for n_steps in range(1, 16):
        assert_equiangular(X, y, regress(X, y, n_steps)[0], tol=1e-6)


def test_nothing_enters_for_a_target_without_correlation():
    X, _ = problem(80, 20)
    coef, nearness = regress(X, np.zeros(80), 5)
    assert not coef.any()
    assert not nearness.any()


def test_constant_columns_never_enter():
    X, y = problem(80, 5)
    X[:, 2] = 4.0
    coef, _ = regress(X, y, 5)
    assert coef[2] == 0
    assert np.count_nonzero(coef) == 4


def test_gram_columns_are_computed_once():
    X, _ = problem(30, 6)
    calls = []

    class Counted(TableOperator):
        def columns(self, chosen):
            calls.append(chosen)
            return super().columns(chosen)

    gram = GramColumns(Counted.centred(X))
    expected = np.cov(X.T, bias=True) * 30
    for j in (3, 1, 3):
        np.testing.assert_allclose(gram[j], expected[j], atol=1e-10)
    assert len(calls) == 2


# --- several targets, and a start -------------------------------------------------------------


def several(n_samples, n_features, n_targets=3, seed=0):
    X, _ = problem(n_samples, n_features, seed)
    Y = np.random.default_rng(seed + 1).standard_normal((n_samples, n_targets))
    return X, Y - Y.mean(axis=0)


def path_of(X, Y, n_steps, **options):
    centred = TableOperator.centred(X)
    correlation = centred.transposed_times(Y)
    return least_angle_regression(GramColumns(centred), correlation, n_steps, **options)


def sizes(X, Y, coef):
    X = X - X.mean(axis=0)
    return np.linalg.norm(X.T @ (Y - X @ coef), axis=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("n_steps", [1, 2, 7, 15])
def test_the_active_features_have_one_correlation_with_all_targets(n_steps, shape, form):
    X, Y = several(*shape)
    path = path_of(form(X), Y, n_steps)
    assert sorted(path.entered) == np.flatnonzero(path.solution.any(axis=1)).tolist()
    assert len(path.entered) == n_steps
    found = sizes(X, Y, path.solution)
    np.testing.assert_allclose(found[path.entered], path.level, rtol=1e-9)
    assert found.max() <= path.level * (1 + 1e-9)
    np.testing.assert_allclose(found, path.sizes, atol=1e-9 * found.max())
    assert (np.diff(path.objective) <= 0).all()
    assert (
        path.objective[0] == path.first_level == pytest.approx(sizes(X, Y, 0 * path.solution).max())
    )


def test_a_path_can_be_read_at_every_step():
    X, Y = several(80, 20)
    whole = path_of(X, Y, 20)
    for n_steps in (1, 5, 19):
        short, read = path_of(X, Y, n_steps), whole.after(n_steps)
        np.testing.assert_allclose(read.solution, short.solution, atol=1e-12)
        np.testing.assert_array_equal(whole.entered[n_steps:], read.entered)
        assert read.objective[0] == pytest.approx(short.level)


@pytest.mark.parametrize("fraction", [0.5, 0.7])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_a_path_goes_on_from_a_penalised_optimum(shape, fraction):
    X, Y = several(*shape)
    centred = TableOperator.centred(X)
    penalty = fraction * alpha_max(centred, Y)
    start = l21_regression(centred, Y, penalty, tol=1e-10).solution
    support = np.flatnonzero(start.any(axis=1))
    assert len(support) > 0
    path = path_of(X, Y, len(support) + 4, start=start)
    assert path.first_level == pytest.approx(penalty / 2)
    assert len(path.entered) == 4
    assert not np.isin(path.entered, support).any()
    active = np.union1d(support, path.entered)
    found = sizes(X, Y, path.solution)
    np.testing.assert_allclose(found[active], path.level, rtol=1e-8)
    assert found.max() <= path.level * (1 + 1e-8)


def test_features_without_news_do_not_enter():
    X, Y = several(80, 10)
    rng = np.random.default_rng(3)
    near = X + 1e-3 * rng.standard_normal(X.shape)
    path = path_of(np.hstack([X, near, -X]), Y, 30, news=1e-4)
    assert len(set(path.entered % 10)) == len(path.entered) == 10
    assert np.count_nonzero(path.dependent) >= 19  # the last to enter leaves its copies as they are


def test_copies_are_scored_below_all_that_is_news():
    X, Y = several(80, 10)
    table = np.hstack([X, X])
    path = path_of(table, Y, 20, news=1e-4)
    correlation = (table - table.mean(axis=0)).T @ Y
    scores = scores_along_paths(np.zeros(20), [path], correlation)
    assert len(set(np.argsort(-scores)[:10] % 10)) == 10
    assert (scores > 0).all()
    with_norms = scores_along_paths(np.where(np.arange(20) == 7, 0.5, 0.0), [path], correlation)
    assert with_norms[7] == 0.5
    assert np.delete(with_norms, 7).max() < 0.5


def test_several_gram_columns_are_one_product():
    X, _ = problem(30, 6)
    gram = GramColumns(TableOperator.centred(X))
    expected = np.cov(X.T, bias=True) * 30
    np.testing.assert_allclose(gram.block(np.array([4, 0])), expected[:, [4, 0]], atol=1e-10)
    np.testing.assert_allclose(gram.diagonal, expected.diagonal(), atol=1e-10)
    assert 4 in gram
    assert 1 not in gram


# --- as many features as samples --------------------------------------------------------------


def wide_problem():
    """A table, its correlations with two targets and, of as many features as samples, a basis."""
    rng = np.random.default_rng(0)
    X = TableOperator(rng.standard_normal((5, 12)))
    return X, X.transposed_times(rng.standard_normal((5, 2)))


def test_no_feature_is_news_once_as_many_are_active_as_samples():
    """Rounding leaves something of the others, which without a tolerance would count as news."""
    X, correlation = wide_problem()
    active = ActiveBySamples(X, correlation, 12, news=0.0)
    active.add(np.arange(4))
    assert not active.is_explained[4:].any()
    active.add(np.arange(4, 12))
    assert (active._left > 0).any(), "rounding left nothing: the test tests nothing"
    assert active.is_explained.all()
    assert active.indices == [0, 1, 2, 3, 4]
    assert active.coef().any(axis=1).all()


@pytest.mark.parametrize("n_given", [0, 3, 5, 12])
def test_more_steps_than_samples_end_at_as_many_features_as_samples(n_given):
    """Also from coefficients that are no optimum and have more rows than the table has samples."""
    X, correlation = wide_problem()
    start = np.zeros_like(correlation)
    start[:n_given] = np.random.default_rng(1).standard_normal((n_given, 2))
    path = least_angle_regression(X, correlation, 12, start=start, news=0.0)
    assert np.isfinite(path.solution).all()
    assert len(path.entered) <= max(0, 5 - n_given)
