"""The few type names that the library shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[Any]
IntArray: TypeAlias = NDArray[np.intp]
BoolArray: TypeAlias = NDArray[np.bool_]
SparseMatrix: TypeAlias = Any  # scipy's CSR array or matrix
Matrix: TypeAlias = Any  # a dense ndarray or a SparseMatrix
Operator: TypeAlias = Callable[[FloatArray], FloatArray]  # applies a matrix to a vector or columns
