"""The length of a message that tells a table by a mixture with feature saliencies."""

from __future__ import annotations

import numpy as np

from tamis._typing import FloatArray
from tamis.solvers.mixture import FeatureExpectations, Mixture

# What a Gaussian costs for each log(number of its samples): half its parameters, which are a mean
# and a variance. The paper's R/2 (for a component's density) and S/2 (for the common one).
PRICE = 2 / 2


class MessageLength:
    """The length of a message that tells a mixture and a table, and the M-step that shortens it.

    With n samples, d features, k components, and ``R = S = 2`` parameters per Gaussian,

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
        parameters = self.of_features(mixture, mixture.saliency).sum()
        return float(n_told / 2 * np.log(self.n_samples) + parameters - log_likelihood)

    def bounds(self, n_components: int) -> tuple[float, float]:
        """Least and largest saliency that is neither 0 nor 1."""
        n = self.n_samples
        return min(n_components / n, 0.5), 1 - 1 / n

    def shortened(
        self, mixture: Mixture, expected: FeatureExpectations, everywhere: bool
    ) -> Mixture:
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
        self, mixture: Mixture, expected: FeatureExpectations, everywhere: bool
    ) -> FloatArray:
        for_one = expected.relevant.total.sum(axis=0) - PRICE * mixture.n_components
        for_zero = expected.common.total - PRICE
        undecided = (mixture.saliency > 0) & (mixture.saliency < 1)
        inner = _inner_minimum(for_one, for_zero, *self.bounds(mixture.n_components))
        saliency = np.where(undecided, inner, mixture.saliency)

        now = self.of_features(mixture, mixture.saliency) - expected.log_densities
        as_zero = self.of_features(mixture, np.zeros_like(saliency))
        as_zero += _gaussian_length(self.n_samples, 1.0, 1.0)
        as_one = self.of_features(mixture, np.ones_like(saliency))
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

    def of_features(self, mixture: Mixture, saliency: FloatArray) -> FloatArray:
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


def _gaussian_length(
    total: FloatArray | int, variances: FloatArray | float, model_variances: FloatArray | float
) -> FloatArray:
    """Minus the log-likelihood of observations of some variance under a Gaussian of their mean."""
    return total / 2 * (np.log(2 * np.pi * model_variances) + variances / model_variances)
