"""Farthest point sampling: prefers the columns that lie far from all that were taken before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps, Selector
from tamis.solvers.farthest_columns import farthest_columns
from tamis.solvers.principal import principal_components
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import extent
from tamis.utils.forward import forward_scores


class FarthestPointSampling(Selector):
    r"""Take the column that is farthest from all that were taken, again and again.

    The columns, centred, are points in as many dimensions as there are samples. Each step takes

    .. math:: \arg\max_i \min_{j \in A} \min_\pm \|x_i \pm x_j\|^2,

    the column that is farthest from the nearest of those in A, or from its negative. Of
    standardised columns it is the one whose largest correlation with any of them is smallest in
    size. No choice of m columns has all others within less than half of the distance that is left
    after these m.

    Cost: O(nd) per column that is selected, O(nnz) for sparse input; one O(nd²) instead where d ≤
    n. Sparse input is centred implicitly and never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half. So many are taken.
    signed : bool, default=False
        Whether a column and its negative are two points, as far apart as twice its length, so that
        the sign of a column plays a part.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. The sampling starts
        with them.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1, 1 − 1/d, 1 − 2/d … in the order of the sampling; below them, of the other features, the
        distance that is left, as a share of the largest.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_chosen,)
        The features that were taken, the first first.
    distances_ : ndarray of shape (n_chosen,)
        Of each of them from the nearest of those before it, which never grows; of the first its
        length.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The first column is open. Other programs take the one of index 0, or any; here it is the one of
    the largest part in the first principal component, so that no order of columns plays a part.

    The paper takes points of a plane. For features, as in scikit-matter, the distance of columns is
    signed and they are not centred; here the sign of a column plays no part but with `signed`, nor
    does an offset.

    What is far from everything is often noise: the method covers the columns, it does not look for
    groups of samples. More features than were asked for are ranked by the distance that is left:
    for the sampling to go on, fit again.

    References
    ----------
    Y. Eldar, M. Lindenbaum, M. Porat, Y. Y. Zeevi. The farthest point strategy for progressive
    image sampling. IEEE Transactions on Image Processing 6 (1997).

    T. F. Gonzalez. Clustering to minimize the maximum intercluster distance. Theoretical Computer
    Science 38 (1985).

    G. Imbalzano, A. Anelli, D. Giofré, S. Klees, J. Behler, M. Ceriotti. Automatic selection of
    atomic fingerprints and reference configurations for machine-learning potentials. Journal of
    Chemical Physics 148 (2018).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import FarthestPointSampling
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> FarthestPointSampling(n_features_to_select=3).fit(X).get_feature_names_out()
    array(['alcohol', 'ash', 'flavanoids'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "given"
    _learned: ClassVar[dict[str, Any]] = {"order_": ("_n_chosen",), "distances_": ("_n_chosen",)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "signed": ["boolean"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        signed: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.signed = signed

    def _n_chosen(self, n_samples: int, n_features: int) -> int:
        """How many columns are taken."""
        return min(self._n_fitted, n_features)

    def _fit(self, X: Matrix) -> FloatArray:
        lowest, highest = extent(X)
        unit = float((highest - lowest).max())  # squares stay far from the limits of floats
        X = X / unit
        _, direction = principal_components(X, 1)
        found = farthest_columns(
            TableOperator.centred(X),
            np.abs(direction[:, 0]),
            self._n_chosen(*X.shape),
            self._kept,
            signed=self.signed,
        )
        self.order_ = np.flatnonzero(~self._set_aside)[found.order]
        self.distances_ = found.distances * unit
        return forward_scores(found.order, found.left)
