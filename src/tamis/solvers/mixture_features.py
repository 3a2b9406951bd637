"""EM for the features of a mixture one by one, with the components of the samples held."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.message_length import MessageLength
from tamis.solvers.mixture import Mixture, expectations_given
from tamis.solvers.mixture_blocks import NEGLIGIBLE, Block, feature_blocks
from tamis.solvers.table_operator import TableOperator

__all__ = ["settled_features"]


def settled_features(
    table: TableOperator,
    mixture: Mixture,
    responsibilities: FloatArray,
    length: MessageLength,
    *,
    max_steps: int,
    tol: float,
) -> Mixture:
    """EM in the features whose saliency is neither 0 nor 1, the posterior probabilities held.

    The expected length is then a sum over the features, which need nothing of each other: each
    takes its own steps, until it has settled. No step lengthens the message.

    Parameters
    ----------
    table : TableOperator
    mixture : Mixture
    responsibilities : ndarray of shape (n_samples, n_components)
        The posterior probabilities.
    length : MessageLength
    max_steps : int
        Of each feature.
    tol : float
        A feature stops when a step shortens the message by no more than this, in nats.

    Notes
    -----
    O(n) for each feature and step where the probabilities are 0 or 1, and O(nc) at most; O(n) times
    a few features of memory.
    """
    mixed = np.flatnonzero((mixture.saliency > 0) & (mixture.saliency < 1))
    near = [w > NEGLIGIBLE for w in responsibilities.T]
    weights = [w[some] for w, some in zip(responsibilities.T, near, strict=True)]
    for features, block in feature_blocks(table, mixed):
        parts: list[Block] = [block.samples(some) for some in near]
        found = _settled(parts, weights, mixture.of(features), length, max_steps, tol)
        mixture = mixture.replaced(features, found)
    return mixture


def _settled(
    parts: list[Block],
    weights: list[FloatArray],
    mixture: Mixture,
    length: MessageLength,
    max_steps: int,
    tol: float,
) -> Mixture:
    """The steps of some features; those that have settled are left out once they are many."""
    found = mixture
    moving = np.arange(len(mixture.saliency))
    here = mixture
    last = np.full(len(moving), np.inf)
    for _ in range(max_steps):
        expected = expectations_given(parts, weights, here)
        now = length.of_features(here, here.saliency) - expected.log_densities
        following = length.shortened(here, expected, everywhere=False)
        found = found.replaced(moving, following)
        inside = (following.saliency > 0) & (following.saliency < 1)
        still = np.flatnonzero(inside & ~(last - now <= tol))
        if len(still) == 0:
            break
        here, last = following, now
        if not inside.all() or len(still) <= len(moving) // 2:
            moving, here, last = moving[still], following.of(still), now[still]
            parts = [part.features(still) for part in parts]
    return found
