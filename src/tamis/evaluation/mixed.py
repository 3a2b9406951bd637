"""Tables as they come, prepared anew wherever rows are left out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone

from tamis._typing import IntArray, Matrix
from tamis.datasets import DatasetError
from tamis.datasets.checks import checked_labels
from tamis.datasets.records import N_CLUSTERS
from tamis.preprocessing import Preparation, Scaling, drawn_samples, scaler_for

__all__ = ["MixedTable"]


@dataclass(frozen=True, eq=False)
class MixedTable:
    """A table of mixed types, with gaps, to judge selections on.

    The preparation is part of each run: it learns from the rows that the run may see and from no
    others. Where classifiers judge, it learns from the training rows of each fold.

    Attributes
    ----------
    name : str
    X : {pandas, polars or Arrow frame, array-like, sparse, dict of arrays}
        The table as it comes, without the labels.
    y : array-like of shape (n_samples,) or None
        Classes, none of them missing. They judge selections; no method sees them.
    preparation : Preparation or None
        How numbers are made of the table; a copy of it is fitted. None takes the defaults.
    n_clusters : int or None
        Clusters to look for. None looks for as many as there are classes, or for 5.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.evaluation import MixedTable
    >>> table = MixedTable("mine", {"a": np.array([1, np.nan, 3.0]), "b": np.array([2.0, 3, 5])})
    >>> table.prepared(None, 0)[0]
    array([[1., 2.],
           [2., 3.],
           [3., 5.]])
    """

    name: str
    X: Any
    y: Any = None
    preparation: Preparation | None = None
    n_clusters: int | None = None

    def __post_init__(self) -> None:
        if self.y is not None:
            try:
                y = checked_labels(self.y, self.n_samples)
            except ValueError as error:
                raise DatasetError(f"the table {self.name!r}: {error}") from None
            object.__setattr__(self, "y", y)

    @cached_property
    def n_samples(self) -> int:
        """How many rows there are."""
        if isinstance(self.X, Mapping) and not sp.issparse(self.X):
            return len(next(iter(self.X.values()), ()))
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    @property
    def n_classes(self) -> int:
        """Number of classes among the samples, or of clusters to look for."""
        if self.n_clusters is not None:
            return self.n_clusters
        return N_CLUSTERS if self.y is None else len(np.unique(self.y))

    def prepared(
        self, max_samples: int | None, seed: int
    ) -> tuple[Matrix, NDArray[Any] | None, Preparation, IntArray]:
        """The numbers of the drawn rows, their labels, the fitted preparation, and the rows."""
        drawn = drawn_samples(self.n_samples, max_samples, seed)
        rows = np.arange(self.n_samples)[drawn]
        preparation = self._unfitted()
        X = preparation.fit_transform(_taken(self.X, rows))
        rows = rows[preparation.rows_]
        return X, None if self.y is None else self.y[rows], preparation, rows

    def held_out(
        self,
        train: IntArray,
        test: IntArray,
        outputs: Sequence[str],
        sources: Sequence[str],
        scaling: Scaling,
    ) -> tuple[Matrix, Matrix]:
        """Some prepared columns of two sets of rows; all that is learned is of the first.

        Parameters
        ----------
        train, test : ndarray of int
            Rows of the table.
        outputs : sequence of str
            Columns by the names that the preparation gives them. Those that do not come of the
            training rows, such as a level that is not among them, are left out.
        sources : sequence of str
            The columns of the table that are looked at.
        scaling : str
        """
        table = _of_columns(self.X, sources)
        preparation = self._unfitted(sources)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a level that only the other rows have
            seen = preparation.fit_transform(_taken(table, train))
            unseen = preparation.transform(_taken(table, test))
        known = {name: j for j, name in enumerate(preparation.get_feature_names_out())}
        columns = [known[name] for name in outputs if name in known]
        if not columns:
            return np.zeros((len(train), 1)), np.zeros((len(test), 1))
        seen, unseen = seen[:, columns], unseen[:, columns]
        if scaling == "unit":
            lowest, span = seen.min(), (seen.max() - seen.min()) or 1.0
            if sp.issparse(seen):
                lowest, span = 0.0, abs(seen).max() or 1.0
                return seen / span, unseen / span
            return (seen - lowest) / span, (unseen - lowest) / span
        scaler = scaler_for(scaling, sp.issparse(seen))
        if scaler is None:
            return seen, unseen
        return scaler.fit_transform(seen), scaler.transform(unseen)

    def _unfitted(self, sources: Sequence[str] | None = None) -> Preparation:
        made = Preparation() if self.preparation is None else clone(self.preparation)
        if sources is not None and made.kinds:
            made.set_params(kinds={n: kind for n, kind in made.kinds.items() if n in sources})
        return made


def _taken(X: Any, rows: IntArray) -> Any:
    if isinstance(X, Mapping) and not sp.issparse(X):
        return {name: np.asarray(values)[rows] for name, values in X.items()}
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows.tolist()].to_native()
    return X.tocsr()[rows] if sp.issparse(X) else np.asarray(X)[rows]


def _of_columns(X: Any, names: Sequence[str]) -> Any:
    """Some columns by name; of a table without names, by the x0, x1, … that stand for them."""
    if isinstance(X, Mapping) and not sp.issparse(X):
        return {name: X[name] for name in names}
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[list(names)].to_native()
    return X
