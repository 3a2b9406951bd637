"""Measures of clusterings and of sets of selected features.

Two clusterings of the same samples are compared by :func:`clustering_accuracy`,
:func:`normalized_mutual_information`, :func:`purity`, :func:`rand_index` and
:func:`adjusted_rand_index`, or by all of them at once with :func:`clustering_scores`.

A set of selected features is judged by the :func:`redundancy` of its columns; several sets, as
chosen by repeated runs, are compared by :func:`jaccard`, :func:`kuncheva`,
:func:`nogueira_stability` and :func:`stability`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from numbers import Integral
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, rand_score

from tamis._typing import FloatArray, IntArray, Matrix, SparseMatrix
from tamis.columns import describe_columns, extent, weighted_moments

__all__ = [
    "adjusted_rand_index",
    "clustering_accuracy",
    "clustering_scores",
    "jaccard",
    "kuncheva",
    "nogueira_stability",
    "normalized_mutual_information",
    "purity",
    "rand_index",
    "redundancy",
    "stability",
]

# How many columns `redundancy` correlates with all the others at a time.
_BLOCK = 256


def _vector(values: Any, name: str) -> NDArray[Any]:
    """Return `values` as a one-dimensional array that holds strings as Python objects.

    numpy silently turns ``[1, "a"]`` into two strings; read as objects, the mixture stays visible.
    """
    message = f"{name} must be one-dimensional; pass a flat list or array"
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{message}.") from None
    if array.dtype.kind in "USTO":
        array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"{message}, not one of shape {array.shape}.")
    return array


# --------------------------------------------------------------------------------------
# Clusterings
# --------------------------------------------------------------------------------------


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
        labels = _vector(values, name)
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


def _nmi(true: IntArray, pred: IntArray, normalization: str) -> float:
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
    normalization: Literal["geometric", "max"] = "geometric",
) -> float:
    r"""Mutual information of two partitions, scaled by their entropies.

    .. math:: \mathrm{NMI} = \frac{I(T; P)}{\sqrt{H(T)\,H(P)}}
       \qquad\text{or}\qquad \frac{I(T; P)}{\max(H(T), H(P))}

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each sample: numbers, strings, or anything else that can be sorted.
    labels_pred : array-like of shape (n_samples,)
        The cluster of each sample.
    normalization : {"geometric", "max"}, default="geometric"
        Divide by the geometric mean of the two entropies [1]_ or by the larger of them [2]_.

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
    if normalization not in ("geometric", "max"):
        raise ValueError(f'normalization must be "geometric" or "max", not {normalization!r}.')
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
        ``acc`` (:func:`clustering_accuracy`), ``nmi`` and ``nmi_max``
        (:func:`normalized_mutual_information`, normalised by the geometric mean and by the
        larger entropy), ``purity`` (:func:`purity`), ``rand`` (:func:`rand_index`) and ``ari``
        (:func:`adjusted_rand_index`).

    Notes
    -----
    The labels are checked and numbered once. The cost is that of :func:`clustering_accuracy`.

    Examples
    --------
    >>> from tamis.metrics import clustering_scores
    >>> scores = clustering_scores([0, 0, 1, 1], [0, 0, 1, 2])
    >>> {name: round(score, 3) for name, score in scores.items()}
    {'acc': 0.75, 'nmi': 0.816, 'nmi_max': 0.667, 'purity': 1.0, 'rand': 0.833, 'ari': 0.571}
    """
    true, pred = _label_codes(labels_true, labels_pred)
    table = _contingency(true, pred)
    return {
        "acc": _accuracy(table),
        "nmi": _nmi(true, pred, "geometric"),
        "nmi_max": _nmi(true, pred, "max"),
        "purity": _purity(table),
        "rand": float(rand_score(true, pred)),
        "ari": float(adjusted_rand_score(true, pred)),
    }


# --------------------------------------------------------------------------------------
# Feature sets
# --------------------------------------------------------------------------------------


def _read_features(features: Any, name: str) -> tuple[str, NDArray[Any]]:
    """Read one feature set; tell whether it is a mask, indices, names, or empty."""
    if isinstance(features, str | bytes) or not isinstance(features, Iterable):
        raise TypeError(f"{name} must be a collection of features, not {features!r}.")
    if not hasattr(features, "__array__"):
        features = list(features)  # numpy does not read sets and iterators
    array = _vector(features, name)
    if array.dtype == bool:
        return "mask", array
    if array.size == 0:
        return "empty", array
    if array.dtype.kind in "iu":
        if array.min() < 0:
            raise ValueError(f"{name} has the negative index {array.min()}; count features from 0.")
        kind = "indices"
    elif array.dtype == object and all(isinstance(feature, str) for feature in array):
        kind = "names"
    else:
        raise TypeError(f"{name} must hold integer indices only, names only, or a boolean mask.")
    feature, count = Counter(array.tolist()).most_common(1)[0]
    if count > 1:
        raise ValueError(
            f"{name} repeats {feature!r}; list each feature once, or pass booleans for a mask."
        )
    return kind, array


def _feature_sets(
    selections: Sequence[Any], names: Sequence[str], n_features: int | None
) -> tuple[list[frozenset[Any]], int | None]:
    """Read feature sets of one kind; return them with the number of features, if it is known."""
    if n_features is not None:
        if not isinstance(n_features, Integral) or n_features < 0:
            raise ValueError(f"n_features must be a non-negative integer, not {n_features!r}.")
        n_features = int(n_features)  # a small numpy integer would overflow
    read = [
        _read_features(features, name) for features, name in zip(selections, names, strict=True)
    ]
    kinds = {kind for kind, _ in read} - {"empty"}
    if len(kinds) > 1:
        raise TypeError(
            f"{names[0]} to {names[-1]} mix {' and '.join(sorted(kinds))}; pass feature sets of "
            "one kind."
        )
    for (kind, array), name in zip(read, names, strict=True):
        if kind == "mask":
            if n_features is None:
                n_features = array.size
            elif array.size != n_features:
                raise ValueError(
                    f"{name} is a mask of length {array.size}, but there are {n_features} "
                    "features; pass one boolean per feature."
                )
        elif kind == "indices" and n_features is not None and array.max() >= n_features:
            raise ValueError(
                f"{name} has the index {array.max()}, but there are {n_features} features; "
                "count features from 0."
            )
    sets = [
        frozenset((np.flatnonzero(array) if kind == "mask" else array).tolist())
        for kind, array in read
    ]
    if "names" in kinds and n_features is not None:
        n_named = len(frozenset().union(*sets))
        if n_named > n_features:
            raise ValueError(
                f"{n_named} different features are named, but there are {n_features} features; "
                "check the names."
            )
    return sets, n_features


def _read_runs(
    selections: Iterable[Any], n_features: int | None
) -> tuple[list[frozenset[Any]], int | None]:
    """Read the selections of several runs: the rows of a table, or a list of sets."""
    if hasattr(selections, "to_numpy"):  # a frame iterates over its columns, not its rows
        selections = selections.to_numpy()
    runs = list(selections)
    if len(runs) < 2:
        raise ValueError(
            f"selections has {len(runs)} selection(s); stability compares at least two."
        )
    return _feature_sets(runs, [f"selections[{run}]" for run in range(len(runs))], n_features)


def _known(n_features: int | None) -> int:
    if n_features is None:
        raise ValueError(
            "n_features is needed when selections are not masks; pass the number of all features."
        )
    return n_features


def _column_positions(features: Any, n_columns: int, names: list[Any] | None) -> list[int]:
    """Positions of the chosen ones of `n_columns` columns, which have `names` in a frame."""
    if features is None:
        return list(range(n_columns))
    (chosen,), _ = _feature_sets([features], ["features"], n_columns)
    if not any(isinstance(feature, str) for feature in chosen):
        return sorted(chosen)
    if names is None:
        raise ValueError(
            "features are names, but X has no column names; pass a data frame, or integer indices."
        )
    unknown = chosen.difference(names)
    if unknown:
        raise ValueError(f"X has no column {min(unknown)!r}; name columns of X in features.")
    positions = [position for position, name in enumerate(names) if name in chosen]
    if len(positions) > len(chosen):
        raise ValueError(
            "Several columns of X share a name in features; choose columns by integer indices."
        )
    return positions


def _take_columns(X: Any, positions: list[int], names: list[Any] | None) -> Matrix:
    """Copy columns of `X` as finite floats: into a CSR array if `X` is sparse, else a dense one."""
    is_sparse = sp.issparse(X)
    if is_sparse:
        chosen: Any = sp.csr_array(X)[:, positions]
    elif hasattr(X, "iloc"):
        chosen = X.iloc[:, positions].to_numpy(na_value=np.nan)
    else:
        chosen = np.asarray(X[:, positions])
    problem = "The chosen columns of X must hold real numbers"
    if chosen.dtype.kind not in "biufO":
        raise ValueError(f"{problem}, not {chosen.dtype} values; convert them or leave them out.")
    try:
        columns = chosen.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{problem} ({error}); convert them or leave them out.") from error

    if is_sparse:
        columns.sum_duplicates()
        bad = np.unique(columns.indices[~np.isfinite(columns.data)])
    else:
        bad = np.flatnonzero(~np.isfinite(columns).all(axis=0))
    if bad.size:
        where = describe_columns([positions[column] for column in bad], names)
        raise ValueError(
            f"X has NaN or infinite values in {where}; fill them in or choose other columns."
        )
    return columns


def _standardize(columns: Matrix) -> FloatArray:
    """Scale columns in place so that their deviations have length 1, or 0 if they are constant.

    Return the means of the scaled columns, which are still to be subtracted: a sparse table cannot
    be centred without filling it. They are 0, up to rounding, wherever centring was possible.
    """
    lowest, highest = extent(columns)
    # Rounding gives a constant column some small variance, so its values are compared instead.
    constant = lowest == highest
    # A power of two scales without rounding, and keeps the squares of any values in range.
    exponents = -np.frexp(np.maximum(-lowest, highest))[1]
    n_rows, n_columns = columns.shape
    is_sparse = sp.issparse(columns)
    values: FloatArray = columns.data if is_sparse else columns
    owners: Any = columns.indices if is_sparse else slice(None)  # the column of each value
    if is_sparse:
        # Subtracting the means from a product of columns loses digits where they are large beside
        # the deviations. In a column with a zero they are not, (mean / deviation)^2 < n_rows; a
        # column without any can be centred, for it is stored in full.
        can_centre = np.bincount(owners, minlength=n_columns) == n_rows
    else:
        can_centre = np.ones(n_columns, dtype=bool)

    weights = np.ones(n_rows)
    np.ldexp(values, exponents[owners], out=values)
    values -= np.where(can_centre, weighted_moments(columns, weights)[0], 0.0)[owners]
    means, scatter = weighted_moments(columns, weights)
    lengths = np.where(constant, np.inf, np.sqrt(scatter))
    values /= lengths[owners]
    remaining: FloatArray = means / lengths
    return remaining


def redundancy(X: Any, features: Any = None) -> float:
    r"""Mean absolute correlation between the chosen columns of a table.

    .. math:: \mathrm{RED} = \frac{2}{k (k - 1)} \sum_{i < j} |\rho_{ij}|

    where :math:`\rho_{ij}` is the Pearson correlation of two of the :math:`k` chosen columns [1]_.

    Parameters
    ----------
    X : array-like, data frame or sparse array of shape (n_samples, n_features)
        The table. A sparse one is never made dense.
    features : collection of int or str, or boolean mask, default=None
        The chosen columns: their indices from 0, their names if `X` is a pandas or polars frame,
        or one boolean per column. Integers are always positions, even where the columns of a
        frame are named by integers. None chooses all columns.

    Returns
    -------
    float
        Between 0, uncorrelated columns, and 1, columns that are all the same up to shift, scale
        and sign. Fewer than two columns make no pair, and give 0.

    Notes
    -----
    A constant column has no correlation with anything: its pairs count as 0. Only the chosen
    columns need be free of NaN and infinite values.

    Some authors divide the sum over :math:`i < j` by :math:`k (k - 1)`; their values are half
    of these.

    Takes O(n k²) time. Correlations are computed for a block of columns at a time, so that memory
    is O(nk), the copy of the chosen columns, and never O(k²).

    References
    ----------
    .. [1] Z. Zhao, L. Wang and H. Liu (2010). Efficient spectral feature selection with minimum
       redundancy. Proceedings of the 24th AAAI Conference on Artificial Intelligence, 673-678.

    Examples
    --------
    >>> from tamis.metrics import redundancy
    >>> X = [[1.0, 2.0, 1.0], [2.0, 4.0, -1.0], [3.0, 6.0, -1.0], [4.0, 8.0, 1.0]]
    >>> round(redundancy(X), 4)
    0.3333
    >>> round(redundancy(X, features=[0, 1]), 4)
    1.0
    """
    names = list(X.columns) if hasattr(X, "columns") else None
    is_sparse = sp.issparse(X)
    if names is None and not is_sparse:
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X must be two-dimensional, not of shape {X.shape}.")
    n_rows, n_columns = X.shape
    if n_rows == 0:
        raise ValueError("X has no rows; pass at least one sample.")
    positions = _column_positions(features, n_columns, names)
    columns = _take_columns(X, positions, names)
    n_chosen = len(positions)
    if n_chosen < 2:
        return 0.0

    means = _standardize(columns)
    total = 0.0
    for start in range(0, n_chosen, _BLOCK):
        block = slice(start, start + _BLOCK)
        products = columns[:, block].T @ columns[:, start:]
        if is_sparse:
            products = products.toarray()
        products -= n_rows * np.outer(means[block], means[start:])
        # Above the diagonal, which starts where the block does, each pair appears once.
        total += float(np.triu(np.minimum(np.abs(products), 1.0), k=1).sum())
    return total / (n_chosen * (n_chosen - 1) / 2)


def _jaccard(first: frozenset[Any], second: frozenset[Any]) -> float:
    union = len(first | second)
    return len(first & second) / union if union else 1.0


def _kuncheva(first: frozenset[Any], second: frozenset[Any], n_features: int) -> float:
    size = len(first)
    if len(second) != size:
        raise ValueError(
            f"The Kuncheva index compares sets of one size, not of {size} and {len(second)} "
            "features; use nogueira_stability for sets of different sizes."
        )
    if size in (0, n_features):
        return 1.0
    overlap = len(first & second)
    return (overlap * n_features - size**2) / (size * (n_features - size))


def jaccard(first: Iterable[Any], second: Iterable[Any]) -> float:
    r"""Jaccard index of two feature sets: the features in both over the features in either.

    .. math:: J = \frac{|A \cap B|}{|A \cup B|}

    Parameters
    ----------
    first, second : collections of int or str, or boolean masks of the same length
        The feature sets, both of one kind: indices, names or masks.

    Returns
    -------
    float
        Between 0, no feature in common, and 1, the same features. Two empty sets give 1.

    Notes
    -----
    Not corrected for chance: large sets overlap whatever they hold. Takes time linear in the
    sizes of the sets.

    References
    ----------
    .. [1] A. Kalousis, J. Prados and M. Hilario (2007). Stability of feature selection algorithms:
       a study on high-dimensional spaces. Knowledge and Information Systems 12, 95-116.

    Examples
    --------
    >>> from tamis.metrics import jaccard
    >>> jaccard([0, 1, 2], [1, 2, 3])
    0.5
    >>> jaccard({"height", "weight"}, {"weight"})
    0.5
    """
    sets, _ = _feature_sets([first, second], ["first", "second"], None)
    return _jaccard(*sets)


def kuncheva(first: Iterable[Any], second: Iterable[Any], n_features: int) -> float:
    r"""Kuncheva's consistency index: the overlap of two feature sets, corrected for chance.

    .. math:: I = \frac{r n - k^2}{k (n - k)}

    for two sets of :math:`k` features out of :math:`n` that have :math:`r` in common [1]_.

    Parameters
    ----------
    first, second : collections of int or str, or boolean masks of length n_features
        The feature sets, of the same size and both of one kind: indices, names or masks.
    n_features : int
        The number of features there were to choose from.

    Returns
    -------
    float
        At most 1, the same features; 0 on average for sets drawn at random; never below -1.

    Notes
    -----
    With no feature or all features selected the index is 0/0. The two sets are then necessarily
    equal, and by convention the index is 1.

    Takes time linear in the sizes of the sets.

    References
    ----------
    .. [1] L. I. Kuncheva (2007). A stability index for feature selection. Proceedings of the 25th
       IASTED International Multi-Conference: Artificial Intelligence and Applications, 390-395.

    Examples
    --------
    >>> from tamis.metrics import kuncheva
    >>> kuncheva([0, 1], [1, 2], n_features=4)
    0.0
    >>> kuncheva([0, 1], [1, 2], n_features=10)
    0.375
    """
    (one, other), n_known = _feature_sets([first, second], ["first", "second"], n_features)
    return _kuncheva(one, other, _known(n_known))


def nogueira_stability(selections: Iterable[Any], *, n_features: int | None = None) -> float:
    r"""Stability of several feature sets, corrected for chance, whatever their sizes.

    .. math:: \hat\Phi = 1 - \frac{\frac{1}{d} \sum_f s_f^2}
       {\frac{\bar k}{d} \left(1 - \frac{\bar k}{d}\right)},
       \qquad s_f^2 = \frac{M}{M - 1} \hat p_f (1 - \hat p_f)

    where feature :math:`f` of :math:`d` is in a share :math:`\hat p_f` of the :math:`M` sets,
    which hold :math:`\bar k` features on average [1]_.

    Parameters
    ----------
    selections : boolean array of shape (n_runs, n_features), or collection of feature sets
        One row, or one set of indices or names, for each run; at least two.
    n_features : int, default=None
        The number of features there were to choose from; needed unless `selections` is boolean.

    Returns
    -------
    float
        At most 1, all sets the same; 0 on average for sets drawn at random; never below
        -1 / (n_runs - 1).

    Notes
    -----
    With no feature or all features selected in every run the measure is 0/0. The sets are then
    all equal, and by convention the stability is 1.

    For sets that all have the same size this is the mean of :func:`kuncheva` over all pairs.

    Takes time and memory linear in the total size of the sets.

    References
    ----------
    .. [1] S. Nogueira, K. Sechidis and G. Brown (2018). On the stability of feature selection
       algorithms. Journal of Machine Learning Research 18 (174), 1-54.

    Examples
    --------
    >>> from tamis.metrics import nogueira_stability
    >>> nogueira_stability([[True, True, False, False], [True, False, False, False]])
    0.4666666666666667
    >>> nogueira_stability([[0, 1], [0]], n_features=4)
    0.4666666666666667
    """
    sets, n_known = _read_runs(selections, n_features)
    n_all, n_runs = _known(n_known), len(sets)
    counts = Counter(chain.from_iterable(sets)).values()
    chosen, cells = sum(counts), n_runs * n_all
    if chosen in (0, cells):
        return 1.0
    # With c_f the number of sets that hold f, s_f^2 = c_f (M - c_f) / (M (M - 1)). The features
    # that no set holds add nothing, so they need not be known.
    variance = sum(count * (n_runs - count) for count in counts) / (cells * (n_runs - 1))
    return 1.0 - variance / (chosen / cells * (1.0 - chosen / cells))


def stability(
    selections: Iterable[Any],
    *,
    n_features: int | None = None,
    measure: Literal["nogueira", "jaccard", "kuncheva"] = "nogueira",
) -> float:
    """Agreement between the feature sets selected by several runs.

    Parameters
    ----------
    selections : boolean array of shape (n_runs, n_features), or collection of feature sets
        One row, or one set of indices or names, for each run; at least two.
    n_features : int, default=None
        The number of features there were to choose from; needed unless `selections` is boolean
        or `measure` is "jaccard".
    measure : {"nogueira", "jaccard", "kuncheva"}, default="nogueira"
        :func:`nogueira_stability`, or the mean over all pairs of runs of :func:`jaccard` or
        :func:`kuncheva`. The last needs sets of one size.

    Returns
    -------
    float
        At most 1, which means that all runs select the same features.

    Notes
    -----
    The pairwise measures take O(n_runs²) comparisons, each linear in the sizes of two sets.

    Examples
    --------
    >>> from tamis.metrics import stability
    >>> runs = [[0, 1], [0, 1], [1, 2]]
    >>> round(stability(runs, n_features=4), 4)
    0.3333
    >>> round(stability(runs, measure="jaccard"), 4)
    0.5556
    >>> round(stability(runs, n_features=4, measure="kuncheva"), 4)
    0.3333
    """
    if measure == "nogueira":
        return nogueira_stability(selections, n_features=n_features)
    if measure not in ("jaccard", "kuncheva"):
        raise ValueError(f'measure must be "nogueira", "jaccard" or "kuncheva", not {measure!r}.')
    sets, n_known = _read_runs(selections, n_features)
    if measure == "jaccard":
        agreements = [_jaccard(*pair) for pair in combinations(sets, 2)]
    else:
        agreements = [_kuncheva(*pair, _known(n_known)) for pair in combinations(sets, 2)]
    return float(np.mean(agreements))
