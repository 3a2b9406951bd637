"""Column subset selection as it is defined: a least squares fit for every set of columns."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from references.scores import dense


def explained(X, columns):
    """The share of the variance of all columns that these rebuild."""
    X = dense(X)
    X = X - X.mean(axis=0)
    chosen = X[:, list(columns)]
    coef = np.linalg.lstsq(chosen, X, rcond=1e-8)[0]
    return 1 - np.linalg.norm(X - chosen @ coef) ** 2 / np.linalg.norm(X) ** 2


def greedy(X, n_columns, include=(), exclude=()):
    """One column after the other, each the one with which the most is rebuilt."""
    chosen = list(include)
    while len(chosen) < n_columns:
        others = [j for j in range(X.shape[1]) if j not in {*chosen, *exclude}]
        chosen.append(max(others, key=lambda j: explained(X, [*chosen, j])))
    return chosen


def best_exchange(X, columns, include=(), exclude=()):
    """The largest share that is rebuilt once one column is exchanged."""
    others = [j for j in range(X.shape[1]) if j not in {*columns, *exclude}]
    return max(
        explained(X, [*(i for i in columns if i != out), j])
        for out in columns
        if out not in include
        for j in others
    )


def best_of_all(X, n_columns):
    """The largest share that any set of so many columns rebuilds."""
    return max(explained(X, chosen) for chosen in combinations(range(X.shape[1]), n_columns))
