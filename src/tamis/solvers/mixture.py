"""Gaussian mixtures with feature saliencies: their parameters and the E-step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tamis._typing import FloatArray, IntArray
from tamis.solvers.mixture_blocks import N_SUMS, NEGLIGIBLE, Block, Gaussians, sample_blocks
from tamis.solvers.table_operator import TableOperator
from tamis.utils.blocks import row_blocks


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

    def of(self, features: IntArray) -> Mixture:
        """The mixture of some features."""
        return Mixture(
            self.weights,
            self.saliency[features],
            self.means[:, features],
            self.variances[:, features],
            self.common_means[features],
            self.common_variances[features],
        )

    def replaced(self, features: IntArray, mixture: Mixture) -> Mixture:
        """The mixture with those features as another one has them."""
        saliency, common_means = self.saliency.copy(), self.common_means.copy()
        means, variances = self.means.copy(), self.variances.copy()
        common_variances = self.common_variances.copy()
        saliency[features], common_means[features] = mixture.saliency, mixture.common_means
        means[:, features], variances[:, features] = mixture.means, mixture.variances
        common_variances[features] = mixture.common_variances
        return Mixture(self.weights, saliency, means, variances, common_means, common_variances)

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


@dataclass(frozen=True, kw_only=True)
class FeatureExpectations:
    """What the E-step knows of features, given a mixture and the components of the samples.

    Attributes
    ----------
    sizes : ndarray of shape (n_components,)
        Posterior probabilities w of the components, summed over the samples.
    log_densities : ndarray of shape (n_features,)
        ``Σ_ij w_ij log(ρ p(x_il|θ_jl) + (1 − ρ) q(x_il|λ_l))``.
    relevant, whole : Moments of shape (n_components, n_features)
        Of each feature in each component: where the feature is drawn from the component (weights
        u of the paper), and altogether (weights w).
    common : Moments of shape (n_features,)
        Where the feature is drawn from q (weights v, summed over the components).
    """

    sizes: FloatArray
    log_densities: FloatArray
    relevant: Moments
    whole: Moments
    common: Moments


@dataclass(frozen=True, kw_only=True)
class Expectations(FeatureExpectations):
    """What the E-step knows of a table, given a mixture.

    Attributes
    ----------
    log_likelihood : float
    responsibilities : ndarray of shape (n_samples, n_components)
        The posterior probabilities w.
    """

    log_likelihood: float
    responsibilities: FloatArray


def expectations(table: TableOperator, mixture: Mixture) -> Expectations:
    """The E-step, in logarithms.

    O(ndc) time, where d counts the features whose saliency is not 0, or O((nnz + d)c) for a sparse
    table; O((n + d)c) memory, and a block of rows at a time.
    """
    n_samples, n_features = table.shape
    k = mixture.n_components
    saliency = mixture.saliency
    # Features of saliency 0 say nothing of the components: they enter once, not once for each.
    unused, only = np.flatnonzero(saliency == 0), np.flatnonzero(saliency == 1)
    mixed = np.flatnonzero((saliency > 0) & (saliency < 1))
    with np.errstate(divide="ignore"):  # a weight may be 0
        log_weights = np.log(mixture.weights)[:, None]
    components = [
        _gaussians(means, variances, saliency)
        for means, variances in zip(mixture.means, mixture.variances, strict=True)
    ]
    common = _gaussians(mixture.common_means, mixture.common_variances, 1 - saliency)
    components_mixed = [gaussians.of(mixed) for gaussians in components]
    common_mixed = common.of(mixed)

    responsibilities = np.empty((n_samples, k))
    log_likelihood = 0.0
    log_densities = np.zeros(n_features)
    sums = np.zeros((k, N_SUMS, len(mixed)))
    whole = np.zeros((3, k, n_features))  # sums of 1, deviations and squares
    for rows, block in sample_blocks(table):
        of_unused, of_only = block.features(unused), block.features(only)
        of_mixed = block.features(mixed)
        by_sample, by_feature = of_unused.log_densities(common.of(unused))
        log_densities[unused] += by_feature
        by_sample = by_sample + of_mixed.log_densities(common_mixed)[0]
        joint = log_weights + by_sample
        for j, component in enumerate(components):
            joint[j] += of_only.log_densities(component.of(only))[0]
            joint[j] += of_mixed.log_gains(common_mixed, components_mixed[j])
        highest = joint.max(axis=0)
        evidence = highest + np.log(np.exp(joint - highest).sum(axis=0))
        w = np.exp(joint - evidence)
        responsibilities[rows] = w.T
        log_likelihood += float(evidence.sum())

        whole[1:, :, unused] += of_unused.moments(mixture.common_means[unused], w)
        for j in range(k):
            whole[1:, j, only] += of_only.moments(mixture.means[j, only], w[j : j + 1])[:, 0]
            near = w[j] > NEGLIGIBLE
            if near.any():
                part = of_mixed if near.all() else of_mixed.samples(near)
                sums[j] += part.sums(common_mixed, components_mixed[j], w[j, near])

    sizes = responsibilities.sum(axis=0)
    whole[0] = sizes[:, None]
    whole[1:, :, mixed] = sums[:, 1:3].swapaxes(0, 1)
    log_densities[mixed] = sums[:, 0].sum(axis=0)
    for j, component in enumerate(components):
        precise = component.of(only)
        log_densities[only] += sizes[j] * precise.constants
        log_densities[only] -= precise.half_precisions * whole[2, j, only]
    relevant = np.zeros((3, k, n_features))
    relevant[:, :, only] = whole[:, :, only]
    relevant[:, :, mixed] = sums[:, 3:6].swapaxes(0, 1)
    commonly = np.zeros((3, n_features))
    commonly[:, mixed] = sums[:, 6:].sum(axis=0)
    commonly[0, unused] = n_samples
    commonly[1:, unused] = whole[1:, :, unused].sum(axis=1)
    origins = np.where(saliency > 0, mixture.means, mixture.common_means)
    return Expectations(
        log_likelihood=log_likelihood,
        responsibilities=responsibilities,
        sizes=sizes,
        log_densities=log_densities,
        relevant=_moments(relevant, mixture.means, mixture.variances),
        whole=_moments(whole, origins, mixture.variances),
        common=_moments(commonly, mixture.common_means, mixture.common_variances),
    )


def expectations_given(
    parts: Sequence[Block], weights: Sequence[FloatArray], mixture: Mixture
) -> FeatureExpectations:
    """The E-step of features whose saliency is neither 0 nor 1, the samples' components given.

    Parameters
    ----------
    parts : sequence of Block
        The samples of each component, with these features.
    weights : sequence of ndarray of shape (n_rows,)
        Their posterior probabilities of the component.
    mixture : Mixture
        Of these features.
    """
    common = _gaussians(mixture.common_means, mixture.common_variances, 1 - mixture.saliency)
    sums = np.stack(
        [
            part.sums(common, _gaussians(means, variances, mixture.saliency), w)
            for part, w, means, variances in zip(
                parts, weights, mixture.means, mixture.variances, strict=True
            )
        ],
        axis=1,
    )
    sizes = np.array([w.sum() for w in weights])
    whole = np.stack([np.broadcast_to(sizes[:, None], mixture.means.shape), *sums[1:3]])
    return FeatureExpectations(
        sizes=sizes,
        log_densities=sums[0].sum(axis=0),
        relevant=_moments(sums[3:6], mixture.means, mixture.variances),
        whole=_moments(whole, mixture.means, mixture.variances),
        common=_moments(sums[6:].sum(axis=1), mixture.common_means, mixture.common_variances),
    )


def _gaussians(means: FloatArray, variances: FloatArray, shares: FloatArray) -> Gaussians:
    """Gaussians, each times its share; one of no share is never asked for."""
    log_shares = np.log(np.where(shares > 0, shares, 1))
    return Gaussians(means, 0.5 / variances, log_shares - 0.5 * np.log(2 * np.pi * variances))


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
