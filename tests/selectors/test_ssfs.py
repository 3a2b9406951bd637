"""SSFS: labels, classifiers and the choice of eigenvectors against the definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.regression import leave_one_out_instability
from references.spectral import two_medians
from references.tables import planted_groups
from references.tables import three_levels as table
from sklearn.preprocessing import scale

from tamis import SSFS
from tamis.graphs import neighbor_graph, spectral_embedding
from tamis.selectors.ssfs import stable
from tamis.utils.columns import centred_unit_columns

FORMS = [np.asarray, sp.csr_array]
SHAPES = {"more samples": (40, 12), "more features": (16, 25)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_scores_are_those_of_the_definition(shape, form):
    X = table(*shape)
    model = SSFS(n_eigenvectors=6, ridge=0.1).fit(form(X))
    Y = centred_unit_columns(spectral_embedding(neighbor_graph(X, 5), 6)[1])
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-8)
    eigenvalues = np.linalg.eigvalsh(np.cov(X.T) * (len(X) - 1))
    penalty = 0.1 * (eigenvalues**2).sum() / eigenvalues.sum()
    weights, instability = [], []
    for y in Y.T:
        labels = np.where(two_medians(y), 1.0, -1.0)
        w, unstable = leave_one_out_instability(X, labels, penalty)
        weights.append(np.abs(w) / np.abs(w).sum())
        instability.append(unstable)
    np.testing.assert_allclose(model.instability_, instability, rtol=1e-6)
    kept = ~two_medians(np.log(instability))
    assert model.n_kept_ == kept.sum()
    assert set(model.kept_eigenvectors_) == set(np.flatnonzero(kept))
    assert (np.diff(model.instability_[model.kept_eigenvectors_]) >= 0).all()
    np.testing.assert_allclose(model.scores_, np.array(weights)[kept].max(axis=0), atol=1e-8)


def test_the_columns_of_planted_groups_come_first():
    X, _ = planted_groups()
    model = SSFS(6).fit(scale(X))
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3, 4, 5]


def test_the_eigenvectors_of_planted_groups_are_the_stable_ones():
    X, _ = planted_groups()
    model = SSFS(6).fit(scale(X))
    assert set(model.kept_eigenvectors_) == {0, 1}


def test_equally_stable_eigenvectors_are_all_kept():
    assert stable(np.full(4, 0.3)).tolist() == [0, 1, 2, 3]
    assert stable(np.array([0.5, 0.01, np.inf, 0.02])).tolist() == [1, 3, 0]


def test_there_are_no_more_eigenvectors_than_samples():
    model = SSFS(n_eigenvectors=50).fit(table(15, 6))
    assert model.coef_.shape == (6, 14)


@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_the_unit_plays_no_part(factor):
    X = table(40, 12)
    np.testing.assert_array_equal(SSFS().fit(factor * X).ranking_, SSFS().fit(X).ranking_)


@pytest.mark.slow
def test_a_real_table_with_few_samples(benchmark_set):
    X, _ = benchmark_set("lung_small")
    model = SSFS(30).fit(scale(X))
    assert 1 <= model.n_kept_ < 20
    np.testing.assert_allclose(model.scores_.max(), model.scores_[model.ranking_ == 1])
