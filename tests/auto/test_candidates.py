"""Rankings of the columns: what they rebuild, what speaks for each, which is taken."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.tables import planted_groups
from sklearn.metrics import normalized_mutual_info_score

from tamis import Auto
from tamis.auto._candidates import (
    Evidence,
    Regression,
    evidence,
    regress,
    standardised_columns,
    targets_of,
)
from tamis.auto._scales import scaled_table
from tamis.auto._search import _chosen, full_ranking, number_compared, search
from tamis.auto._shape import Shape, shape_of
from tamis.clustering import kmeans, modularity
from tamis.graphs import spectral_embedding
from tamis.solvers.l21 import alpha_max
from tamis.solvers.table_operator import TableOperator
from tamis.utils.ties import content_ranks

SCALES = ("standard", "pareto")


def planted():
    X, _ = planted_groups()
    Z = scaled_table(X, "standard")
    return X, Z, shape_of(Z, None, np.argsort(content_ranks(X)))


def found(X, scales=SCALES, kept=()):
    mask = np.isin(np.arange(X.shape[1]), kept)
    return search(X, scales, None, mask, np.argsort(content_ranks(X))), mask


# --- targets ----------------------------------------------------------------------------------


def co_membership(several):
    """The definition: the sum over partitions of ``B Bᵀ``, B of centred unit indicators."""
    total = 0
    for labels in several:
        B = np.eye(labels.max() + 1)[labels]
        B -= B.mean(axis=0)
        B /= np.linalg.norm(B, axis=0)
        total = total + B @ B.T / len(several)
    return total


def random_partitions(n_samples=40, n_partitions=6):
    rng = np.random.default_rng(0)
    return tuple(rng.integers(2 + i % 3, size=n_samples) for i in range(n_partitions))


@pytest.mark.parametrize("most", [0, 2000], ids=["by subspaces", "dense"])
def test_targets_are_the_indicators_of_all_partitions_but_for_a_hundredth(monkeypatch, most):
    monkeypatch.setattr("tamis.auto._candidates.MOST_GROUPS", most)
    several = random_partitions()
    shape = Shape(sp.csr_array((40, 40)), several[0], several[:4], several[4:])
    name, Y = targets_of(shape)
    assert name == "groups"
    expected = co_membership(several)
    left = expected - Y @ Y.T
    assert np.linalg.eigvalsh(left).min() > -1e-10, "nothing is added"
    assert np.trace(left) <= 0.01 * np.trace(expected) + 1e-10
    assert np.trace(expected - Y[:, :-1] @ Y[:, :-1].T) > 0.01 * np.trace(expected)
    np.testing.assert_allclose(Y.sum(axis=0), 0, atol=1e-10)


def test_hundreds_of_groups_that_all_partitions_share_are_rebuilt_in_part(monkeypatch):
    monkeypatch.setattr("tamis.auto._candidates.MOST_GROUPS", 100)
    monkeypatch.setattr("tamis.auto._candidates.MOST_COMPONENTS", 20)
    labels = np.repeat(np.arange(200), 2)
    shape = Shape(sp.csr_array((400, 400)), labels, (labels, labels))
    Y = targets_of(shape)[1]
    assert Y.shape == (400, 20)
    np.testing.assert_allclose(Y.T @ Y, np.diag((Y**2).sum(axis=0)), atol=1e-10)
    expected = co_membership([labels])
    np.testing.assert_allclose(expected @ Y, np.linalg.eigvalsh(expected)[-1] * Y, atol=1e-10)


def test_planted_groups_are_rebuilt_as_their_indicators_are():
    _, _, shape = planted()
    Y = targets_of(Shape(shape.graph, shape.labels))[1]
    np.testing.assert_allclose(Y @ Y.T, co_membership([shape.labels]), atol=1e-10)


def test_one_group_gives_no_indicator_but_an_eigenvector():
    _, _, shape = planted()
    one = np.zeros_like(shape.labels)
    name, Y = targets_of(Shape(shape.graph, one, (one, one)))
    assert name == "eigenvector"
    expected = spectral_embedding(shape.graph, 1)[1]
    expected = expected - expected.mean()
    np.testing.assert_allclose(Y, expected / np.linalg.norm(expected), atol=1e-10)


# --- regression -------------------------------------------------------------------------------


def test_the_coefficients_are_optimal_for_four_tenths_of_the_largest_penalty():
    _, Z, shape = planted()
    X, Y = TableOperator.centred(Z), targets_of(shape)[1]
    ranked = regress(X, Y, 6, "standard", "groups")
    penalty = 0.4 * alpha_max(X, Y)
    gradient = 2 * Z.T @ (Y - Z @ ranked.coef)
    norms = np.linalg.norm(gradient, axis=1)
    active = ranked.coef.any(axis=1)
    np.testing.assert_allclose(norms[active], penalty, rtol=1e-2)
    assert (norms[~active] <= 1.01 * penalty).all()
    np.testing.assert_allclose(ranked.correlation, Z.T @ Y, atol=1e-10)
    assert set(ranked.best(6)) == set(range(6))


def test_what_kept_columns_rebuild_is_no_target():
    """With a group's own column kept, those of the other groups come next."""
    _, Z, shape = planted()
    X, Y = TableOperator.centred(Z), targets_of(shape)[1]
    kept = np.isin(np.arange(Z.shape[1]), [20, 0])
    ranked = regress(X, Y, 6, "standard", "groups", kept)
    assert set(ranked.best(2)) == {0, 20}
    assert set(ranked.best(4)[2:]) <= {2, 3, 4, 5}
    basis = np.linalg.qr(Z[:, [0, 20]])[0]
    left = Y - basis @ (basis.T @ Y)
    np.testing.assert_allclose(ranked.correlation, Z.T @ left, atol=1e-8)


def test_targets_that_are_explained_leave_nothing_to_rank():
    _, Z, shape = planted()
    Y = targets_of(Shape(shape.graph, shape.labels))[1]
    table = np.hstack([Y[:, :2], Z])
    kept = np.arange(table.shape[1]) < 2
    ranked = regress(TableOperator.centred(table), Y, 5, "standard", "groups", kept)
    np.testing.assert_array_equal(ranked.scores, kept.astype(float))


# --- evidence ---------------------------------------------------------------------------------


def test_evidence_is_the_mean_agreement_of_kmeans_with_every_fifth_partition():
    X, _, shape = planted()
    columns = standardised_columns(X, np.array([0, 2, 7]))
    several = random_partitions(90, 15)
    speaks = evidence(columns, Shape(shape.graph, shape.labels, several))
    expected = []
    for labels in (several[0], several[5], several[10]):
        clusters = kmeans(columns, labels.max() + 1, start=labels).labels
        agreement = normalized_mutual_info_score(labels, clusters)
        expected.append([agreement, modularity(shape.graph, clusters)])
    expected = np.mean(expected, axis=0)
    np.testing.assert_allclose([speaks.agreement, speaks.modularity], expected, atol=1e-5)


def test_informative_columns_have_more_evidence_than_noise():
    X, _, shape = planted()
    good, noise = (
        evidence(standardised_columns(X, np.arange(start, start + 6)), shape) for start in (0, 10)
    )
    assert good.agreement > 0.9
    assert noise.agreement < 0.6
    assert good.modularity > noise.modularity


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_columns_are_standardised(form):
    X = np.where(np.random.default_rng(0).random((30, 5)) > 0.5, 3.0, 0.0) * np.arange(1, 6)
    expected = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(standardised_columns(form(X), np.array([3, 1])), expected[:, [3, 1]])


# --- search -----------------------------------------------------------------------------------


def test_every_scale_is_tried_and_the_strongest_evidence_wins():
    X, _ = planted_groups()
    result, _ = found(X)
    tried = [(ranking.scale, ranking.target) for ranking in result.rankings]
    assert tried == [(scale, "groups") for scale in SCALES]
    best = max((e.agreement, e.modularity) for e in result.evidence)
    chosen = result.evidence[result.chosen]
    assert (chosen.agreement, chosen.modularity) == best
    assert set(result.shapes) == set(SCALES)


def test_with_one_group_columns_are_ranked_by_an_eigenvector():
    X, _ = planted_groups()
    mask = np.zeros(X.shape[1], dtype=bool)
    result = search(X, ("standard",), 1, mask, np.argsort(content_ranks(X)))
    # The graph has groups by itself, which are rebuilt beside.
    assert result.shape.n_groups == 1
    assert np.ptp(result.rankings[0].scores) > 0


@pytest.mark.parametrize(
    ("n_features", "expected"), [(1, 1), (2, 2), (5, 3), (64, 6), (500, 50), (5000, 100)]
)
def test_a_tenth_is_compared(n_features, expected):
    assert number_compared(n_features) == expected


def test_the_full_ranking_goes_on_where_the_compared_one_ends():
    X, _ = planted_groups()
    result, kept = found(X)
    scores = full_ranking(X, result, kept)
    first = result.rankings[result.chosen].best(result.n_compared)
    np.testing.assert_array_equal(np.argsort(-scores, kind="stable")[: len(first)], first)
    assert len(np.unique(scores)) == X.shape[1]


@pytest.mark.parametrize(
    ("agreements", "wide", "scale"),
    [
        ((0.80, 0.78), False, "standard"),
        ((0.80, 0.78), True, "pareto"),
        ((0.80, 0.74), True, "standard"),
        ((0.70, 0.72), False, "pareto"),
    ],
)
def test_of_wide_tables_standardised_columns_have_to_lead(agreements, wide, scale):
    nothing = np.zeros((3, 1))
    rankings = [
        Regression(name, "groups", nothing, nothing, nothing, np.arange(3.0))
        for name in ("standard", "pareto")
    ]
    found = [Evidence(agreement, 0.5) for agreement in agreements]
    assert rankings[_chosen(rankings, found, wide=wide)].scale == scale


@pytest.mark.slow
def test_of_many_faint_columns_few_strong_ones_are_found():
    """As of genes: most are faint and only noise, which standardising makes as loud as the rest."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 20)
    strong = rng.normal(size=(3, 30))[labels] + rng.normal(size=(60, 30))
    X = np.hstack([strong, 0.3 * rng.normal(size=(60, 1500))])
    auto = Auto(30).fit(X)
    assert auto.scaling_ == "pareto"
    assert auto.get_support()[:30].mean() > 0.8
