"""How the packages may use each other, beyond the layers that import-linter holds."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tamis

ROOT = Path(tamis.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
# Types that all modules share; not a room of any package.
SHARED = {"_typing"}


def imported_names(path: Path) -> list[tuple[str, ...]]:
    """Everything of tamis that a module imports, as the parts of dotted names after `tamis`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found += [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names]
    return [tuple(name.split(".")[1:]) for name in found if name.split(".")[0] == "tamis"]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in SHARED


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_packages_are_entered_by_their_front_door(path):
    own = path.relative_to(ROOT).with_suffix("").parts[0]
    strangers = [
        ".".join(("tamis", *name))
        for name in imported_names(path)
        if name and name[0] != own and any(map(is_private, name))
    ]
    assert strangers == []


def test_a_private_module_of_another_package_is_seen(tmp_path):
    module = tmp_path / "module.py"
    module.write_text("from tamis.io._text import read\nimport tamis._typing\n")
    names = imported_names(module)
    assert names == [("io", "_text", "read"), ("_typing",)]
    assert [any(map(is_private, name)) for name in names] == [True, False]
