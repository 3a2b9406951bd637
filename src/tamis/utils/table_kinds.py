"""Tables of other libraries that `fit` does not take, and what to pass instead."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from tamis.utils.messages import refuse_repeated_columns

__all__ = ["refuse_other_tables"]


def refuse_other_tables(X: Any) -> None:
    """Refuse AnnData, lazy frames, and frames of which two columns have the same name."""
    if any(
        kind.__name__ == "AnnData" and kind.__module__.startswith("anndata.")
        for kind in type(X).__mro__
    ):
        raise TypeError(
            "X is an AnnData object, which holds more than one table; choose genes of it with "
            "tamis.genes.select(adata), or pass one of its tables, such as adata.X."
        )
    if nw.dependencies.is_into_dataframe(X):
        names = X.column_names if nw.dependencies.is_pyarrow_table(X) else X.columns
        refuse_repeated_columns(names, "X")
    elif _is_lazy(X):
        raise TypeError(
            f"X is a {type(X).__name__}, whose rows are not there yet; call .collect() first."
        )


def _is_lazy(X: Any) -> bool:
    try:
        frame = nw.from_native(X, pass_through=True)
    except TypeError:
        return False
    return isinstance(frame, nw.LazyFrame)
