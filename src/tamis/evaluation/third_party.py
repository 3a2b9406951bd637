"""Selectors that tamis does not have: functions, and classes of other packages, by name."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from tamis._typing import FloatArray, Matrix
from tamis.base import Selector
from tamis.utils.messages import did_you_mean

__all__ = ["ScoringFunction", "is_estimator", "load_selector", "selector_from"]


class ScoringFunction(Selector):
    """Rank features by a plain function of the table.

    Parameters
    ----------
    function : callable
        ``function(X)`` gets the table without its constant columns, as an array or a CSR array, and
        returns one score per column, larger ones being better.
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps half.
    keep : list of str or int, or None, default=None
        Columns that are always selected, by name, pattern ("id_*") or index.
    drop : list of str or int, or None, default=None
        Columns that are not looked at and never selected.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        What the function returned.
    ranking_ : ndarray of shape (n_features,)
        1 is the best feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from tamis.evaluation import ScoringFunction
    >>> widest = ScoringFunction(lambda X: np.ptp(X, axis=0), 2)
    >>> widest.fit(load_iris().data).get_support(indices=True)
    array([0, 2])
    """

    _keeps = "independent"

    def __init__(
        self,
        function: Callable[[Any], Any],
        n_features_to_select: int | float | None = None,
        *,
        keep: Sequence[str | int] | None = None,
        drop: Sequence[str | int] | None = None,
    ) -> None:
        super().__init__(n_features_to_select, keep=keep, drop=drop)
        self.function = function

    def _fit(self, X: Matrix) -> FloatArray:
        name = getattr(self.function, "__name__", repr(self.function))
        scores = np.asarray(self.function(X))
        if scores.shape != (X.shape[1],) or scores.dtype.kind not in "biuf":
            raise ValueError(
                f"{name} returned {scores.dtype} of shape {scores.shape}; it must return one "
                f"number per column, {X.shape[1]} of them."
            )
        if not np.isfinite(scores).all():
            raise ValueError(f"{name} returned scores that are not finite; return numbers only.")
        return scores.astype(np.float64)


def is_estimator(thing: Any) -> bool:
    """Whether something is an estimator of scikit-learn's kind, not only its class."""
    return not isinstance(thing, type) and all(
        hasattr(thing, name) for name in ("fit", "get_params", "set_params")
    )


def selector_from(thing: Any) -> Any:
    """An estimator: itself, or a function that scores columns, as one.

    Raises
    ------
    TypeError
        If it is neither.
    """
    if is_estimator(thing):
        return thing
    if callable(thing) and not isinstance(thing, type):
        return ScoringFunction(thing)
    raise TypeError(
        f"{thing!r} is no estimator; give an instance of a tamis Selector or of a scikit-learn "
        "selector, or a function that returns one score per column."
    )


def load_selector(name: str) -> Any:
    """The selector that a name like ``"package.module:Name"`` means.

    Modules in the current folder are found too.

    Parameters
    ----------
    name : str
        The name of a module and, behind a colon, that of a class, which is made with its defaults,
        of an estimator, or of a function that scores columns; see :class:`ScoringFunction`.

    Returns
    -------
    estimator

    Raises
    ------
    ValueError
        In one sentence: what of the name cannot be found, or used.

    Examples
    --------
    >>> from tamis.evaluation import load_selector
    >>> load_selector("tamis:MaxVariance")
    MaxVariance()
    >>> load_selector("tamis:MaxVarianze")
    Traceback (most recent call last):
    ...
    ValueError: tamis has no 'MaxVarianze' (did you mean MaxVariance?).
    """
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise ValueError(f"{name!r} is not MODULE:NAME, as in package.module:Class.")
    found: Any = _module(module_name)
    for part in attribute.split("."):
        if not hasattr(found, part):
            known = [one for one in dir(found) if not one.startswith("_")]
            raise ValueError(f"{module_name} has no {part!r}{did_you_mean(part, known)}.")
        found = getattr(found, part)
    if isinstance(found, type):
        found = _made(found, name)
    elif is_estimator(found):
        found = clone(found)
    try:
        return selector_from(found)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None


def _module(name: str) -> Any:
    folder = os.getcwd()
    if folder not in sys.path:  # worker processes take this path over
        sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise ValueError(
                f"there is no module {error.name!r}; install its package, or change into its "
                "folder."
            ) from None
        raise ValueError(f"{name} needs {error.name}, which is not installed.") from error
    except Exception as error:  # whatever its code raises
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"{name} cannot be imported: {what}") from error


def _made(cls: type, name: str) -> Any:
    """An instance of a class, with its defaults."""
    needed = [
        parameter.name
        for parameter in inspect.signature(cls).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if needed:
        raise ValueError(
            f"{name} cannot be made without {', '.join(needed)}; name an instance, made in a "
            "module of yours, instead of the class."
        )
    return cls()
