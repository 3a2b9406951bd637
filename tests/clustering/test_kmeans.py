import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from tamis.clustering._kmeans import _outwards, cluster_means, indicator, kmeans


@pytest.fixture(scope="module")
def digits():
    X = load_digits().data
    # Whole numbers leave samples equally far from the mean, up to rounding.
    return X + 0.01 * (X > 0) * np.random.default_rng(0).random(X.shape)


@pytest.fixture(scope="module")
def found(digits):
    return kmeans(digits, 10, random_state=0)


def test_is_as_good_as_scikit_learn(digits, found):
    peer = KMeans(10, n_init=10, random_state=0).fit(digits)
    assert found.inertia <= peer.inertia_ * 1.002
    assert len(found.centres) == 10


def test_the_order_of_the_samples_does_not_matter(digits, found):
    order = np.random.default_rng(0).permutation(len(digits))
    np.testing.assert_array_equal(
        kmeans(digits[order], 10, random_state=0).labels, found.labels[order]
    )


def test_the_order_of_the_columns_does_not_matter(digits, found):
    order = np.random.default_rng(0).permutation(digits.shape[1])
    np.testing.assert_array_equal(kmeans(digits[:, order], 10, random_state=0).labels, found.labels)


def test_an_offset_does_not_matter(digits, found):
    np.testing.assert_array_equal(kmeans(digits + 100, 10, random_state=0).labels, found.labels)


def test_sparse_is_dense(digits, found):
    sparse = kmeans(sp.csr_array(digits), 10, random_state=0)
    np.testing.assert_array_equal(sparse.labels, found.labels)
    assert sparse.inertia == pytest.approx(found.inertia, rel=1e-12)
    np.testing.assert_allclose(sparse.centres, found.centres, atol=1e-12)


def test_is_bit_identical(digits, found):
    again = kmeans(digits, 10, random_state=0)
    np.testing.assert_array_equal(again.centres, found.centres)
    assert again.inertia == found.inertia


@pytest.mark.parametrize("seed", range(5))
def test_given_labels_are_never_made_worse(digits, seed):
    start = np.random.default_rng(seed).integers(7, size=len(digits))
    means = cluster_means(digits, start)
    before = ((digits - means[start]) ** 2).sum()
    after = kmeans(digits, 7, start=start)
    assert after.inertia < before
    # A fixed point: every sample is in the cluster of its closest centre.
    distances = ((digits[:, None] - after.centres) ** 2).sum(axis=2)
    np.testing.assert_array_equal(distances.argmin(axis=1), after.labels)


def test_labels_that_tell_equal_samples_apart_do_not_win_by_rounding():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        flag = rng.random(300) < 0.3
        X = ((flag - flag.mean()) / flag.std())[:, None]
        start = 3 * flag + rng.integers(0, 3, 300)
        assert len(kmeans(X, 6, start=start).centres) == 2


def test_fewer_distinct_samples_than_clusters():
    X = np.repeat(np.eye(3), 5, axis=0)
    found = kmeans(X, 5, random_state=0)
    assert len(found.centres) == 3
    assert set(found.labels) == {0, 1, 2}
    assert found.inertia == pytest.approx(0, abs=1e-24)


def test_labels_with_gaps_may_start():
    X = np.repeat(np.eye(3), 5, axis=0)
    found = kmeans(X, 9, start=np.repeat([1, 4, 8], 5))
    assert set(found.labels) == {0, 1, 2}


def test_indicator_and_means():
    labels = np.array([0, 1, 1, 0, 2])
    X = np.arange(10.0).reshape(5, 2)
    expected = [X[labels == j].mean(axis=0) for j in range(3)]
    np.testing.assert_allclose(cluster_means(X, labels), expected)
    np.testing.assert_allclose(cluster_means(sp.csr_array(X), labels), expected)
    np.testing.assert_array_equal(indicator(labels).toarray(), np.eye(3)[labels])


def test_sparse_tables_with_long_indices_are_taken():
    X = sp.csr_array(np.repeat(np.eye(3), 4, axis=0))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert kmeans(X, 3, random_state=0).inertia == 0
    assert X.indices.dtype == np.int64


def test_the_order_of_tied_samples_does_not_hang_on_rounding():
    X = np.random.default_rng(0).integers(0, 2, (200, 30)).astype(float)
    expected = _outwards(X)
    np.testing.assert_array_equal(_outwards(sp.csr_array(X)), expected)
    np.testing.assert_array_equal(_outwards(X[:, ::-1]), expected)
    np.testing.assert_array_equal(_outwards(X + 1000), expected)
