"""Agreement of two clusterings of the same samples."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score

from tamis._typing import IntArray, SparseMatrix
from tamis.metrics._vector import vector

Normalization = Literal["geometric", "arithmetic", "max"]


def _is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, NaT or pandas.NA."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True


def _has_missing(labels: NDArray[Any]) -> bool:
    if labels.dtype == object:
        return any(_is_missing(label) for label in labels)
    return labels.dtype.kind in "fcmM" and bool(np.isnan(labels).any())


def _label_codes(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[IntArray, IntArray]:
    """Check two labellings of the same samples and number their labels from 0."""
    codes = []
    for name, values in (("labels_true", labels_true), ("labels_pred", labels_pred)):
        labels = vector(values, name)
        if labels.size == 0:
            raise ValueError(f"{name} is empty; pass one label per sample.")
        if _has_missing(labels):
            raise ValueError(
                f"{name} has missing labels (None or NaN); drop those samples, or give them a "
                "label of their own."
            )
        try:
            codes.append(np.unique(labels, return_inverse=True)[1])
        except TypeError:
            raise TypeError(
                f"{name} has labels that cannot be ordered together, such as numbers and "
                "strings; convert them all to one type."
            ) from None
    true, pred = codes
    if true.size != pred.size:
        raise ValueError(
            f"labels_true has {true.size} labels and labels_pred has {pred.size}; pass two "
            "labellings of the same samples."
        )
    return true, pred


def _contingency(true: IntArray, pred: IntArray) -> SparseMatrix:
    """Count the samples of each class (row) in each cluster (column), as a sparse array."""
    # Sparse, since there are at most n_samples non-zero counts however many clusters there are.
    return sp.coo_array((np.ones(true.size, dtype=np.int64), (true, pred))).tocsr()


def _accuracy(table: SparseMatrix) -> float:
    counts = table.toarray()
    rows, columns = linear_sum_assignment(counts, maximize=True)
    return float(counts[rows, columns].sum() / counts.sum())


def _purity(table: SparseMatrix) -> float:
    return float(table.max(axis=0).sum() / table.sum())


def _by_appearance(codes: IntArray) -> IntArray:
    """The same partition, its clusters numbered in the order of their first samples."""
    _, first, places = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[places]


def _nmi(true: IntArray, pred: IntArray, normalization: Normalization) -> float:
    # Sums over clusters depend on their order in the last bits; names of clusters must not.
    true, pred = _by_appearance(true), _by_appearance(pred)
    score = normalized_mutual_info_score(true, pred, average_method=normalization)
    # Rounding may carry the score of two identical partitions past 1.
    return float(np.clip(score, 0.0, 1.0))


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of samples whose cluster is matched with their class.

    Clusters are matched with classes one to one, in the way that puts the most samples right:

    .. math:: \mathrm{ACC} = \frac{1}{n} \max_{\pi} \sum_{c} n_{c, \pi(c)}

    where :math:`n_{cl}` counts the samples of class :math:`c` in cluster :math:`l`. When there are
    more clusters than classes, or fewer, some are left unmatched and their samples count as errors.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers, strings, or anything else that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each sample.

    Returns
    -------
    float
        Between 1 / (the number of classes or of clusters, whichever is larger) and 1, which
        means that the two partitions are the same. Symmetric in its arguments.

    Notes
    -----
    The matching is found by the Hungarian method [1]_ on the contingency table:
    O(n log n) to build the table, O(a² b) for the matching, with a ≤ b the two numbers of
    clusters, and O(n + ab) memory.

    References
    ----------
    .. [1] H. W. Kuhn (1955). The Hungarian method for the assignment problem.
       Naval Research Logistics Quarterly 2, 83-97.

    Examples
    --------
    >>> from tamis.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    return _accuracy(_contingency(*_label_codes(labels_true, labels_pred)))


def normalized_mutual_information(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    normalization: Normalization = "geometric",
) -> float:
    r"""Mutual information of two partitions, scaled by their entropies.

    .. math:: \mathrm{NMI} = \frac{I(T; P)}{\sqrt{H(T)\,H(P)}}
       \qquad\text{or}\qquad \frac{I(T; P)}{(H(T) + H(P)) / 2}
       \qquad\text{or}\qquad \frac{I(T; P)}{\max(H(T), H(P))}

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers, strings, or anything else that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each sample.
    normalization : {"geometric", "arithmetic", "max"}, default="geometric"
        Divide by the geometric mean of the two entropies [1]_, by their arithmetic mean, which is
        the default of scikit-learn, or by the larger of them [2]_.

    Returns
    -------
    float
        Between 0, independent partitions, and 1, the same partition. Symmetric in its arguments.

    Notes
    -----
    A partition with a single cluster has no entropy to divide by. Two such partitions are the
    same, which scores 1; one such partition tells nothing of the other, which scores 0.

    Runs in O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] A. Strehl and J. Ghosh (2002). Cluster ensembles: a knowledge reuse framework for
       combining multiple partitions. Journal of Machine Learning Research 3, 583-617.
    .. [2] N. X. Vinh, J. Epps and J. Bailey (2010). Information theoretic measures for clusterings
       comparison. Journal of Machine Learning Research 11, 2837-2854.

    Examples
    --------
    >>> from tamis.metrics import normalized_mutual_information
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8165
    >>> round(normalized_mutual_information([0, 0, 1, 1], [0, 0, 1, 2], normalization="max"), 4)
    0.6667
    """
    if normalization not in get_args(Normalization):
        raise ValueError(
            f'normalization must be "geometric", "arithmetic" or "max", not {normalization!r}.'
        )
    return _nmi(*_label_codes(labels_true, labels_pred), normalization)


def purity(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of samples that belong to the commonest class of their cluster.

    .. math:: \mathrm{purity} = \frac{1}{n} \sum_{l} \max_{c} n_{cl}

    where :math:`n_{cl}` counts the samples of class :math:`c` in cluster :math:`l`. Several
    clusters may share a class, so that purity is never below :func:`clustering_accuracy`, grows
    when clusters are split, and reaches 1 when each sample is a cluster of its own.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers, strings, or anything else that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each sample.

    Returns
    -------
    float
        Between the share of the commonest class and 1. Not symmetric in its arguments.

    Notes
    -----
    Runs in O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] Y. Zhao and G. Karypis (2004). Empirical and theoretical comparisons of selected
       criterion functions for document clustering. Machine Learning 55, 311-331.

    Examples
    --------
    >>> from tamis.metrics import purity
    >>> purity([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"])
    0.8
    """
    return _purity(_contingency(*_label_codes(labels_true, labels_pred)))


def rand_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Share of pairs of samples on which two partitions agree.

    .. math:: \mathrm{RI} = \frac{a + b}{n (n - 1) / 2}

    where :math:`a` counts the pairs together in both partitions and :math:`b` the pairs apart in
    both. A single sample makes no pair, and scores 1.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers, strings, or anything else that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each sample.

    Returns
    -------
    float
        Between 0 and 1, which means that the two partitions are the same. Symmetric in its
        arguments.

    Notes
    -----
    Runs in O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] W. M. Rand (1971). Objective criteria for the evaluation of clustering methods.
       Journal of the American Statistical Association 66, 846-850.

    Examples
    --------
    >>> from tamis.metrics import rand_index
    >>> rand_index([0, 0, 1, 1], [0, 0, 0, 1])
    0.5
    """
    return float(rand_score(*_label_codes(labels_true, labels_pred)))


def adjusted_rand_index(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    r"""Rand index corrected for the agreement expected by chance.

    .. math:: \mathrm{ARI} = \frac{\mathrm{RI} - E[\mathrm{RI}]}{1 - E[\mathrm{RI}]}

    with the expectation over random partitions that have the same cluster sizes as the two given.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers, strings, or anything else that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each sample.

    Returns
    -------
    float
        At most 1, which means that the two partitions are the same; near 0 for unrelated
        partitions; never below -0.5. Symmetric in its arguments.

    Notes
    -----
    Runs in O(n log n) time and O(n) memory.

    References
    ----------
    .. [1] L. Hubert and P. Arabie (1985). Comparing partitions. Journal of Classification 2,
       193-218.

    Examples
    --------
    >>> from tamis.metrics import adjusted_rand_index
    >>> round(adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    return float(adjusted_rand_score(*_label_codes(labels_true, labels_pred)))


def clustering_scores(labels_true: ArrayLike, labels_pred: ArrayLike) -> dict[str, float]:
    """All the measures of a clustering, by short name.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers, strings, or anything else that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each sample.

    Returns
    -------
    dict of str to float
        ``acc`` (:func:`clustering_accuracy`), ``nmi``, ``nmi_arithmetic`` and ``nmi_max``
        (:func:`normalized_mutual_information`, normalised by the geometric mean, the arithmetic
        mean and the larger of the entropies), ``purity`` (:func:`purity`), ``rand``
        (:func:`rand_index`) and ``ari`` (:func:`adjusted_rand_index`).

    Notes
    -----
    The labels are checked and numbered once. The cost is that of :func:`clustering_accuracy`.

    Examples
    --------
    >>> from tamis.metrics import clustering_scores
    >>> for name, score in clustering_scores([0, 0, 1, 1], [0, 0, 1, 2]).items():
    ...     print(f"{name:14} {score:.3f}")
    acc            0.750
    nmi            0.816
    nmi_arithmetic 0.800
    nmi_max        0.667
    purity         1.000
    rand           0.833
    ari            0.571
    """
    true, pred = _label_codes(labels_true, labels_pred)
    table = _contingency(true, pred)
    return {
        "acc": _accuracy(table),
        "nmi": _nmi(true, pred, "geometric"),
        "nmi_arithmetic": _nmi(true, pred, "arithmetic"),
        "nmi_max": _nmi(true, pred, "max"),
        "purity": _purity(table),
        "rand": float(rand_score(true, pred)),
        "ari": float(adjusted_rand_score(true, pred)),
    }
