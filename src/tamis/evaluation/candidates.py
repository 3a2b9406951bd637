"""The rows of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from tamis import registry
from tamis.evaluation.fingerprints import (
    class_description,
    description,
    digest,
    is_plain,
    json_value,
)
from tamis.evaluation.third_party import selector_from
from tamis.preprocessing import Scaling
from tamis.utils.messages import repeated

__all__ = [
    "ALL_FEATURES",
    "ALL_FEATURES_LABEL",
    "RANDOM",
    "RANDOM_LABEL",
    "Candidate",
    "with_baselines",
]

ALL_FEATURES = "all_features"
RANDOM = registry.RANDOM_BASELINE
# What the two baselines are called in results, tables and figures.
ALL_FEATURES_LABEL, RANDOM_LABEL = "All features", "Random subsets"
# Parameters that methods were given later than the journals, with their defaults.
LATER = (("keep", None), ("drop", None), ("neighbors", "auto"))
# The value of a parameter that stands for the number of classes of the set.
N_CLASSES = "n_classes"


@dataclass(frozen=True)
class Candidate:
    """A method with its parameters: one row of a comparison.

    Attributes
    ----------
    label : str
        As tables print it.
    method : str
        Its name in the registry, or "all_features".
    parameters : mapping
        Fixed ones, graphs and other arrays among them. The value "n_classes" stands for the number
        of classes of the set, which most papers give to their methods.
    grid : mapping
        Parameters to choose from when the protocol tunes: all combinations are tried.
    scaling : str or None
        Scaling for the fit, where the method needs another than the protocol's; scoring is always
        on the protocol's.
    selector : estimator, callable or None
        One of your own, or of another package, instead of a registered one; `method` is then only
        its name. A tamis :class:`Selector`; any estimator of scikit-learn's kind that tells its
        columns by `get_support`, once the parameter that says how many is set
        (`n_features_to_select`, `n_to_select`, `max_features` or `k`), or by `scores_`, larger ones
        being better; or a function that returns such scores (:class:`ScoringFunction`).
    """

    label: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    scaling: Scaling | None = None
    selector: Any = None

    def __post_init__(self) -> None:
        if self.selector is not None:
            try:
                object.__setattr__(self, "selector", selector_from(self.selector))
            except TypeError as error:
                raise TypeError(f"{self.label}: selector={error}") from None
        elif self.method == ALL_FEATURES:
            return
        known = self._model().get_params(deep=False)
        who = self.method if self.selector is None else type(self.selector).__name__
        for name in (*self.parameters, *self.grid):
            if name not in known:
                raise ValueError(
                    f"{self.label}: {who} has no parameter {name!r}; it has "
                    f"{', '.join(sorted(known))}."
                )

    def _model(self) -> Any:
        return self.selector if self.selector is not None else registry.get(self.method).selector()

    def settings(self, tuned: bool) -> Iterator[dict[str, Any]]:
        """Every combination of parameters to try; only the fixed ones if not `tuned`."""
        grid = self.grid if tuned else {}
        for combination in ParameterGrid({k: list(v) for k, v in grid.items()}):
            # numpy's numbers are not JSON's.
            yield {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in {**self.parameters, **combination}.items()
            }

    def key_parameters(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """A setting as JSON has it; arrays and other objects are told by their contents."""
        return {name: json_value(value) for name, value in setting.items()}

    def fingerprint(self, setting: Mapping[str, Any], table: str) -> str:
        """Of all that a run depends on: the table, the scaling, every parameter, default or not.

        Of a selector of your own, its code too.
        """
        if self.method == ALL_FEATURES:
            return digest(table, self.scaling, [])
        model = self.make(setting, n_classes=1, seed=0)
        parameters = sorted(
            (name, value)
            for name, value in model.get_params().items()
            # Later than the journals: where they have their defaults, they change no run.
            if (name, value) not in LATER
        )
        if self.selector is None and all(is_plain(value) for _, value in parameters):
            return digest(table, self.scaling, parameters)
        told = [(name, description(value)) for name, value in parameters]
        return digest(table, self.scaling, told, class_description(type(model)))

    def make(self, setting: Mapping[str, Any], n_classes: int, seed: int) -> Any:
        """The unfitted selector."""
        model = self._model()
        values = {
            name: n_classes if isinstance(value, str) and value == N_CLASSES else value
            for name, value in setting.items()
        }
        if "random_state" in model.get_params():
            values.setdefault("random_state", seed)
        return model.__class__(**{**model.get_params(deep=False), **values})


def with_baselines(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, preceded by all features and random subsets where these are missing."""
    methods = {candidate.method for candidate in candidates}
    baselines = [Candidate(ALL_FEATURES_LABEL, ALL_FEATURES), Candidate(RANDOM_LABEL, RANDOM)]
    everyone = [*(one for one in baselines if one.method not in methods), *candidates]
    twice = repeated(candidate.label for candidate in everyone)
    if twice:
        raise ValueError(f"two candidates have the label {twice[0]!r}; give each its own.")
    return everyone
