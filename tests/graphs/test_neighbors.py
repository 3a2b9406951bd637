"""Nearest neighbours: every exact search returns what a brute force in float64 returns."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from references.graphs import brute_neighbors
from references.memory import with_peak_memory
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from tamis.graphs import _gram_search, _neighbors, _tiles
from tamis.graphs._neighbors import nearest_neighbors

# Values of KD_TREE_MIN_SAMPLES that force and forbid the tree.
ALWAYS, NEVER = 1e-300, 10**9


def assert_brute(X, n_neighbors, found=None, reference=None):
    """The neighbours of X are those of a brute force, and so are their distances."""
    if found is None:
        found = nearest_neighbors(X, n_neighbors)
    if reference is None:
        reference = X.toarray() if sp.issparse(X) else X
    indices, distances = brute_neighbors(reference, n_neighbors)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12)
    assert found.recall == 1
    return found


def tiny_tiles(monkeypatch, side):
    monkeypatch.setattr(_tiles, "TILE_SIDE", side)
    monkeypatch.setattr(_tiles, "SPARSE_TILE_SIDE", side)


def kd_tree(monkeypatch, allowed):
    monkeypatch.setattr(_neighbors, "KD_TREE_MIN_SAMPLES", ALWAYS if allowed else NEVER)


@pytest.fixture(params=["tiles", "kd_tree", "sparse"])
def search(request, monkeypatch):
    """Each exact search, forced: a function of (X, n_neighbors)."""
    kd_tree(monkeypatch, allowed=request.param == "kd_tree")

    def run(X, n_neighbors):
        found = nearest_neighbors(sp.csr_array(X) if request.param == "sparse" else X, n_neighbors)
        assert found.method == ("kd_tree" if request.param == "kd_tree" else "tiles")
        return found

    return run


# --- shapes ---------------------------------------------------------------------------------------


@st.composite
def tables(draw):
    """Continuous or integer tables, with or without repeated rows, and a number of neighbours."""
    n_samples = draw(st.integers(2, 200))
    n_features = draw(st.integers(1, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        X = rng.standard_normal((n_samples, n_features))
    else:
        X = rng.integers(-2, 3, (n_samples, n_features)).astype(np.float64)
    if draw(st.booleans()):
        X = X[rng.integers(0, draw(st.integers(1, n_samples)), n_samples)]
    return X, draw(st.integers(1, n_samples - 1))


@pytest.mark.slow
@given(tables(), st.sampled_from([ALWAYS, NEVER]), st.sampled_from([5, 16, 1024]), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_table_by_any_search_gives_the_neighbours_of_a_brute_force(
    table, kd_tree_min_samples, side, sparse
):
    X, n_neighbors = table
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(_neighbors, "KD_TREE_MIN_SAMPLES", kd_tree_min_samples)
        tiny_tiles(monkeypatch, side)
        assert_brute(sp.csr_array(X) if sparse else X, n_neighbors)


@pytest.mark.parametrize("n_samples", [2, 3, 17, 200])
@pytest.mark.parametrize("n_features", [1, 2, 7, 40])
def test_shapes_from_one_neighbour_to_all_other_samples(search, n_samples, n_features):
    X = np.random.default_rng(n_samples).standard_normal((n_samples, n_features))
    for n_neighbors in {1, n_samples // 2, n_samples - 1}:
        assert_brute(X, n_neighbors, search(X, n_neighbors))


@pytest.mark.parametrize("n_features", [1023, 1024, 3000])
def test_tables_of_thousands_of_columns(n_features):
    assert_brute(np.random.default_rng(0).standard_normal((60, n_features)), 4)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("side", [3, 7, 50, 99, 100, 101])
@pytest.mark.parametrize("n_neighbors", [1, 6, 8, 60, 99])
def test_several_tiles_ragged_tiles_and_more_neighbours_than_a_tile_has_rows(
    monkeypatch, side, n_neighbors, sparse
):
    tiny_tiles(monkeypatch, side)
    X = np.random.default_rng(side).standard_normal((100, 5))
    assert_brute(sp.csr_array(X) if sparse else X, n_neighbors)


@pytest.mark.slow
def test_more_samples_than_one_tile_of_the_real_side():
    n_samples = 2 * _tiles.TILE_SIDE + 3
    assert_brute(np.random.default_rng(0).standard_normal((n_samples, 12)), 5)


@pytest.mark.slow
def test_more_sparse_samples_than_one_tile_of_the_real_side():
    n_samples = 2 * _tiles.SPARSE_TILE_SIDE + 3
    X = sp.random_array((n_samples, 50), density=0.1, rng=np.random.default_rng(0), format="csr")
    assert_brute(X, 5)


@pytest.mark.slow
def test_the_tree_is_used_for_many_samples_in_few_columns_only():
    rng = np.random.default_rng(0)
    assert assert_brute(rng.standard_normal((900, 3)), 5).method == "kd_tree"
    assert nearest_neighbors(rng.standard_normal((900, 10)), 5).method == "tiles"
    assert nearest_neighbors(sp.csr_array(rng.standard_normal((900, 3))), 5).method == "tiles"


def test_threads_do_not_change_what_the_tree_finds(monkeypatch):
    kd_tree(monkeypatch, allowed=True)
    X = np.random.default_rng(0).integers(0, 9, (400, 3)).astype(np.float64)
    assert_brute(X, 7, nearest_neighbors(X, 7, n_jobs=2))


def test_verbose_changes_nothing():
    X = np.random.default_rng(0).standard_normal((50, 4))
    assert_brute(X, 3, nearest_neighbors(X, 3, verbose=True))


def test_scikit_learn_finds_the_same_neighbours(search):
    X = np.random.default_rng(0).standard_normal((300, 6))
    distances, indices = NearestNeighbors(n_neighbors=9, algorithm="brute").fit(X).kneighbors()
    found = search(X, 9)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-9)


# --- ties and duplicates --------------------------------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [1, 4, 30])
@pytest.mark.parametrize("n_values", [2, 3, 10])
@pytest.mark.parametrize("n_features", [1, 2, 4, 12])
def test_exact_ties_are_broken_by_content(search, n_neighbors, n_values, n_features):
    rng = np.random.default_rng(n_values * n_features)
    X = rng.integers(0, n_values, (150, n_features)).astype(np.float64)
    assert_brute(X, n_neighbors, search(X, n_neighbors))


def test_ties_between_all_samples_are_broken_by_content(search):
    assert_brute(np.eye(20), 3, search(np.eye(20), 3))


def test_of_equally_near_samples_the_one_farther_from_the_mean_is_taken(search):
    X = np.array([[0.0], [2.0], [-2.0], [0.0], [2.0], [-2.0], [0.0], [-2.0]])
    found = search(X, 5)
    np.testing.assert_array_equal(found.indices[0], [3, 6, 1, 4, 2])  # the mean is -0.25
    assert_brute(X, 5, found)


def ternary(n_samples=150, n_features=30, seed=0):
    """Discretised genes: many distances are equal."""
    return 2.0 * np.random.default_rng(seed).integers(-1, 2, (n_samples, n_features))


def edges(X, n_neighbors, order, search):
    """The neighbours of each row of X[order], as sorted rows of X."""
    found = search(X[order], n_neighbors).indices
    edges = np.empty_like(found)
    edges[order] = order[found]
    return np.sort(edges, axis=1)


@pytest.mark.parametrize("n_features", [6, 30])
@pytest.mark.parametrize("table", ["ternary", "scaled", "identity", "two values"])
def test_another_order_of_the_rows_gives_the_same_neighbours(search, table, n_features):
    X = np.unique(ternary(150, n_features), axis=0)
    if table == "scaled":  # equal distances are sums of the same numbers in different orders
        X = np.unique(np.random.default_rng(0).permuted(X, axis=1), axis=0) / 3 + 0.1
    elif table == "identity":
        X = np.eye(n_features)
    elif table == "two values":  # all as far from the mean
        X = np.sign(X + 1)
        X = np.unique(np.vstack([X, -X]), axis=0)
    expected = edges(X, 3, np.arange(len(X)), search)
    squared = np.sort(cdist(X, X, "sqeuclidean"), axis=1)
    assert np.isclose(squared[:, 3], squared[:, 4]).mean() > 0.2  # a tie at the last place
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        np.testing.assert_array_equal(edges(X, 3, order, search), expected)


@pytest.mark.parametrize("offset", [0.0, 17.3])
def test_a_table_standardised_in_another_order_has_the_same_neighbours(search, offset):
    X = np.unique(ternary(), axis=0)
    X = np.where(X[:, [3]] > 0, X, np.roll(X, 1, axis=1)) + offset

    def standardised_search(X, n_neighbors):
        return search((X - X.mean(axis=0)) / X.std(axis=0), n_neighbors)

    expected = edges(X, 5, np.arange(len(X)), standardised_search)
    differ = False
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        differ |= not np.array_equal(X.mean(axis=0), X[order].mean(axis=0))
        np.testing.assert_array_equal(edges(X, 5, order, standardised_search), expected)
    assert differ or not offset  # the means do depend on the order, by rounding


@pytest.mark.parametrize("change", ["columns", "signs"])
def test_the_order_and_the_sign_of_columns_do_not_choose_between_equal_distances(search, change):
    X = np.unique(ternary(100, 8), axis=0)
    if change == "columns":
        same = X[:, np.random.default_rng(1).permutation(8)]
    else:
        same = X * np.where(np.arange(8) % 2, -1, 1)
    np.testing.assert_array_equal(search(same, 5).indices, search(X, 5).indices)


def test_equal_rows_take_each_others_place_and_no_others(search):
    """Another order of the rows gives the same graph, with equal rows numbered in their order."""
    rng = np.random.default_rng(0)
    X = ternary(25, 3)[rng.integers(0, 25, 120)]  # several rows have more copies than neighbours
    _, group = np.unique(X, axis=0, return_inverse=True)

    def numbered(order):
        """The row of X that stands in each row of X[order]: the t-th copy is the t-th copy."""
        copies = [np.flatnonzero(group == g) for g in range(group.max() + 1)]
        return np.array(
            [copies[g].take(np.sum(group[order[:i]] == g)) for i, g in enumerate(group[order])]
        )

    expected = search(X, 4).indices
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        number = numbered(order)
        found = np.empty_like(expected)
        found[number] = number[search(X[order], 4).indices]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_neighbors", [1, 5, 20, 119])
@pytest.mark.parametrize("n_distinct", [1, 2, 3, 60])
def test_duplicated_rows_are_neighbours_at_distance_zero(search, n_neighbors, n_distinct):
    rng = np.random.default_rng(n_distinct)
    distinct = rng.integers(-3, 4, (n_distinct, 4)).astype(np.float64)
    X = distinct[rng.integers(0, n_distinct, 120)]
    assert_brute(X, n_neighbors, search(X, n_neighbors))


def test_duplicates_of_continuous_rows(search):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))[rng.integers(0, 40, 160)]
    assert_brute(X, 6, search(X, 6))


def test_all_rows_equal_gives_the_first_other_rows(search):
    found = search(np.full((6, 3), 1.5), 2)
    np.testing.assert_array_equal(found.indices, [[1, 2], [0, 2], [0, 1], [0, 1], [0, 1], [0, 1]])
    np.testing.assert_array_equal(found.distances, 0)


def test_all_rows_zero_when_sparse_stores_nothing():
    found = nearest_neighbors(sp.csr_array((4, 3)), 1)
    np.testing.assert_array_equal(found.indices.ravel(), [1, 0, 0, 0])


def test_minus_zero_equals_zero(search):
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.5, 1.0], [-0.0, 1.0], [0.0, 1.0]])
    first, group = _neighbors._group_equal_rows(X)
    assert len(first) == 2
    assert group[0] == group[1] == group[3] == group[4] != group[2]
    assert_brute(X, 3, search(X, 3))


# --- grouping equal rows --------------------------------------------------------------------------


def assert_groups_equal_rows(X):
    dense = X.toarray() if sp.issparse(X) else X
    first, group = _neighbors._group_equal_rows(X)
    _, expected_first, expected_group = np.unique(
        dense + 0.0, axis=0, return_index=True, return_inverse=True
    )
    np.testing.assert_array_equal(first[group], expected_first[expected_group.ravel()])
    np.testing.assert_array_equal(group[first], np.arange(len(first)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "values",
    [[0.0, 0.5, 1.0], [0.0, 1.0], [-1.0, 1.0], [2.0, 4.0, 8.0], [0.0, 0.25, -0.25, 1024.0]],
)
def test_rows_of_round_numbers_are_told_apart(values, container, dtype):
    rng = np.random.default_rng(0)
    X = rng.choice(np.array(values, dtype=dtype), (2000, 9))
    assert_groups_equal_rows(container(X))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_equal_rows_are_grouped(container, dtype):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 6)).astype(dtype)[rng.integers(0, 50, 300)]
    assert_groups_equal_rows(container(X))


def test_permuted_rows_are_told_apart():
    rng = np.random.default_rng(2)
    X = rng.permuted(np.tile(np.arange(8.0), (500, 1)), axis=1)
    assert_groups_equal_rows(X)


def test_explicit_zeros_do_not_split_a_group():
    X = sp.csr_array((np.array([1.0, 0.0, 1.0]), [0, 2, 0], [0, 2, 3, 3]), shape=(3, 3))
    assert_groups_equal_rows(X)


@pytest.mark.parametrize("mask", [0, 1, 0xFF])
def test_a_collision_of_hashes_does_not_change_the_neighbours(search, monkeypatch, mask):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (90, 4)).astype(np.float64)
    bits = _neighbors._bits
    monkeypatch.setattr(_neighbors, "_bits", lambda values: bits(values) & np.uint64(mask))
    assert_brute(X, 5, search(X, 5))


# --- representations of the same table ------------------------------------------------------------


def test_sparse_of_any_layout_equals_dense():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((120, 30)) < 0.2, rng.standard_normal((120, 30)), 0)
    expected = nearest_neighbors(dense, 6)
    for layout in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix):
        found = nearest_neighbors(layout(dense), 6)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-12)


def untidy(dense, seed=0):
    """A CSR array with shuffled indices, stored zeros and entries in two parts."""
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero(dense)
    values = dense[rows, columns]
    part = np.round(values * rng.random(len(values)), 2)
    zero_rows, zero_columns = np.nonzero(dense == 0)
    some = rng.random(len(zero_rows)) < 0.1
    all_rows = np.concatenate([rows, rows, zero_rows[some]])
    all_columns = np.concatenate([columns, columns, zero_columns[some]])
    all_values = np.concatenate([part, values - part, np.zeros(some.sum())])
    order = rng.permutation(len(all_rows))
    order = order[np.argsort(all_rows[order], kind="stable")]
    indptr = np.searchsorted(all_rows[order], np.arange(len(dense) + 1))
    return sp.csr_array((all_values[order], all_columns[order], indptr), shape=dense.shape)


def test_unsorted_indices_stored_zeros_and_split_entries_change_nothing():
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((80, 12)) < 0.3, rng.integers(1, 9, (80, 12)) / 4, 0)
    dense = dense[rng.integers(0, 80, 130)]
    X = untidy(dense)
    assert not X.has_sorted_indices
    assert X.nnz > np.count_nonzero(dense)
    found = nearest_neighbors(X, 5)
    np.testing.assert_array_equal(found.indices, brute_neighbors(dense, 5)[0])


def test_the_table_of_the_caller_is_not_modified(search):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 3)).astype(np.float64)
    before = X.copy()
    X.flags.writeable = False
    search(X, 4)
    np.testing.assert_array_equal(X, before)


def test_the_sparse_table_of_the_caller_is_not_modified():
    rng = np.random.default_rng(0)
    X = untidy(np.where(rng.random((40, 8)) < 0.4, rng.standard_normal((40, 8)), 0))
    parts = X.data, X.indices, X.indptr
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    nearest_neighbors(X, 4)
    for part, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_memory_order_and_strides_do_not_matter(search):
    wide = np.random.default_rng(0).standard_normal((140, 8))
    X = wide[::2, 1:7:2]
    for view in (X, np.asfortranarray(X), X[:, ::-1][:, ::-1]):
        assert_brute(X, 5, search(view, 5))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int32, np.uint64, bool])
def test_integers_are_read_as_numbers(search, dtype):
    X = np.random.default_rng(0).integers(0, 120, (100, 4)).astype(dtype)
    assert_brute(X.astype(np.float64), 5, search(X, 5))


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble, ">f8"])
def test_floats_of_any_width_and_byte_order_are_read_as_numbers(dtype):
    X = np.random.default_rng(0).standard_normal((60, 8)).astype(dtype)
    assert_brute(X.astype(np.float64), 5, nearest_neighbors(X, 5))


def test_single_precision_input_is_searched_in_double_precision(search):
    X = np.random.default_rng(0).standard_normal((200, 9)).astype(np.float32)
    assert_brute(X, 7, search(X, 7))


def test_distances_of_single_precision_input_are_those_of_double_precision(search):
    X = np.array([[1.0], [2.0**-24], [-(2.0**-24)]], dtype=np.float32)
    # Only in double precision is 1 + 2**-24 more than 1, and the middle row nearer to the first.
    found = search(X, 1)
    np.testing.assert_array_equal(found.indices.ravel(), [1, 2, 1])
    assert found.distances[0, 0] == 1 - 2.0**-24
    X = np.array([[1.0], [-(2.0**-25)], [2 + 2.0**-22]], dtype=np.float32)
    found = search(X, 1)
    assert found.indices[0, 0] == 1
    assert found.distances[0, 0] == 1 + 2.0**-25


# --- hard numbers ---------------------------------------------------------------------------------


def single_precision_neighbors(X, n_neighbors):
    """What ‖x‖² + ‖y‖² − 2⟨x, y⟩ in single precision makes of the neighbours."""
    X = X.astype(np.float32)
    norms = (X**2).sum(axis=1)
    squared = norms[:, None] + norms - 2 * X @ X.T
    np.fill_diagonal(squared, np.inf)
    return np.argsort(squared, axis=1, kind="stable")[:, :n_neighbors]


def near_duplicates(relative_difference, n_features=20):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((30, n_features)), 10, axis=0)
    return X * (1 + relative_difference * rng.standard_normal(X.shape))


@pytest.mark.parametrize("relative_difference", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("n_features", [2, 20, 300])
def test_near_duplicates_that_single_precision_confuses(search, relative_difference, n_features):
    X = near_duplicates(relative_difference, n_features)
    expected, _ = brute_neighbors(X, 5)
    assert (single_precision_neighbors(X, 5) != expected).mean() > 0.1
    np.testing.assert_array_equal(search(X, 5).indices, expected)


def test_near_duplicates_in_several_tiles(search, monkeypatch):
    tiny_tiles(monkeypatch, 32)
    X = near_duplicates(1e-7)[np.random.default_rng(1).permutation(300)]
    np.testing.assert_array_equal(search(X, 12).indices, brute_neighbors(X, 12)[0])


@pytest.mark.parametrize("offset", [1e6, -1e12])
def test_a_common_offset_does_not_blur_the_neighbours(search, offset):
    X = offset + np.random.default_rng(0).standard_normal((200, 6))
    assert (single_precision_neighbors(X, 5) != brute_neighbors(X, 5)[0]).mean() > 0.5
    assert_brute(X, 5, search(X, 5))


@pytest.mark.parametrize("exponent", [-1060, -1000, -500, -330, 330, 500, 1000, 1015])
def test_a_power_of_two_as_unit_changes_nothing_but_the_unit(search, exponent):
    X = np.random.default_rng(0).integers(-7, 8, (80, 5)).astype(np.float64)
    scaled = np.ldexp(X, exponent)
    expected, distances = brute_neighbors(X, 4)
    found = search(scaled, 4)
    np.testing.assert_array_equal(found.indices, expected)
    np.testing.assert_allclose(found.distances, np.ldexp(distances, exponent), rtol=1e-13)


@pytest.mark.parametrize("scale", [1e150, 1e-150])
def test_extreme_scales_leave_the_neighbours_alone(search, scale):
    X = np.random.default_rng(0).standard_normal((100, 5))
    np.testing.assert_array_equal(search(X * scale, 4).indices, brute_neighbors(X, 4)[0])


@pytest.mark.parametrize("scale", [1e37, 1e-37])
def test_extreme_scales_of_single_precision_leave_the_neighbours_alone(search, scale):
    X = np.random.default_rng(0).standard_normal((100, 5)).astype(np.float32)
    X *= np.float32(scale)
    assert_brute(X, 4, search(X, 4))


def test_opposite_numbers_near_the_largest_single_precision_number(search):
    X = np.array([[3e38], [-3e38], [2.9e38], [-2e38]], dtype=np.float32)
    assert_brute(X, 3, search(X, 3))


@pytest.mark.parametrize("size", [1e4, 1e8, 1e10])
def test_one_extreme_outlier_does_not_blur_the_others(search, size):
    X = np.random.default_rng(0).standard_normal((300, 6))
    X[17] *= size
    assert_brute(X, 5, search(X, 5))


def test_columns_of_very_different_units(search):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4)) * [1e9, 1.0, 1e-6, 1e-30]
    assert_brute(X, 5, search(X, 5))
    X[:, 0] = rng.integers(0, 2, 200) * 1e9
    assert_brute(X, 5, search(X, 5))


@pytest.mark.parametrize("size", [1e-18, 1e-20, 1e-21, 1e-22, 1e-30, 1e-60])
def test_numbers_whose_squares_underflow_single_precision_beside_large_ones(search, size):
    X = np.random.default_rng(0).standard_normal((100, 8))
    X = np.vstack([size * X, X, -X])  # the mean of each column is the last to stay small
    assert_brute(X, 3, search(X, 3))


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e-19, 1e-21, 3e-22, 1e-22, 1e-23])
@pytest.mark.parametrize("side", [16, 64])
def test_squares_that_underflow_in_several_tiles(search, monkeypatch, size, side):
    tiny_tiles(monkeypatch, side)
    X = np.random.default_rng(0).standard_normal((600, 8))
    X = np.vstack([size * X, X[:50], -X[:50]])
    assert_brute(X, 8, search(X, 8))


def test_tiny_distances_beside_a_huge_number(search):
    # Their squares are normal numbers, but not in units of the largest square.
    X = np.array([[1e99], [1e-70], [2e-70], [4e-70], [8e-70], [16e-70]])
    assert_brute(X, 2, search(X, 2))


def test_sparse_rows_of_very_different_length():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((150, 400)) < 0.02, rng.standard_normal((150, 400)), 0)
    X[3] = rng.standard_normal(400)
    X[5] = 0
    assert_brute(sp.csr_array(X), 5)


def test_lower_bounds_hold_for_products_that_round_in_one_direction(monkeypatch):
    """Long rows of equal numbers, whose single-precision sums lose the same at every step."""
    tiny_tiles(monkeypatch, 8)
    rng = np.random.default_rng(0)
    X = np.full((40, 900), 1 / 3)
    X[:20] *= -1
    X += 1e-6 * rng.integers(-8, 9, (40, 900)) * (rng.random((40, 900)) < 0.05)
    expected, _ = brute_neighbors(X, 3)
    np.testing.assert_array_equal(nearest_neighbors(X, 3).indices, expected)
    np.testing.assert_array_equal(nearest_neighbors(sp.csr_array(X), 3).indices, expected)


def distance_evaluations(monkeypatch, X, n_neighbors):
    """How many pairs the tiles leave to double precision, per sample."""
    counted = []
    pair_distances = _tiles.pair_distances

    def count(X, left, right):
        counted.append(len(left))
        return pair_distances(X, left, right)

    monkeypatch.setattr(_tiles, "pair_distances", count)
    nearest_neighbors(X, n_neighbors)
    return sum(counted) / X.shape[0]


def test_single_precision_settles_almost_all_pairs(monkeypatch):
    X = np.random.default_rng(0).standard_normal((500, 50))
    assert distance_evaluations(monkeypatch, X, 5) < 10
    assert distance_evaluations(monkeypatch, X + 1e6, 5) < 10


@pytest.mark.slow
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("n_samples", "side"), [(640, 64), (3000, None)])
def test_outliers_and_far_clusters_leave_few_pairs_to_differences(
    monkeypatch, container, n_samples, side
):
    if side:
        tiny_tiles(monkeypatch, side)
    table = np.random.default_rng(0).standard_normal((n_samples, 10))
    outlier, sentinel, far = table.copy(), table.copy(), table.copy()
    outlier[7] *= 1e6
    sentinel[7, 3] = -1e20
    far[::2] += 1e5
    for X in (outlier, sentinel, far):
        assert distance_evaluations(monkeypatch, container(X), 5) < n_samples / 6


@pytest.mark.slow
def test_ties_between_all_pairs_do_not_need_the_memory_of_all_pairs(monkeypatch):
    tiny_tiles(monkeypatch, 64)
    n_samples = 1500
    X = sp.csr_array(sp.eye_array(n_samples))
    found, peak = with_peak_memory(nearest_neighbors, X, 2)
    chosen = np.unique(found.indices)  # the same for all, but for themselves
    assert len(chosen) == 3
    assert (found.indices[~np.isin(np.arange(n_samples), chosen)] == found.indices[0]).all()
    assert peak < 4 * n_samples**2


def test_very_wide_sparse_tables_are_not_densified_by_blocks():
    n_samples, n_features = 300, 200_000
    rng = np.random.default_rng(0)
    X = sp.random_array((n_samples, n_features), density=1e-4, rng=rng, format="csr")
    found, peak = with_peak_memory(nearest_neighbors, X, 3)
    present = np.unique(X.indices)
    assert_brute(X[:, present], 3, found)
    assert peak < 80e6 < 4 * n_samples * n_features


def test_one_long_sparse_row_does_not_multiply_the_memory():
    rng = np.random.default_rng(0)
    X = sp.random_array((600, 20_000), density=1e-3, rng=rng, format="lil")
    X[0] = rng.random(20_000)
    X = sp.csr_array(X)
    _, peak = with_peak_memory(nearest_neighbors, X, 3)
    assert peak < 80e6 < 8 * X.shape[0] * X.shape[1]


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_neighbors", [0, -1, 5, 6])
@pytest.mark.parametrize("approximate", [False, True])
def test_impossible_numbers_of_neighbours_are_refused(n_neighbors, approximate):
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(ValueError, match=f"n_neighbors={n_neighbors} .* at most 4"):
        nearest_neighbors(X, n_neighbors, approximate=approximate)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_numbers_that_are_not_finite_are_refused(bad, container):
    X = np.random.default_rng(0).standard_normal((8, 3))
    X[2, 1] = bad
    with pytest.raises(ValueError, match="NaN or infinity"):
        nearest_neighbors(container(X), 2)


# --- approximate search ---------------------------------------------------------------------------


def stand_in(monkeypatch, neighbors_of):
    """Replace pynndescent: `neighbors_of(X, n_neighbors)` gives the index table it returns."""
    calls = []

    class NNDescent:
        def __init__(self, data, n_neighbors, random_state, n_jobs):
            calls.append(types.SimpleNamespace(data=data, random_state=random_state, n_jobs=n_jobs))
            dense = data.toarray() if sp.issparse(data) else data
            indices = neighbors_of(np.asarray(dense, dtype=np.float64), n_neighbors)
            self.neighbor_graph = indices.astype(np.int32), np.zeros(indices.shape, np.float32)

    module = types.ModuleType("pynndescent")
    module.NNDescent = NNDescent
    monkeypatch.setitem(sys.modules, "pynndescent", module)
    return calls


def itself_and_nearest(X, n_neighbors):
    return np.argsort(cdist(X, X), axis=1, kind="stable")[:, :n_neighbors]


def farthest(X, n_neighbors):
    return np.argsort(-cdist(X, X), axis=1, kind="stable")[:, :n_neighbors]


def test_approximate_search_needs_pynndescent(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(ImportError, match=r"tamis\[approximate\].*approximate=False"):
        nearest_neighbors(np.eye(5), 2, approximate=True)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("n_neighbors", [1, 5, 29])
def test_a_perfect_approximate_search_equals_the_exact_one(monkeypatch, container, n_neighbors):
    stand_in(monkeypatch, itself_and_nearest)
    X = np.random.default_rng(0).standard_normal((30, 4))
    found = nearest_neighbors(container(X), n_neighbors, approximate=True, random_state=0)
    assert found.method == "nn_descent"
    assert_brute(X, n_neighbors, found)


def test_the_sample_itself_is_no_neighbour_wherever_it_is_found(monkeypatch):
    stand_in(monkeypatch, lambda X, n: itself_and_nearest(X, n)[:, ::-1])
    X = np.random.default_rng(0).standard_normal((30, 4))
    assert_brute(X, 5, nearest_neighbors(X, 5, approximate=True))


def test_a_low_recall_is_measured_and_warned_of(monkeypatch):
    stand_in(monkeypatch, farthest)
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(UserWarning, match="only 0% of the 5 nearest") as caught:
        found = nearest_neighbors(X, 5, approximate=True)
    assert found.recall == 0
    assert caught[0].filename == __file__


def test_the_recall_is_the_share_of_true_neighbours(monkeypatch):
    """Four places to fill, of which the search knows the two nearest and the farthest ones."""

    def half_right(X, n_neighbors):
        return np.hstack([itself_and_nearest(X, 3), farthest(X, n_neighbors - 3)])

    stand_in(monkeypatch, half_right)
    X = np.random.default_rng(0).standard_normal((60, 4))
    with pytest.warns(UserWarning, match="50%"):
        found = nearest_neighbors(X, 4, approximate=True)
    assert found.recall == 0.5


def test_other_neighbours_at_the_same_distance_count_as_found(monkeypatch):
    stand_in(monkeypatch, lambda X, n: np.argsort(cdist(X, X), axis=1)[:, ::-1][:, :n])
    found = nearest_neighbors(np.eye(12), 3, approximate=True)
    assert found.recall == 1


def test_the_recall_is_measured_on_a_sample_of_rows(monkeypatch):
    stand_in(monkeypatch, itself_and_nearest)
    sampled = []

    def recall(X, sample, squared):
        sampled.append(sample)
        return 1.0

    monkeypatch.setattr(_neighbors, "_recall", recall)
    monkeypatch.setattr(_neighbors, "RECALL_SAMPLE_SIZE", 7)
    X = np.random.default_rng(0).standard_normal((50, 3))
    nearest_neighbors(X, 3, approximate=True, random_state=0)
    nearest_neighbors(X, 3, approximate=True, random_state=0)
    nearest_neighbors(X, 3, approximate=True, random_state=1)
    assert [len(set(sample)) for sample in sampled] == [7, 7, 7]
    np.testing.assert_array_equal(sampled[0], sampled[1])
    assert set(sampled[0]) != set(sampled[2])


def test_too_few_neighbours_found_is_an_error(monkeypatch):
    def lost(X, n_neighbors):
        indices = itself_and_nearest(X, n_neighbors)
        indices[3, 1:] = -1
        return indices

    stand_in(monkeypatch, lost)
    with pytest.raises(RuntimeError, match="approximate=False"):
        nearest_neighbors(np.random.default_rng(0).standard_normal((20, 3)), 4, approximate=True)


def test_seed_and_threads_reach_the_approximate_search(monkeypatch):
    calls = stand_in(monkeypatch, itself_and_nearest)
    X = np.random.default_rng(0).standard_normal((20, 3))
    for seed in (0, 0, 1):
        nearest_neighbors(X, 2, approximate=True, random_state=seed, n_jobs=2)
    assert [call.n_jobs for call in calls] == [2, 2, 2]
    assert calls[0].random_state == calls[1].random_state != calls[2].random_state


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1.0, 1e30, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_the_approximate_search_is_given_numbers_that_single_precision_can_hold(
    monkeypatch, scale, offset
):
    def in_single_precision(X, n_neighbors):
        return itself_and_nearest(X.astype(np.float32).astype(np.float64), n_neighbors)

    calls = stand_in(monkeypatch, in_single_precision)
    X = offset + np.random.default_rng(0).standard_normal((60, 3))
    found = nearest_neighbors(X * scale, 4, approximate=True, random_state=0)
    largest = np.abs(calls[0].data).max()
    assert 1e-9 < largest < 1e9
    assert found.recall > 0.95


def clusters(n_samples=400):
    rng = np.random.default_rng(0)
    centres = 10 * rng.standard_normal((8, 6))
    return centres[rng.integers(0, 8, n_samples)] + rng.standard_normal((n_samples, 6))


@pytest.mark.slow
def test_pynndescent_finds_the_neighbours_of_clustered_data_reproducibly():
    pytest.importorskip("pynndescent")
    X = clusters()
    found = nearest_neighbors(X, 5, approximate=True, random_state=0)
    again = nearest_neighbors(X, 5, approximate=True, random_state=0)
    np.testing.assert_array_equal(found.indices, again.indices)
    assert found.recall == again.recall > 0.97
    exact = brute_neighbors(X, 5)[0]
    overlap = [len(set(a) & set(b)) for a, b in zip(found.indices, exact, strict=True)]
    assert np.mean(overlap) / 5 == pytest.approx(found.recall, abs=0.03)
    assert not (found.indices == np.arange(len(X))[:, None]).any()
    few = nearest_neighbors(X[:6], 5, approximate=True, random_state=0)
    assert_brute(X[:6], 5, few)


@pytest.mark.slow
def test_pynndescent_on_isotropic_noise_is_warned_of():
    pytest.importorskip("pynndescent")
    X = np.random.default_rng(0).standard_normal((1000, 500))
    with pytest.warns(UserWarning, match="approximate=False"):
        found = nearest_neighbors(X, 5, approximate=True, random_state=0)
    assert 0 < found.recall < 0.9


@pytest.mark.slow
def test_pynndescent_takes_sparse_tables():
    pytest.importorskip("pynndescent")
    X = clusters()
    found = nearest_neighbors(sp.csr_array(X * (X > 0)), 5, approximate=True, random_state=0)
    assert found.recall > 0.9


# --- real data ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["COIL20", "USPS", "Letter", "Satellite", "leukemia"])
def test_neighbours_in_real_tables(benchmark_set, name):
    assert_brute(benchmark_set(name)[0][:1500], 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TDT2", "WormNeuron_sc"])
def test_sparse_equals_dense_in_real_tables(benchmark_set, name):
    X = benchmark_set(name)[0][:700]
    X = X[:, np.flatnonzero(X.sum(axis=0))]
    assert_brute(X, 5)


# --- wide tables, by the products of their rows ---------------------------------------------------


def by_products(monkeypatch, columns_at_once=7):
    """Search small wide tables by products too, whose columns are multiplied a few at a time."""
    monkeypatch.setattr(_gram_search, "FEWEST_COLUMNS", 1)
    monkeypatch.setattr(_gram_search, "COLUMNS_AT_ONCE", columns_at_once)
    monkeypatch.setattr("tamis.solvers.row_gram.COLUMNS_AT_ONCE", columns_at_once)
    monkeypatch.setattr("tamis.solvers.row_gram.LARGE_TABLE", 1)
    monkeypatch.setattr("tamis.utils.blocks.LARGE_TABLE", 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize(("shape", "n_neighbors"), [((40, 200), 5), ((30, 30), 29), ((2, 9), 1)])
def test_products_find_the_neighbours_of_a_wide_table(
    shape, n_neighbors, offset, dtype, monkeypatch
):
    by_products(monkeypatch)
    X = (np.random.default_rng(0).standard_normal(shape) + offset).astype(dtype)
    found = assert_brute(X, n_neighbors, reference=X.astype(np.float64))
    assert found.method == "gram"


def test_products_keep_the_rule_for_equal_distances(monkeypatch):
    by_products(monkeypatch)
    X = np.vstack([np.eye(12), np.ones((1, 12)) / 12, 3 * np.eye(12)[:4]])
    X = np.hstack([X, np.zeros((len(X), 20))])
    found = nearest_neighbors(X, 6)
    monkeypatch.setattr(_neighbors, "gram_search", lambda X, n_neighbors: None)
    expected = nearest_neighbors(X, 6)
    assert (found.method, expected.method) == ("gram", "tiles")
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.distances, expected.distances, rtol=1e-12)


@pytest.mark.parametrize(
    "close",
    [
        lambda X: np.vstack([X, X[:3]]),  # equal rows
        lambda X: np.vstack([X, X[:3] + 1e-9]),  # of whose products no digit is left
        lambda X: 1e-6 * X + 100.0 * np.arange(len(X))[:, None],
    ],
)
def test_rows_that_products_do_not_tell_apart(close, monkeypatch):
    by_products(monkeypatch)
    X = close(np.random.default_rng(1).standard_normal((30, 200)))
    assert_brute(X, 4)


def test_distances_of_close_rows_have_all_their_digits(monkeypatch):
    by_products(monkeypatch)
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 200))
    X = np.vstack([X, X + 1e-4 * rng.standard_normal(X.shape)])
    assert assert_brute(X, 3).method == "gram"
