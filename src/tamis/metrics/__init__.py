"""Measures of clusterings and of sets of selected features.

Two clusterings of the same samples are compared by :func:`clustering_accuracy`,
:func:`normalized_mutual_information`, :func:`purity`, :func:`rand_index` and
:func:`adjusted_rand_index`, or by all of them at once with :func:`clustering_scores`.

A set of selected features is judged by the :func:`redundancy` of its columns; several sets, as
chosen by repeated runs, are compared by :func:`jaccard`, :func:`kuncheva`,
:func:`nogueira_stability` and :func:`stability`.
"""

from tamis.metrics._clusterings import (
    adjusted_rand_index,
    clustering_accuracy,
    clustering_scores,
    normalized_mutual_information,
    purity,
    rand_index,
)
from tamis.metrics._redundancy import redundancy
from tamis.metrics._stability import jaccard, kuncheva, nogueira_stability, stability

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
