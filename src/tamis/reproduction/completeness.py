"""Which methods and sets a mean may be taken over, where some runs have failed."""

from __future__ import annotations

import numpy as np

from tamis._typing import BoolArray, FloatArray

__all__ = ["comparable"]

# A method that fails on a larger share of the sets does not narrow the others' means.
MOST_FAILURES = 0.25


def comparable(figures: FloatArray) -> tuple[BoolArray, BoolArray]:
    """The methods that fail seldom enough to have a mean, and the sets that all of these finished.

    Parameters
    ----------
    figures : ndarray of shape (n_sets, n_methods)
        NaN where a run failed.

    Returns
    -------
    methods : ndarray of bool of shape (n_methods,)
    sets : ndarray of bool of shape (n_sets,)
    """
    failed = np.isnan(figures)
    methods = np.asarray(failed.mean(axis=0) <= MOST_FAILURES)
    sets = np.asarray(~failed[:, methods].any(axis=1))
    return methods, sets
