"""FSGMM against its equations, and the saliencies of planted features."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from references import mixture as reference
from references.memory import with_peak_memory
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from tamis import FSGMM
from tamis.clustering import kmeans
from tamis.metrics import clustering_accuracy
from tamis.selectors.fsgmm import saliency_with_separation
from tamis.solvers import shortest_message
from tamis.solvers.message_length import MessageLength
from tamis.solvers.mixture import Mixture, expectations, expectations_given, mixture_of_labels
from tamis.solvers.mixture_blocks import feature_blocks
from tamis.solvers.mixture_features import settled_features
from tamis.solvers.table_operator import TableOperator

FORMS = [np.asarray, sp.csr_array]
FLOOR = 0.01


def planted(seed, n_samples=200, n_informative=4, n_noise=10, gap=4.0):
    """Three clusters in the first columns, noise in the others."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n_samples)
    X = rng.standard_normal((n_samples, n_informative + n_noise))
    X[:, :n_informative] += gap * rng.permuted(np.tile([[-1], [0], [1]], n_informative), axis=0)[y]
    return X, y


def four_gaussians(seed, n_samples=600, n_noise=6):
    """The four clusters in the plane of the paper's first experiment, and noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n_samples)
    X = rng.standard_normal((n_samples, 2 + n_noise))
    X[:, :2] += np.array([[0, 3], [1, 9], [6, 4], [7, 10]])[y]
    return X, y


def with_noise(X, seed, n_noise=10):
    return np.hstack([X, np.random.default_rng(seed).standard_normal((len(X), n_noise))])


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def table_of(X):
    return TableOperator(X)


def random_state(d, k, seed, saliency=None):
    """Any parameters, such that all Gaussians overlap."""
    rng = np.random.default_rng(seed)
    return {
        "weights": rng.dirichlet(np.full(k, 5.0)),
        "saliency": rng.uniform(0.1, 0.9, d) if saliency is None else np.array(saliency),
        "means": rng.standard_normal((k, d)),
        "variances": rng.uniform(0.2, 2, (k, d)),
        "common_means": 0.3 * rng.standard_normal(d),
        "common_variances": rng.uniform(0.5, 2, d),
    }


def assert_same_state(found, expected, rtol=1e-10):
    for name, values in dataclasses.asdict(found).items():
        np.testing.assert_allclose(values, expected[name], rtol=rtol, atol=1e-10, err_msg=name)


def never_rises(objective):
    return bool((np.diff(objective) <= 1e-9 * np.abs(objective[:-1])).all())


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_e_step_is_that_of_the_equations(form):
    X = standardised(planted(0, 25, 2, 2)[0])
    state = random_state(4, 3, 1, saliency=[0.0, 1.0, 0.3, 0.7])
    log_likelihood, w, u, v = reference.e_step(X, state)
    found = expectations(table_of(form(X)), Mixture(**state))
    np.testing.assert_allclose(found.log_likelihood, log_likelihood, rtol=1e-12)
    np.testing.assert_allclose(found.responsibilities, w, atol=1e-12)
    np.testing.assert_allclose(found.relevant.total, u.sum(axis=0), atol=1e-10)
    np.testing.assert_allclose(found.common.total, v.sum(axis=(0, 1)), atol=1e-10)
    for weights, moments in ((u, found.relevant), (np.repeat(w[:, :, None], 4, 2), found.whole)):
        for j, feature in np.argwhere(weights.sum(axis=0) > 0):
            expected = reference.weighted(X[:, feature], weights[:, j, feature], 0)
            values = moments.means[j, feature], moments.variances[j, feature]
            np.testing.assert_allclose(values, expected, rtol=1e-10)


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_one_step_is_that_of_the_equations(seed, everywhere):
    X = standardised(planted(seed, 30, 3, 4)[0])
    state = random_state(7, 3, seed, saliency=[0.0, 1.0, 0.04, 0.97, 0.5, 0.3, 0.6])
    expected = reference.m_step(X, state, FLOOR, everywhere)
    length = MessageLength(30, FLOOR)
    mixture = Mixture(**state)
    found = length.shortened(mixture, expectations(table_of(X), mixture), everywhere)
    assert_same_state(found, expected)


def test_the_steps_that_are_compared_take_every_turn():
    """Saliencies that end inside, at their bounds, at 0 and at 1, and from one to the other."""
    turns = set()
    for seed in range(4):
        X = standardised(planted(seed, 30, 3, 4)[0])
        saliency = [0.0, 1.0, 0.04, 0.97, 0.5, 0.3, 0.6]
        for everywhere in (False, True):
            state = random_state(7, 3, seed, saliency=saliency)
            after = reference.m_step(X, state, FLOOR, everywhere)["saliency"]
            for before, rho in zip(saliency, after, strict=True):
                turns.add((before in (0, 1) and before, rho in (0, 1) and rho))
    assert {(False, False), (False, 0.0), (0.0, 1.0), (1.0, 1.0)} <= turns


def test_the_length_is_that_of_the_equations():
    X = standardised(planted(0, 25, 2, 2)[0])
    state = random_state(4, 3, 1, saliency=[0.0, 1.0, 0.3, 0.7])
    mixture = Mixture(**state)
    found = MessageLength(25, FLOOR)(mixture, expectations(table_of(X), mixture).log_likelihood)
    expected = reference.message_length(X, state)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_whole_run_has_the_path_of_the_equations(form):
    X = standardised(planted(3, 40, 2, 3)[0])
    labels = kmeans(X, 3, n_init=10, random_state=np.random.RandomState(0)).labels
    state = reference.start_from_labels(X, labels, FLOOR)
    path = []
    for _ in range(12):
        state = reference.m_step(X, state, FLOOR)
        path.append(reference.message_length(X, state))
    model = FSGMM(n_clusters=3, n_init=1, max_iter=12, tol=0, random_state=0).fit(form(X))
    np.testing.assert_allclose(model.objective_, path, rtol=1e-10)
    np.testing.assert_allclose(model.saliency_, state["saliency"], atol=1e-10)
    np.testing.assert_allclose(model.means_, state["means"], atol=1e-9)
    np.testing.assert_allclose(model.variances_, state["variances"], atol=1e-9)


def test_the_start_has_the_moments_of_the_clusters():
    X = planted(0, 50)[0]
    X[:, 5] = X[:, 5] > 1  # constant in a cluster: at the floor
    X = standardised(X)
    labels = np.where(X[:, 5] > 0, 3, np.arange(50) % 3)
    expected = reference.start_from_labels(X, labels, FLOOR)
    assert_same_state(mixture_of_labels(table_of(X), labels, FLOOR), expected)


# --- optimality -------------------------------------------------------------------------------


def numerical_gradient(function, state, name, index, step):
    values = []
    for sign in (1, -1):
        moved = {key: np.array(value) for key, value in state.items()}
        moved[name][index] += sign * step
        values.append(function(moved))
    return (values[0] - values[1]) / (2 * step)


def test_the_m_step_is_where_the_expected_length_is_flat():
    X = standardised(planted(1, 60, 2, 1)[0])
    state = random_state(3, 2, 0, saliency=[0.6, 0.7, 0.8])
    mixture = Mixture(**state)
    length = MessageLength(60, FLOOR)
    found = length.shortened(mixture, expectations(table_of(X), mixture), everywhere=False)
    found = dataclasses.asdict(found)
    assert ((found["saliency"] > 0.05) & (found["saliency"] < 0.95)).all()
    _, w, u, v = reference.e_step(X, state)

    def expected(state):
        return reference.expected_length(X, state, w, u, v)

    for name, values in found.items():
        for index in np.ndindex(values.shape):
            slope = numerical_gradient(expected, found, name, index, 1e-5)
            if name == "weights":  # on the simplex all slopes are equal
                slope -= numerical_gradient(expected, found, name, 0, 1e-5)
            assert abs(slope) < 1e-4, (name, index, slope)
    before = [
        numerical_gradient(expected, state, "means", (0, column), 1e-5) for column in range(3)
    ]
    assert np.abs(before).max() > 1


@pytest.mark.parametrize("find_n_clusters", [False, True])
def test_a_converged_fit_is_where_the_message_length_is_flat(find_n_clusters):
    X = with_noise(planted(2, 120, 2, 0)[0], 2, 2)
    X[::3, 1] = np.random.default_rng(5).standard_normal(40)  # relevant, but not for all samples
    X = standardised(X)
    model = FSGMM(
        n_clusters=3,
        find_n_clusters=find_n_clusters,
        min_clusters=3,
        tol=1e-13,
        max_iter=3000,
        random_state=0,
    ).fit(X)
    state = {name: np.array(value) for name, value in dataclasses.asdict(model._mixture).items()}
    inside = np.flatnonzero((model.saliency_ > 0.05) & (model.saliency_ < 0.95))
    assert len(inside) > 0

    def length(state):
        return reference.message_length(X, state)

    assert model.objective_[-1] == pytest.approx(length(state), rel=1e-10)
    for feature in inside:
        for name in ("saliency", "means", "variances", "common_means", "common_variances"):
            index = (0, feature) if state[name].ndim == 2 else feature
            assert abs(numerical_gradient(length, state, name, index, 1e-5)) < 0.02, (name, feature)


# --- the objective ----------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("find_n_clusters", [False, True])
@pytest.mark.parametrize("reg_covar", [1e-6, 0.01, 0.3])
def test_the_objective_never_rises(reg_covar, find_n_clusters, form):
    counts = np.random.default_rng(0).poisson(1.0, (80, 12)).astype(float)
    counts[:40, :4] *= 4
    for X in (planted(0, 90)[0], counts, planted(1, 20, 4, 40)[0]):
        model = FSGMM(
            n_clusters=4,
            find_n_clusters=find_n_clusters,
            reg_covar=reg_covar,
            n_init=1,
            max_iter=2000,
            random_state=0,
        )
        model.fit(form(X))
        assert never_rises(model.objective_)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the same score")
@given(
    seed=st.integers(0, 2**16),
    n=st.integers(5, 40),
    d=st.integers(1, 12),
    k=st.integers(1, 5),
    levels=st.sampled_from([0, 2, 5]),
    find=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_whatever_the_table_the_objective_never_rises_and_all_is_finite(
    seed, n, d, k, levels, find
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.lognormal(0, 3, d) + rng.normal(0, 10, d)
    if levels:
        X = rng.integers(0, levels, (n, d)).astype(float)
    model = FSGMM(
        n_clusters=k, find_n_clusters=find, n_init=1, max_iter=60, tol=0, random_state=0
    ).fit(X)
    assert never_rises(model.objective_)
    for name in ("scores_", "means_", "variances_", "common_means_", "common_variances_"):
        assert np.isfinite(getattr(model, name)).all()
    assert ((model.saliency_ >= 0) & (model.saliency_ <= 1)).all()
    assert model.weights_.sum() == pytest.approx(1)


def test_dropping_features_as_the_paper_does_can_lengthen_the_message():
    X = standardised(planted(1, 30, 2, 3)[0])
    labels = kmeans(X, 4, random_state=0).labels
    rises = {}
    for literal in (True, False):
        state = reference.start_from_labels(X, labels, FLOOR)
        path = []
        for _ in range(22):
            state = reference.m_step(X, state, FLOOR, literal=literal)
            path.append(reference.message_length(X, state))
        rises[literal] = np.diff(path).max()
    assert rises[True] > 1
    assert rises[False] <= 1e-9


def test_too_few_iterations_warn_and_zero_tolerance_does_not():
    X, _ = planted(0)
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=2"):
        FSGMM(max_iter=2, random_state=0).fit(X)
    assert FSGMM(max_iter=3, tol=0, random_state=0).fit(X).n_iter_ == 3


@pytest.mark.slow
def test_more_starts_are_never_worse():
    X = with_noise(load_wine().data, 0)
    ends = [FSGMM(n_init=n, random_state=0).fit(X).objective_[-1] for n in (1, 3, 8)]
    assert ends[2] < ends[0]
    assert ends[1] <= ends[0]
    assert ends[2] <= ends[1]


# --- what it finds ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_planted_features_are_salient_and_noise_is_not(seed):
    X, y = planted(seed)
    model = FSGMM(4, n_clusters=3, random_state=0).fit(X)
    assert model.saliency_[:4].min() > 0.9
    assert model.saliency_[4:].max() < 0.1
    assert model.get_support(indices=True).tolist() == [0, 1, 2, 3]
    assert clustering_accuracy(y, model.labels_) > 0.99


@pytest.mark.parametrize("seed", range(10))
def test_iris_is_more_salient_than_noise(seed):
    model = FSGMM(4, n_clusters=3, random_state=0).fit(with_noise(load_iris().data, seed))
    assert model.saliency_[:4].min() > 0.8
    # One column of a hundred agrees with the clusters by chance, to more than it costs.
    assert np.count_nonzero(model.saliency_[4:] > 0.5) <= 1
    assert np.count_nonzero(model.saliency_[4:] > 0) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_four_components_of_ten_are_left(seed):
    X, y = four_gaussians(seed, n_samples=500)
    model = FSGMM(2, n_clusters=10, find_n_clusters=True, n_init=1, random_state=0).fit(X)
    assert model.n_clusters_ == 4
    assert clustering_accuracy(y, model.labels_) > 0.98
    assert model.saliency_[:2].min() > 0.9
    assert model.saliency_[2:].max() < 0.2


def test_components_are_not_searched_for_below_the_least_number():
    X, _ = four_gaussians(0)
    options = {"find_n_clusters": True, "n_init": 1, "random_state": 0}
    assert FSGMM(n_clusters=8, min_clusters=6, **options).fit(X).n_clusters_ == 6
    with pytest.raises(ValueError, match="min_clusters=5 is more than n_clusters=4"):
        FSGMM(n_clusters=4, min_clusters=5, find_n_clusters=True).fit(X)
    assert FSGMM(n_clusters=4, min_clusters=5, n_init=1, random_state=0).fit(X).n_clusters_ == 4


def wide(n_samples=60, n_features=100):
    """Three far clusters, of fewer samples than there are features."""
    return planted(0, n_samples, n_features, 0)[0]


@pytest.mark.slow
@pytest.mark.parametrize("table", ["wide", "wine", "four Gaussians", "noise"])
def test_the_shortest_message_of_all_numbers_of_components_is_found(table):
    X = {
        "wide": wide(),
        "wine": load_wine().data,
        "four Gaussians": four_gaussians(1, n_samples=300)[0],
        "noise": np.random.default_rng(0).standard_normal((150, 4)),
    }[table]
    options = {"n_clusters": 5, "find_n_clusters": True, "n_init": 1, "random_state": 0}
    ends = {k: FSGMM(min_clusters=k, **options).fit(X) for k in range(1, 6)}
    lengths = [ends[k].objective_[-1] for k in range(1, 6)]
    assert (np.diff(lengths) >= -1e-6 * lengths[0]).all()  # more to choose from is never longer
    given = FSGMM(n_clusters=5, n_init=1, random_state=0).fit(X)
    assert lengths[4] == given.objective_[-1]  # lengths of given and of found numbers compare
    assert lengths[0] <= (1 + 1e-6) * given.objective_[-1]
    assert ends[1].n_clusters_ == {"wide": 3, "wine": 5, "four Gaussians": 4, "noise": 1}[table]


def test_clusters_of_fewer_samples_than_features_are_not_given_up():
    options = {"n_clusters": 3, "find_n_clusters": True, "n_init": 2, "random_state": 0}
    model = FSGMM(**options).fit(wide())
    alone = FSGMM(n_clusters=1, random_state=0).fit(wide())
    assert model.n_clusters_ == 3
    assert model.objective_[-1] < alone.objective_[-1] - 1000
    assert model.objective_[-1] == FSGMM(min_clusters=3, **options).fit(wide()).objective_[-1]


def test_digits_are_told_apart():
    X, y = load_digits(return_X_y=True)
    X, y = X[(y == 1) | (y == 7)], y[(y == 1) | (y == 7)]
    model = FSGMM(n_clusters=2, n_init=2, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95


def test_features_of_equal_saliency_are_ordered_by_separation():
    saliency = np.array([0.0, 1.0, 0.5, 0.0, 1.0, 0.01, 0.99, 0.0])
    separations = np.array([0.1, 2.0, 0.3, 0.4, 1e9, 0.2, 0.5, 0.0])
    scores = saliency_with_separation(saliency, separations, 100)
    assert np.argsort(-scores).tolist() == [4, 1, 6, 2, 5, 3, 0, 7]
    np.testing.assert_array_equal(scores[[2, 5, 6]], saliency[[2, 5, 6]])
    assert scores.min() >= 0
    assert scores.max() <= 1
    np.testing.assert_allclose(scores, saliency, atol=0.01)


@pytest.mark.slow
def test_the_farther_apart_the_clusters_in_a_feature_the_higher_it_ranks():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    X += np.outer(np.arange(300) % 2, [12, 10, 8, 0.3, 0.2, 0, 0, 0])
    model = FSGMM(n_clusters=2, random_state=0).fit(X)
    assert model.ranking_[:3].tolist() == [1, 2, 3]
    assert len(np.unique(model.scores_)) == 8


# --- the fitted mixture -----------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_parameters_are_in_the_units_of_the_table(form):
    X = 3 + planted(0, 80, 2, 3, gap=1.5)[0] * [0.1, 1, 10, 2, 3]
    model = FSGMM(n_clusters=3, n_init=1, random_state=0).fit(form(X))
    state = {
        "weights": model.weights_,
        "saliency": model.saliency_,
        "means": model.means_,
        "variances": model.variances_,
        "common_means": model.common_means_,
        "common_variances": model.common_variances_,
    }
    new = 3 + planted(1, 30, 2, 3, gap=1.5)[0] * [0.1, 1, 10, 2, 3]
    np.testing.assert_allclose(
        model.responsibilities(form(new)), reference.e_step(new, state)[1], atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(form(X)), model.labels_)


def test_an_unfitted_mixture_predicts_nothing():
    with pytest.raises(NotFittedError):
        FSGMM().predict(np.ones((3, 2)))


def test_constant_features_have_no_part():
    X, _ = planted(0, 60)
    with_constants = np.insert(X, [0, 5], [7.0, -1.0], axis=1)
    expected = FSGMM(n_clusters=3, random_state=0).fit(X)
    model = FSGMM(n_clusters=3, random_state=0).fit(with_constants)
    varying = np.delete(np.arange(16), [0, 6])
    np.testing.assert_allclose(model.saliency_[varying], expected.saliency_, atol=1e-9)
    np.testing.assert_allclose(model.means_[:, varying], expected.means_, atol=1e-9)
    np.testing.assert_array_equal(model.means_[:, [0, 6]], np.tile([7.0, -1.0], (3, 1)))
    assert not model.variances_[:, [0, 6]].any()
    assert not model.saliency_[[0, 6]].any()
    assert set(model.ranking_[[0, 6]]) == {15, 16}
    np.testing.assert_array_equal(model.predict(with_constants), model.labels_)


def test_a_table_of_constants_is_one_cluster():
    model = FSGMM().fit(np.tile([1.0, 2.0], (10, 1)))
    assert model.n_clusters_ == 1
    assert model.ranking_.tolist() == [1, 2]
    assert not model.labels_.any()
    assert model.means_.tolist() == [[1.0, 2.0]]
    assert model.predict(np.ones((3, 2))).tolist() == [0, 0, 0]


@pytest.mark.filterwarnings("ignore:.*the same score")
def test_fewer_distinct_samples_than_clusters_give_fewer_clusters():
    X = np.repeat(planted(0, 3)[0], 10, axis=0)
    model = FSGMM(n_clusters=5, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert len(set(model.labels_)) == 3
    assert np.isfinite(model.scores_).all()


# --- units, offsets, sizes --------------------------------------------------------------------


@pytest.mark.slow
@given(
    exponents=st.lists(st.integers(-20, 20), min_size=14, max_size=14),
    signs=st.lists(st.sampled_from([-1.0, 1.0]), min_size=14, max_size=14),
)
@settings(max_examples=6, deadline=None)
def test_the_unit_of_a_feature_plays_no_part_at_all(exponents, signs):
    X, _ = planted(0, 80)
    factors = np.array(signs) * np.exp2(exponents)  # powers of two leave no rounding
    expected = FSGMM(n_clusters=3, n_init=1, random_state=0).fit(X)
    model = FSGMM(n_clusters=3, n_init=1, random_state=0).fit(X * factors)
    np.testing.assert_array_equal(model.scores_, expected.scores_)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_array_equal(model.objective_, expected.objective_)
    np.testing.assert_array_equal(model.means_, expected.means_ * factors)
    np.testing.assert_array_equal(model.variances_, expected.variances_ * factors**2)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("offset", [-1e6, 1e3, 1e6])
def test_neither_units_nor_offsets_matter(offset, form):
    X, _ = planted(0, 80)
    factors = np.logspace(-3, 6, 14)
    expected = FSGMM(n_clusters=3, n_init=2, random_state=0).fit(X)
    model = FSGMM(n_clusters=3, n_init=2, random_state=0).fit(form(X * factors + offset))
    np.testing.assert_allclose(model.scores_, expected.scores_, atol=1e-4)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


def test_thousands_of_features_do_not_underflow():
    X, y = planted(0, 40, 1000, 4000, gap=1.0)
    densities = np.exp(-0.5 * standardised(X) ** 2) / np.sqrt(2 * np.pi)
    assert not densities.prod(axis=1).any()  # what the plain equations would multiply
    model = FSGMM(n_clusters=3, n_init=1, max_iter=20, tol=0, random_state=0).fit(X)
    assert np.isfinite(model.objective_).all()
    np.testing.assert_allclose(model.responsibilities(X).sum(axis=1), 1, rtol=1e-12)
    assert clustering_accuracy(y, model.labels_) == 1
    assert (model.ranking_[:1000] <= 1000).mean() > 0.8


@pytest.mark.slow
def test_sparse_tables_are_never_dense_as_a_whole():
    X = sp.random_array((400, 10_000), density=0.002, format="csr", rng=0)
    model = FSGMM(n_clusters=2, n_init=1, max_iter=1, tol=0, random_state=0)
    fitted, peak = with_peak_memory(model.fit, X)
    assert np.isfinite(fitted.scores_).all()
    assert peak < X.shape[0] * X.shape[1] * 8 / 3


@pytest.mark.slow
def test_no_array_is_as_large_as_samples_times_features_times_clusters():
    X = np.random.default_rng(0).standard_normal((4000, 200))
    model = FSGMM(n_clusters=8, n_init=1, max_iter=2, tol=0, random_state=0)
    peak = with_peak_memory(model.fit, X)[1]
    assert peak < X.nbytes * 5


# --- features that go on while the components of the samples are held -------------------------


@pytest.mark.parametrize("form", FORMS)
def test_features_given_the_components_have_the_same_e_step(form):
    X = standardised(planted(0, 25, 2, 2)[0])
    mixture = Mixture(**random_state(4, 3, 1))
    table = table_of(form(X))
    expected = expectations(table, mixture)
    (features, block), *_ = feature_blocks(table, np.arange(4))
    w = expected.responsibilities.T
    parts = [block.samples(np.ones(25, dtype=bool)) for _ in w]
    found = expectations_given(parts, list(w), mixture.of(features))
    for name in ("sizes", "log_densities"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)
    for name in ("relevant", "whole", "common"):
        assert_same_state(
            getattr(found, name), dataclasses.asdict(getattr(expected, name)), rtol=1e-10
        )


def held_length(X, mixture, w):
    """What the held steps descend on, but for the samples' choice of a component."""
    length = 0.0
    for feature, rho in enumerate(mixture.saliency):
        length += reference.parameter_length(rho, mixture.n_components, len(X))
        for i, j in np.ndindex(*w.shape):
            density = sum(reference.feature_density(X, dataclasses.asdict(mixture), i, j, feature))
            length -= w[i, j] * np.log(density)
    return length


@pytest.mark.parametrize("form", FORMS)
def test_held_steps_are_those_of_each_feature_alone_and_never_lengthen_the_message(form):
    X = standardised(planted(1, 40, 2, 3)[0])
    start = Mixture(**random_state(5, 3, 2))
    table, length = table_of(form(X)), MessageLength(40, FLOOR)
    w = expectations(table, start).responsibilities
    path = [held_length(X, start, w)]
    for n_steps in (1, 2, 5, 200):
        found = settled_features(table, start, w, length, max_steps=n_steps, tol=1e-12)
        path.append(held_length(X, found, w))
        for feature in range(5):
            alone = settled_features(
                table_of(form(X[:, [feature]])),
                start.of(np.array([feature])),
                w,
                length,
                max_steps=n_steps,
                tol=1e-12,
            )
            assert_same_state(alone, dataclasses.asdict(found.of(np.array([feature]))))
    assert (np.diff(path) < 0).all()
    again = settled_features(table, found, w, length, max_steps=1, tol=0)
    assert_same_state(again, dataclasses.asdict(found), rtol=1e-4)


@pytest.mark.parametrize("form", FORMS)
def test_holding_the_components_ends_where_whole_steps_end(form, monkeypatch):
    X = planted(4, 150, 4, 8, gap=2.5)[0]
    whole = FSGMM(n_clusters=3, n_init=2, random_state=0).fit(form(X))
    monkeypatch.setattr(shortest_message, "SMALL_TABLE", 0)
    held = FSGMM(n_clusters=3, n_init=2, random_state=0).fit(form(X))
    assert never_rises(held.objective_)
    assert held.n_iter_ < whole.n_iter_
    np.testing.assert_allclose(held.objective_[-1], whole.objective_[-1], rtol=1e-7)
    np.testing.assert_allclose(held.saliency_, whole.saliency_, atol=1e-3)
    np.testing.assert_array_equal(held.labels_, whole.labels_)


# --- stopping ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [("wine", 1), ("Sonar", 2), ("Ionosphere", 1)])
def test_the_selection_has_settled_when_the_default_stops(name, seed, benchmark_set):
    """Every start of the long run is run to its end, so that its choice of a start is its own."""
    X = load_wine().data if name == "wine" else benchmark_set(name)[0].astype(np.float64)
    count = min(15, X.shape[1] // 2)
    kept = FSGMM(count, random_state=seed).fit(X).get_support()
    long = FSGMM(count, tol=1e-10, max_iter=20_000, random_state=seed).fit(X).get_support()
    assert (kept & long).sum() >= 0.95 * count
