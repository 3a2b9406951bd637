"""Is a difference more than luck: paired tests with correction, mean ranks, critical difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from tamis._typing import FloatArray
from tamis.evaluation.results import Results, group_sums
from tamis.evaluation.ties import merge_ties

__all__ = [
    "Comparison",
    "Ranks",
    "critical_difference",
    "fewest_pairs",
    "holm",
    "mean_ranks",
    "paired_tests",
    "signed_rank_p_value",
]


@dataclass(frozen=True)
class Comparison:
    """A method against another on one set, clustering by clustering from the same seeds.

    Attributes
    ----------
    set_name, label : str
    difference : float
        Mean of the method less that of the other.
    p_value : float
        Of a Wilcoxon signed-rank test.
    adjusted : float
        The same after Holm's correction for all the comparisons made.
    n_pairs : int
        Differences that were tested.
    """

    set_name: str
    label: str
    difference: float
    p_value: float
    adjusted: float
    n_pairs: int


@dataclass(frozen=True)
class Ranks:
    """Methods ranked on several sets.

    Attributes
    ----------
    labels : tuple of str
    ranks : ndarray of shape (n_labels,)
        Mean rank over the sets; 1 is the best.
    critical : float
        Mean ranks that are closer than this are not told apart (Nemenyi, 5 %).
    p_value : float
        Of Friedman's test: how easily ranks so different come by chance.
    n_sets : int
    """

    labels: tuple[str, ...]
    ranks: FloatArray
    critical: float
    p_value: float
    n_sets: int


def holm(p_values: ArrayLike) -> FloatArray:
    """p-values after Holm's step-down correction.

    Examples
    --------
    >>> from tamis.evaluation.statistics import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1, stepped)
    return adjusted


def paired_tests(
    results: Results,
    measure: str,
    against: str = "All features",
    *,
    n_features: int | None = None,
) -> list[Comparison]:
    """Every method against one of them on every set, with correction for all of the tests.

    Parameters
    ----------
    results : Results
    measure : str
    against : str, default="All features"
        The label to compare with.
    n_features : int or None, default=None
        As in :meth:`Results.estimate`.

    Returns
    -------
    list of Comparison
        Pairs that differ nowhere have p = 1; differences that come of rounding alone are none.

    Notes
    -----
    The test is over the starts of K-means and the random subsets, on these samples: it says
    nothing of other samples. Clusterings of one random subset are not independent; of them the
    means are tested, a pair for each subset.

    Of n pairs the smallest p-value is 2 / 2ⁿ, and correction multiplies it by the number of tests:
    with few repeats no difference, however large, is told from luck. :func:`fewest_pairs` says how
    many it takes.
    """
    if against not in results.labels:
        raise ValueError(
            f"there is no {against!r} to compare with; there are {', '.join(results.labels)}."
        )
    pairs = []
    for set_name in results.sets:
        other = results.estimate(set_name, against, measure, n_features)
        for label in results.labels:
            one = results.estimate(set_name, label, measure, n_features)
            if label == against or one is None or other is None:
                continue
            if len(one.values) != len(other.values):
                raise ValueError(
                    f"{label!r} has {len(one.values)} values of {measure!r} on {set_name!r} and "
                    f"{against!r} has {len(other.values)}: they cannot be paired."
                )
            difference = one.values - other.values
            groups = one.groups or other.groups
            tested = group_sums(difference, groups) / (groups or 1)
            p = signed_rank_p_value(tested)
            pairs.append((set_name, label, float(difference.mean()), p, len(tested)))
    adjusted = holm([p for *_, p, _ in pairs])
    return [
        Comparison(set_name, label, difference, p, float(a), n_pairs)
        for (set_name, label, difference, p, n_pairs), a in zip(pairs, adjusted, strict=True)
    ]


def signed_rank_p_value(differences: ArrayLike) -> float:
    """The p-value of Wilcoxon's signed-rank test; 1 where nothing differs.

    Equal sizes of differences share a rank, and none is no difference: but for rounding.

    Examples
    --------
    >>> from tamis.evaluation.statistics import signed_rank_p_value
    >>> signed_rank_p_value([1, 2, 3, 4, 5, 6]), signed_rank_p_value([0, 1e-15])
    (0.03125, 1.0)
    """
    tested = np.asarray(differences, dtype=np.float64)
    sizes = merge_ties([0.0, *np.abs(tested)])[1:]
    return float(stats.wilcoxon(np.sign(tested) * sizes).pvalue) if sizes.any() else 1.0


def fewest_pairs(n_tests: int, alpha: float = 0.05) -> int:
    """The least number of pairs with which Wilcoxon's test, after correction, can show anything.

    Parameters
    ----------
    n_tests : int
        Tests that Holm's correction has to pay for.
    alpha : float, default=0.05

    Returns
    -------
    int

    Examples
    --------
    >>> from tamis.evaluation import fewest_pairs
    >>> fewest_pairs(1), fewest_pairs(100)
    (6, 12)
    """
    return math.floor(math.log2(2 * n_tests / alpha)) + 1


def critical_difference(n_methods: int, n_sets: int, alpha: float = 0.05) -> float:
    """The difference of mean ranks that Nemenyi's test takes for more than luck.

    Examples
    --------
    >>> from tamis.evaluation import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = stats.studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))


def mean_ranks(labels: Sequence[str], figures: ArrayLike) -> Ranks:
    """Rank methods on each set and average.

    Parameters
    ----------
    labels : sequence of str
    figures : array-like of shape (n_sets, n_labels)
        Larger is better; those that part only over rounding share their places. NaN, a run that
        failed, shares the last places of its set.

    Returns
    -------
    Ranks

    Examples
    --------
    >>> from tamis.evaluation import mean_ranks
    >>> mean_ranks(["a", "b", "c"], [[0.9, 0.5, 0.5], [0.7, 0.8, float("nan")]]).ranks
    array([1.5 , 1.75, 2.75])
    """
    table = np.asarray(figures, dtype=np.float64)
    n_sets, n_methods = table.shape
    worst = np.where(np.isnan(table), np.inf, -table)
    ranks = stats.rankdata([merge_ties(row) for row in worst], axis=1)
    p = 1.0
    if n_sets > 1 and n_methods > 2 and (ranks != ranks[:, :1]).any():
        p = float(stats.friedmanchisquare(*ranks.T).pvalue)
    return Ranks(
        tuple(labels), ranks.mean(axis=0), critical_difference(n_methods, n_sets), p, n_sets
    )
