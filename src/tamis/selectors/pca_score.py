"""PCA score: prefers the columns whose variance the leading components carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from tamis._typing import FloatArray, Matrix
from tamis.base import Keeps
from tamis.distributed import Needs
from tamis.selectors._components import ComponentSelector
from tamis.solvers.principal import principal_components
from tamis.utils.columns import variances
from tamis.utils.condensed import Condensed

DEFAULT_COMPONENTS = 5


class PCAScore(ComponentSelector):
    r"""Rank features by the part of their variance that the leading principal components carry.

    With the variances :math:`\lambda_j` and unit directions :math:`v_j` of the leading m
    components, the score of feature i is :math:`\sum_{j \le m} \lambda_j v_{ij}^2`. With all
    components it is the variance of the feature; with few, variance that no other feature shares
    does not count.

    Cost: O(nd·min(n, d)) where min(n, d) is at most 2000, else Lanczos at O(nd) per step, O(nnz)
    for sparse input, which is centred implicitly and never densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_components : int, float or None, default=None
        Number m of components; a fraction in (0, 1) takes as many as carry that fraction of the
        variance; None takes five.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since each column is scored by itself.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_components_ : int
        The number of components that was used.
    explained_variance_ : ndarray of shape (n_components_,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    W. J. Krzanowski. Selection of variables to preserve multivariate data structure, using
    principal components. Applied Statistics 36 (1987).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import PCAScore
    >>> X = load_iris(as_frame=True).data
    >>> PCAScore(n_features_to_select=2, n_components=1).fit(X).get_feature_names_out()
    array(['sepal length (cm)', 'petal length (cm)'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "independent"
    _needs: ClassVar[Needs | None] = "products"
    _learned: ClassVar[dict[str, Any]] = {
        "n_components_": 0,
        "explained_variance_": ("n_components_",),
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_components: int | float | None = None,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_components = n_components

    def _fit(self, X: Matrix | Condensed) -> FloatArray:
        wanted = self._wanted_components(X.shape, DEFAULT_COMPONENTS)
        self.explained_variance_, directions = principal_components(X, wanted)
        self.n_components_ = len(self.explained_variance_)
        # Components carry no more of a feature than its variance; rounding may say otherwise where
        # the scales of features lie many digits apart.
        return np.minimum(directions**2 @ self.explained_variance_, variances(X))
