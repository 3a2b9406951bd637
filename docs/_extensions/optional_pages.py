"""Toctrees whose globs may match nothing: Sphinx warns of that, and a warning fails the build."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.matching import patfilter

TOCTREE = re.compile(r"(?<=^```\{toctree\}\n).*?(?=^```$)", flags=re.DOTALL | re.MULTILINE)


def without_missing(app: Sphinx, docname: str, source: list[str]) -> None:
    """Take the globs that match no page out of a page's toctrees."""

    def kept(body: re.Match[str]) -> str:
        lines = body[0].splitlines(keepends=True)
        if ":glob:\n" not in lines:
            return body[0]
        app.env.note_reread()  # a page that is added later is found
        folder = docname.rpartition("/")[0]
        prefix = f"{folder}/" if folder else ""
        return "".join(
            line
            for line in lines
            if "*" not in line or patfilter(app.env.found_docs, prefix + line.strip())
        )

    source[0] = TOCTREE.sub(kept, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at every page before it is parsed."""
    app.connect("source-read", without_missing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
