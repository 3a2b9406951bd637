"""Maximum variance: prefers the columns that vary most."""

from __future__ import annotations

from typing import ClassVar

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps, Selector
from tamis.distributed import Needs
from tamis.utils.columns import variances
from tamis.utils.condensed import Condensed


class MaxVariance(Selector):
    """Rank features by their variance.

    The simplest baseline, and a strong one where all columns share a unit (pixels, counts). It is
    meaningless after standardisation, which makes all variances equal.

    Cost: O(nd) time, O(d) memory beyond the data; O(nnz) for sparse input.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Population variances.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    sklearn.feature_selection.VarianceThreshold : Keeps all features above a threshold.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import MaxVariance
    >>> X = load_iris(as_frame=True).data
    >>> MaxVariance(n_features_to_select=2).fit(X).get_feature_names_out()
    array(['sepal length (cm)', 'petal length (cm)'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "independent"
    _needs: ClassVar[Needs | None] = "variances"

    def _fit(self, X: Matrix | Condensed) -> FloatArray:
        return variances(X)
