"""The three ranking functions of SPEC against the full eigendecomposition they are defined by."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from references.scores import spec_scores
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale

from tamis import SPEC, LaplacianScore
from tamis.graphs import neighbor_graph

SIGN = {1: -1, 2: -1, 3: 1}


def random_table(n_samples, n_features, seed=0):
    rng = np.random.default_rng(seed)
    return 0.3 + rng.standard_normal((n_samples, n_features)) * (
        rng.random((n_samples, n_features)) < 0.7
    )


# --- the definition ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(60, 8), (15, 40), (7, 3)])
@pytest.mark.parametrize("style", [1, 2, 3])
def test_random_tables_have_the_scores_of_the_definition(style, shape, form):
    X = random_table(*shape)
    expected = SIGN[style] * spec_scores(neighbor_graph(X, 5), X, style)
    np.testing.assert_allclose(SPEC(style=style).fit(form(X)).scores_, expected, rtol=1e-8)


@pytest.mark.parametrize("n_clusters", [1, 2, 10, 58])
def test_style_3_sums_over_as_many_eigenvectors_as_clusters(n_clusters):
    X = random_table(60, 8)
    expected = spec_scores(neighbor_graph(X, 5), X, 3, n_clusters)
    found = SPEC(style=3, n_clusters=n_clusters).fit(X).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("load", [load_iris, load_wine, load_digits])
@pytest.mark.parametrize("style", [1, 2, 3])
def test_real_tables_have_the_scores_of_the_definition(style, load, form):
    X = load().data[:500]  # of the digits, more than the dense eigensolver takes
    k = 30 if load is load_iris else 12  # connected
    varies = X.std(axis=0) > 0
    expected = SIGN[style] * spec_scores(neighbor_graph(form(X), k), X[:, varies], style)
    found = SPEC(style=style, n_neighbors=k).fit(form(X)).scores_
    np.testing.assert_allclose(found[varies], expected, rtol=1e-7)
    assert (found[~varies] <= found.min()).all()


@pytest.mark.parametrize("style", [1, 2, 3])
def test_single_precision_input_is_scored_in_double(style):
    X = random_table(60, 8).astype(np.float32)
    expected = SIGN[style] * spec_scores(neighbor_graph(X.astype(np.float64), 5), X, style)
    np.testing.assert_allclose(SPEC(style=style).fit(X).scores_, expected, rtol=1e-5)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"n_neighbors": 8}, {"weights": "binary"}, {"weights": "cosine"}, {"bandwidth": 0.5}],
)
def test_style_2_is_exactly_the_laplacian_score(parameters, form):
    X = form(random_table(60, 8))
    np.testing.assert_array_equal(
        SPEC(style=2, **parameters).fit(X).scores_, LaplacianScore(**parameters).fit(X).scores_
    )


@pytest.mark.parametrize(
    ("style", "n_clusters", "expected"),
    [
        (1, 1, [-1, -1 / 3, -1]),
        (2, 1, [-1, -4 / 3, -2]),
        (3, 1, [1, 1 / 6, 0]),
        (3, 2, [1, 1 / 6, 0]),
    ],
)
def test_the_hand_worked_path_of_three_samples(style, n_clusters, expected):
    # D = diag(1, 2, 1); the eigenvalues are 0, 1, 2 with the vectors (1, √2, 1)/2, (1, 0, -1)/√2,
    # (1, -√2, 1)/2. φ1 = fᵀLf / fᵀDf = 2/2, 1/3, 2/2; a_2² = 1, 1/6, 0; the third weighs nothing.
    path = np.array([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])
    X = np.array([[1.0, 1, 0], [0, 1, 1], [-1, 0, 0]])
    fitted = SPEC(style=style, n_clusters=n_clusters, affinity=path).fit(X)
    np.testing.assert_allclose(fitted.scores_, expected, atol=1e-12)


# --- what it implies --------------------------------------------------------------------------


@pytest.mark.parametrize("style", [1, 2, 3])
def test_scores_keep_to_their_range(style):
    scores = SIGN[style] * SPEC(style=style).fit(random_table(50, 30)).scores_
    assert scores.min() >= 0
    assert scores.max() <= 2


@pytest.mark.parametrize("style", [1, 2, 3])
def test_on_a_given_graph_the_scale_of_each_column_changes_nothing(style):
    X = random_table(60, 8)
    graph = neighbor_graph(X, 5)
    expected = SPEC(style=style, affinity=graph).fit(X).scores_
    found = SPEC(style=style, affinity=graph).fit(X * np.logspace(-4, 4, 8)).scores_
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_a_large_mean_helps_in_style_1_and_hurts_in_style_3():
    X = scale(random_table(60, 2))
    moved = X + np.array([0, 100])
    graph = neighbor_graph(X, 5)
    for style, better in ((1, True), (3, False)):
        before = SPEC(style=style, affinity=graph).fit(X).scores_
        after = SPEC(style=style, affinity=graph).fit(moved).scores_
        assert after[0] == pytest.approx(before[0])
        assert (after[1] > before[1]) == better


@pytest.mark.parametrize("seed", range(5))
def test_planted_features_come_before_noise_in_style_3(seed):
    rng = np.random.default_rng(seed)
    labels = np.arange(150) % 3
    signal = 4 * rng.standard_normal((3, 5))[labels] + rng.standard_normal((150, 5))
    X = scale(np.hstack([rng.standard_normal((150, 20)), signal]))
    ranking = SPEC(style=3, n_clusters=2).fit(X).ranking_
    assert set(ranking[20:]) == {1, 2, 3, 4, 5}


# --- disconnected graphs ----------------------------------------------------------------------


def far_apart(n_groups, size=10):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_groups * size, 5))
    return X + np.repeat(1000 * rng.standard_normal((n_groups, 5)), size, axis=0)


def test_on_two_components_style_3_first_asks_which_component():
    X = far_apart(2, size=20)
    X -= X.mean(axis=0)
    X[:, 4] = np.random.default_rng(1).standard_normal(40)
    scores = SPEC(style=3, n_clusters=1).fit(X).scores_
    assert scores[:4].min() > 1.9
    assert scores[4] < 0.5


@pytest.mark.parametrize("n_clusters", [3, 7, 12])
def test_the_order_of_the_samples_does_not_matter_on_many_components(n_clusters):
    X = far_apart(8)
    order = np.random.default_rng(1).permutation(len(X))
    selector = SPEC(style=3, n_clusters=n_clusters)
    np.testing.assert_allclose(selector.fit(X[order]).scores_, selector.fit(X).scores_, rtol=1e-6)


def test_components_of_very_different_weight_give_finite_scores():
    graph = np.random.default_rng(0).random((9, 9))
    graph[:5, :5] *= 1e-20
    graph[:5, 5:] = graph[5:, :5] = 0
    graph += graph.T
    X = random_table(9, 4)
    for style in (1, 2, 3):
        scores = SPEC(style=style, n_clusters=3, affinity=graph).fit(X).scores_
        assert np.isfinite(scores).all()
        assert len(np.unique(scores)) == 4


@pytest.mark.parametrize("rows", [slice(None), slice(None, None, -1)], ids=["same", "reversed"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_edges_that_almost_vanish_do_not_leave_the_scores_to_rounding(form, rows):
    X = load_breast_cancer().data  # heat weights down to 1e-270
    expected = SPEC(style=3).fit(X).scores_
    np.testing.assert_allclose(SPEC(style=3).fit(form(X[rows])).scores_, expected, rtol=1e-6)


# --- parameters -------------------------------------------------------------------------------


@pytest.mark.parametrize("style", [0, 4, 1.0, "1", None])
def test_an_unknown_style_is_refused(style):
    with pytest.raises(ValueError, match="'style' parameter of SPEC"):
        SPEC(style=style).fit(random_table(30, 4))


def test_more_eigenvectors_than_the_graph_has_are_refused():
    with pytest.raises(ValueError, match="n_clusters"):
        SPEC(style=3, n_clusters=30).fit(random_table(30, 4))


@pytest.mark.parametrize("style", [1, 2])
def test_styles_without_eigenvectors_do_not_ask_for_as_many_samples(style):
    X = random_table(4, 3)
    few = SPEC(style=style, n_neighbors=2).fit(X).scores_
    np.testing.assert_array_equal(
        few, SPEC(style=style, n_neighbors=2, n_clusters=1).fit(X).scores_
    )
    with pytest.raises(ValueError, match="n_clusters=5 is too large for n_samples=4"):
        SPEC(style=3, n_neighbors=2).fit(X)


def test_the_numbers_of_numpy_are_styles_too():
    X = random_table(30, 4)
    np.testing.assert_array_equal(
        SPEC(style=np.int64(3)).fit(X).scores_, SPEC(style=3).fit(X).scores_
    )
