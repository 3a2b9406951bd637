"""Column subset selection against least squares fits of every set of columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from references.column_subset import best_exchange, best_of_all, explained, greedy
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

from tamis.solvers import column_span
from tamis.solvers.column_span import SpanByFeatures, SpanBySamples, squared_gram_columns
from tamis.solvers.column_subset import RISE, column_subset
from tamis.solvers.table_operator import TableOperator

TOLERANCE = 2 * RISE
SHAPES = {"long": (40, 11), "wide": (9, 14), "square": (12, 12)}


def correlated(n_samples, n_features, seed=0):
    """Columns that share five factors, some of them zero in half of the samples."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((n_samples, 5)) @ rng.standard_normal((5, n_features))
    X = shared + 0.3 * rng.standard_normal((n_samples, n_features)) + 2
    X[:, ::3] *= rng.random((n_samples, len(range(0, n_features, 3)))) < 0.5
    return X


FORMS = {
    "covariance": lambda X: np.cov(X.T),
    "dense": TableOperator.centred,
    "sparse": lambda X: TableOperator.centred(sp.csr_array(X)),
}


# --- the greedy choice ------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_each_step_adds_the_best_column(shape, form, seed):
    X = correlated(*SHAPES[shape], seed)
    found = column_subset(FORMS[form](X), 6)
    assert found.solution.tolist() == greedy(X, 6)
    steps = [explained(X, found.solution[: i + 1]) for i in range(6)]
    np.testing.assert_allclose(found.explained, steps, rtol=1e-9)
    np.testing.assert_allclose(found.left, 1 - steps[-1], rtol=1e-8)
    np.testing.assert_allclose(found.objective, [1 - steps[-1]], rtol=1e-8)
    assert found.converged
    assert found.n_swaps == 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_each_column_adds_is_known(shape, form):
    X = correlated(*SHAPES[shape])
    found = column_subset(FORMS[form](X), 3)
    now = explained(X, found.solution)
    for j in range(X.shape[1]):
        np.testing.assert_allclose(found.alone[j], explained(X, [j]), rtol=1e-9)
        expected = explained(X, [*found.solution, j]) - now
        np.testing.assert_allclose(found.next_gains[j], expected, atol=1e-10)


@pytest.mark.parametrize(
    ("load", "n_columns"), [(lambda: scale(load_wine().data), 13), (lambda: load_digits().data, 12)]
)
def test_real_tables_have_the_steps_of_the_definition(load, n_columns):
    X = load()[::2]
    found = column_subset(TableOperator.centred(X), n_columns)
    assert found.solver == "covariance"
    assert found.solution.tolist() == greedy(X, n_columns)
    np.testing.assert_allclose(found.explained[-1], explained(X, found.solution), rtol=1e-10)


def test_the_algorithm_follows_the_shape_and_form(monkeypatch):
    X = correlated(30, 20)
    assert column_subset(TableOperator.centred(X), 2).solver == "covariance"
    assert column_subset(TableOperator.centred(X[:19]), 2).solver == "products with the table"
    assert column_subset(np.cov(X[:19].T), 2).solver == "covariance"
    sparse = TableOperator.centred(sp.csr_array(X))
    assert column_subset(sparse, 2).solver == "covariance"
    monkeypatch.setattr(column_span, "SPARSE_GRAM_MAX", 10)
    assert column_subset(sparse, 2).solver == "products with the table"
    assert column_subset(sparse, 5).solution.tolist() == greedy(X, 5)


@pytest.mark.parametrize("work", [0, 1e9])
@pytest.mark.parametrize("most", [0, 6000])
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("shape", [(30, 300), (300, 30)])
def test_squared_columns_of_the_gram_matrix(monkeypatch, shape, form, most, work):
    monkeypatch.setattr(column_span, "SPARSE_GRAM_MAX", most)
    monkeypatch.setattr(column_span, "SPARSE_BY_SPARSE", work)
    X = correlated(*shape)
    expected = ((shape[0] - 1) ** 2 * np.cov(X.T) ** 2).sum(axis=0)
    squares, terms = squared_gram_columns(FORMS[form](X))
    np.testing.assert_allclose(squares, expected, rtol=1e-10)
    assert (terms >= (1 - 1e-12) * squares).all()


def test_digits_that_an_offset_costs_are_found_again(monkeypatch):
    """A zero in a column far from zero: products of sparse columns are mostly of its mean."""
    monkeypatch.setattr(column_span, "SPARSE_GRAM_MAX", 0)
    monkeypatch.setattr(column_span, "SPARSE_BY_SPARSE", 0)
    X = correlated(3000, 8) + 1e4
    X[np.arange(8), np.arange(8)] = 0
    X[:, 0] = 1e-3 * X[:, 1]
    found = column_subset(TableOperator.centred(sp.csr_array(X)), 5)
    assert found.solution.tolist() == column_subset(TableOperator.centred(X), 5).solution.tolist()
    np.testing.assert_allclose(found.explained[-1], explained(X, found.solution), rtol=1e-9)


@pytest.mark.parametrize("span", [SpanByFeatures, SpanBySamples])
def test_updates_keep_what_each_column_adds(span):
    """Columns join and leave; f / g is that of a span made of the last columns alone."""
    X = TableOperator.centred(correlated(30, 20))
    table = X.gram_of_features() if span is SpanByFeatures else X
    rng = np.random.default_rng(0)
    used = span(table, 8)
    for _ in range(200):
        if len(used.members) == 8 or (len(used.members) > 1 and rng.random() < 0.5):
            used.remove(used.removal(int(rng.choice(used.members))))
        else:
            used.add(used.direction(int(rng.choice(np.flatnonzero(used.adds)))))
    fresh = span(table, 8)
    for j in used.members:
        fresh.add(fresh.direction(j))
    np.testing.assert_allclose(used.gains(), fresh.gains(), rtol=1e-8)
    np.testing.assert_allclose(used.left, fresh.left, rtol=1e-10)
    for j in used.members:
        np.testing.assert_allclose(used.removal(j).loss, fresh.removal(j).loss, rtol=1e-8)


# --- exchanges --------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_no_exchange_rebuilds_more(shape, form, seed):
    X = correlated(*SHAPES[shape], seed)
    found = column_subset(FORMS[form](X), 4, max_passes=50)
    assert found.converged
    reached = explained(X, found.solution)
    np.testing.assert_allclose(found.explained[-1], reached, rtol=1e-9)
    assert best_exchange(X, found.solution.tolist()) <= reached + TOLERANCE
    assert explained(X, greedy(X, 4)) - 1e-12 <= reached <= best_of_all(X, 4) + 1e-12
    np.testing.assert_allclose(found.objective[-1], 1 - reached, rtol=1e-8)
    assert (np.diff(found.objective) <= 0).all()
    steps = [explained(X, found.solution[: i + 1]) for i in range(4)]
    np.testing.assert_allclose(found.explained, steps, rtol=1e-9)


def test_exchanges_find_the_best_set_that_the_greedy_choice_misses():
    """A sum of two columns is the best single one, and no part of the best pair."""
    rng = np.random.default_rng(0)
    a, b = np.linalg.qr(scale(rng.standard_normal((50, 2))))[0].T
    noise = np.linalg.qr(scale(rng.standard_normal((50, 8))))[0].T * 0.2
    X = np.column_stack([a + b + noise[0], a, a, a, b, b, b])
    X[:, [2, 3, 5, 6]] += noise[1:5].T
    assert greedy(X, 2)[0] == 0
    found = column_subset(TableOperator.centred(X), 2, max_passes=10)
    assert found.n_swaps >= 1
    assert 0 not in found.solution
    np.testing.assert_allclose(found.explained[-1], best_of_all(X, 2), rtol=1e-10)


def test_exchanges_are_limited_and_the_limit_is_told():
    X = correlated(9, 14, seed=2)
    free = column_subset(TableOperator.centred(X), 4, max_passes=50)
    assert free.n_swaps > 1
    assert len(free.objective) > 2
    one = column_subset(TableOperator.centred(X), 4, max_passes=1)
    assert len(one.objective) == 2
    assert not one.converged
    assert one.optimality == pytest.approx(one.objective[0] - one.objective[1])
    assert (free.converged, free.optimality) == (True, 0)
    assert np.isnan(column_subset(TableOperator.centred(X), 4).optimality)
    np.testing.assert_allclose(one.explained[-1], explained(X, one.solution), rtol=1e-9)


def test_after_exchanges_the_order_is_that_of_the_greedy_choice_among_them():
    for seed in range(10):
        X = correlated(30, 14, seed)
        found = column_subset(TableOperator.centred(X), 5, include=[3], max_passes=50)
        others = [j for j in range(14) if j not in found.solution]
        assert found.solution.tolist() == greedy(X, 5, include=[3], exclude=others)


# --- columns that are given ------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_included_columns_come_first_and_excluded_ones_never(shape, form):
    X = correlated(*SHAPES[shape])
    first = greedy(X, 5)
    exclude = first[:2]
    include = [j for j in range(X.shape[1]) if j not in first][:2]
    found = column_subset(FORMS[form](X), 5, include=include, exclude=exclude)
    assert set(found.solution[:2]) == set(include)
    assert found.n_included == 2
    assert found.solution[2:].tolist() == greedy(X, 5, include, exclude)[2:]
    swapped = column_subset(FORMS[form](X), 5, include=include, exclude=exclude, max_passes=50)
    assert set(include) <= set(swapped.solution)
    assert not set(exclude) & set(swapped.solution)
    reached = explained(X, swapped.solution)
    assert reached >= found.explained[-1] - 1e-12
    assert best_exchange(X, swapped.solution.tolist(), include, exclude) <= reached + TOLERANCE


def test_an_included_copy_is_chosen_though_it_adds_nothing():
    X = correlated(30, 8)
    X = np.column_stack([X, X[:, 2]])
    for max_passes in (0, 20):
        found = column_subset(TableOperator.centred(X), 4, include=[2, 8], max_passes=max_passes)
        assert found.solution[:2].tolist() == [2, 8]
        assert found.gains[1] == 0
        assert len(found.solution) == 4
        assert (np.argsort(-found.scores, kind="stable")[:4] == found.solution).all()


def test_what_cannot_be_is_refused():
    C = np.eye(4)
    with pytest.raises(ValueError, match="both included and excluded"):
        column_subset(C, 2, include=[1], exclude=[1])
    with pytest.raises(ValueError, match="3 columns are included, more than n_columns=2"):
        column_subset(C, 2, include=[0, 1, 2])
    with pytest.raises(ValueError, match="no variance"):
        column_subset(np.zeros((3, 3)), 1)


# --- rank, copies, ties -----------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(60, 20), (15, 40)])
@pytest.mark.parametrize("seed", range(3))
def test_the_choice_ends_at_the_rank(shape, form, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((shape[0], 6)) @ rng.standard_normal((6, shape[1]))
    found = column_subset(FORMS[form](X), 20)
    assert len(found.solution) == 6
    np.testing.assert_allclose(found.explained[-1], 1, rtol=1e-10)
    assert found.left == 0
    assert (found.next_gains == 0).all()
    scores = found.scores
    rest = np.setdiff1d(np.arange(shape[1]), found.solution)
    assert 0 < scores[rest].max() < scores[found.solution].min()
    np.testing.assert_array_equal(np.argsort(-scores[rest]), np.argsort(-found.alone[rest]))


@pytest.mark.parametrize("form", FORMS)
def test_fewer_samples_than_columns_have_the_rank_of_the_centred_table(form):
    X = np.random.default_rng(0).standard_normal((7, 30))
    assert len(column_subset(FORMS[form](X), 30).solution) == 6


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("max_passes", [0, 20])
@pytest.mark.parametrize("shape", [(40, 8), (9, 8)])
def test_a_copy_is_never_chosen_before_what_adds(shape, max_passes, form):
    X = correlated(*shape)
    copies = np.column_stack([X, -3 * X, X[:, 0] + X[:, 1]])
    found = column_subset(FORMS[form](copies), 7, max_passes=max_passes)
    assert len(found.solution) == 7
    np.testing.assert_allclose(found.explained[-1], explained(copies, found.solution), rtol=1e-9)
    assert np.linalg.matrix_rank(copies[:, found.solution] - copies[:, found.solution].mean(0)) == 7


@pytest.mark.parametrize("form", FORMS)
def test_of_equal_columns_the_first_is_chosen(form):
    X = correlated(40, 6)
    rng = np.random.default_rng(0)
    for _ in range(10):
        twice = np.hstack([X, X])[rng.permutation(40)]
        found = column_subset(FORMS[form](twice), 6)
        assert found.solution.max() < 6


@pytest.mark.parametrize("span", ["long", "wide"])
def test_near_copies_are_told_apart(span):
    """What is left of a column is small beside it: recursive formulas alone would be rounding."""
    rng = np.random.default_rng(0)
    n_samples = 200 if span == "long" else 12
    base = rng.standard_normal((n_samples, 1))
    others = rng.standard_normal((n_samples, 8))
    X = base + 2e-5 * others * np.linspace(1, 2, 8)
    X = np.column_stack([base, X, 1e-5 * rng.standard_normal((n_samples, 8))])
    found, first = (
        column_subset(TableOperator.centred(X), 9),
        column_subset(TableOperator.centred(X), 1),
    )
    centred = X - X.mean(axis=0)
    total = np.linalg.norm(centred) ** 2
    for step, column in enumerate(found.solution):
        Q = np.linalg.qr(centred[:, found.solution[:step]])[0]
        left = centred - Q @ (Q.T @ centred)
        left -= Q @ (Q.T @ left)
        lengths = np.linalg.norm(left, axis=0)
        new = lengths > 1e-5 * np.linalg.norm(centred, axis=0)
        units = np.divide(left, lengths, where=new, out=np.zeros_like(left))
        gains = np.linalg.norm(left.T @ units, axis=0) ** 2 / total
        assert gains[column] >= (1 - 1e-5) * gains.max(), step
        if step == 1:
            np.testing.assert_allclose(first.next_gains, gains, rtol=1e-5)


def test_columns_of_all_scales_are_chosen_in_order():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 10)) * np.logspace(6, -6, 10)
    assert column_subset(TableOperator.centred(X), 10).solution.tolist() == list(range(10))


def test_one_column():
    found = column_subset(np.array([[2.0]]), 1, max_passes=5)
    assert found.solution.tolist() == [0]
    np.testing.assert_allclose(found.explained, [1], rtol=1e-12)
    np.testing.assert_allclose(found.scores, [1], rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_samples=st.integers(2, 12),
    n_features=st.integers(1, 9),
    rank=st.integers(1, 6),
    levels=st.booleans(),
    data=st.data(),
)
def test_any_table(seed, n_samples, n_features, rank, levels, data):
    """Shares never fall, are true, and no exchange of the result rebuilds more."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, rank)) @ rng.standard_normal((rank, n_features))
    X = np.round(X) if levels else X
    assume(np.ptp(X, axis=0).any())
    n_columns = data.draw(st.integers(1, n_features))
    include = data.draw(st.lists(st.integers(0, n_features - 1), max_size=n_columns, unique=True))
    found = column_subset(TableOperator.centred(X), n_columns, include=include, max_passes=100)
    assert found.converged
    assert set(include) == set(found.solution[: found.n_included])
    assert len(set(found.solution)) == len(found.solution) <= n_columns
    assert (np.diff(found.explained) >= 0).all()
    reached = explained(X, found.solution)
    np.testing.assert_allclose(found.explained[-1], reached, atol=1e-8)
    if len(found.solution) < n_columns:
        np.testing.assert_allclose(reached, 1, rtol=1e-8)
    elif len(include) < n_columns < n_features:
        assert best_exchange(X, found.solution.tolist(), include) <= reached + 1e-7
    assert np.isfinite(found.scores).all()
    kept = np.argsort(-found.scores, kind="stable")[: len(found.solution)]
    assert set(kept) == set(found.solution)
