"""Leverage scores: prefers the columns that lie in the leading principal subspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps
from tamis.selectors._components import ComponentSelector
from tamis.solvers.principal import principal_components
from tamis.utils.columns import extent

# Share of the variance that the components carry, unless told.
DEFAULT_SHARE = 0.5


class LeverageScore(ComponentSelector):
    r"""Rank features by their leverage on the leading principal subspace (CUR decomposition).

    With the unit directions :math:`v_j` of the leading m components of the centred table, the
    leverage of feature i is

    .. math:: \pi_i = \frac{1}{m} \sum_{j \le m} v_{ij}^2,

    the squared length of the i-th unit vector's projection on the subspace. All leverages sum to
    one. A CUR decomposition draws its columns with these probabilities; the largest are the columns
    without which the subspace would lose a direction.

    Cost: O(nd·min(n, d)) where min(n, d) is at most 2000, else Lanczos at O(nd) per step, O(nnz)
    for sparse input, which is centred implicitly and never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_components : int, float or None, default=None
        Number m of components; a fraction in (0, 1) takes as many as carry that fraction of the
        variance; None takes as many as carry half of it. With all components of a table with d ≤ n
        all leverages are equal.
    sample : bool, default=False
        Whether to draw the features, without replacement and with probabilities in proportion to
        their leverage, as the guarantees of the paper ask for. False ranks by leverage.
    random_state : int, RandomState instance or None, default=0
        Seed of the draws; only with `sample`.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The leverages; with `sample` 1, 1 − 1/d, 1 − 2/d … in the order of the draws.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    leverage_ : ndarray of shape (n_features,)
        The leverages, drawn or not.
    n_components_ : int
        The number of components that was used.
    explained_variance_ : ndarray of shape (n_components_,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper's table is not centred; here it is, so that an offset changes nothing. It draws each
    feature by itself with probability min(1, kπ), so that their number is random; here the draws
    are one after the other, and any number can be asked for. Its guarantees are for draws of more
    than m columns; the ranking is its practice, and has guarantees of its own where leverages fall
    fast.

    A subspace is only defined where the variance of component m exceeds that of the next. With
    equal variances, as of independent standardised columns, rounding would choose.

    References
    ----------
    M. W. Mahoney, P. Drineas. CUR matrix decompositions for improved data analysis. PNAS 106
    (2009).

    D. Papailiopoulos, A. Kyrillidis, C. Boutsidis. Provable deterministic leverage score sampling.
    KDD 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import LeverageScore
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> model = LeverageScore(n_features_to_select=3, n_components=2).fit(X)
    >>> model.get_feature_names_out()
    array(['alcohol', 'color_intensity', 'proline'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "independent"
    _learned: ClassVar[dict[str, Any]] = {
        "leverage_": ("n_features",),
        "n_components_": 0,
        "explained_variance_": ("n_components_",),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ComponentSelector._parameter_constraints,
        "sample": ["boolean"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | float | None = None,
        sample: bool = False,
        random_state: int | np.random.RandomState | None = 0,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_components = n_components
        self.sample = sample
        self.random_state = random_state

    def _fit(self, X: Matrix) -> FloatArray:
        lowest, highest = extent(X)
        unit = (highest - lowest).max()  # squares of variances stay far from the limits of floats
        wanted = self._wanted_components(X.shape, DEFAULT_SHARE)
        variances, directions = principal_components(X / unit, wanted)
        # Beyond the rank of the table a direction is any: it has no part in the subspace.
        proper = variances > variances[0] * max(X.shape) * np.finfo(np.float64).eps
        self.explained_variance_ = variances[proper] * unit**2
        self.n_components_ = int(np.count_nonzero(proper))
        self.leverage_ = (directions[:, proper] ** 2).mean(axis=1)
        if not self.sample:
            return self.leverage_
        # The largest of these keys is drawn with probability π, the next likewise of the others.
        draws = check_random_state(self.random_state).gumbel(size=X.shape[1])
        with np.errstate(divide="ignore"):
            keys = np.log(self.leverage_) + draws
        scores = np.empty(X.shape[1])
        scores[np.argsort(-keys, kind="stable")] = 1 - np.arange(X.shape[1]) / X.shape[1]
        return scores
