"""Sparse K-means against its definition, its weights against a general solver."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from tamis import SparseKMeans
from tamis.clustering import bounded_weights
from tamis.metrics import clustering_accuracy
from tamis.utils.shuffles import ColumnShuffler

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (60, 15), "more features": (25, 50)}


def between(X, labels):
    """Scatter between clusters, as the difference of the two double sums of equation 7."""
    total = np.array([((f[:, None] - f) ** 2).sum() / (2 * len(f)) for f in X.T])
    for k in np.unique(labels):
        part = X[labels == k]
        total -= [((f[:, None] - f) ** 2).sum() / (2 * len(f)) for f in part.T]
    return total


# --- the weights ------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [1.0, 1.3, 2.0, 3.0, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_a_general_solver(seed, bound):
    values = np.random.default_rng(seed).random(12)
    found = bounded_weights(values, bound)
    assert found.min() >= 0
    assert np.linalg.norm(found) <= 1 + 1e-12
    assert found.sum() <= bound * (1 + 1e-9)
    expected = scipy.optimize.minimize(
        lambda w: -values @ w,
        np.full(12, 0.1),
        jac=lambda w: -values,
        bounds=[(0, 1)] * 12,
        constraints=[
            {"type": "ineq", "fun": lambda w: 1 - w @ w},
            {"type": "ineq", "fun": lambda w: bound - w.sum()},
        ],
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert values @ found >= -expected.fun - 1e-7


def test_more_equal_values_than_the_bound_has_room_for_share_it():
    np.testing.assert_allclose(bounded_weights(np.array([3.0, 3, 3, 3, 1]), 1.2)[:4], 0.3)
    np.testing.assert_allclose(bounded_weights(np.zeros(4), 1.0), 0.25)


# --- the alternation --------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
@pytest.mark.parametrize("bound", [1.5, 3.0])
def test_the_last_objective_is_that_of_the_definition(bound, shape, form):
    X = table(*shape)
    model = SparseKMeans(n_clusters=3, bound=bound).fit(form(X))
    scatter = between(X, model.labels_)
    total = np.linalg.norm(X.var(axis=0) * len(X))
    assert model.objective_[-1] == pytest.approx(1 - model.weights_ @ scatter / total)
    assert (np.diff(model.objective_) <= 1e-12).all()
    np.testing.assert_allclose(model.weights_, bounded_weights(scatter, bound), atol=1e-9)
    support = model.weights_ > 0
    assert model.n_support_ == support.sum()
    assert model.scores_[~support].max(initial=0) < model.scores_[support].min()


def test_at_the_end_no_sample_would_change_its_cluster():
    X = scale(load_wine().data)
    model = SparseKMeans(n_clusters=3, bound=2.0).fit(X)
    weighted = X * np.sqrt(model.weights_)
    centres = np.array([weighted[model.labels_ == k].mean(axis=0) for k in range(3)])
    nearest = ((weighted[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest, model.labels_)


def test_planted_groups_are_found_with_their_columns_and_no_other():
    X, groups = planted_groups()
    model = SparseKMeans(6, n_clusters=3).fit(X)
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]
    assert clustering_accuracy(groups, model.labels_) == 1
    assert model.weights_[:6].min() > 10 * model.weights_[6:].max()


# --- the bound --------------------------------------------------------------------------------


def test_the_bound_of_the_largest_gap_is_taken():
    X, _ = planted_groups()
    model = SparseKMeans(n_clusters=3, n_bounds=4, n_permutations=2).fit(X)
    assert model.bound_ == model.bounds_[model.gaps_.argmax()]
    np.testing.assert_allclose(model.bounds_[[0, -1]], [1.2, np.sqrt(26)])
    given = SparseKMeans(n_clusters=3, bound=model.bound_).fit(X)
    np.testing.assert_array_equal(given.scores_, model.scores_)
    assert given.bounds_.size == given.gaps_.size == 0


def test_without_structure_the_gaps_are_small():
    noise = np.random.default_rng(0).standard_normal((60, 10))
    X, _ = planted_groups()
    options = {"n_clusters": 3, "n_bounds": 4, "n_permutations": 3}
    assert np.abs(SparseKMeans(**options).fit(noise).gaps_).max() < 0.2
    assert SparseKMeans(**options).fit(X).gaps_.max() > 0.5


@pytest.mark.parametrize("form", FORMS)
def test_shuffling_keeps_each_column_and_nothing_else(form):
    X = table(60, 8)
    shuffled = ColumnShuffler(form(X)).shuffled(0)
    dense = shuffled.toarray() if sp.issparse(shuffled) else shuffled
    for before, after in zip(X.T, dense.T, strict=True):
        np.testing.assert_array_equal(np.sort(before), np.sort(after))
    assert (dense != X).any(axis=0).all()
    other = ColumnShuffler(form(X)).shuffled(1)
    assert (abs(other - shuffled)).max() > 0


def test_shuffling_does_not_depend_on_any_order():
    X = table(40, 8)
    rows, columns = (
        np.random.default_rng(1).permutation(40),
        np.random.default_rng(2).permutation(8),
    )
    expected = ColumnShuffler(X).shuffled(3)
    np.testing.assert_array_equal(
        ColumnShuffler(X[rows][:, columns]).shuffled(3), expected[:, columns]
    )
    np.testing.assert_array_equal(ColumnShuffler(-X).shuffled(3), -expected)


def test_too_few_iterations_warn():
    with pytest.warns(UserWarning, match="did not converge in max_iter=1"):
        SparseKMeans(bound=2.0, max_iter=1).fit(table(60, 15))


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, y = benchmark_set("lung_small")
    model = SparseKMeans(30, n_clusters=7, n_permutations=2).fit(scale(X))
    assert clustering_accuracy(y, model.labels_) > 0.55
