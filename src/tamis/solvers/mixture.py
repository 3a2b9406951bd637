"""Gaussian mixtures with feature saliencies, fitted to the shortest message by EM."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from tamis._typing import FloatArray, IntArray, Matrix
from tamis.utils.blocks import row_blocks

# What a Gaussian costs for each log(number of its samples): half its parameters, which are a mean
# and a variance. The paper's R/2 (for a component's density) and S/2 (for the common one).
PRICE = 2 / 2
# The E-step passes over several arrays of a block again and again: blocks are smaller by this, to
# stay in the cache.
ARRAYS = 4
# Densities farther apart than by this factor of e are so far apart: underflow is slow.
LARGEST_GAP = 700.0


class Standardised:
    """Rows of a table, each column with mean 0 and variance 1; a sparse table stays sparse.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_samples, n_features)
    centre, scale : ndarray of shape (n_features,)

    Attributes
    ----------
    scaled : {ndarray, CSR}
        The columns divided by their scales, and centred where that keeps zeros: distances are
        the same.
    """

    def __init__(self, X: Matrix, centre: FloatArray, scale: FloatArray) -> None:
        self.shape: tuple[int, int] = X.shape
        self._shift = centre / scale
        if sp.issparse(X):
            self.scaled = sp.csr_array(X, dtype=np.float64, copy=True)
            # A column without a zero is centred for good: its offset may dwarf its scale.
            full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
            self.scaled.data -= np.where(full, centre, 0)[X.indices]
            self.scaled.data /= scale[X.indices]
            self._shift[full] = 0
        else:
            self.scaled = X - centre
            self.scaled /= scale

    def rows(self, some: slice) -> FloatArray:
        """Some rows, dense."""
        if sp.issparse(self.scaled):
            return self.scaled[some].toarray() - self._shift
        return self.scaled[some]


@dataclass(frozen=True)
class Mixture:
    """A feature is drawn from its component with probability `saliency`, else from q.

    Attributes
    ----------
    weights : ndarray of shape (n_components,)
        The paper's α.
    saliency : ndarray of shape (n_features,)
        The paper's ρ.
    means, variances : ndarray of shape (n_components, n_features)
        Of the components' Gaussians, θ. Of no effect where the saliency is 0.
    common_means, common_variances : ndarray of shape (n_features,)
        Of the common Gaussian q, λ. Of no effect where the saliency is 1.
    """

    weights: FloatArray
    saliency: FloatArray
    means: FloatArray
    variances: FloatArray
    common_means: FloatArray
    common_variances: FloatArray

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.weights)

    def without(self, component: int) -> Mixture:
        """The mixture less one component, the weights of the others scaled up."""
        kept = np.arange(self.n_components) != component
        return replace(
            self,
            weights=self.weights[kept] / self.weights[kept].sum(),
            means=self.means[kept],
            variances=self.variances[kept],
        )


@dataclass(frozen=True)
class Moments:
    """Total weight, weighted mean and weighted variance of some observations."""

    total: FloatArray
    means: FloatArray
    variances: FloatArray


@dataclass(frozen=True)
class Expectations:
    """What the E-step knows of a table, given a mixture.

    Attributes
    ----------
    log_likelihood : float
    responsibilities : ndarray of shape (n_samples, n_components)
        Posterior probabilities w of the components.
    sizes : ndarray of shape (n_components,)
        Their sums over the samples.
    log_densities : ndarray of shape (n_features,)
        ``Σ_ij w_ij log(ρ p(x_il|θ_jl) + (1 − ρ) q(x_il|λ_l))``.
    relevant, whole : Moments of shape (n_components, n_features)
        Of each feature in each component: where the feature is drawn from the component (weights
        u of the paper), and altogether (weights w).
    common : Moments of shape (n_features,)
        Where the feature is drawn from q (weights v, summed over the components).
    """

    log_likelihood: float
    responsibilities: FloatArray
    sizes: FloatArray
    log_densities: FloatArray
    relevant: Moments
    whole: Moments
    common: Moments


@dataclass(frozen=True)
class Fit:
    """A fitted mixture, its last E-step and the message length after each iteration."""

    mixture: Mixture
    expectations: Expectations
    message_lengths: FloatArray
    converged: bool


def expectations(table: Standardised, mixture: Mixture) -> Expectations:
    """The E-step, in logarithms.

    O(ndc) time, where d counts the features whose saliency is not 0; O((n + d)c) memory, and a
    block of rows at a time.
    """
    n_samples, n_features = table.shape
    k = mixture.n_components
    # Features of saliency 0 say nothing of the components: they enter once, not once for each.
    used, unused = np.flatnonzero(mixture.saliency > 0), np.flatnonzero(mixture.saliency == 0)
    means = mixture.means[:, used, None]  # components × features × rows, such that rows are many
    variances = mixture.variances[:, used, None]
    common_means = mixture.common_means[:, None]
    common_variances = mixture.common_variances[:, None]
    with np.errstate(divide="ignore"):  # a weight may be 0, a saliency 1
        log_weights = np.log(mixture.weights)[:, None]
        log_common = np.log1p(-mixture.saliency)[:, None] - _log_width(common_variances)
    log_relevant = np.log(mixture.saliency[used, None]) - _log_width(variances)

    responsibilities = np.empty((n_samples, k))
    log_likelihood = 0.0
    log_densities = np.zeros(n_features)
    relevant, whole = np.zeros((2, 3, k, n_features))  # sums of 1, deviations and squares
    common = np.zeros((3, n_features))
    blocks = list(row_blocks(n_samples, ARRAYS * max(n_features, k * len(used))))
    # Written into again and again: new arrays of this size cost more than what is done with them.
    workspace = np.empty((5, k, len(used), blocks[0].stop))
    for rows in blocks:
        x = np.ascontiguousarray(table.rows(rows).T)
        # The last block is shorter: its arrays are laid out anew, to be contiguous too.
        work = workspace.reshape(5, -1)[:, : k * len(used) * x.shape[1]]
        deviations, squares, gap, larger, ratio = work.reshape(5, k, len(used), x.shape[1])
        common_deviations = x - common_means
        common_squares = common_deviations**2
        log_b = log_common - common_squares * (0.5 / common_variances)
        used_b = log_b[used]
        np.subtract(x[used], means, out=deviations)
        np.multiply(deviations, deviations, out=squares)
        log_a = np.multiply(squares, -0.5 / variances, out=larger)
        log_a += log_relevant

        np.subtract(log_a, used_b, out=gap)  # infinite where the saliency is 1
        np.maximum(log_a, used_b, out=larger)
        np.minimum(np.abs(gap, out=ratio), LARGEST_GAP, out=ratio)
        np.exp(np.negative(ratio, out=ratio), out=ratio)  # the smaller of a and b by the larger
        relevance = np.greater_equal(gap, 0, out=gap, casting="unsafe")  # 1 if a is the larger
        np.maximum(relevance, ratio, out=relevance)
        relevance /= np.add(ratio, 1, out=ratio)  # a/(a + b)
        log_sum = np.add(larger, np.log(ratio, out=ratio), out=larger)

        joint = log_weights + log_sum.sum(axis=1) + log_b[unused].sum(axis=0)
        highest = joint.max(axis=0)
        evidence = highest + np.log(np.exp(joint - highest).sum(axis=0))
        w = np.exp(joint - evidence)
        responsibilities[rows] = w.T
        log_likelihood += float(evidence.sum())
        log_densities[used] += _sums(log_sum, w).sum(axis=0)
        log_densities[unused] += log_b[unused].sum(axis=1)

        whole[1][:, used] += _sums(deviations, w)
        whole[2][:, used] += _sums(squares, w)
        whole[1][:, unused] += w @ common_deviations[unused].T
        whole[2][:, unused] += w @ common_squares[unused].T
        relevant[0][:, used] += _sums(relevance, w)
        relevant[1][:, used] += _sums(np.multiply(relevance, deviations, out=deviations), w)
        relevant[2][:, used] += _sums(np.multiply(relevance, squares, out=squares), w)
        v = np.ones_like(x)
        v[used] -= np.multiply(relevance, w[:, None], out=relevance).sum(axis=0)
        v.clip(min=0, out=v)
        common[0] += v.sum(axis=1)
        common[1] += np.einsum("ln,ln->l", v, common_deviations)
        common[2] += np.einsum("ln,ln->l", v, common_squares)

    sizes = responsibilities.sum(axis=0)
    whole[0] = sizes[:, None]
    origins = np.where(mixture.saliency > 0, mixture.means, mixture.common_means)
    return Expectations(
        log_likelihood,
        responsibilities,
        sizes,
        log_densities,
        _moments(relevant, mixture.means, mixture.variances),
        _moments(whole, origins, mixture.variances),
        _moments(common, mixture.common_means, mixture.common_variances),
    )


def _log_width(variances: FloatArray) -> FloatArray:
    """Minus the logarithm of a Gaussian's density at its mean."""
    return 0.5 * np.log(2 * np.pi * variances)


def _sums(values: FloatArray, w: FloatArray) -> FloatArray:
    """Weighted sums over the rows, for each component and feature."""
    return (values @ w[:, :, None])[:, :, 0]


def _moments(sums: FloatArray, means: FloatArray, variances: FloatArray) -> Moments:
    """Moments from sums of 1, deviations and squares; as they were where there is no weight.

    The deviations are from `means`: near a solution they sum to nothing, and nothing cancels,
    however small a variance is beside its mean.
    """
    total, first, second = sums
    some = total > np.finfo(float).tiny
    shift = np.divide(first, total, out=np.zeros_like(total), where=some)
    spread = np.divide(second, total, out=np.array(variances), where=some) - shift**2
    return Moments(total, means + shift, spread.clip(min=0))


class MessageLength:
    """The length of a message that tells a mixture and a table, and the M-step that shortens it.

    With n samples, d features, k components, and ``R = S = 2`` parameters a Gaussian,

        −log p(X) + (k + d)/2 log n + R/2 Σ_jl log(n ρ_l / k) + S/2 Σ_l log(n(1 − ρ_l)).

    The paper has the weight α_j for 1/k, whatever it is: the length then falls without end as a
    component loses its samples.

    A feature of saliency 0 has no parameters in the components, one of saliency 1 none in the
    common density: their terms are left out. Any other saliency lies in [k/n, 1 − 1/n], such that
    no Gaussian is told of which less than one sample is expected.

    Parameters
    ----------
    n_samples : int
    variance_floor : float
        Least variance of a Gaussian.
    """

    def __init__(self, n_samples: int, variance_floor: float) -> None:
        self.n_samples = n_samples
        self.variance_floor = variance_floor

    def __call__(self, mixture: Mixture, log_likelihood: float) -> float:
        """The length, in nats."""
        n_told = mixture.n_components + len(mixture.saliency)
        parameters = self._of_features(mixture, mixture.saliency).sum()
        return float(n_told / 2 * np.log(self.n_samples) + parameters - log_likelihood)

    def bounds(self, n_components: int) -> tuple[float, float]:
        """Least and largest saliency that is neither 0 nor 1."""
        n = self.n_samples
        return min(n_components / n, 0.5), 1 - 1 / n

    def shortened(self, mixture: Mixture, expected: Expectations, everywhere: bool) -> Mixture:
        """The M-step: a mixture of smaller expected length.

        Given the responsibilities, the expected length is a sum over the features, and each may
        choose for itself. Its saliency is the exact minimiser within its bounds, unless 0 or 1
        makes its own term shorter, and either

        - it had fallen below one half, for 0, or
        - the common density has no more samples than it has parameters, for 1, or
        - `everywhere` is set: a feature may then also leave 0 for 1, and 1 for 0.
        """
        saliency = self._best_saliencies(mixture, expected, everywhere)
        relevant, whole, common = expected.relevant, expected.whole, expected.common
        # The parameters that have no effect are those of one Gaussian for all samples.
        zero, one = saliency == 0, saliency == 1
        means = np.where(one, whole.means, np.where(zero, 0, relevant.means))
        variances = np.where(one, whole.variances, np.where(zero, 1, relevant.variances))
        return Mixture(
            expected.sizes / expected.sizes.sum(),
            saliency,
            means,
            np.maximum(variances, self.variance_floor),
            np.where(zero | one, 0, common.means),
            np.maximum(np.where(zero | one, 1, common.variances), self.variance_floor),
        )

    def _best_saliencies(
        self, mixture: Mixture, expected: Expectations, everywhere: bool
    ) -> FloatArray:
        for_one = expected.relevant.total.sum(axis=0) - PRICE * mixture.n_components
        for_zero = expected.common.total - PRICE
        undecided = (mixture.saliency > 0) & (mixture.saliency < 1)
        inner = _inner_minimum(for_one, for_zero, *self.bounds(mixture.n_components))
        saliency = np.where(undecided, inner, mixture.saliency)

        now = self._of_features(mixture, mixture.saliency) - expected.log_densities
        as_zero = self._of_features(mixture, np.zeros_like(saliency))
        as_zero += _gaussian_length(self.n_samples, 1.0, 1.0)
        as_one = self._of_features(mixture, np.ones_like(saliency))
        spread = expected.whole.variances
        model_spread = np.maximum(spread, self.variance_floor)
        as_one += _gaussian_length(expected.sizes[:, None], spread, model_spread).sum(axis=0)

        to_zero = (as_zero < now) & (as_zero <= as_one)
        to_one = (as_one < now) & ~to_zero
        if not everywhere:
            to_zero &= undecided & (mixture.saliency < 0.5)
            to_one &= undecided & (for_zero <= 0)
        saliency[to_zero], saliency[to_one] = 0, 1
        return saliency

    def _of_features(self, mixture: Mixture, saliency: FloatArray) -> FloatArray:
        """Length of the parameters of each feature, if it had that saliency."""
        k = mixture.n_components
        with np.errstate(divide="ignore"):
            relevant = k * (np.log(self.n_samples / k) + np.log(saliency))
            common = np.log(self.n_samples) + np.log1p(-saliency)
        return PRICE * (np.where(saliency > 0, relevant, 0) + np.where(saliency < 1, common, 0))


def _inner_minimum(
    for_one: FloatArray, for_zero: FloatArray, least: float, most: float
) -> FloatArray:
    """Where ``−for_one·log ρ − for_zero·log(1 − ρ)`` is least in [least, most], by feature."""
    inside = (for_one > 0) & (for_zero > 0)
    best = np.divide(for_one, for_one + for_zero, out=np.zeros_like(for_one), where=inside)
    at_least = for_one * np.log(least) + for_zero * np.log1p(-least)
    at_most = for_one * np.log(most) + for_zero * np.log1p(-most)
    return np.where(inside, best.clip(least, most), np.where(at_least >= at_most, least, most))


def _gaussian_length(total: Matrix, variances: Matrix, model_variances: Matrix) -> FloatArray:
    """Minus the log-likelihood of observations of some variance under a Gaussian of their mean."""
    return total / 2 * (np.log(2 * np.pi * model_variances) + variances / model_variances)


def mixture_of_labels(table: Standardised, labels: IntArray, variance_floor: float) -> Mixture:
    """A mixture that has the given clusters as components, and saliencies of one half. O(nd)."""
    n_samples, n_features = table.shape
    sizes = np.bincount(labels)
    one_hot = (labels == np.arange(len(sizes))[:, None]).astype(np.float64)
    means, variances = np.zeros((2, len(sizes), n_features))
    for rows in row_blocks(n_samples, n_features):
        means += one_hot[:, rows] @ table.rows(rows)
    means /= sizes[:, None]
    for rows in row_blocks(n_samples, n_features):
        variances += one_hot[:, rows] @ (table.rows(rows) - means[labels[rows]]) ** 2
    variances = np.maximum(variances / sizes[:, None], variance_floor)
    return Mixture(
        sizes / n_samples,
        np.full(n_features, 0.5),
        means,
        variances,
        np.zeros(n_features),
        np.ones(n_features),
    )


def shortest_message(
    table: Standardised,
    start: Mixture,
    length: MessageLength,
    *,
    max_iter: int,
    tol: float,
    min_components: int,
) -> Fit:
    """EM from a start, then with one component less again and again; the shortest message of all.

    The component that leaves is that of least weight, until `min_components` are left: with those
    of the start, none does. O(ndc) an iteration.
    """
    fit = best = _run(table, start, length, max_iter, tol)
    while fit.mixture.n_components > min_components:
        fewer = fit.mixture.without(int(fit.mixture.weights.argmin()))
        fit = _run(table, fewer, length, max_iter, tol)
        best = shorter(best, fit, tol)
    return best


def shorter(first: Fit | None, second: Fit, tol: float) -> Fit:
    """The first fit, unless the second is clearly shorter: rounding must not decide."""
    if first is None:
        return second
    gain = first.message_lengths[-1] - second.message_lengths[-1]
    return second if gain > tol * abs(first.message_lengths[-1]) else first


def _run(
    table: Standardised, start: Mixture, length: MessageLength, max_iter: int, tol: float
) -> Fit:
    """EM until the message gets no shorter.

    When a step gains less than `tol`, relative, the next may set any saliency to 0 or 1; it is the
    last if it gains as little.
    """
    mixture = start
    expected = expectations(table, mixture)
    last = length(mixture, expected.log_likelihood)
    path: list[float] = []
    settled = converged = False
    while len(path) < max_iter and not converged:
        mixture = length.shortened(mixture, expected, everywhere=settled)
        expected = expectations(table, mixture)
        path.append(length(mixture, expected.log_likelihood))
        small = tol > 0 and last - path[-1] < tol * abs(path[-1])
        converged = small and settled
        settled, last = small, path[-1]
    return Fit(mixture, expected, np.array(path), converged)
