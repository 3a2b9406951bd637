"""Gaussian mixtures with feature saliencies: their parameters and the E-step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks

# The E-step passes over several arrays of a block again and again: blocks are smaller by this, to
# stay in the cache.
ARRAYS = 4
# Densities farther apart than by this factor of e are so far apart: underflow is slow.
LARGEST_GAP = 700.0


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


def expectations(table: TableOperator, mixture: Mixture) -> Expectations:
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


def mixture_of_labels(table: TableOperator, labels: IntArray, variance_floor: float) -> Mixture:
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
