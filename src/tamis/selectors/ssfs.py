"""SSFS: prefers columns that tell the two sides of a stable eigenvector of the graph apart."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from tamis._typing import FloatArray, Matrix
from tamis.clustering import upper_of_two
from tamis.graphs import Method, Weights
from tamis.selectors._graph import GraphSelector
from tamis.solvers.ridge_jackknife import jackknifed_ridge


class SSFS(GraphSelector):
    r"""Spectral self-supervised selection: features that predict stable halves of the graph.

    Each of the smoothest eigenvectors of the sample graph divides the samples into two groups,
    which are labels :math:`y_j = \pm 1`. A linear classifier predicts them from the features; the
    eigenvectors whose classifiers hardly depend on single samples are kept, and

    .. math:: s_l = \max_{j \text{ kept}} |w_{lj}| / \|w_j\|_1, \quad
       w_j = \arg\min_w \min_b \|X w + b - y_j\|^2 + \mu \|w\|^2

    The number of classes plays no part: how many eigenvectors are kept, their instabilities say.

    Cost: the neighbour search, O(nk) per Lanczos step, then O(nd·s + s³) for all classifiers, with
    s = min(n, d); memory O(nd + ns). Sparse input is never densified. Tables with more than 6000 of
    both samples and features are refused.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_eigenvectors : int, default=20
        Eigenvectors after the constant one that are looked at, as far as there are samples.
    ridge : float, default=0.01
        μ, in units of the mean eigenvalue of XᵀX, each weighted with itself.
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
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The largest share that the feature has in a kept classifier.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    coef_ : ndarray of shape (n_features, n_columns)
        The weights of all classifiers.
    instability_ : ndarray of shape (n_columns,)
        Jackknife variance of each classifier, relative to its squared length.
    n_kept_ : int
        How many eigenvectors were kept.
    kept_eigenvectors_ : ndarray of shape (n_kept_,)
        Which eigenvectors were kept, from 0, the most stable first.
    embedding_ : ndarray of shape (n_samples, n_columns)
        The eigenvectors, centred and of unit length.
    graph_ : GraphReport
        How the graph was made, why so, and how good it is; see
        :class:`tamis.graphs.GraphReport`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    Where this departs from the paper and its program:

    - The program is told the number of classes c, looks at 2c eigenvectors and keeps c. Here 20
      are looked at, and those are kept that are in the lower group when the logarithms of the
      instabilities are divided in two, as the samples are. All are kept if all are equally stable.
    - The instability is the variance of the weights over samples left out one at a time, in closed
      form, in place of 500 fits to random 95 % of the samples: the leading term is the same, and
      nothing is left to chance.
    - The classifier is a ridge regression on the labels, both where the eigenvectors are chosen and
      where the features are scored. The paper leaves it open; its program takes logistic
      regression for the first and boosted trees for the second.
    - The two groups around medoids on a line are found exactly, as those around medians.

    References
    ----------
    D. Segal, O. Lindenbaum, A. Jaffe. Spectral self-supervised feature selection. Transactions on
    Machine Learning Research (2024).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from tamis import SSFS
    >>> X = StandardScaler().set_output(transform="pandas").fit_transform(
    ...     load_wine(as_frame=True).data
    ... )
    >>> SSFS(n_features_to_select=3, n_eigenvectors=5).fit(X).get_feature_names_out()
    array(['flavanoids', 'od280/od315_of_diluted_wines', 'proline'],
          dtype=object)
    """

    _learned: ClassVar[dict[str, Any]] = {
        "coef_": ("n_features", "_n_columns"),
        "instability_": ("_n_columns",),
        "n_kept_": 0,
        "kept_eigenvectors_": ("n_kept_",),
        "embedding_": ("n_samples", "_n_columns"),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GraphSelector._parameter_constraints,
        "n_eigenvectors": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_eigenvectors: int = 20,
        ridge: float = 0.01,
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
        self.n_eigenvectors = n_eigenvectors
        self.ridge = ridge

    def _n_columns(self, n_samples: int, n_features: int) -> int:
        """Eigenvectors that are looked at."""
        return min(self.n_eigenvectors, n_samples - 1)

    def _fit(self, X: Matrix) -> FloatArray:
        table, Y = self._regression_on_embedding(X, self._n_columns(*X.shape))
        upper = np.column_stack([upper_of_two(y) for y in Y.T])
        found = jackknifed_ridge(table, np.where(upper, 1.0, -1.0), self.ridge)
        self.coef_, self.instability_ = found.coef, found.instability
        self.kept_eigenvectors_ = stable(found.instability)
        self.n_kept_ = len(self.kept_eigenvectors_)
        sizes = np.abs(found.coef[:, self.kept_eigenvectors_])
        totals = sizes.sum(axis=0)
        scores: FloatArray = (sizes / np.where(totals > 0, totals, 1)).max(axis=1)
        return scores


def stable(instability: FloatArray) -> np.ndarray:
    """The lower group of the instabilities on a logarithmic scale, the most stable first."""
    tiny = np.finfo(float).tiny
    logarithms = np.log(np.clip(instability, tiny, 1 / tiny))
    order = np.argsort(instability, kind="stable")
    return order[~upper_of_two(logarithms)[order]]
