"""The reference pages, written from what the modules export: a new name needs no line here."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

import tamis

FOLDER = "api"
# Module, and the title of its page. A module that this version does not have is left out.
MODULES = {
    "tamis": "Selectors",
    "tamis.base": "The contract",
    "tamis.registry": "The registry of methods",
    "tamis.metrics": "Metrics",
    "tamis.graphs": "Sample graphs",
    "tamis.clustering": "Clustering",
    "tamis.testing": "Testing a selector",
    "tamis.datasets": "Data sets",
    "tamis.io": "Reading and writing tables",
    "tamis.distributed": "Tables in blocks",
    "tamis.preprocessing": "From a real table to numbers",
    "tamis.plots": "Plots",
    "tamis.report": "The report",
    "tamis.studio": "The studio",
    "tamis.inspection": "Evidence for a selection",
    "tamis.evaluation": "Evaluation",
    "tamis.reproduction": "Experiments of the papers",
    "tamis.cli": "The command line",
    "tamis.columns": "Statistics of columns",
    "tamis.solvers": "Numerical engines",
}


def explains_itself(value: Any) -> bool:
    """Whether a value has a docstring of ours: an instance of a foreign class has that class's."""
    if inspect.isclass(value) or inspect.isroutine(value):
        return True
    return type(value).__module__.partition(".")[0] in {"tamis", "builtins", "types", "typing"}


def public_names(module: ModuleType) -> list[str]:
    """What a module exports: its `__all__`, or else the public functions and classes it defines.

    A name of another module that has a page is listed there.
    """
    listed = getattr(module, "__all__", None)
    if listed is not None:
        elsewhere = MODULES.keys() - {module.__name__}
        return [
            name
            for name in listed
            if not name.startswith("__")
            and getattr(getattr(module, name), "__module__", None) not in elsewhere
            and explains_itself(getattr(module, name))
        ]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    ]


def exists(name: str) -> bool:
    """Whether there is such a module; its package, which may be missing too, is asked first."""
    package = name.rpartition(".")[0]
    return (not package or exists(package)) and find_spec(name) is not None


def documented_modules() -> Iterator[tuple[str, ModuleType]]:
    """The modules of this version that have a page, each with its title."""
    for name, title in MODULES.items():
        if exists(name):
            yield title, importlib.import_module(name)


def parts_of(module: ModuleType) -> list[ModuleType]:
    """The public modules of a package that exports nothing itself."""
    if public_names(module) or not hasattr(module, "__path__"):
        return []
    found = pkgutil.iter_modules(module.__path__, f"{module.__name__}.")
    names = [entry.name for entry in found if not entry.name.rpartition(".")[2].startswith("_")]
    return [importlib.import_module(name) for name in names]


def heading(text: str, line: str) -> str:
    """A heading in reStructuredText."""
    return f"{text}\n{line * len(text)}\n"


def listing(module: ModuleType) -> str:
    """The table of a module's public names, each linked to its page."""
    rows = "\n".join(f"   {module.__name__}.{name}" for name in public_names(module))
    return f".. autosummary::\n   :toctree: generated\n\n{rows}\n"


def toctree(names: Iterable[str]) -> str:
    """The list of other pages."""
    rows = "\n".join(f"   {name}" for name in names)
    return f".. toctree::\n   :maxdepth: 1\n\n{rows}\n"


def pages_of(title: str, module: ModuleType) -> dict[str, str]:
    """The page of a module; for a package of engines also a page of each, all in one place."""
    parts = parts_of(module)
    listed = toctree(part.__name__ for part in parts) if parts else listing(module)
    blocks = [heading(title, "="), f"``{module.__name__}``\n", inspect.getdoc(module) or "", listed]
    pages = {module.__name__: "\n\n".join(blocks)}
    for part in parts:
        whole = f".. automodule:: {part.__name__}\n   :members:\n"
        pages[part.__name__] = f"{heading(part.__name__, '=')}\n{whole}"
    return pages


def write_pages(app: Sphinx, config: Config) -> None:
    """Write the pages that changed, and take away those of modules that are gone."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(exist_ok=True)
    modules = list(documented_modules())
    about = f"Everything that tamis {tamis.__version__} exports, module by module.\n"
    index = toctree(module.__name__ for _, module in modules)
    wanted = {"index": "\n".join([heading("API reference", "="), about, index])}
    for title, module in modules:
        wanted |= pages_of(title, module)
    # Pages of names, which autosummary writes and never takes away.
    listed = [f"{m.__name__}.{name}" for _, m in modules for name in public_names(m)]
    keep = {f"{name}.rst" for name in wanted} | {f"generated/{name}.rst" for name in listed}
    for stale in set(folder.rglob("*.rst")) - {folder / path for path in keep}:
        stale.unlink()
    for name, text in wanted.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks what pages there are."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
