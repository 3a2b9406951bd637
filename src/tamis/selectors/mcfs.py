"""MCFS: prefers the columns that best rebuild one spectral eigenvector after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from tamis._typing import BoolArray, FloatArray, Matrix
from tamis.base import Keeps
from tamis.distributed import CondensedTable, Needs
from tamis.graphs import Method, Weights
from tamis.selectors._graph import GraphSelector
from tamis.solvers.active_features import GramColumns
from tamis.solvers.lars import least_angle_regression, scores_along_paths

# Features that enter each regression, at most, unless more are asked for.
MOST_STEPS = 200


class MCFS(GraphSelector):
    r"""Multi-cluster feature selection: sparse regression of each spectral eigenvector.

    The c smoothest solutions of :math:`L y = \lambda D y` after the constant one outline the
    clusters of the samples. Each is regressed on the features by least angle regression; the score
    of a feature is its largest coefficient in absolute value, so that a feature which matters for
    one cluster only is kept.

    Cost: the neighbour search, O(nk) per Lanczos step, then O(nd) for each feature that enters a
    regression (once for all eigenvectors) and O(dp) per step with p features entered, up to 200
    whatever the number to select; memory O(nd + dp). Sparse input is centred implicitly and never
    densified.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of eigenvectors.
    n_nonzero_coefs : int or None, default=None
        Features that enter each regression. None takes as many as are to be selected, as the
        paper does, but at most 200. After a change of `n_features_to_select` the scores are those
        of the new number, read off the same regressions: no new `fit` is needed.
    n_neighbors : int, default=5
        Neighbours of each sample in the graph, itself not counted.
    neighbors : {"auto", "exact", "approximate", "landmarks"}, default="auto"
        How they are found: one by one, approximately, or by landmarks that stand for the samples.
        "auto" is exact up to about 70,000 samples × 784 columns, and takes landmarks beyond; see
        :func:`tamis.graphs.sample_graph`.
    weights : {"heat", "binary", "cosine"}, default="heat"
        Weights of the edges; see :func:`tamis.graphs.neighbor_graph`.
    bandwidth : float or None, default=None
        Bandwidth of the heat weights; None takes the median distance between neighbours.
    affinity : {sparse, array-like} of shape (n_samples, n_samples) or None, default=None
        A precomputed symmetric graph, used instead of the neighbours of X.
    n_jobs : int or None, default=None
        Threads of the neighbour search where it uses a tree.
    verbose : bool, default=False
        Whether to show a progress bar, on a terminal.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. The others are chosen
        to rebuild what the kept ones leave of the eigenvectors: a copy of a kept column is not
        chosen next, but may come before other columns once more have entered.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Largest absolute coefficients. Features that entered no regression are ordered below the
        others: by where they would enter one next, then by how close they are to it, and last
        those that are linear combinations of features that have entered.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_clusters)
        Coefficients, a column for each eigenvector.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The eigenvectors, centred and of unit length.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Coefficients have the inverse unit of their feature: standardise the columns first. A feature
    that is a linear combination of those already entered cannot enter; of two equal features the
    first does.

    References
    ----------
    D. Cai, C. Zhang, X. He. Unsupervised feature selection for multi-cluster data. KDD 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import MCFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> MCFS(n_features_to_select=3, n_clusters=2).fit(X).get_feature_names_out()
    array(['alcohol', 'flavanoids', 'color_intensity'], dtype=object)
    """

    _keeps: ClassVar[Keeps] = "given"
    _needs: ClassVar[Needs | None] = "graph"
    _learned: ClassVar[dict[str, Any]] = {
        "coef_": ("n_features", "n_clusters"),
        "embedding_": ("n_samples", "n_clusters"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "n_nonzero_coefs": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        n_nonzero_coefs: int | None = None,
        n_neighbors: int = 5,
        neighbors: Method = "auto",
        weights: Weights = "heat",
        bandwidth: float | None = None,
        affinity: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(
            n_features_to_select,
            n_neighbors=n_neighbors,
            neighbors=neighbors,
            weights=weights,
            bandwidth=bandwidth,
            affinity=affinity,
            n_jobs=n_jobs,
            verbose=verbose,
            keep=keep,
            drop=drop,
        )
        self.n_clusters = n_clusters
        self.n_nonzero_coefs = n_nonzero_coefs

    def _fit(self, X: Matrix | CondensedTable) -> FloatArray:
        centred, embedding = self._regression_on_embedding(X, self.n_clusters)
        gram = GramColumns(centred)
        targets = self._left_to_rebuild(embedding, centred)
        self._correlation = centred.transposed_times(targets)
        self._n_fixed = self.n_nonzero_coefs
        most = min(max(MOST_STEPS, self._n_fixed or 0), X.shape[1], X.shape[0] - 1)
        self._paths = [least_angle_regression(gram, y[:, None], most) for y in self._correlation.T]
        return self._read_paths()

    def _n_steps(self) -> int:
        """Features that are to enter each regression, for the number to select as it is now."""
        return self._n_fixed or min(self._n_selected(), MOST_STEPS)

    def _read_paths(self) -> FloatArray:
        """Scores of the features by the paths of all regressions, where `_n_steps` have entered."""
        self._n_read = self._n_steps()
        paths = [path.after(self._n_read) for path in self._paths]
        self.coef_ = np.hstack([path.solution for path in paths])
        largest = np.abs(self.coef_).max(axis=1)
        return scores_along_paths(largest, paths, self._correlation)

    def _follow_the_number(self) -> None:
        """Score anew where the number of features to select has changed since."""
        if not self._set_aside.all() and self._n_steps() != self._n_read:
            self._put_back(self._read_paths())

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a new number of features is read off the paths, without a new `fit`."""
        super().set_params(**params)
        if "n_features_to_select" in params and hasattr(self, "ranking_"):
            with contextlib.suppress(ValueError):  # a wrong number is refused where it is used
                self._follow_the_number()
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "ranking_")
        self._follow_the_number()  # the attribute may have been set by hand
        return super()._get_support_mask()
