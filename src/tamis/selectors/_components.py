"""What the methods on principal components share: how many of them there are."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, RealNotInt

from tamis.base import Selector


class ComponentSelector(Selector):
    """A selector with the parameter `n_components`: a number, a share of the variance, or None."""

    n_components: int | float | None

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selector._parameter_constraints,
        "n_components": [
            None,
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
        ],
    }

    def _check_parameters(self, n_samples: int) -> None:
        super()._check_parameters(n_samples)
        most = min(n_samples, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} is too large for n_samples={n_samples} and "
                f"n_features={self.n_features_in_}; use at most {most}."
            )

    def _wanted_components(self, shape: tuple[int, int], default: int | float) -> int | float:
        """The number of components or the share of the variance to ask of a table."""
        wanted = default if self.n_components is None else self.n_components
        return min(int(wanted), *shape) if isinstance(wanted, Integral) else wanted
