"""How many atoms a dictionary has."""

from __future__ import annotations

# A dictionary has at most this many atoms, unless more are asked for.
MOST_ATOMS = 200


def number_of_atoms(wanted: int | None, n_samples: int, fewest: int) -> int:
    """The size of a dictionary: as wanted, or a fifth of the samples, within limits."""
    if wanted is None:
        return min(max(min(n_samples // 5, MOST_ATOMS), fewest), n_samples)
    if wanted > n_samples:
        raise ValueError(
            f"n_atoms={wanted} is too large for n_samples={n_samples}; use at most {n_samples}."
        )
    return wanted
