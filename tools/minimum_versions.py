"""Print the oldest versions that pyproject.toml allows, as constraints for pip.

python tools/minimum_versions.py test > minimum.txt
pip install --constraint minimum.txt --editable '.[test]'
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
OWN = re.compile(r"tamis\[(?P<extras>[\w,]+)\]")
BOUNDED = re.compile(r"(?P<name>[\w-]+)(?:>=|==)(?P<version>[\w.]+)")


def requirements(*extras: str) -> Iterator[str]:
    """What tamis needs, alone and with these extras, which may name one another."""
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    yield from project["dependencies"]
    waiting = list(extras)
    while waiting:
        for requirement in project["optional-dependencies"][waiting.pop()]:
            if own := OWN.fullmatch(requirement):
                waiting += own["extras"].split(",")
            else:
                yield requirement


def constraints(*extras: str) -> list[str]:
    """One line per package, `name==version`."""
    lines = set()
    for requirement in requirements(*extras):
        bounded = BOUNDED.fullmatch(requirement)
        if bounded is None:
            raise ValueError(f"{requirement!r} in pyproject.toml has no lowest version.")
        lines.add(f"{bounded['name']}=={bounded['version']}")
    return sorted(lines)


if __name__ == "__main__":
    print("\n".join(constraints(*sys.argv[1:])))
