"""Which seed every run has: dealt out in one place, so that no two seeds of a user share runs."""

from __future__ import annotations

import numpy as np

from tamis.evaluation.candidates import RANDOM
from tamis.evaluation.protocol import Protocol

__all__ = ["first_seed", "fold_seeds", "run_seeds", "runs_by_subset", "seed_groups"]

# The runs of a protocol have successive seeds. Those of the next seed begin this much further: with
# up to so many repeats the two have no run in common. Seed 0 begins at 0.
STRIDE = 100_003
# Seeds are whole numbers below 2³²; room is left for the repeats.
N_STARTS = 2**32 - 2**20


def first_seed(seed: int) -> int:
    """The seed of the first run of a protocol that has this seed.

    Examples
    --------
    >>> from tamis.evaluation.seeds import first_seed
    >>> first_seed(0), first_seed(1), first_seed(2)
    (0, 100003, 200006)
    """
    return seed * STRIDE % N_STARTS


def run_seeds(protocol: Protocol, most: int | None = None) -> range:
    """A seed for each of the protocol's repeats, or for the first `most` of them."""
    first, number = first_seed(protocol.seed), protocol.n_repeats
    return range(first, first + min(number, most or number))


def fold_seeds(protocol: Protocol) -> range:
    """A seed for each division of the samples into folds."""
    first = first_seed(protocol.seed)
    return range(first, first + protocol.n_fold_repeats)


def runs_by_subset(n_random: int, n_repeats: int) -> tuple[int, ...]:
    """How many of the repeats fall to each random subset, in their order.

    Examples
    --------
    >>> from tamis.evaluation.seeds import runs_by_subset
    >>> runs_by_subset(3, 8)
    (3, 3, 2)
    """
    n_draws = min(n_random, n_repeats)
    return tuple(len(group) for group in np.array_split(np.arange(n_repeats), n_draws))


def seed_groups(method: str, protocol: Protocol) -> list[tuple[range, int]]:
    """Seeds of the clusterings and of the selector: one fit, but for random subsets several."""
    every = run_seeds(protocol)
    n_random = protocol.n_random if method == RANDOM else 1
    groups, begin = [], 0
    for draw, size in enumerate(runs_by_subset(n_random, protocol.n_repeats)):
        groups.append((every[begin : begin + size], every.start + draw))
        begin += size
    return groups
