"""FSGMM: prefers the columns that a mixture of Gaussians needs to tell its clusters apart."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.base import OBJECTIVE, Selector
from tamis.clustering import kmeans
from tamis.solvers.message_length import MessageLength
from tamis.solvers.mixture import Mixture, expectations, mixture_of_labels
from tamis.solvers.shortest_message import MixtureResult, shorter, shortest_message
from tamis.solvers.table_operator import TableOperator
from tamis.utils.columns import varying_columns, weighted_moments

# Where no more than this share of the cells differs from the value that their columns repeat, those
# that do are gone through one by one: several times as slow per cell.
MOST_CELLS = 0.15


class FSGMM(Selector):
    r"""Feature saliencies of a Gaussian mixture, by minimum message length.

    A sample comes from one of c components. Each of its features is then drawn from that
    component's Gaussian with probability :math:`\rho_l`, the saliency of the feature, and from a
    Gaussian q common to all components otherwise:

    .. math:: p(x) = \sum_{j} \alpha_j \prod_{l}
       \big[\rho_l\, p(x_l \mid \theta_{jl}) + (1 - \rho_l)\, q(x_l \mid \lambda_l)\big].

    EM shortens the message that tells the parameters and then the table: with n samples, d features
    and two parameters per Gaussian,

    .. math:: -\log p(X) + \tfrac{c + d}{2} \log n + c \sum_{l} \log(n \rho_l / c)
       + \sum_l \log(n (1 - \rho_l)),

    where a feature of saliency 0 or 1 lacks the terms of the Gaussians it has no use for. Features
    are ranked by saliency. The clusters come with it.

    Cost: O(ndc) per iteration, for each start, where d counts the features that are not at
    saliency 0, and O(nd) for each step that features take in between on large tables; memory
    O(n(d + c)). For sparse input, and for dense input of which most cells repeat the value of their
    column, O((nnz + d)c) per iteration after O(nd) for each start, with nnz the other cells; memory
    O(nnz + nc).

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    n_clusters : int, default=5
        c, the number of components; with `find_n_clusters`, the number to start from.
    find_n_clusters : bool, default=False
        Whether to choose the number of components too: EM is run with `n_clusters` of them, then
        without the smallest again and again, down to `min_clusters`, and the shortest message of
        all is kept. That takes up to `n_clusters` times as long. Clusters that are not Gaussian
        take several components each, if they have the samples for it.
    min_clusters : int, default=1
        Least number of components with `find_n_clusters`.
    reg_covar : float, default=0.01
        Least variance of a Gaussian, as a fraction of the variance of its feature. It matters
        where values repeat, as in pixels and counts: the smaller it is, the more a feature gains
        from samples that are equal in it.
    n_init : int, default=5
        Starts, from K-means of the standardised table: the best of ten, then one at random each
        time. The shortest message is kept.
    max_iter : int, default=1000
        Iterations of EM, for each start and number of components.
    tol : float, default=1e-8
        EM stops when a step makes the message shorter by less than this, relative, and so does the
        next, in which any saliency may become 0 or 1; 0 runs `max_iter` iterations. A larger one
        is faster, but may prefer another start, whose features differ.
    random_state : int, RandomState instance or None, default=0
        Seed of the K-means starts; None for others on every call.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index. They come first; the
        others are ranked as without them, since the method does not choose given some.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        The saliencies, where 0 is replaced by something below 1/n and 1 by something above
        1 − 1/n, such that these features have an order too: by how much better they are
        described by a Gaussian for each cluster than by one for all samples.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    saliency_ : ndarray of shape (n_features,)
        ρ, in [0, 1]; 0 for constant features.
    labels_ : ndarray of shape (n_samples,)
        The most probable component of each sample.
    n_clusters_ : int
        Number of components; fewer than asked for where fewer samples are distinct.
    weights_ : ndarray of shape (n_clusters_,)
        α, the shares of the components.
    means_ : ndarray of shape (n_clusters_, n_features)
        Of the components. A feature of saliency 0 has the mean and the variance of all samples
        here, and one of saliency 1 in the common density.
    variances_ : ndarray of shape (n_clusters_, n_features)
    common_means_ : ndarray of shape (n_features,)
        Of the common Gaussians q.
    common_variances_ : ndarray of shape (n_features,)
    objective_ : ndarray of shape (n_iter_,)
        The message length after each iteration, of the standardised table; it never rises. It
        is that of the start and of the number of components that are kept.
    n_iter_ : int
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    The result does not depend on the unit or the zero of any feature: the table is standardised,
    which adds a constant to the message length.

    Where this departs from the paper:

    - A saliency is 0, 1 or in [c/n, 1 − 1/n], and it becomes 0 or 1 only where that makes the
      message shorter. The paper sets it to 0 when the expected number of samples drawn from the
      components falls to their number, whether the message gets shorter or longer. By then the
      Gaussians sit on single samples; here a feature may leave from a saliency of one half down.
      Given the posterior probabilities of the components the features' terms are separate, and
      exact for saliencies of 0 and 1: this is what makes the descent strict.
    - When EM has converged, any feature may go to 0 or 1, or from one to the other, and EM goes
      on. A saliency that nothing speaks for falls by about c/n an iteration only.
    - The weight of a component counts as 1/c in the length of its parameters, and α is the
      maximum-likelihood estimate. With α_j in that place the length falls without end as a
      component loses its samples, so that the paper drops every component that has fewer samples
      than there are features in use, even where the message gets longer by thousands of nats. Here
      components leave one by one, and the shortest message that was seen is the result.
    - Variances have a lower bound, which keeps the M-step exact.
    - On tables of more than 2¹⁸ cells, once no more than a thousandth of the samples changes its
      component, the features take steps of their own with the components held, and an iteration is
      one E-step of all. Neither kind of step lengthens the message.
    - Starts are K-means clusters, not random.

    References
    ----------
    M. H. C. Law, M. A. T. Figueiredo, A. K. Jain. Simultaneous feature selection and clustering
    using mixture models. IEEE Transactions on Pattern Analysis and Machine Intelligence 26(9),
    2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from tamis import FSGMM
    >>> noise = np.random.default_rng(0).standard_normal((150, 4))
    >>> model = FSGMM(4, n_clusters=3, random_state=0).fit(np.hstack([noise, load_iris().data]))
    >>> model.get_support(indices=True)
    array([4, 5, 6, 7])
    >>> model.saliency_.round(2)
    array([0.  , 0.  , 0.  , 0.  , 0.99, 0.99, 1.  , 1.  ])
    """

    _learned: ClassVar[dict[str, Any]] = {
        **OBJECTIVE,
        "labels_": ("n_samples",),
        "n_clusters_": 1,
        "weights_": ("n_clusters_",),
        "saliency_": ("n_features",),
        "means_": ("n_clusters_", "n_features"),
        "variances_": ("n_clusters_", "n_features"),
        "common_means_": ("n_features",),
        "common_variances_": ("n_features",),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "find_n_clusters": ["boolean"],
        "min_clusters": [Interval(Integral, 1, None, closed="left")],
        "reg_covar": [Interval(Real, 0, 1, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        n_clusters: int = 5,
        find_n_clusters: bool = False,
        min_clusters: int = 1,
        reg_covar: float = 0.01,
        n_init: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-8,
        random_state: int | np.random.RandomState | None = 0,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.n_clusters = n_clusters
        self.find_n_clusters = find_n_clusters
        self.min_clusters = min_clusters
        self.reg_covar = reg_covar
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self, n_samples: int) -> None:
        super()._check_parameters(n_samples)
        if self.find_n_clusters and self.min_clusters > self.n_clusters:
            raise ValueError(
                f"min_clusters={self.min_clusters} is more than n_clusters={self.n_clusters}, from "
                "which the search goes down; lower min_clusters, or raise n_clusters."
            )

    def _fit(self, X: Matrix) -> FloatArray:
        """EM from several starts."""
        n_samples = X.shape[0]
        self._centre, scatter = weighted_moments(X, np.ones(n_samples))
        self._scale = np.sqrt(scatter / n_samples)
        fit = self._best_of_starts(TableOperator.standardised(X, self._centre, self._scale))
        self._set_mixture(fit.solution)
        self.labels_ = fit.expectations.responsibilities.argmax(axis=1)
        self._set_path(fit.objective, fit.converged or self.tol == 0)
        return saliency_with_separation(
            fit.solution.saliency, separation(fit, self.reg_covar), n_samples
        )

    def _fit_constants(self, n_samples: int) -> None:
        """One component, of no feature."""
        super()._fit_constants(n_samples)
        self._centre = self._scale = np.zeros(0)
        self._set_mixture(_one_cluster(n_features=0))

    def _put_back(self, scores: FloatArray) -> Self:
        """A constant feature has no variance, and its value for a mean."""
        super()._put_back(scores)
        values = self._fitted_extent[1][self._set_aside]
        self.means_[:, self._set_aside] = self.common_means_[self._set_aside] = values
        return self

    def predict(self, X: Any) -> IntArray:
        """The most probable component of each sample."""
        return self.responsibilities(X).argmax(axis=1)

    def responsibilities(self, X: Any) -> FloatArray:
        """The posterior probabilities of the components, (n_samples, n_clusters_)."""
        check_is_fitted(self, "ranking_")
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32])
        table = TableOperator.standardised(
            varying_columns(X, self._set_aside), self._centre, self._scale
        )
        return expectations(table, self._mixture).responsibilities

    def _best_of_starts(self, table: TableOperator) -> MixtureResult:
        length = MessageLength(table.shape[0], self.reg_covar)
        random_state = check_random_state(self.random_state)
        cells = table.with_repeats_implicit(MOST_CELLS)
        best: MixtureResult | None = None
        for start in range(self.n_init):
            # The first start is a good one, the others are diverse.
            clusters = kmeans(
                table.stored,
                self.n_clusters,
                n_init=1 if start else 10,
                random_state=random_state,
            )
            fit = shortest_message(
                cells,
                mixture_of_labels(table, clusters.labels, self.reg_covar),
                length,
                max_iter=self.max_iter,
                tol=self.tol,
                min_components=self.min_clusters if self.find_n_clusters else self.n_clusters,
            )
            best = shorter(best, fit, self.tol)
        assert best is not None
        return best

    def _set_mixture(self, mixture: Mixture) -> None:
        """Keep the mixture, and its parameters in the units of the table."""
        self._mixture = mixture
        self.n_clusters_, self.weights_ = mixture.n_components, mixture.weights
        self.saliency_ = mixture.saliency
        self.means_ = self._centre + self._scale * mixture.means
        self.variances_ = self._scale**2 * mixture.variances
        self.common_means_ = self._centre + self._scale * mixture.common_means
        self.common_variances_ = self._scale**2 * mixture.common_variances


def separation(fit: MixtureResult, variance_floor: float) -> FloatArray:
    """Log-likelihood per sample that a feature gains by one Gaussian per component.

    Given the responsibilities; never negative.
    """
    sizes = fit.expectations.sizes
    variances = np.maximum(fit.expectations.whole.variances, variance_floor)
    return (-0.5 * (sizes / sizes.sum()) @ np.log(variances)).clip(min=0)


def saliency_with_separation(
    saliency: FloatArray, separations: FloatArray, n_samples: int
) -> FloatArray:
    """Saliencies, of which those equal to 0 or 1 are ordered by separation, apart from the rest.

    Between 0 and 1 saliencies lie in [1/n, 1 − 1/n]: there is room of 1/n below and above.
    """
    share = (1 - 1e-9) * separations / (1 + separations)
    scores = np.where(saliency == 0, share / n_samples, saliency)
    return np.where(saliency == 1, 1 - (1 - share) * (1 - 1e-9) / n_samples, scores)


def _one_cluster(n_features: int) -> Mixture:
    """One standard Gaussian."""
    zeros, ones = np.zeros(n_features), np.ones(n_features)
    return Mixture(np.ones(1), zeros, zeros[None], ones[None], zeros, ones)
