"""The margin engine against CVXPY, brute force over all cuts, and the paper's propositions."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from references.margin import inner_optimum, labelled_optimum, normalised_gaussian_laplacian
from references.memory import with_peak_memory
from references.tables import overlapping_clusters

from tamis.clustering import kmeans, margin_starts
from tamis.solvers import margin_hessian
from tamis.solvers.margin import _Task, margin_clusters
from tamis.solvers.margin_classes import ABSENT, ManyClasses, TwoClasses
from tamis.solvers.margin_hessian import (
    FeatureHessian,
    GaussianLaplacian,
    NoHessian,
    SampleHessian,
    Scaling,
    SparseLaplacian,
    manifold_form,
    manifold_hessian,
)
from tamis.solvers.margin_ipm import solve_inner
from tamis.solvers.margin_problem import (
    InnerProblem,
    largest_sum,
    scale_factors,
    support_term,
)
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]


def random_laplacian(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    W = rng.random((n_samples, n_samples)) * (rng.random((n_samples, n_samples)) < 0.3)
    W = W + W.T
    np.fill_diagonal(W, 0)
    degree = W.sum(axis=1)
    return np.eye(n_samples) - W / np.sqrt(np.outer(degree, degree))


def operator(X, *, centre):
    return TableOperator.centred(X) if centre else TableOperator(X)


def blocks_of(n_clusters):
    return 1 if n_clusters == 2 else n_clusters


def task_of(X, n_clusters, *, lam=0.0, C=10.0, n_selected=3, limit=0.03, epsilon=0.01):
    samples = operator(X, centre=n_clusters == 2)
    n_blocks = blocks_of(n_clusters)
    hessian = NoHessian(X.shape[1], n_blocks)
    H = None
    if lam:
        L = random_laplacian(X.shape[0])
        hessian = manifold_hessian(samples, SparseLaplacian(sp.csr_array(L)), lam, n_blocks)
        wide = X - samples.origin
        if n_clusters == 2:
            wide = np.column_stack([wide, np.ones(len(X))])
        H = 2 * lam * wide.T @ L @ wide
    classes = TwoClasses(samples) if n_clusters == 2 else ManyClasses(samples, n_clusters)
    return _Task(samples, classes, C, n_selected, limit, epsilon, hessian), H


def random_problem(n_samples, n_features, n_clusters, n_cuts=5, seed=0, **settings):
    X, labels = overlapping_clusters(n_samples, n_features, n_clusters, seed)
    task, H = task_of(X, n_clusters, **settings)
    rng = np.random.default_rng(seed)
    cuts = task.first_cut(labels)
    for _ in range(n_cuts - 1):
        rivals = (labels + 1 + rng.integers(0, n_clusters - 1, n_samples)) % n_clusters
        cuts.add(np.where(rng.random(n_samples) < 0.7, rivals, ABSENT))
    return *task.inner(cuts), H


# --- the inner problem ------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0.03, 1e-4], ids=["balance", "tight balance"])
@pytest.mark.parametrize("lam", [0.0, 0.02])
@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("shape", [(40, 10), (12, 45)], ids=["more samples", "more features"])
def test_the_inner_optimum_is_that_of_cvxpy(shape, n_clusters, lam, limit):
    for seed, C in enumerate((0.1, 10.0, 1000.0)):
        problem, found, H = random_problem(
            *shape, n_clusters, seed=seed, lam=lam, limit=limit, C=C, n_selected=4
        )
        expected = inner_optimum(problem, H)
        np.testing.assert_allclose(found.objective[-1], expected, rtol=1e-5)
        assert found.optimality <= 1e-8 * found.objective[-1]
        assert found.n_iter <= 40


@pytest.mark.parametrize("lam", [0.0, 0.02])
@pytest.mark.parametrize("n_clusters", [2, 4])
def test_all_features_leave_no_choice_of_scale_factors(n_clusters, lam):
    problem, found, H = random_problem(30, 6, n_clusters, lam=lam, n_selected=6)
    np.testing.assert_allclose(found.objective[-1], inner_optimum(problem, H), rtol=1e-5)
    assert scale_factors(np.linalg.norm(found.solution, axis=1), 6).min() == 1


@pytest.mark.parametrize("n_clusters", [2, 3])
@pytest.mark.parametrize("lam", [0.0, 0.01])
def test_the_solution_meets_the_optimality_conditions(n_clusters, lam):
    problem, found, _ = random_problem(40, 12, n_clusters, lam=lam, n_selected=4)
    V, b = found.solution, found.b
    sizes, prices = np.linalg.norm(V, axis=1), np.linalg.norm(found.prices, axis=1)
    sigma = scale_factors(sizes, 4)
    np.testing.assert_allclose(V, sigma[:, None] * found.prices, atol=1e-4 * sizes.max())
    level = np.sort(prices)[-4]
    between = (sigma > 1e-3) & (sigma < 1 - 1e-3)
    np.testing.assert_allclose(prices[between], level, rtol=1e-3)
    assert (prices[sigma <= 1e-3] <= level * (1 + 1e-3)).all()
    assert (prices[sigma >= 1 - 1e-3] >= level * (1 - 1e-3)).all()
    assert (found.multipliers >= 0).all()
    assert found.multipliers.sum() <= problem.C * (1 + 1e-9)
    margins = np.tensordot(problem.cuts, V, 2) + problem.cut_biases * b
    assert (margins >= problem.cut_bounds - found.slack - 1e-9).all()
    inactive = margins > problem.cut_bounds - found.slack + 1e-3
    assert (found.multipliers[inactive] < 1e-5 * problem.C).all()


@pytest.mark.parametrize("n_selected", [2, 4])
def test_equal_classes_leave_the_bias_out_of_a_cut(n_selected):
    """Its entries in the system are then zero but for rounding."""
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 2
    X = rng.standard_normal((40, 4)) + 4 * labels[:, None]
    task, _ = task_of(X, 2, n_selected=n_selected)
    cuts = task.first_cut(labels)
    cuts.rows[0] = (cuts.rows[0][0], 3e-17, cuts.rows[0][2])
    for size in (20, 7):
        cuts.add(np.where(np.arange(40) < size, 0, ABSENT))
    problem, found = task.inner(cuts)
    assert found.optimality <= 1e-8 * found.objective[-1]
    np.testing.assert_allclose(found.objective[-1], inner_optimum(problem, None), rtol=1e-5)


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_wide_tables_have_the_same_solution_by_samples_as_by_features(n_clusters):
    X, labels = overlapping_clusters(12, 60, n_clusters)
    task, H = task_of(X, n_clusters, lam=0.02)
    assert isinstance(task.hessian, SampleHessian)
    column, weight = (H[:60, 60], H[60, 60]) if n_clusters == 2 else (np.zeros(60), 0.0)
    by_features = replace(task, hessian=FeatureHessian(H[:60, :60], column, weight))
    found, expected = (which.inner(which.first_cut(labels))[1] for which in (task, by_features))
    np.testing.assert_allclose(found.objective[-1], expected.objective[-1], rtol=1e-7)
    np.testing.assert_allclose(
        found.solution, expected.solution, atol=1e-4 * np.abs(expected.solution).max()
    )


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_another_unit_is_another_weight_of_the_loss(n_clusters, factor):
    """X → aX with C is X with a²C: v is divided by a, the objective by a²."""
    X, labels = overlapping_clusters(40, 10, n_clusters)
    scaled, _ = task_of(factor * X, n_clusters, C=10.0)
    plain, _ = task_of(X, n_clusters, C=10.0 * factor**2)
    found = scaled.inner(scaled.first_cut(labels))[1]
    expected = plain.inner(plain.first_cut(labels))[1]
    np.testing.assert_allclose(found.objective[-1] * factor**2, expected.objective[-1], rtol=1e-4)
    np.testing.assert_allclose(
        found.solution * factor, expected.solution, atol=1e-2 * np.abs(expected.solution).max()
    )


@pytest.mark.parametrize("n_selected", [1, 3, 7, 8])
def test_scale_factors_are_feasible_and_no_others_are_better(n_selected):
    rng = np.random.default_rng(0)
    norms = rng.random(8) ** 3
    sigma = scale_factors(norms, n_selected)
    assert sigma.min() >= 0
    assert sigma.max() <= 1
    np.testing.assert_allclose(sigma.sum(), n_selected)
    best = (norms**2 / sigma).sum() / 2
    np.testing.assert_allclose(support_term(norms, n_selected), best)
    for _ in range(200):
        other = rng.dirichlet(np.ones(8)) * n_selected
        if other.max() <= 1:
            assert (norms**2 / other).sum() / 2 >= best * (1 - 1e-12)


def test_scale_factors_of_few_used_features_share_the_rest():
    sigma = scale_factors(np.array([2.0, 0, 1, 0, 0]), 3)
    np.testing.assert_allclose(sigma, [1, 1 / 3, 1, 1 / 3, 1 / 3])
    assert scale_factors(np.zeros(4), 2).tolist() == [0.5] * 4
    assert largest_sum(np.array([3.0, 1, 2]), 2) == 5
    assert largest_sum(np.array([3.0, 1, 2]), 3) == 6


# --- the quadratic term -----------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_blocks", [1, 3])
def test_both_forms_of_the_hessian_solve_the_dense_system(n_blocks, form):
    rng = np.random.default_rng(0)
    X, _ = overlapping_clusters(9, 7)
    samples = operator(form(X), centre=n_blocks == 1)
    L = random_laplacian(9)
    dense = np.column_stack([X - samples.origin, np.ones(9)])
    H = 0.6 * dense.T @ L @ dense
    values, vectors = np.linalg.eigh(0.6 * L)
    by_samples = SampleHessian((vectors * np.sqrt(values.clip(0))) @ vectors.T, samples)
    by_features = FeatureHessian(H[:7, :7], H[:7, 7], H[7, 7])
    W, sigma, D = rng.standard_normal((7, n_blocks)), rng.random(7), 0.1 + rng.random(7)
    P = Scaling(sigma, W, 1 / D)
    whole = np.zeros((7, n_blocks, 7, n_blocks))
    for k in range(7):
        whole[k, :, k] = sigma[k] * np.eye(n_blocks) + np.outer(W[k], W[k]) / D[k]
    whole = whole.reshape(7 * n_blocks, -1)
    system = np.linalg.inv(whole) + np.kron(H[:7, :7], np.eye(n_blocks))
    U = rng.standard_normal((4, 7, n_blocks))
    expected = np.linalg.solve(system, U.reshape(4, -1).T).T.reshape(U.shape)
    np.testing.assert_allclose(
        NoHessian(7, n_blocks).inverse(P)(U).reshape(4, -1), U.reshape(4, -1) @ whole
    )
    V = rng.standard_normal((7, n_blocks))
    for hessian in (by_samples, by_features):
        np.testing.assert_allclose(hessian.inverse(P)(U), expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(hessian.apply(V, 0.0)[0], H[:7, :7] @ V)
        np.testing.assert_allclose(hessian.bias_column()[:, 0], H[:7, 7], atol=1e-12)
        np.testing.assert_allclose(hessian.bias_weight(), H[7, 7])
        if n_blocks == 1:
            product, last = hessian.apply(V, 2.0)
            theta = np.append(V[:, 0], 2.0)
            np.testing.assert_allclose(np.append(product[:, 0], last), H @ theta)


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_the_blockwise_gaussian_form_is_that_of_the_dense_formula(form, centre, monkeypatch):
    monkeypatch.setattr(margin_hessian, "LAPLACIAN_BLOCK_SIZE", 1)
    X, _ = overlapping_clusters(150, 6)
    L = normalised_gaussian_laplacian(X, 1.7)
    samples = operator(form(X), centre=centre)
    blocks = list(GaussianLaplacian(TableOperator.centred(form(X)), 1.7).blocks())
    assert len(blocks) == 3
    np.testing.assert_allclose(np.vstack([rows for _, rows in blocks]), L, atol=1e-12)
    wide = np.column_stack([X - samples.origin, np.ones(150)])
    expected = wide.T @ L @ wide
    for laplacian in (
        GaussianLaplacian(TableOperator.centred(form(X)), 1.7),
        SparseLaplacian(sp.csr_array(L)),
    ):
        np.testing.assert_allclose(manifold_form(samples, laplacian), expected, atol=1e-9)


def test_samples_without_an_edge_are_free():
    X = np.array([[0.0], [1.0], [1e6]])
    rows = np.vstack(
        [rows for _, rows in GaussianLaplacian(TableOperator.centred(X), 1.0).blocks()]
    )
    np.testing.assert_allclose(rows, [[1, -1, 0], [-1, 1, 0], [0, 0, 0]], atol=1e-9)


def test_a_system_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(margin_hessian, "SIDE_MAX", 20)
    X, _ = overlapping_clusters(30, 25)
    L = SparseLaplacian(sp.csr_array(random_laplacian(30)))
    with pytest.raises(ValueError, match="set lam=0") as caught:
        manifold_hessian(TableOperator.centred(X), L, 0.1, 1, remedy="set lam=0")
    assert "side 25" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("lam", [0.0, 0.01])
def test_wide_tables_never_meet_a_square_matrix_of_features(lam):
    X, labels = overlapping_clusters(40, 10_000)
    task, _ = task_of(X[:, :50], 2, lam=lam)  # the graph alone
    samples = TableOperator.centred(X)
    hessian = NoHessian(10_000, 1)
    if lam:
        hessian = SampleHessian(task.hessian.R, samples)
    _, peak = with_peak_memory(
        margin_clusters,
        samples,
        [labels],
        n_clusters=2,
        C=10.0,
        n_selected=50,
        limit=0.03,
        epsilon=0.1,
        hessian=hessian,
    )
    assert peak < 0.1 * 8 * 10_000**2


# --- cuts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_no_cut_asks_for_more_than_the_most_violated(n_clusters):
    """Propositions 3 and 8, against all cuts there are."""
    rng = np.random.default_rng(1)
    n_samples = 7
    X, _ = overlapping_clusters(n_samples, 3, n_clusters)
    task, _ = task_of(X, n_clusters)
    V = rng.standard_normal((3, task.classes.n_blocks))
    b = 0.2 if n_clusters == 2 else 0.0
    F = task.X.times(V) + b
    labels = task.classes.labels(F)
    rivals, slack = task.most_violated(F, labels)

    def asked(cut):
        row, bias, bound = task.classes.cut(labels, np.array(cut))
        return bound - (row * V).sum() - bias * b

    np.testing.assert_allclose(asked(rivals), slack)
    choices = (ABSENT, 0) if n_clusters == 2 else (ABSENT, *range(n_clusters))
    worst = max(asked(cut) for cut in itertools.product(choices, repeat=n_samples))
    np.testing.assert_allclose(worst, slack)
    assert slack > 0.05


def test_a_rival_that_became_the_own_class_asks_nothing():
    X, _ = overlapping_clusters(4, 3, 3)
    classes = ManyClasses(TableOperator(X), 3)
    row, bias, bound = classes.cut(np.array([0, 1, 2, 0]), np.array([0, 1, 2, 0]))
    assert not row.any()
    assert (bias, bound) == (0, 0)


# --- the whole --------------------------------------------------------------------------------


def clusters(X, n_clusters, start, *, lam=0.0, order="labels", tol=1e-4, **settings):
    task, H = task_of(X, n_clusters, lam=lam, **settings)
    found = margin_clusters(
        task.X,
        [start],
        n_clusters=n_clusters,
        C=task.C,
        n_selected=task.n_selected,
        limit=task.limit,
        epsilon=task.epsilon,
        hessian=task.hessian,
        order=order,
        tol=tol,
    )
    return task, found, H


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_clusters", "lam", "order"),
    [
        (2, 0.0, "labels"),
        (2, 0.01, "labels"),
        (3, 0.0, "labels"),
        (3, 0.01, "labels"),
        (2, 0.01, "cuts"),
        (3, 0.0, "cuts"),
    ],
)
def test_at_its_own_labels_the_solution_is_optimal_to_epsilon(n_clusters, lam, order):
    X, labels = overlapping_clusters(30, 6, n_clusters)
    task, found, H = clusters(X, n_clusters, labels, lam=lam, order=order, tol=0.0)
    expected = labelled_optimum(X - task.X.origin, found.labels, task, H)
    assert found.outcome == "converged"
    assert found.objective[-1] >= expected * (1 - 1e-5)
    assert found.objective[-1] <= expected + task.C * task.epsilon
    # Proposition 4: with ε more slack no constraint of the 2ⁿ is violated.
    F = task.X.times(found.solution) + found.b
    assert (task.classes.labels(F) == found.labels).all()
    assert task.most_violated(F, found.labels)[1] <= found.slack + task.epsilon
    if n_clusters == 2:
        assert abs(F.mean()) <= task.limit + 1e-12
    else:
        means = F.mean(axis=0)
        assert np.ptp(means) <= task.limit * (1 + 1e-9)


def poor_labels(labels, n_clusters):
    """Half of them drawn anew."""
    rng = np.random.default_rng(0)
    n_samples = len(labels)
    return np.where(rng.random(n_samples) < 0.5, labels, rng.integers(0, n_clusters, n_samples))


@pytest.mark.parametrize(
    ("n_features", "n_clusters", "order"), [(4, 2, "labels"), (8, 3, "labels"), (4, 2, "cuts")]
)
def test_the_objective_falls_from_poor_labels(n_features, n_clusters, order):
    X, labels = overlapping_clusters(100, n_features, n_clusters)
    _, found, _ = clusters(X, n_clusters, poor_labels(labels, n_clusters), order=order)
    assert (np.diff(found.objective) < 0).all()
    if order == "labels":
        assert len(found.objective) > 2


def test_a_lower_objective_with_fewer_clusters_does_not_count():
    X, labels = overlapping_clusters(100, 4, 3)
    poor = poor_labels(labels, 3)
    task, found, _ = clusters(X, 3, poor)
    assert found.n_used == 3
    cuts, path = task.first_cut(poor), []
    for _ in range(len(found.objective) + 1):
        path.append(task.solve(cuts))
        cuts.relabel(path[-1].labels)
    np.testing.assert_allclose([point.objective for point in path[:-1]], found.objective)
    assert path[-1].objective < found.objective[-1]
    assert path[-1].n_used == 2


@pytest.mark.slow
def test_the_best_of_several_starts_counts():
    X, labels = overlapping_clusters(60, 6)
    task, _ = task_of(X, 2)
    settings = {
        "n_clusters": 2,
        "C": 10.0,
        "n_selected": 3,
        "limit": 0.03,
        "epsilon": 0.01,
        "hessian": task.hessian,
    }
    rng = np.random.default_rng(0)
    starts = [rng.integers(0, 2, 60), labels, rng.integers(0, 2, 60)]
    alone = [margin_clusters(task.X, [start], **settings).objective[-1] for start in starts]
    together = margin_clusters(task.X, starts, **settings)
    assert together.objective[-1] == min(alone)
    assert len(set(alone)) > 1


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [2, 3])
def test_the_number_of_cuts_does_not_grow_with_the_samples(n_clusters):
    """Lemma 2."""
    counts = []
    for n_samples in (150, 1200):
        X, labels = overlapping_clusters(n_samples, 6, n_clusters)
        counts.append(clusters(X, n_clusters, labels, epsilon=0.01)[1].n_cuts)
    assert counts[0] >= 3
    assert counts[1] <= 1.5 * counts[0] + 3


def test_labels_have_no_gaps_when_a_cluster_is_left_empty():
    X, _ = overlapping_clusters(60, 5, 2)
    X = X - X.mean(axis=0)
    found = margin_clusters(
        TableOperator(X),
        [np.arange(60) % 2 + 1],  # of 0, 1 and 2
        n_clusters=3,
        C=10.0,
        n_selected=5,
        limit=0.01,
        epsilon=0.01,
        hessian=NoHessian(5, 3),
    )
    assert np.unique(found.labels).tolist() == list(range(found.labels.max() + 1))


@pytest.mark.parametrize("form", FORMS)
def test_the_starts_are_those_of_kmeans_and_of_the_first_component(form):
    X, _ = overlapping_clusters(80, 6)
    starts = list(margin_starts(form(X), 2, random_state=0))
    assert len(starts) == 2
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    signs = np.linalg.svd(Z, full_matrices=False)[0][:, 0] > 0
    assert (starts[1] == signs).all() or (starts[1] != signs).all()


@pytest.mark.parametrize("form", FORMS)
def test_more_clusters_start_from_the_samples_and_from_their_directions(form):
    rng = np.random.default_rng(0)
    rays = np.eye(3)[np.arange(60) % 3] + 0.05 * rng.random((60, 3))
    rays[0] = 0  # has no direction
    X = rays * rng.uniform(1, 30, 60)[:, None]
    starts = list(margin_starts(form(X), 3, random_state=0))
    assert len(starts) == 2
    np.testing.assert_array_equal(starts[0], kmeans(X, 3, random_state=0).labels)
    found = starts[1][1:]
    assert len(set(zip(found, (np.arange(60) % 3)[1:], strict=True))) == 3
    assert len(set(zip(starts[0][1:], (np.arange(60) % 3)[1:], strict=True))) > 3


def test_further_starts_are_tried_while_a_cluster_is_empty():
    X, labels = overlapping_clusters(60, 6, 3)
    asked = []

    def starts(first):
        for number, start in enumerate((first, labels, labels)):
            asked.append(number)
            yield start

    for first, wanted in ((np.zeros(60, dtype=int), [0, 1]), (labels, [0])):
        asked.clear()
        task, _ = task_of(X, 3)
        found = margin_clusters(
            task.X,
            starts(first),
            n_clusters=3,
            C=10.0,
            n_selected=3,
            limit=0.03,
            epsilon=0.01,
            hessian=task.hessian,
        )
        assert asked == wanted
        assert found.n_used == 3


def test_an_inner_problem_says_what_a_point_costs():
    problem = InnerProblem(
        cuts=np.array([[[1.0], [0.0]]]),
        cut_biases=np.array([0.5]),
        cut_bounds=np.array([1.0]),
        C=2.0,
        n_selected=1,
        limit=0.1,
        balances=None,
        hessian=NoHessian(2, 1),
    )
    V, b = problem.repaired(np.array([[0.3], [0.0]]), 0.4)
    assert b == 0.1
    np.testing.assert_allclose(problem.slack(V, b), 1 - 0.3 - 0.05)
    np.testing.assert_allclose(problem.regulariser(V, b), 0.045)
    found = solve_inner(problem)
    # min ½v² + 2(1 − v − b/2)₊ over |b| ≤ 0.1: no slack, v = 0.95.
    np.testing.assert_allclose(found.solution[:, 0], [0.95, 0], atol=1e-4)
    np.testing.assert_allclose(found.objective[-1], 0.95**2 / 2, rtol=1e-8)
