"""Measures of clusterings and feature sets, against hand-worked cases and references."""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb, log, sqrt

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from references.tables import correlated
from sklearn import metrics as sk

from tamis.metrics import (
    _redundancy,
    adjusted_rand_index,
    clustering_accuracy,
    clustering_scores,
    jaccard,
    kuncheva,
    nogueira_stability,
    normalized_mutual_information,
    purity,
    rand_index,
    redundancy,
    stability,
)

# Classes of 3, 2 and 1 samples in clusters of 2 and 4. The contingency table is
#
#              cluster x  cluster y
#     class a      2          1
#     class b      0          2
#     class c      0          1
TRUE = ["a", "a", "a", "b", "b", "c"]
PRED = ["x", "x", "y", "y", "y", "y"]

CLUSTERING_MEASURES = [
    clustering_accuracy,
    normalized_mutual_information,
    purity,
    rand_index,
    adjusted_rand_index,
    clustering_scores,
]


@st.composite
def two_labellings(draw, n_labels=5):
    n_samples = draw(st.integers(1, 30))
    labels = st.lists(st.integers(0, n_labels - 1), min_size=n_samples, max_size=n_samples)
    return draw(labels), draw(labels)


@pytest.mark.parametrize("normalization", ["geometric", "arithmetic", "max"])
def test_nmi_hangs_on_no_names(normalization):
    """To the last bit: a difference of rounding would count as one between methods."""
    rng = np.random.default_rng(0)
    true, pred = rng.integers(0, 10, 300), rng.integers(0, 10, 300)
    found = {
        normalized_mutual_information(
            rng.permutation(10)[true], rng.permutation(10)[pred], normalization=normalization
        )
        for _ in range(50)
    }
    assert len(found) == 1


def same_partition(first, second):
    return len(set(zip(first, second, strict=True))) == len(set(first)) == len(set(second))


# --------------------------------------------------------------------------------------
# Clusterings: values
# --------------------------------------------------------------------------------------


def test_accuracy_by_hand():
    # x-a and y-b put 2 + 2 samples right; class c has no cluster left.
    assert clustering_accuracy(TRUE, PRED) == pytest.approx(4 / 6)


def test_accuracy_is_the_best_matching_not_the_greedy_one():
    # Table [[3, 2], [2, 0]]: taking the 3 first leaves 0, 3 right in all; 2 + 2 is better.
    true = [0] * 5 + [1] * 2
    pred = [0, 0, 0, 1, 1, 0, 0]
    assert clustering_accuracy(true, pred) == pytest.approx(4 / 7)


def test_unmatched_clusters_count_as_errors():
    # Only one of four singleton clusters may be matched with the only class.
    assert clustering_accuracy([0, 0, 0, 0], [0, 1, 2, 3]) == 0.25
    assert clustering_accuracy([0, 1, 2, 3], [0, 0, 0, 0]) == 0.25


def brute_force_accuracy(true, pred):
    classes, clusters = sorted(set(true)), sorted(set(pred))
    if len(classes) > len(clusters):
        true, pred, classes, clusters = pred, true, clusters, classes
    return max(
        np.mean([(t, p) in matching for t, p in zip(true, pred, strict=True)])
        for matching in (
            set(zip(classes, order, strict=True)) for order in permutations(clusters, len(classes))
        )
    )


@settings(max_examples=60, deadline=None)
@given(two_labellings())
def test_accuracy_equals_a_search_over_all_matchings(labels):
    assert clustering_accuracy(*labels) == pytest.approx(brute_force_accuracy(*labels))


def test_mutual_information_by_hand():
    # I = sum n_cl/n log(n n_cl / (n_c n_l)), H = -sum n_c/n log(n_c/n), with n = 6:
    information = (
        2 / 6 * log(6 * 2 / (3 * 2))
        + 1 / 6 * log(6 * 1 / (3 * 4))
        + 2 / 6 * log(6 * 2 / (2 * 4))
        + 1 / 6 * log(6 * 1 / (1 * 4))
    )
    true_entropy = -(3 / 6 * log(3 / 6) + 2 / 6 * log(2 / 6) + 1 / 6 * log(1 / 6))
    pred_entropy = -(2 / 6 * log(2 / 6) + 4 / 6 * log(4 / 6))
    geometric = information / sqrt(true_entropy * pred_entropy)
    assert normalized_mutual_information(TRUE, PRED) == pytest.approx(geometric)
    assert normalized_mutual_information(TRUE, PRED, normalization="max") == pytest.approx(
        information / max(true_entropy, pred_entropy)
    )


@pytest.mark.parametrize("normalization", ["geometric", "arithmetic", "max"])
def test_mutual_information_with_a_single_cluster(normalization):
    def nmi(true, pred):
        return normalized_mutual_information(true, pred, normalization=normalization)

    assert nmi([0, 0, 0], ["a", "a", "a"]) == 1.0
    assert nmi([7], [3]) == 1.0
    assert nmi([0, 0, 0], [0, 1, 1]) == 0.0
    assert nmi([0, 1, 1], [0, 0, 0]) == 0.0


def test_mutual_information_of_independent_partitions():
    assert normalized_mutual_information([0, 0, 1, 1], [0, 1, 0, 1]) == 0.0


def test_purity_by_hand():
    # Commonest class of x: a, 2 samples; of y: b, 2 samples.
    assert purity(TRUE, PRED) == pytest.approx(4 / 6)
    # The other way round: 2 of class a, 2 of b and 1 of c.
    assert purity(PRED, TRUE) == pytest.approx(5 / 6)


def test_purity_of_singletons_is_one():
    # Accuracy, which matches one to one, is not fooled.
    assert purity([0, 0, 1, 1], [0, 1, 2, 3]) == 1.0
    assert clustering_accuracy([0, 0, 1, 1], [0, 1, 2, 3]) == 0.5


def test_rand_indices_by_hand():
    # Of the 15 pairs, 2 are together in both: the two a in x, and the two b in y.
    # Together in TRUE: C(3,2) + C(2,2) = 4. Together in PRED: C(2,2) + C(4,2) = 7.
    # Apart in both: 15 - 4 - 7 + 2 = 6.
    assert rand_index(TRUE, PRED) == pytest.approx((2 + 6) / 15)
    # Expected number together in both: 4 * 7 / 15; at most (4 + 7) / 2.
    expected = 4 * 7 / 15
    assert adjusted_rand_index(TRUE, PRED) == pytest.approx((2 - expected) / (5.5 - expected))


def test_adjusted_rand_index_reaches_its_lower_bound():
    # Crossed pairs: 0 together in both, 2 in each, of 6; (0 - 4/6) / (2 - 4/6) = -1/2.
    assert adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1]) == pytest.approx(-0.5)


def test_rand_indices_of_one_sample():
    assert rand_index([1], [2]) == 1.0
    assert adjusted_rand_index([1], [2]) == 1.0


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(two_labellings())
def test_agrees_with_scikit_learn(labels):
    assert normalized_mutual_information(*labels) == pytest.approx(
        sk.normalized_mutual_info_score(*labels, average_method="geometric")
    )
    for normalization in ("arithmetic", "max"):
        assert normalized_mutual_information(*labels, normalization=normalization) == pytest.approx(
            sk.normalized_mutual_info_score(*labels, average_method=normalization)
        )
    assert rand_index(*labels) == pytest.approx(sk.rand_score(*labels))
    assert adjusted_rand_index(*labels) == pytest.approx(sk.adjusted_rand_score(*labels))


@settings(max_examples=40, deadline=None)
@given(two_labellings())
def test_scores_are_the_measures(labels):
    assert clustering_scores(*labels) == {
        "acc": clustering_accuracy(*labels),
        "nmi": normalized_mutual_information(*labels),
        "nmi_arithmetic": normalized_mutual_information(*labels, normalization="arithmetic"),
        "nmi_max": normalized_mutual_information(*labels, normalization="max"),
        "purity": purity(*labels),
        "rand": rand_index(*labels),
        "ari": adjusted_rand_index(*labels),
    }


@pytest.mark.parametrize("measure", [m for m in CLUSTERING_MEASURES if m is not clustering_scores])
def test_measures_return_python_floats(measure):
    assert type(measure(TRUE, PRED)) is float


# --------------------------------------------------------------------------------------
# Clusterings: properties
# --------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(two_labellings())
def test_symmetric_except_purity(labels):
    forward, backward = clustering_scores(*labels), clustering_scores(*reversed(labels))
    del forward["purity"], backward["purity"]
    assert forward == pytest.approx(backward)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(two_labellings(), st.permutations(range(5)), st.permutations("vwxyz"))
def test_names_of_the_labels_do_not_matter(labels, numbers, letters):
    renamed = [numbers[label] for label in labels[0]], [letters[label] for label in labels[1]]
    assert clustering_scores(*renamed) == pytest.approx(clustering_scores(*labels))


@settings(max_examples=60, deadline=None)
@given(two_labellings())
def test_ranges(labels):
    true, pred = labels
    scores = clustering_scores(true, pred)
    # Over all matchings, a sample is put right with a chance of 1 in the larger number of clusters;
    # the best matching does no worse.
    most = max(len(set(true)), len(set(pred)))
    assert 1 / most - 1e-12 <= scores["acc"] <= scores["purity"] <= 1.0
    assert max(true.count(label) for label in true) / len(true) <= scores["purity"] + 1e-12
    assert 0.0 <= scores["nmi_max"] <= scores["nmi_arithmetic"] + 1e-12
    assert scores["nmi_arithmetic"] <= scores["nmi"] + 1e-12
    assert scores["nmi"] <= 1.0
    assert 0.0 <= scores["rand"] <= 1.0
    assert -0.5 - 1e-12 <= scores["ari"] <= 1.0


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(two_labellings())
def test_one_means_the_same_partition(labels):
    true, pred = labels
    agreement = [pytest.approx(1.0)] * 7
    assert list(clustering_scores(true, true).values()) == agreement
    scores = clustering_scores(true, pred)
    del scores["purity"]
    for score in scores.values():
        assert (score == pytest.approx(1.0, abs=1e-9)) == same_partition(true, pred)


# --------------------------------------------------------------------------------------
# Clusterings: labels
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        tuple,
        np.array,
        lambda labels: np.array(labels, dtype=object),
        lambda labels: pd.Series(labels, index=range(10, 16)),
        pd.Categorical,
        lambda labels: [ord(label) for label in labels],
        lambda labels: [ord(label) + 0.5 for label in labels],
        lambda labels: pd.Series([ord(label) for label in labels], dtype="Int64"),
        lambda labels: [label == labels[0] for label in labels],
        lambda labels: [pd.Timestamp(2000, 1, ord(label) % 30 + 1) for label in labels],
    ],
)
def test_kinds_of_labels(convert):
    # PRED has two labels, so that it may also be turned into booleans.
    assert clustering_scores(TRUE, convert(PRED)) == clustering_scores(TRUE, PRED)


def test_polars_labels():
    pl = pytest.importorskip("polars")
    assert clustering_scores(pl.Series(TRUE), pl.Series(PRED)) == clustering_scores(TRUE, PRED)
    with pytest.raises(ValueError, match="labels_pred has missing labels"):
        purity(TRUE, pl.Series([*PRED[:5], None]))


@pytest.mark.filterwarnings("error")
def test_continuous_and_singleton_labels_do_not_warn():
    scores = clustering_scores(np.arange(50) + 0.5, range(50))
    assert list(scores.values()) == [pytest.approx(1.0)] * 7


def test_many_clusters_need_little_memory():
    # A dense contingency table of these would hold 10^10 counts.
    labels = np.arange(100_000)
    assert purity(labels, labels[::-1]) == 1.0


@pytest.mark.parametrize("measure", CLUSTERING_MEASURES)
class TestBadLabels:
    def test_different_lengths(self, measure):
        with pytest.raises(ValueError, match="labels_true has 2 labels and labels_pred has 3"):
            measure([0, 1], [0, 1, 2])

    def test_empty(self, measure):
        with pytest.raises(ValueError, match="labels_true is empty; pass one label per sample"):
            measure([], [])
        with pytest.raises(ValueError, match="labels_pred is empty"):
            measure([0], np.array([]))

    @pytest.mark.parametrize(
        "labels", [[[0, 1]], np.zeros((2, 1)), 3, "ab", {0, 1}, [[0, 1], [1]], [(0, 1), (1, 0)]]
    )
    def test_not_one_dimensional(self, measure, labels):
        with pytest.raises(ValueError, match="labels_pred must be one-dimensional; pass a flat"):
            measure([0, 1], labels)

    @pytest.mark.parametrize(
        "labels",
        [
            [0.0, np.nan],
            [0, None],
            ["a", None],
            ["a", np.nan],
            ["a", float("nan")],
            np.array(["a", np.nan], dtype=object),
            pd.Series(["a", None]),
            pd.Series([1, None], dtype="Int64"),
            pd.Series([1, pd.NA], dtype=object),
            np.array(["2000-01-01", "NaT"], dtype="datetime64[D]"),
            [pd.Timestamp(2000, 1, 1), pd.NaT],
        ],
    )
    def test_missing(self, measure, labels):
        with pytest.raises(ValueError, match=r"labels_true has missing labels \(None or NaN\)"):
            measure(labels, [0, 1])

    @pytest.mark.parametrize("labels", [[1, "a"], np.array(["a", 2], dtype=object), ["a", b"a"]])
    def test_mixed_types(self, measure, labels):
        with pytest.raises(TypeError, match="labels_pred has labels that cannot be ordered"):
            measure([0, 1], labels)


def test_unknown_normalization():
    with pytest.raises(ValueError, match='must be "geometric", "arithmetic" or "max", not \'min'):
        normalized_mutual_information([0, 1], [0, 1], normalization="min")


# --------------------------------------------------------------------------------------
# Redundancy
# --------------------------------------------------------------------------------------


def reference_redundancy(X):
    correlation = np.abs(np.corrcoef(X, rowvar=False))
    return correlation[np.triu_indices_from(correlation, k=1)].mean()


@pytest.fixture
def table():
    return correlated(40, 7)


def sparse_table(rng, n_rows=50, n_columns=9):
    X = rng.normal(size=(n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.3)
    X[:, 2] = 5.0 + rng.normal(size=n_rows)  # a column without zeros
    return X


def test_redundancy_by_hand():
    # Columns 0 and 1 are opposite: |rho| = 1. Column 2 deviates by (1, -1, -1, 1) from its
    # mean 0 and column 0 by (-3, -1, 1, 3) / 2: -3 + 1 - 1 + 3 = 0, so that rho = 0.
    X = np.array([[1.0, 8.0, 1.0], [2.0, 6.0, -1.0], [3.0, 4.0, -1.0], [4.0, 2.0, 1.0]])
    assert redundancy(X) == pytest.approx((1 + 0 + 0) / 3)
    assert redundancy(X, [0, 1]) == pytest.approx(1.0)
    assert redundancy(X, [0, 2]) == pytest.approx(0.0, abs=1e-15)


def test_redundancy_equals_corrcoef(table):
    assert redundancy(table) == pytest.approx(reference_redundancy(table), rel=1e-12)
    assert type(redundancy(table)) is float


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.integers(2, 6))
def test_redundancy_equals_corrcoef_on_random_tables(seed, n_rows, n_columns):
    X = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    value = redundancy(X)
    assert 0.0 <= value <= 1.0
    assert value == pytest.approx(reference_redundancy(X), abs=1e-9)
    assert redundancy(-3.0 * X + 1.0) == pytest.approx(value, abs=1e-9)
    assert redundancy(sp.csr_array(X)) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize(
    "features",
    [
        [5, 1, 2],
        (1, 2, 5),
        {1, 2, 5},
        np.array([1, 5, 2], dtype=np.uint8),
        iter([2, 1, 5]),
        [False, True, True, False, False, True, False],
        np.isin(np.arange(7), [1, 2, 5]),
        pd.Series([1, 2, 5]),
    ],
)
def test_kinds_of_features(table, features):
    assert redundancy(table, features) == pytest.approx(reference_redundancy(table[:, [1, 2, 5]]))


def test_features_by_name(table):
    frame = pd.DataFrame(table, columns=list("abcdefg"))
    expected = redundancy(table, [1, 2, 5])
    for features in (
        ["f", "b", "c"],
        {"b", "c", "f"},
        np.array(["b", "c", "f"]),
        frame.columns[[1, 2, 5]],
    ):
        assert redundancy(frame, features) == expected
    assert redundancy(frame, [1, 2, 5]) == expected
    assert redundancy(frame) == redundancy(table)


def test_integers_are_positions_even_in_frames(table):
    frame = pd.DataFrame(table, columns=range(6, -1, -1))
    assert redundancy(frame, [0, 1]) == redundancy(table, [0, 1])


def test_polars_frame(table):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(table, schema=list("abcdefg"))
    assert redundancy(frame) == redundancy(table)
    assert redundancy(frame, ["b", "c"]) == redundancy(table, [1, 2])
    assert redundancy(frame, [False] * 6 + [True]) == 0.0
    assert redundancy(frame, []) == 0.0
    holed = frame.with_columns(c=pl.Series([None, *table[1:, 2]]))
    with pytest.raises(ValueError, match="X has NaN or infinite values in column 'c'"):
        redundancy(holed)


def test_frame_of_several_dtypes():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "int": rng.integers(0, 9, 30),
            "float32": rng.normal(size=30).astype(np.float32),
            "bool": rng.random(30) < 0.5,
            "nullable": pd.array(rng.integers(0, 9, 30), dtype="Int64"),
            "text": ["x"] * 30,
        }
    )
    chosen = ["int", "float32", "bool", "nullable"]
    expected = reference_redundancy(frame[chosen].to_numpy().astype(np.float64))
    assert redundancy(frame, chosen) == pytest.approx(expected)


def test_lists_and_integers_are_tables():
    X = [[1, 2, 0], [2, 4, 1], [3, 7, 0]]
    assert redundancy(X) == pytest.approx(reference_redundancy(np.array(X)))


@pytest.mark.parametrize(
    "convert",
    [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.csr_matrix, sp.coo_matrix],
)
def test_sparse_equals_dense(convert):
    X = sparse_table(np.random.default_rng(2))
    assert redundancy(convert(X)) == pytest.approx(redundancy(X), rel=1e-12)
    assert redundancy(convert(X), [0, 2, 7]) == pytest.approx(redundancy(X, [0, 2, 7]), rel=1e-12)


def test_sparse_integers_and_booleans():
    X = np.random.default_rng(3).integers(0, 2, (30, 5))
    for dtype in (np.int32, bool):
        assert redundancy(sp.csr_array(X.astype(dtype))) == pytest.approx(redundancy(X))


def test_sparse_with_large_means():
    # No zero at all in the first column and a single one in the second, around 10^6: subtracting
    # the squared mean from the squared length would lose every digit of the first.
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 2)) + 1e6
    X[0, 1] = 0.0
    X = np.column_stack([X, X[:, 0] + 0.1 * rng.normal(size=200)])
    assert redundancy(sp.csr_array(X), [0, 2]) == pytest.approx(redundancy(X, [0, 2]), rel=1e-9)
    assert redundancy(sp.csr_array(X)) == pytest.approx(redundancy(X), rel=1e-9)


def test_sparse_duplicates_add_up():
    rows, columns, values = [0, 0, 1, 2, 3, 3], [0, 0, 1, 0, 0, 1], [1.0, 2.0, 4.0, 1.0, 2.0, 5.0]
    X = sp.coo_array((values, (rows, columns)), shape=(4, 2))
    uncompressed = sp.csr_array((values, columns, [0, 2, 3, 4, 6]), shape=(4, 2))
    expected = redundancy(X.toarray())
    assert redundancy(X) == pytest.approx(expected)
    assert redundancy(uncompressed) == pytest.approx(expected)
    assert uncompressed.nnz == 6


@pytest.mark.parametrize("convert", [np.array, sp.csr_array, pd.DataFrame])
def test_input_is_left_alone(convert):
    X = convert(sparse_table(np.random.default_rng(5)))
    before = X.copy()
    redundancy(X)
    assert abs(X - before).max().max() == 0.0


@pytest.mark.parametrize("convert", [np.array, sp.csr_array])
@pytest.mark.parametrize("block", [1, 2, 3, 8, 9, 100])
def test_blocks_equal_the_whole(monkeypatch, convert, block):
    X = convert(sparse_table(np.random.default_rng(6)))
    whole = redundancy(X)
    monkeypatch.setattr(_redundancy, "_BLOCK", block)
    assert redundancy(X) == pytest.approx(whole, rel=1e-12)


def test_more_columns_than_one_block():
    X = np.random.default_rng(7).normal(size=(10, _redundancy._BLOCK + 50))
    assert redundancy(X) == pytest.approx(reference_redundancy(X), rel=1e-12)


@pytest.mark.parametrize("convert", [np.array, sp.csr_array])
def test_constant_columns_correlate_with_nothing(convert):
    # 0.1 is not a binary fraction: the mean of many is not exactly 0.1.
    rng = np.random.default_rng(8)
    X = np.column_stack([np.full(37, 0.1), rng.normal(size=37), np.zeros(37), rng.normal(size=37)])
    only_pair = reference_redundancy(X[:, [1, 3]])
    assert redundancy(convert(X)) == pytest.approx(only_pair / 6)
    assert redundancy(convert(X), [0, 2]) == 0.0
    assert redundancy(convert(X), [0, 1]) == 0.0


@pytest.mark.parametrize("convert", [np.array, sp.csr_array])
@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324])
def test_extreme_scales(convert, scale):
    X = np.array([[1.0, 2.0], [0.0, 3.0], [4.0, 0.0], [2.0, -1.0]])
    expected = redundancy(X)
    assert redundancy(convert(X * scale)) == pytest.approx(expected)
    assert redundancy(convert(X * [1.0, scale])) == pytest.approx(expected)


def test_fewer_than_two_columns(table):
    assert redundancy(table, []) == 0.0
    assert redundancy(table, [3]) == 0.0
    assert redundancy(table, np.zeros(7, dtype=bool)) == 0.0
    assert redundancy(table[:, :0]) == 0.0
    assert redundancy(sp.csr_array(table), []) == 0.0


def test_one_row_is_constant(table):
    assert redundancy(table[:1]) == 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_redundancy_refuses_non_finite_values(table, bad):
    table[3, 4] = table[5, 6] = table[6, 6] = bad
    message = "X has NaN or infinite values in columns {}, {}; fill them in or choose"
    for X in (table, sp.csr_array(table)):
        with pytest.raises(ValueError, match=message.format(4, 6)):
            redundancy(X)
        with pytest.raises(ValueError, match="values in column 6;"):
            redundancy(X, [0, 6])
        assert redundancy(X, [0, 1]) > 0.0  # only the chosen columns matter
    with pytest.raises(ValueError, match=message.format("'e'", "'g'")):
        redundancy(pd.DataFrame(table, columns=list("abcdefg")))


def test_redundancy_refuses_missing_integers():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]})
    with pytest.raises(ValueError, match="infinite values in column 'a'"):
        redundancy(frame)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([["a", "b"]]), "must hold real numbers, not <U1 values"),
        (np.array([[1j, 2j]]), "must hold real numbers, not complex128 values"),
        (sp.csr_array([[1j, 2j]]), "must hold real numbers, not complex128 values"),
        (np.array([["2000-01-01"]], dtype="datetime64[D]"), "must hold real numbers, not datetime"),
        (pd.DataFrame({"a": ["x"], "b": [1]}), r"real numbers \(could not convert string to float"),
        (np.array([[{}]]), r"must hold real numbers \(float\(\) argument must be"),
        (np.zeros(3), r"X must be two-dimensional, not of shape \(3,\)"),
        (np.zeros((0, 3)), "X has no rows; pass at least one sample"),
    ],
)
def test_redundancy_refuses_other_tables(X, message):
    with pytest.raises(ValueError, match=message):
        redundancy(X)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ([0, 7], ValueError, "features has the index 7, but there are 7 features; count"),
        ([0, -1], ValueError, "features has the negative index -1; count features from 0"),
        ([0, 2, 2], ValueError, "features repeats 2; list each feature once"),
        ([True, False], ValueError, "features is a mask of length 2, but there are 7 features"),
        (["a", "b"], ValueError, "features are names, but X has no column names; pass a data"),
        ([0, "a"], TypeError, "features must hold integer indices only, names only, or a bool"),
        ([0.0, 1.0], TypeError, "features must hold integer indices only"),
        ([None], TypeError, "features must hold integer indices only"),
        ([[0, 1]], ValueError, "features must be one-dimensional; pass a flat list or array, not"),
        ("ab", TypeError, "features must be a collection of features, not 'ab'"),
        (3, TypeError, "features must be a collection of features, not 3"),
    ],
)
def test_redundancy_refuses_other_features(table, features, error, message):
    with pytest.raises(error, match=message):
        redundancy(table, features)


def test_redundancy_refuses_other_names(table):
    frame = pd.DataFrame(table, columns=list("aacdefg"))
    with pytest.raises(ValueError, match="X has no column 'y'; name columns of X in features"):
        redundancy(frame, ["c", "z", "y"])
    with pytest.raises(ValueError, match="Several columns of X share a name in features; choose"):
        redundancy(frame, ["a", "c"])
    with pytest.raises(ValueError, match="features repeats 'c'"):
        redundancy(frame, ["c", "c"])
    assert redundancy(frame, ["c", "d"]) == redundancy(table, [2, 3])


# --------------------------------------------------------------------------------------
# Agreement of two feature sets
# --------------------------------------------------------------------------------------

index_sets = st.sets(st.integers(0, 9))


@st.composite
def equal_sized_sets(draw, n_sets):
    n_features = draw(st.integers(1, 10))
    size = draw(st.integers(0, n_features))
    order = st.permutations(range(n_features))
    return [set(draw(order)[:size]) for _ in range(n_sets)], n_features


def mask(indices, n_features):
    return np.isin(np.arange(n_features), list(indices))


def test_jaccard_by_hand():
    assert jaccard([0, 1, 2], [2, 3]) == 1 / 4  # {2} of {0, 1, 2, 3}
    assert jaccard({"a", "b"}, ["b", "c"]) == 1 / 3
    assert jaccard([True, True, False], np.array([True, False, True])) == 1 / 3
    assert jaccard(np.array([5, 6]), range(5, 7)) == 1.0
    assert jaccard([1], [2]) == 0.0


def test_jaccard_of_empty_sets():
    assert jaccard([], set()) == 1.0
    assert jaccard([False, False], [False, False]) == 1.0
    assert jaccard([], [3]) == 0.0
    assert jaccard(["a"], []) == 0.0


@given(index_sets, index_sets)
def test_jaccard_properties(first, second):
    value = jaccard(first, second)
    assert 0.0 <= value <= 1.0
    assert (value == 1.0) == (first == second)
    assert value == jaccard(second, first)
    assert value == jaccard(mask(first, 10), mask(second, 10))
    assert value == jaccard([f"f{i}" for i in first], [f"f{i}" for i in second])


def test_names_of_any_string_type_are_the_same():
    assert jaccard(np.array(["a", "b"]), ["a", "b"]) == 1.0
    assert jaccard([np.str_("a"), "b"], pd.Index(["b", "a"])) == 1.0


def test_kuncheva_by_hand():
    # n = 10, k = 3, r = 2: (2 * 10 - 9) / (3 * 7)
    assert kuncheva([0, 1, 2], [1, 2, 3], 10) == pytest.approx(11 / 21)
    # r = 0: (0 - 9) / (3 * 7)
    assert kuncheva([0, 1, 2], [3, 4, 5], 10) == pytest.approx(-9 / 21)
    # Complementary halves: (0 - 4) / (2 * 2)
    assert kuncheva([0, 1], [2, 3], 4) == -1.0
    assert kuncheva({"a", "b"}, {"a", "c"}, n_features=4) == 0.0
    assert kuncheva(mask([0, 1], 4), mask([0, 2], 4), 4) == 0.0


def test_kuncheva_takes_numpy_integers():
    value = kuncheva(range(90), range(10, 100), np.uint8(200))
    assert type(value) is float
    assert value == pytest.approx((80 * 200 - 90**2) / (90 * 110))


def test_kuncheva_of_none_or_all():
    assert kuncheva([], [], 5) == 1.0
    assert kuncheva([0, 1], [1, 0], 2) == 1.0
    assert kuncheva(np.ones(3, dtype=bool), [True, True, True], 3) == 1.0


@given(equal_sized_sets(2))
def test_kuncheva_properties(drawn):
    (first, second), n_features = drawn
    value = kuncheva(first, second, n_features)
    assert -1.0 <= value <= 1.0
    assert (value == 1.0) == (first == second)
    assert value == kuncheva(second, first, n_features)
    assert value == kuncheva(mask(first, n_features), mask(second, n_features), n_features)


@pytest.mark.parametrize(("size", "n_features"), [(1, 4), (2, 5), (3, 6), (5, 6)])
def test_kuncheva_of_random_sets_averages_zero(size, n_features):
    # Exactly so over all sets of one size.
    others = combinations(range(n_features), size)
    values = [kuncheva(range(size), other, n_features) for other in others]
    assert len(values) == comb(n_features, size)
    assert np.mean(values) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("measure", [jaccard, lambda a, b: kuncheva(a, b, 5)])
class TestBadSets:
    @pytest.mark.parametrize(
        ("first", "second", "error", "message"),
        [
            ([0], [-2], ValueError, "second has the negative index -2; count features from 0"),
            ([1, 1], [0], ValueError, "first repeats 1; list each feature once, or pass booleans"),
            ([0], ["a"], TypeError, "first to second mix indices and names; pass feature sets of"),
            ([0], mask([0], 5), TypeError, "first to second mix indices and mask"),
            ([0.5], [0], TypeError, "first must hold integer indices only, names only"),
            ([0], [1, "a"], TypeError, "second must hold integer indices only"),
            ("ab", ["a"], TypeError, "first must be a collection of features, not 'ab'"),
            ([0], 1, TypeError, "second must be a collection of features, not 1"),
            ([[0]], [0], ValueError, "first must be one-dimensional"),
        ],
    )
    def test_refused(self, measure, first, second, error, message):
        with pytest.raises(error, match=message):
            measure(first, second)


def test_masks_of_different_lengths():
    with pytest.raises(ValueError, match="second is a mask of length 3, but there are 2 features"):
        jaccard([True, False], [True, False, False])
    with pytest.raises(ValueError, match="first is a mask of length 2, but there are 3 features"):
        kuncheva([True, False], [True, False], 3)


def test_kuncheva_refuses():
    with pytest.raises(ValueError, match="sets of one size, not of 1 and 2 features; use nogueira"):
        kuncheva([0], [1, 2], 5)
    with pytest.raises(ValueError, match="second has the index 5, but there are 5 features"):
        kuncheva([0], [5], 5)
    with pytest.raises(ValueError, match="3 different features are named, but there are 2"):
        kuncheva(["a", "b"], ["a", "c"], 2)
    for n_features in (-1, 2.5, "5"):
        with pytest.raises(ValueError, match="n_features must be a non-negative integer, not"):
            kuncheva([0], [1], n_features)
    with pytest.raises(ValueError, match="n_features is needed"):
        kuncheva([0], [1], None)


# --------------------------------------------------------------------------------------
# Stability of several feature sets
# --------------------------------------------------------------------------------------


def reference_nogueira(Z):
    share = Z.mean()
    return 1.0 - Z.var(axis=0, ddof=1).mean() / (share * (1.0 - share))


def test_nogueira_by_hand():
    # M = 3, d = 4, p = (1, 2/3, 1/3, 0), s^2 = 3/2 p (1 - p) = (0, 1/3, 1/3, 0), mean 1/6.
    # kbar = 2, so that the denominator is 1/2 * 1/2: 1 - (1/6) / (1/4) = 1/3.
    Z = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    assert nogueira_stability(Z) == pytest.approx(1 / 3)
    assert type(nogueira_stability(Z)) is float


def test_nogueira_of_different_sizes_by_hand():
    # M = 2, d = 4, p = (1, 1/2, 0, 0), s^2 = 2 p (1 - p) = (0, 1/2, 0, 0), mean 1/8.
    # kbar = 3/2, denominator 3/8 * 5/8 = 15/64: 1 - 8/15 = 7/15.
    assert nogueira_stability([[0, 1], [0]], n_features=4) == pytest.approx(7 / 15)


def test_nogueira_of_none_or_all():
    assert nogueira_stability(np.zeros((3, 4), dtype=bool)) == 1.0
    assert nogueira_stability(np.ones((3, 4), dtype=bool)) == 1.0
    assert nogueira_stability([[], []], n_features=2) == 1.0
    assert nogueira_stability([{"a", "b"}, ["b", "a"]], n_features=2) == 1.0


@settings(max_examples=60, deadline=None)
@given(st.lists(index_sets, min_size=2, max_size=6))
def test_nogueira_properties(sets):
    Z = np.array([mask(indices, 10) for indices in sets])
    value = nogueira_stability(Z)
    if 0 < Z.mean() < 1:
        assert value == pytest.approx(reference_nogueira(Z), abs=1e-12)
    assert -1 / (len(sets) - 1) - 1e-12 <= value <= 1.0
    all_equal = all(indices == sets[0] for indices in sets)
    assert (value == 1.0) == all_equal
    named = [[f"f{i}" for i in indices] for indices in sets]
    assert nogueira_stability(sets, n_features=10) == value
    assert nogueira_stability(named, n_features=10) == value
    assert nogueira_stability(sets[::-1], n_features=10) == value


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 6).flatmap(equal_sized_sets))
def test_nogueira_is_the_mean_kuncheva_of_sets_of_one_size(drawn):
    sets, n_features = drawn
    assert nogueira_stability(sets, n_features=n_features) == pytest.approx(
        stability(sets, n_features=n_features, measure="kuncheva"), abs=1e-12
    )


def test_stability_by_hand():
    runs = [[0, 1], [0, 1], [1, 2]]
    # Jaccard of the three pairs: 1, 1/3 and 1/3; Kuncheva, n = 4: 1, 0 and 0.
    assert stability(runs, measure="jaccard") == pytest.approx(5 / 9)
    assert stability(runs, n_features=4, measure="kuncheva") == pytest.approx(1 / 3)
    assert stability(runs, n_features=4) == nogueira_stability(runs, n_features=4)
    assert type(stability(runs, measure="jaccard")) is float


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5).flatmap(equal_sized_sets))
def test_stability_is_the_mean_over_pairs(drawn):
    sets, n_features = drawn
    pairs = list(combinations(sets, 2))
    assert stability(sets, measure="jaccard") == pytest.approx(
        np.mean([jaccard(*pair) for pair in pairs])
    )
    assert stability(sets, n_features=n_features, measure="kuncheva") == pytest.approx(
        np.mean([kuncheva(*pair, n_features) for pair in pairs]), abs=1e-12
    )


@pytest.mark.parametrize("measure", ["nogueira", "jaccard", "kuncheva"])
def test_kinds_of_selections(measure):
    Z = np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 1, 0, 1]], dtype=bool)
    expected = stability(Z, measure=measure)
    indices = [np.flatnonzero(row) for row in Z]
    for selections in (Z.tolist(), list(Z), pd.DataFrame(Z), iter(Z)):
        assert stability(selections, measure=measure) == expected
    for selections in (indices, np.array(indices), [set(row.tolist()) for row in indices]):
        assert stability(selections, n_features=4, measure=measure) == expected
    assert stability(Z, n_features=4, measure=measure) == expected


@pytest.mark.parametrize("measure", ["nogueira", "jaccard", "kuncheva"])
def test_stability_refuses(measure):
    def score(selections, n_features=None):
        return stability(selections, n_features=n_features, measure=measure)

    with pytest.raises(ValueError, match=r"selections has 1 selection\(s\); stability compares"):
        score([[True, False]])
    with pytest.raises(ValueError, match=r"selections\[1\] is a mask of length 3, but there are 2"):
        score([[True, False], [True, False, False]])
    with pytest.raises(ValueError, match=r"selections\[0\] is a mask of length 2, but there are 3"):
        score([[True, False], [True, False]], n_features=3)
    with pytest.raises(ValueError, match=r"selections\[1\] has the index 9, but there are 4 feat"):
        score([[0], [9]], n_features=4)
    with pytest.raises(
        TypeError, match=r"selections\[0\] to selections\[1\] mix indices and names"
    ):
        score([[0], ["a"]], n_features=4)
    with pytest.raises(TypeError, match=r"selections\[0\] must be a collection of features"):
        score(np.array([True, False]))
    with pytest.raises(ValueError, match=r"selections\[0\] repeats 1; .* pass booleans for a mask"):
        score(np.array([[1, 1, 0], [1, 0, 0]]), n_features=3)


@pytest.mark.parametrize("measure", ["nogueira", "kuncheva"])
def test_stability_needs_the_number_of_features(measure):
    with pytest.raises(ValueError, match="n_features is needed when selections are not masks"):
        stability([[0], [1]], measure=measure)


def test_stability_refuses_other_measures():
    with pytest.raises(ValueError, match='must be "nogueira", "jaccard" or "kuncheva", not \'dice'):
        stability([[0], [1]], measure="dice")
    with pytest.raises(ValueError, match="use nogueira_stability for sets of different sizes"):
        stability([[0], [1, 2]], n_features=4, measure="kuncheva")
