"""Is there any structure: do the columns of a table know of each other?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, t

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.utils.columns import variances
from tamis.utils.sparse import is_sparse

# Copies of the table with each column shuffled.
N_COPIES = 19
# Larger tables are tested on so many of their rows and columns.
MOST_ROWS = 300
MOST_COLUMNS = 2000
# Below this p-value there is structure.
LEVEL = 0.001


@dataclass(frozen=True)
class Structure:
    """How a table differs from copies of it with each column shuffled.

    Attributes
    ----------
    statistic : float
        By how many standard deviations of the copies the correlations of the columns are stronger:
        the sum of their squares, or the largest eigenvalue, whichever stands out more.
    p_value : float
        How often columns that know nothing of each other would give as much.
    """

    statistic: float
    p_value: float

    @property
    def found(self) -> bool:
        """Whether chance is ruled out, at a level of 0.1 %."""
        return self.p_value < LEVEL


def structure_of(
    X: Matrix, order: IntArray, random_state: np.random.RandomState | None = None
) -> Structure:
    """Compare a table with copies of it in which each column is shuffled by itself.

    Shuffling leaves every column as it is and takes away all that columns share: groups of
    samples, trends, copies. Ranks are compared, so that heavy tails play no part.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
        Every column varies.
    order : ndarray of shape (n_samples,)
        The samples in an order that their values decide, from which some are drawn.
    random_state : RandomState instance or None, default=None

    Notes
    -----
    Two tests, of which the stronger counts twice its p-value: the sum of squared rank correlations,
    for which many weak ones suffice, and the largest eigenvalue of their matrix, for which some
    strong ones do. Both are compared with the mean and deviation of 19 copies by Student's
    distribution. O(copies · n'·d'·min(n', d')) for n' ≤ 300 rows and d' ≤ 2000 columns.
    """
    random = np.random.RandomState(0) if random_state is None else random_state
    ranks = _unit_ranks(_sample(X, order, random))
    if ranks.shape[1] < 2:
        return Structure(0.0, 1.0)
    seen = _statistics(ranks)
    shuffler = np.random.default_rng(random.randint(2**31))
    # Sorted, so that neither the order of the rows nor that of the columns decides what is drawn.
    ranks = np.sort(ranks, axis=0)
    ranks = ranks[:, np.lexsort(ranks)]
    copies = np.array([_statistics(shuffler.permuted(ranks, axis=0)) for _ in range(N_COPIES)])
    deviation = copies.std(axis=0, ddof=1) * np.sqrt(1 + 1 / N_COPIES)
    excess = seen - copies.mean(axis=0)
    standing = np.divide(excess, deviation, out=np.zeros_like(excess), where=deviation > 0)
    p_value = min(1.0, len(standing) * float(t.sf(standing.max(), N_COPIES - 1)))
    return Structure(float(standing.max()), p_value)


def _sample(X: Matrix, order: IntArray, random: np.random.RandomState) -> FloatArray:
    """Some rows, drawn, and some columns, evenly over their variances, as a dense table."""
    n_samples, n_features = X.shape
    if n_samples > MOST_ROWS:
        X = X[np.sort(order[random.choice(n_samples, MOST_ROWS, replace=False)])]
    if n_features > MOST_COLUMNS:
        by_variance = np.argsort(variances(X), kind="stable")
        places = np.linspace(0, n_features - 1, MOST_COLUMNS).round().astype(np.intp)
        X = X[:, np.sort(by_variance[places])]
    return X.toarray() if is_sparse(X) else np.asarray(X)


def _unit_ranks(X: FloatArray) -> FloatArray:
    """Ranks within the columns that vary, centred and of unit length."""
    ranks = rankdata(X, axis=0)
    ranks -= ranks.mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->j", ranks, ranks))
    vary = lengths > 0
    return ranks[:, vary] / lengths[vary]


def _statistics(unit: FloatArray) -> FloatArray:
    """Logarithms of the sum of squared correlations and of the largest eigenvalue."""
    gram = unit @ unit.T if unit.shape[0] < unit.shape[1] else unit.T @ unit
    largest = np.linalg.eigvalsh(gram)[-1]
    return np.log([np.einsum("ij,ij->", gram, gram), largest])
