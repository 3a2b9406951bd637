"""SPFS: prefers the columns whose products together are similar to a kernel of the samples."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps, Selector
from tamis.solvers.similarity import aligned_columns, gaussian_forms
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import extent
from tamis.utils.forward import forward_scores


class SPFS(Selector):
    r"""Similarity preserving feature selection: few columns that keep how similar samples are.

    With the similarities K of the samples, a centred Gaussian kernel, and the centred columns
    :math:`X_A` that are selected,

    .. math:: \min_{A, \tau} \; \| K - \tau X_A X_A^T \|^2,

    by forward search: each step takes the column with which the misfit becomes smallest, which is
    the one with which the cosine of the angle between both matrices becomes largest. A column that
    repeats others adds to the length of :math:`X_A X_A^T` more than to its agreement with K.

    Cost: O(n²d) once, O(n·nnz) for sparse input, for K, which is never formed; then O(nd) per
    column that is selected. Sparse input is centred implicitly and never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half. The search takes so many.
    bandwidth : float or None, default=None
        σ of the kernel exp(−‖x − y‖²/(2σ²)); None takes the one for which 2σ² is the mean squared
        distance of two samples.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. The search starts with
        them, and chooses the others given them.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        1, 1 − 1/d, 1 − 2/d … in the order of the search; below them, of the other features, the
        alignment that each would bring as the next one, as a share of the last of these.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    order_ : ndarray of shape (n_chosen,)
        The features that the search has taken, the first first.
    alignment_ : ndarray of shape (n_chosen,)
        The cosine that the first 1, 2, … of them reach, from 0 to 1.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The paper starts from this problem with τ = 1, relaxes it to a regression on the leading
    eigenvectors of K with an l2,1 norm on its weights, and gives three algorithms: forward search,
    least angle regression and Nesterov's gradients. The regression asks that the columns rebuild K
    by weighted sums, where a selection keeps the columns as they are; with other targets it is
    :class:`MRSF`. Here it is the forward search of the problem itself, for which K is needed in
    :math:`x_i^T K x_i` only.

    The scale τ is free. With τ = 1 the trace of :math:`X_A X_A^T`, which grows with the number of
    columns and with their unit, meets that of K after some columns, and each further one is worse
    than none.

    K and the columns are centred, so that an offset plays no part. K is the Gaussian kernel of the
    whole table, as in the paper's experiments without labels, which does not tell its σ.

    More features than the search was asked for are ranked by the last step: for the search to go
    on, fit again.

    References
    ----------
    Z. Zhao, L. Wang, H. Liu, J. Ye. On similarity preserving feature selection. IEEE Transactions
    on Knowledge and Data Engineering 25 (2013).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import SPFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> model = SPFS(n_features_to_select=3).fit(X)
    >>> model.get_feature_names_out()
    array(['flavanoids', 'color_intensity', 'proline'], dtype=object)
    >>> model.alignment_.round(2)
    array([0.66, 0.74, 0.79])
    """

    _keeps: ClassVar[Keeps] = "given"
    _learned: ClassVar[dict[str, Any]] = {"order_": ("_n_chosen",), "alignment_": ("_n_chosen",)}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "bandwidth": [None, Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        bandwidth: float | None = None,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.bandwidth = bandwidth

    def _n_chosen(self, n_samples: int, n_features: int) -> int:
        """How many columns the search takes."""
        return min(self._n_fitted, n_features)

    def _fit(self, X: Matrix) -> FloatArray:
        lowest, highest = extent(X)
        unit = float((highest - lowest).max())  # squares stay far from the limits of floats
        table = TableOperator.centred(X / unit)
        bandwidth = None if self.bandwidth is None else self.bandwidth / unit
        kernel = gaussian_forms(table, bandwidth)
        found = aligned_columns(table, kernel, self._n_chosen(*X.shape), self._kept)
        self.order_ = np.flatnonzero(~self._set_aside)[found.order]
        self.alignment_ = found.alignment
        return forward_scores(found.order, found.next_alignment)
