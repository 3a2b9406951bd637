"""Everything that a figure depends on besides the method and the data, by name."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from tamis.preprocessing import Scaling

__all__ = ["Classifier", "Clusterer", "Protocol", "Tuning"]

Clusterer = Literal["kmeans", "ncut"]
Start = Literal["random", "k-means++"]
Classifier = Literal["1nn", "5nn", "svm", "rf"]
Rounding = Literal["nearest", "up"]
Tuning = Literal["defaults", "oracle", "agreement"]

_SCALING_WORDS = {
    "none": "values as they are",
    "unit": "the whole table brought to [0, 1] by one scale",
    "columns": "every column brought to [0, 1]",
    "standard": "every column standardised",
}
_TUNING_WORDS = {
    "defaults": "parameters are the defaults; no label is seen before judging",
    "oracle": "parameters are the best of a grid by the labels, cell by cell, as papers do",
    "agreement": (
        "parameters are the best of a grid by the agreement (NMI) of K-means on the selected "
        "columns with a normalised cut of all of them, into as many clusters as there are classes; "
        "of the labels nothing else is seen before judging"
    ),
}


# The least that each may be.
_WHOLE_NUMBERS = {
    "n_init": 1,
    "n_repeats": 1,
    "n_random": 1,
    "n_random_classified": 1,
    "n_trees": 1,
    "max_features": 1,
    "max_samples": 1,
    "n_folds": 2,
    "n_fold_repeats": 1,
    "seed": 0,
}
_MAY_BE_NONE = ("max_features", "max_samples", "n_random_classified")
_MOST_SEEDS = 2**32  # of numpy's generators


@dataclass(frozen=True)
class Protocol:
    """How selections are made and judged.

    Attributes
    ----------
    scaling : {"none", "unit", "columns", "standard"}
        What is done to the table first: nothing; one scale for all of it, to [0, 1]; a scale for
        every column, to [0, 1]; mean 0 and variance 1 for every column. Sparse tables are never
        shifted, only scaled.
    n_features : tuple of int or float
        Numbers of features to judge, or fractions of them. Numbers that a table does not exceed
        are left out for it.
    rounding : {"nearest", "up"}
        How a fraction of the features becomes a number of them; it is never less than 1.
    max_features : int or None
        The most that a fraction may come to.
    clusterers : tuple of {"kmeans", "ncut"}
        The clusterings that judge, with as many clusters as there are classes: K-means of the
        columns; a normalised cut of their graph of five neighbours.
    kmeans_init : {"random", "k-means++"}
        How K-means starts. It decides many a comparison; most papers start from random samples.
    n_init : int
        Starts of which a clustering is the best.
    n_repeats : int
        Clusterings, each from its own seed; the same seeds for every method.
    classifiers : tuple of {"1nn", "5nn", "svm", "rf"}
        Nearest neighbours, a linear support vector machine and a random forest of scikit-learn's
        defaults, in stratified folds. Samples that are alone in their class take no part.
    n_trees : int
        Trees of the random forest.
    n_folds : int
    n_fold_repeats : int
        Divisions into folds, each from its own seed, as is the forest that learns in them.
    n_random : int
        Random subsets, over which the repeats are spread.
    n_random_classified : int or None
        How many of the random subsets the classifiers judge too, the first ones; None takes all.
    tuning : {"defaults", "oracle", "agreement"}
        How parameters are chosen: not at all; by the labels; by the agreement of clusterings,
        without labels but for the number of classes.
    max_samples : int or None
        The most samples of a table, drawn at random; None takes all.
    seed : int

    Examples
    --------
    >>> from tamis.evaluation import Protocol
    >>> print(Protocol(n_features=(50, 100), n_repeats=5).describe())
    every column standardised; 50, 100 features; K-means from random samples, 5 runs of 1 start
    each; 5 random subsets; parameters are the defaults; no label is seen before judging; seed 0
    """

    scaling: Scaling = "standard"
    n_features: tuple[int | float, ...] = (0.1,)
    rounding: Rounding = "nearest"
    max_features: int | None = None
    clusterers: tuple[Clusterer, ...] = ("kmeans",)
    kmeans_init: Start = "random"
    n_init: int = 1
    n_repeats: int = 20
    classifiers: tuple[Classifier, ...] = ()
    n_trees: int = 100
    n_folds: int = 5
    n_fold_repeats: int = 1
    n_random: int = 20
    n_random_classified: int | None = None
    tuning: Tuning = "defaults"
    max_samples: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("n_features", "clusterers", "classifiers"):
            value = getattr(self, name)
            if isinstance(value, str | Real):
                raise ValueError(f"{name}={value!r} must be a tuple, such as ({value!r},).")
            if not isinstance(value, Iterable):
                raise ValueError(f"{name}={value!r} must be a tuple.")
            object.__setattr__(self, name, tuple(map(_plain, value)))
        if self.tuning == "agreement" and not self.clusterers:
            raise ValueError("tuning='agreement' compares clusterings; clusterers is empty.")
        for name, choices in (
            ("scaling", Scaling),
            ("rounding", Rounding),
            ("clusterers", Clusterer),
            ("kmeans_init", Start),
            ("classifiers", Classifier),
            ("tuning", Tuning),
        ):
            value = getattr(self, name)
            several = name in ("clusterers", "classifiers")
            for one in value if several else (value,):
                if not isinstance(one, str) or one not in get_args(choices):
                    known = ", ".join(map(repr, get_args(choices)))
                    raise ValueError(f"{name}={value!r}: {one!r} is unknown; use {known}.")
        for name, least in _WHOLE_NUMBERS.items():
            value = _plain(getattr(self, name))
            if value is None and name in _MAY_BE_NONE:
                continue
            if type(value) is not int:
                other = " or None" if name in _MAY_BE_NONE else ""
                raise ValueError(f"{name}={value!r} must be a whole number{other}.")
            if value < least:
                raise ValueError(f"{name}={value} must be at least {least}.")
            object.__setattr__(self, name, value)
        if self.seed + max(self.n_repeats, self.n_random) > _MOST_SEEDS:
            raise ValueError(
                f"seed={self.seed} is too large: the seeds of all repeats must be below 2**32."
            )
        if not self.n_features:
            raise ValueError("n_features is empty; give at least one number of features.")
        for number in self.n_features:
            whole = type(number) is int
            fraction = type(number) is float and 0 < number <= 1
            if not fraction and not (whole and number >= 1):
                raise ValueError(
                    f"n_features holds {number}; use whole numbers from 1, or fractions in (0, 1]."
                )

    def counts(self, n_features: int) -> list[int]:
        """The numbers of features to judge of a table that has `n_features`, ascending."""
        counts = set()
        for number in self.n_features:
            if isinstance(number, int):
                if number < n_features:
                    counts.add(number)
            else:
                count = self._rounded(number * n_features)
                counts.add(min(count, self.max_features or count))
        return sorted(counts)

    def _rounded(self, share: float) -> int:
        if self.rounding == "nearest":
            return max(1, round(share))
        # A product that is whole but for rounding, such as 0.07 · 100, is not the next number.
        return max(1, math.ceil(round(share, 6)))

    def describe(self) -> str:
        """The protocol in one sentence."""
        parts = [_SCALING_WORDS[self.scaling], self._number_words()]
        start = "from random samples" if self.kmeans_init == "random" else "from k-means++"
        starts = "1 start" if self.n_init == 1 else f"{self.n_init} starts"
        runs = f"{start}, {self.n_repeats} runs of {starts} each"
        if "kmeans" in self.clusterers:
            parts.append(f"K-means {runs}")
        if "ncut" in self.clusterers:
            parts.append(f"normalised cut of the 5-neighbour graph, its K-means {runs}")
        if self.classifiers:
            repeats = "" if self.n_fold_repeats == 1 else f", {self.n_fold_repeats} times"
            names = ", ".join(map(self._classifier_words, self.classifiers))
            parts.append(f"{names} in {self.n_folds} folds{repeats}")
        n_random = min(self.n_random, self.n_repeats)  # a run has no more than one
        subsets = "1 random subset" if n_random == 1 else f"{n_random} random subsets"
        if self.classifiers and (self.n_random_classified or n_random) < n_random:
            subsets += f", {self.n_random_classified} of them classified"
        parts.append(subsets)
        if self.max_samples is not None:
            parts.append(f"at most {self.max_samples} samples, drawn at random")
        parts += [_TUNING_WORDS[self.tuning], f"seed {self.seed}"]
        return "; ".join(parts)

    def _classifier_words(self, name: Classifier) -> str:
        few = name == "rf" and self.n_trees != Protocol.n_trees
        return f"{name} of {self.n_trees} trees" if few else name

    def _number_words(self) -> str:
        whole = [str(n) for n in self.n_features if isinstance(n, int)]
        shares = [f"{100 * n:g} %" for n in self.n_features if isinstance(n, float)]
        numbers = ", ".join([*whole, *shares]) + (" of the" if shares else "")
        if self.max_features is not None:
            numbers += f" (at most {self.max_features})"
        return f"{numbers} features" + (", rounded up" if self.rounding == "up" else "")

    def as_dict(self) -> dict[str, Any]:
        """The protocol as JSON has it."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in dataclasses.asdict(self).items()
        }


def _plain(value: Any) -> Any:
    """A number of numpy's as Python's own."""
    return value.item() if isinstance(value, np.generic) else value
