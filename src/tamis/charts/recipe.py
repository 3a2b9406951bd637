"""How to repeat a selection: code, parameters, versions."""

from __future__ import annotations

import platform
from importlib.metadata import version
from inspect import signature
from typing import Any

from sklearn import config_context
from sklearn.base import TransformerMixin

from tamis.base import Selector


def parameters(selector: Selector) -> list[tuple[str, str, bool]]:
    """Every parameter with its value, and whether it differs from the default."""
    defaults = signature(type(selector)).parameters
    settings = selector.get_params(deep=False)
    return [
        (name, _describe(settings[name]), _differs(settings[name], defaults[name].default))
        for name in defaults
        if name in settings
    ]


def python_code(
    selector: Selector, scaler: TransformerMixin | None = None, source_code: str = ""
) -> str:
    """Python that makes the same selector and fits it; arrays are left for the reader to bring.

    Parameters
    ----------
    selector : Selector
    scaler : transformer of scikit-learn or None
        What scaled the table first; made and fitted by the code, too.
    source_code : str
        Python that makes the table X, before the scaler; without it the reader brings X.
    """
    settings = selector.get_params(deep=False)
    changed, arrays = [], []
    for name, value, differs in parameters(selector):
        if _is_array(settings[name]):
            arrays.append(f"# {name}: a {value}\n")
            changed.append(f"{name}={name}")
        elif differs:
            changed.append(f"{name}={value}")
    owner = type(selector)
    module = "tamis" if owner.__module__.startswith("tamis.") else owner.__module__
    imported, scaled = "", ""
    if scaler is not None:
        imported = f"from sklearn.preprocessing import {type(scaler).__name__}\n"
        with config_context(print_changed_only=True):
            scaled = f"X = {scaler!r}.fit_transform(X)\n"
    if source_code:
        scaled = f"{source_code.rstrip()}\n{scaled}"
    return (
        f"{imported}from {module} import {owner.__name__}\n\n{''.join(arrays)}{scaled}"
        f"selector = {owner.__name__}({', '.join(changed)})\n"
        "X_selected = selector.fit_transform(X)"
    )


def versions() -> list[tuple[str, str]]:
    """The software that the result depends on."""
    packages = [(name, version(name)) for name in ("tamis", "numpy", "scipy", "scikit-learn")]
    return [*packages, ("Python", platform.python_version()), ("system", platform.system())]


def depends_on_chance(selector: Selector) -> bool:
    """Whether a second fit may differ, for want of a seed."""
    settings = selector.get_params(deep=False)
    return "random_state" in settings and settings["random_state"] is None


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and value.shape != ()


def _describe(value: Any) -> str:
    if _is_array(value):
        return f"{type(value).__name__} of shape {value.shape}"
    return repr(value)


def _differs(value: Any, default: Any) -> bool:
    return _is_array(value) or repr(value) != repr(default)
