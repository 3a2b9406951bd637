"""Selectors from what options say, and their fits, with failures in words of the command line."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tamis.cli._failures import COMPUTATION, CommandError, reason
from tamis.cli.methods import NOT_PARAMETERS
from tamis.utils.messages import did_you_mean

if TYPE_CHECKING:
    from tamis._typing import Matrix
    from tamis.base import Selector
    from tamis.registry import Method

__all__ = ["fit", "fit_defaults_to", "make_selector", "read_parameters"]

_WORDS = {"none": None, "true": True, "false": False}


def read_parameters(
    method: Method, settings: Sequence[str], clusters: int | None
) -> dict[str, Any]:
    """What --param and --clusters set, by name."""
    known = [
        name for name in inspect.signature(method.selector).parameters if name not in NOT_PARAMETERS
    ]
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            raise CommandError(
                f"--param {setting} is not NAME=VALUE; for example --param alpha=0.3."
            )
        if name not in known:
            raise CommandError(
                f"{method.name} has no parameter {name!r}{did_you_mean(name, known)}; "
                f"`tamis methods {method.name}` lists them."
            )
        if name in values:
            raise CommandError(f"--param sets {name} twice; set it once.")
        values[name] = _read_value(text)
    if clusters is not None:
        name = method.cluster_parameter or ""
        if not name:
            raise CommandError(f"{method.name} knows no clusters; leave out --clusters.")
        if name in values:
            raise CommandError(f"--clusters and --param {name} set the same; leave one out.")
        values[name] = clusters
    return values


def _read_value(text: str) -> Any:
    """A number, a truth value, none, or the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def make_selector(
    method: Method, parameters: dict[str, Any], *, seed: int, jobs: int, verbose: bool
) -> Selector:
    """The selector, its parameters checked."""
    model = method.selector(**parameters)
    shared = {"random_state": seed, "n_jobs": jobs, "verbose": verbose}
    model.set_params(**{k: v for k, v in shared.items() if k in model.get_params()})
    try:
        model._validate_params()
    except ValueError as error:
        raise CommandError(
            f"{reason(error)}; parameters are set with --param NAME=VALUE."
        ) from None
    return model


def fit_defaults_to(
    n_rows: int, model: Selector, method: Method, parameters: dict[str, Any]
) -> list[str]:
    """Lower the defaults that are too large for the rows to the largest that fit; say which.

    Parameters
    ----------
    n_rows : int
    model : Selector
        Its parameters are set.
    method : Method
    parameters : dict
        What the user has set, which stays.
    """
    # As many clusters as rows say nothing, and a graph has no more useful eigenvectors.
    largest = n_rows - 1
    words = []
    for name in dict.fromkeys(("n_neighbors", "n_clusters", method.cluster_parameter or "")):
        default = model.get_params().get(name)
        if name in parameters or name in model._unused_parameters():
            continue
        if isinstance(default, int) and default > largest >= 1:
            model.set_params(**{name: largest})
            words.append(
                f"{name} is {largest} instead of {default}, as there are only {n_rows} rows; "
                f"--param {name}=N sets another number."
            )
    return words


def fit(model: Selector, X: Matrix, source: str) -> None:
    """Rank the columns of X."""
    import numpy as np

    try:
        model.fit(X)
    except (np.linalg.LinAlgError, ArithmeticError, RuntimeError) as error:
        method = type(getattr(model, "selector", model)).__name__
        raise CommandError(
            f"{method} failed on {source}: {reason(error)}; try other parameters or "
            "another scaling.",
            COMPUTATION,
        ) from error
    except ValueError as error:
        text = reason(error)
        hint = ""
        if any(f"{name}=" in text for name in model.get_params()):
            hint = " (parameters are set with --param NAME=VALUE)"
        raise CommandError(f"{source}: {text}{hint}.") from error
