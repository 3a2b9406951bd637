"""``tamis methods``: what there is, for what, at what cost."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli._completion import method_names
from tamis.cli._failures import CommandError, reason
from tamis.cli._options import AsJson
from tamis.cli._preparation import scales_itself
from tamis.cli._screen import one_line, print_json, print_table, print_text
from tamis.utils.messages import did_you_mean

if TYPE_CHECKING:
    from tamis.registry import Method

__all__ = ["find_method", "methods", "parameters_of", "third_party_selectors"]


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="One method, in detail.",
            autocompletion=method_names,
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods, or show one with its parameters.

    For example:
      tamis methods
      tamis methods udfs
      tamis methods --json
    """
    from tamis.registry import DEFAULT_METHOD, DEFAULT_METHOD_REASON, METHODS

    if name is not None:
        _print_one(find_method(name), as_json)
        return
    if as_json:
        print_json([_described(method) for method in METHODS.values()])
        return
    print_table(
        ("name", "family", "keeps", "scale", "cost", "reference"),
        [
            (m.name, m.family, m.prefers, _scale(m), m.cost, m.reference or "–")
            for m in METHODS.values()
        ],
    )
    print_text("")
    print_text("n samples, d columns, k neighbours, c clusters. `tamis methods NAME` shows one.")
    print_text(
        "The scale, on which columns are ranked unless --scale says otherwise: standard, mean 0 "
        "and deviation 1; columns, each to [0, 1]; none, as they are; own, found by the method. "
        "Sparse tables are divided, never shifted."
    )
    print_text(f"Unless told otherwise tamis uses {DEFAULT_METHOD}: {DEFAULT_METHOD_REASON}.")


def find_method(name: str) -> Method:
    """The method of that name, in any case and with - for _; a failure that names close ones."""
    from tamis.registry import METHODS

    found = METHODS.get(name.lower().replace("-", "_"))
    if found is None and ":" in name:
        raise CommandError(
            f"{name} is a selector of another package: tamis compare and tamis bench leaderboard "
            "take it beside the methods of tamis; in Python it is fitted as it is."
        )
    if found is None:
        raise CommandError(
            f"there is no method {name!r}{did_you_mean(name, METHODS)}; `tamis methods` lists them."
        )
    return found


def third_party_selectors(names: Iterable[str]) -> dict[str, Any]:
    """The selectors of other packages, each by the MODULE:NAME that means it."""
    from tamis.evaluation import load_selector

    found = {}
    for name in names:
        try:
            found[name] = load_selector(name)
        except ValueError as error:
            raise CommandError(f"{reason(error)}.") from None
    return found


def _described(method: Method) -> dict[str, Any]:
    from tamis.registry import DEFAULT_METHOD

    return {
        "name": method.name,
        "class": method.selector.__name__,
        "family": method.family,
        "keeps": method.prefers,
        "cost": method.cost,
        "reference": method.reference or None,
        "scaling": method.scaling,
        "recommended": method.name == DEFAULT_METHOD,
        "parameters": {
            name: {"default": default, "about": about, "try": method.tune.get(name)}
            for name, default, about in parameters_of(method)
        },
    }


def _print_one(method: Method, as_json: bool) -> None:
    if as_json:
        print_json(_described(method))
        return
    summary = (inspect.getdoc(method.selector) or "").split("\n\n")[0]
    print_text(f"{method.name} ({method.selector.__name__})", style="bold")
    print_text(one_line(summary))
    print_text("")
    print_text(f"keeps       {method.prefers}")
    print_text(f"family      {method.family}")
    print_text(f"cost        {method.cost}")
    print_text(f"reference   {method.reference or '–'}")
    scaling = "found by itself" if scales_itself(method) else _scaling_words(method)
    print_text(f"scaling     {scaling}, unless --scale says otherwise")
    print_text("")
    print_table(
        ("parameter", "default", "worth trying", "meaning"),
        [
            (name, repr(default), ", ".join(map(repr, method.tune.get(name, ()))), about)
            for name, default, about in parameters_of(method)
        ],
    )
    print_text("")
    print_text(f"Example: tamis select data.csv --method {method.name}{_example(method)}")


def _scale(method: Method) -> str:
    """The recommended scale in a word, for the list."""
    return "own" if scales_itself(method) else method.scaling


def _scaling_words(method: Method) -> str:
    from tamis.registry import SCALING_WORDS

    return f"{method.scaling} ({SCALING_WORDS[method.scaling]})"


def parameters_of(method: Method) -> list[tuple[str, Any, str]]:
    """Name, default and meaning of what --param can set."""
    about = _documented_parameters(method.selector)
    return [
        (name, parameter.default, about.get(name, ""))
        for name, parameter in inspect.signature(method.selector).parameters.items()
        if name not in NOT_PARAMETERS
    ]


# Set by options of their own, or only of use in Python.
NOT_PARAMETERS = ("n_features_to_select", "affinity", "random_state", "n_jobs", "verbose")


def _documented_parameters(cls: type) -> dict[str, str]:
    """The meaning of each parameter, from the numpydoc section of the class."""
    text = inspect.getdoc(cls) or ""
    section = re.search(r"Parameters\n-+\n(.*?)\n\n\w+\n-+\n", text, re.DOTALL)
    meaning: dict[str, str] = {}
    for entry in re.split(r"\n(?=\w)", section[1] if section else ""):
        head, _, body = entry.partition("\n")
        for name in head.partition(" : ")[0].split(", "):
            meaning[name] = one_line(re.sub(r":\w+:`~?([^`]+)`|`+", r"\1", body))
    return meaning


def _example(method: Method) -> str:
    """A parameter set to a value that is worth trying."""
    for name, values in method.tune.items():
        default = inspect.signature(method.selector).parameters[name].default
        for value in values:
            if value != default and value is not None:
                return f" --param {name}={value}"
    return ""
