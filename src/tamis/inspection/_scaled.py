"""A selection beside its table on the scale on which it was chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tamis.auto import Auto, scale_factors
from tamis.inspection._selection import Selection
from tamis.utils.sparse import is_sparse


def as_chosen(selection: Selection) -> Selection:
    """The selection, its table scaled as the selector scaled it inside; most do not.

    Columns of different units can only be measured together on one scale: the variance of a raw
    table is that of the column with the largest numbers.
    """
    selector = selection.selector
    if not isinstance(selector, Auto) or selector._set_aside.all():
        return selection
    factors = np.ones(selection.X.shape[1])
    varying = ~selection.constant
    factors[varying] = scale_factors(selection.X[:, varying], selector.scaling_)
    if is_sparse(selection.X):
        return replace(selection, X=sp.csr_array(selection.X @ sp.diags_array(factors)))
    return replace(selection, X=selection.X * factors)
