"""Agreement of sets of selected features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain, combinations
from typing import Any, Literal

import numpy as np

from tamis.metrics._feature_sets import feature_sets


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
    return feature_sets(runs, [f"selections[{run}]" for run in range(len(runs))], n_features)


def _known(n_features: int | None) -> int:
    if n_features is None:
        raise ValueError(
            "n_features is needed when selections are not masks; pass the number of all features."
        )
    return n_features


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
    sets, _ = feature_sets([first, second], ["first", "second"], None)
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
    (one, other), n_known = feature_sets([first, second], ["first", "second"], n_features)
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
