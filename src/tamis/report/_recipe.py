"""How to repeat a selection: code, parameters, versions."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import scipy.sparse as sp
from sklearn.base import clone

from tamis.base import Selector


def parameters(selector: Selector) -> list[tuple[str, str, bool]]:
    """Every parameter with its value, and whether it differs from the default."""
    defaults = type(selector)().get_params(deep=False)
    return [
        (name, _describe(value), _differs(value, defaults.get(name)))
        for name, value in selector.get_params(deep=False).items()
    ]


def python_code(selector: Selector) -> str:
    """Python that makes the same selector and fits it."""
    changed = [f"{name}={value}" for name, value, differs in parameters(selector) if differs]
    owner = type(selector)
    module = "tamis" if owner.__module__.startswith("tamis.") else owner.__module__
    return (
        f"from {module} import {owner.__name__}\n\n"
        f"selector = {owner.__name__}({', '.join(changed)})\n"
        "X_selected = selector.fit_transform(X)"
    )


def versions() -> list[tuple[str, str]]:
    """The software that the result hangs on."""
    packages = [(name, version(name)) for name in ("tamis", "numpy", "scipy", "scikit-learn")]
    return [*packages, ("Python", platform.python_version()), ("system", platform.system())]


def depends_on_chance(selector: Selector) -> bool:
    """Whether a second fit may differ, for want of a seed."""
    settings = selector.get_params(deep=False)
    return "random_state" in settings and settings["random_state"] is None


def _describe(value: Any) -> str:
    if sp.issparse(value) or hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {value.shape}>"
    return repr(value)


def _differs(value: Any, default: Any) -> bool:
    if sp.issparse(value) or hasattr(value, "shape"):
        return True
    return repr(clone(value, safe=False)) != repr(default)
