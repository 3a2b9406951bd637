"""Docstrings are written for a terminal; what reStructuredText reads otherwise is mended.

The shape ``(n_iter_,)`` is no link, whatever its underscore means elsewhere.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

TRAILING_UNDERSCORE = re.compile(r"(?<![`\w\\])([A-Za-z]\w*)_(?=[,)])")


def escape_shapes(
    app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Escape the underscore at the end of attributes in shapes, in place; leave examples alone."""
    for position, line in enumerate(lines):
        if line.strip() == "Examples":
            return
        lines[position] = TRAILING_UNDERSCORE.sub(r"\1\\_", line)


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend docstrings before numpydoc reads them."""
    app.connect("autodoc-process-docstring", escape_shapes, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
