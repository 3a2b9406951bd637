"""What a bare ``import tamis`` gives."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import tamis

# What the package is built of; not public, and not to be relied on.
INTERNAL = {"solvers", "utils"}
MODULES = [
    m.name
    for m in pkgutil.iter_modules(tamis.__path__)
    if not m.name.startswith("_") and m.name not in INTERNAL
]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_module_is_an_attribute(name):
    """In a process of its own: here the tests have imported most of them."""
    code = (
        "import sys, tamis\n"
        "assert 'numpy' not in sys.modules, 'importing is slow'\n"
        f"assert {name!r} in dir(tamis)\n"
        f"assert tamis.{name}.__name__ == 'tamis.{name}'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
