"""Optional libraries: imported when a format needs them, or one line that says what to install."""

from __future__ import annotations

import importlib
from typing import Any

from tamis.io._errors import TableError


def need(module: str, extra: str) -> Any:
    """Import a library of the extra, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise TableError(
            f"This format needs the library {library}: pip install 'tamis[{extra}]'."
        ) from error
