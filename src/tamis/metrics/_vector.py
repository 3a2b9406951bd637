"""Reading one-dimensional arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def vector(values: Any, name: str) -> NDArray[Any]:
    """Return `values` as a one-dimensional array that holds strings as Python objects.

    numpy silently turns ``[1, "a"]`` into two strings; read as objects, the mixture stays visible.
    """
    message = f"{name} must be one-dimensional; pass a flat list or array"
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        raise ValueError(f"{message}.") from None
    if array.dtype.kind in "USTO":
        array = np.asarray(values, dtype=object)
    if array.ndim != 1:
        raise ValueError(f"{message}, not one of shape {array.shape}.")
    return array
