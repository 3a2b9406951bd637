"""What to keep of a table and how to prepare it, to do the same to other tables."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tamis._typing import Matrix
from tamis.preprocessing import _selection_file
from tamis.preprocessing._by_name import names_of, numbers, take
from tamis.utils.files import replacing
from tamis.utils.messages import describe_columns, repeated

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from tamis.preprocessing._preparation import Preparation

NUMBER = "number"


@dataclass(frozen=True, eq=False)
class Selection:
    """Which columns of a table to keep, and how to prepare them: the same cut for new data.

    A selection knows the columns of the table that it was made on by name, so that a new table may
    have them in another order, and others beside them. It is written as plain JSON, to be read in
    another process, by another version or by another program; reading it runs nothing.

    Parameters
    ----------
    kept : sequence of str
        The columns to keep.
    columns : mapping of str to str
        The columns that the selection was made from, in order, and what each was taken for: see
        `kinds_` of :class:`Preparation`. Of plain numbers, all are "number".
    passthrough : sequence of str
        Columns that belong to the row and were not chosen among: ids, labels, dates, text.
    preparation : fitted Preparation or None
        What made numbers of the columns; None if they were plain numbers.
    method : str
        What chose the columns, for information.
    parameters : mapping of str to values
        Those of the method, for information.
    tamis_version : str
        Which tamis made it, for information.

    See Also
    --------
    Preparation : Makes numbers of a table with gaps, categories and dates.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis import MaxVariance
    >>> from tamis.preprocessing import Selection
    >>> X = np.array([[0.0, 1, 5], [0, 2, 1], [1, 3, 9]])
    >>> selector = MaxVariance(n_features_to_select=2).fit(X)
    >>> selection = Selection.from_selector(selector)
    >>> selection.kept
    ('x1', 'x2')
    >>> text = selection.to_json()
    >>> Selection.from_json(text).transform(np.array([[7.0, 8, 9]]))
    array([[8., 9.]])
    """

    kept: Sequence[str]
    columns: Mapping[str, str]
    passthrough: Sequence[str] = ()
    preparation: Preparation | None = None
    method: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    tamis_version: str = field(default_factory=lambda: version("tamis"))

    def __post_init__(self) -> None:
        for name in ("kept", "passthrough"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "parameters", dict(self.parameters))
        self._check()

    def _check(self) -> None:
        """Refuse what contradicts itself."""
        if not self.kept:
            raise ValueError("a selection must keep at least one column.")
        for what, names in (("kept", self.kept), ("passthrough", self.passthrough)):
            twice = repeated(names)
            if twice:
                raise ValueError(f"{what} lists {_described(twice)} twice; list it once.")
        strangers = [name for name in self.kept if name not in self.columns]
        if strangers:
            raise ValueError(
                f"kept lists {_described(strangers)}, which the columns of the selection lack."
            )
        both = [name for name in self.passthrough if name in set(self.kept)]
        if both:
            raise ValueError(f"kept and passthrough both list {_described(both)}.")
        if self.preparation is None:
            others = [name for name, kind in self.columns.items() if kind != NUMBER]
            if others:
                raise ValueError(
                    f"{_described(others)} cannot be used without a preparation; only plain "
                    "numbers can."
                )
            return
        kinds, groups = self.preparation.kinds_, self.preparation.groups_
        for name, kind in self.columns.items():
            if name not in groups or kinds[name] != kind:
                raise ValueError(
                    f"the columns of the selection name {name!r} as {kind}, which is not what its "
                    "preparation makes of it."
                )
        if len(self.columns) != len(groups):
            raise ValueError("the columns of the selection are not those of its preparation.")

    @classmethod
    def from_selector(
        cls,
        selector: Any,
        preparation: Preparation | None = None,
        *,
        passthrough: Sequence[str] = (),
        method: str | None = None,
    ) -> Self:
        """The selection that a fitted selector has made.

        Parameters
        ----------
        selector : fitted selector
            With `get_support`, of tamis or of scikit-learn.
        preparation : fitted Preparation or None, default=None
            What made the numbers that the selector was fitted on. A column of the table is kept
            if any of the columns that were made of it is.
        passthrough : sequence of str
            Columns that belong to the row and were not chosen among.
        method : str or None, default=None
            The name to write; None takes that of the class.

        Returns
        -------
        Selection
            Of a table without names, the columns are called x0, x1 and so on.
        """
        support = selector.get_support()
        if preparation is None:
            names = getattr(selector, "feature_names_in_", None)
            if names is None:
                names = [f"x{column}" for column in range(len(support))]
            columns = dict.fromkeys(map(str, names), NUMBER)
            kept = [str(name) for name, chosen in zip(names, support, strict=True) if chosen]
        else:
            outputs = preparation.get_feature_names_out()
            if len(outputs) != len(support):
                raise ValueError(
                    f"the selector was fitted on {len(support)} columns, but the preparation makes "
                    f"{len(outputs)}; fit it on what the preparation returns."
                )
            chosen_outputs = set(np.asarray(outputs)[support])
            groups = preparation.groups_
            columns = {name: preparation.kinds_[name] for name in groups}
            kept = [name for name, made in groups.items() if chosen_outputs.intersection(made)]
        return cls(
            kept=kept,
            columns=columns,
            passthrough=[name for name in passthrough if name not in set(kept)],
            preparation=preparation,
            method=type(selector).__name__ if method is None else method,
            parameters={
                name: _plain(value) for name, value in selector.get_params(deep=False).items()
            },
        )

    def transform(self, table: Any) -> Matrix:
        """The kept columns of a table as prepared numbers, in their own units.

        Parameters
        ----------
        table : frame of pandas, polars or Arrow, mapping of names to columns, array or sparse
            With every column that the selection was made from, for imputation looks at all of
            them; columns of an array must be as many, in the same order.

        Returns
        -------
        {ndarray, sparse} of shape (n_samples, n_outputs)
            A category or a date has several columns: see :meth:`get_feature_names_out`.
        """
        if self.preparation is None:
            return numbers(table, self.kept, list(self.columns))
        prepared: Matrix = self.preparation.transform(table)
        return take(prepared, self.get_feature_names_out().tolist(), self._outputs())

    def rows(self, table: Any) -> Any:
        """Which rows of a table :meth:`transform` returns: all, but where gaps drop a row.

        Parameters
        ----------
        table : as for :meth:`transform`

        Returns
        -------
        ndarray of bool
        """
        if self.preparation is not None and self.preparation.missing == "drop-rows":
            return self.preparation._complete_rows(table)
        n_rows = len(next(iter(table.values()))) if isinstance(table, Mapping) else len(table)
        return np.ones(n_rows, dtype=bool)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns that :meth:`transform` returns.

        Parameters
        ----------
        input_features : None
            Ignored: the columns are known by name.

        Returns
        -------
        ndarray of str
        """
        if self.preparation is None:
            return np.array(self.kept, dtype=object)
        groups = self.preparation.groups_
        return np.array([made for name in self.kept for made in groups[name]], dtype=object)

    def cut(self, table: Any, *, passthrough: bool = False) -> Any:
        """The kept columns of a table, as they are.

        Parameters
        ----------
        table : frame of pandas, polars or Arrow, mapping of names to columns, array or sparse
            No more than the kept columns have to be there.
        passthrough : bool, default=False
            Whether to take those of the columns along that belong to the row and are there; they
            come first. An array has none.

        Returns
        -------
        table
            Of the same kind.
        """
        names = names_of(table)
        beside = []
        if passthrough and names is not None:
            beside = [name for name in self.passthrough if name in set(names)]
        return take(table, [*beside, *self.kept], list(self.columns))

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The selection as JSON.

        Parameters
        ----------
        path : path or None, default=None
            Where it is written, too; whole or not at all.

        Returns
        -------
        str
        """
        text = _selection_file.written(
            {
                "tamis": self.tamis_version,
                "method": self.method,
                "parameters": dict(self.parameters),
                "columns": dict(self.columns),
                "kept": list(self.kept),
                "passthrough": list(self.passthrough),
                "preparation": None if self.preparation is None else self.preparation.to_dict(),
            }
        )
        if path is not None:
            with replacing(Path(path)) as beside:
                beside.write_text(text, encoding="utf-8")
        return text

    @classmethod
    def from_json(cls, source: str | os.PathLike[str]) -> Self:
        """Read what :meth:`to_json` has written; nothing in it is run.

        Parameters
        ----------
        source : path or str
            The file, or the JSON itself.

        Raises
        ------
        ValueError
            One sentence: of what is no selection, was changed, or is of another version.
        """
        text, name = _selection_file.text_of(source)
        contents = _selection_file.read(text, name)
        contents["tamis_version"] = contents.pop("tamis")
        try:
            if contents["preparation"] is not None:
                from tamis.preprocessing._preparation import Preparation

                contents["preparation"] = Preparation.from_dict(contents["preparation"])
            return cls(**contents)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def to_pipeline(self) -> Pipeline:
        """The selection as a pipeline of scikit-learn, fitted and frozen.

        Its steps stay as they are when the pipeline is cloned or fitted, so that a model behind
        them is trained on the same columns, prepared by the same means and categories.

        Returns
        -------
        Pipeline
            Its `transform` returns what :meth:`transform` does.
        """
        from sklearn.compose import ColumnTransformer
        from sklearn.frozen import FrozenEstimator
        from sklearn.pipeline import Pipeline

        among = self._outputs()
        places = {name: place for place, name in enumerate(among)}
        chosen = [places[name] for name in self.get_feature_names_out()]
        cut = ColumnTransformer([("kept", "passthrough", chosen)], verbose_feature_names_out=False)
        cut.fit(np.zeros((1, len(among))))
        steps = [("select", FrozenEstimator(cut))]
        if self.preparation is not None:
            steps.insert(0, ("prepare", FrozenEstimator(self.preparation)))
        else:  # by which columns of a frame are found in whatever order
            cut.feature_names_in_ = np.array(among, dtype=object)
        return Pipeline(steps)

    def to_pandas(self) -> str:
        """A few lines of pandas that do what :meth:`transform` does, without tamis.

        Returns
        -------
        str
            Python that takes a frame called `table`, and leaves one called `small`.

        Raises
        ------
        ValueError
            If the preparation fills gaps by what the other columns tell, which takes more than a
            few lines.
        """
        from tamis.preprocessing._selection_code import pandas_code

        return pandas_code(self)

    def _outputs(self) -> list[str]:
        """The names of all columns that there are to cut from."""
        if self.preparation is None:
            return list(self.columns)
        return [str(name) for name in self.preparation.get_feature_names_out()]


def _described(names: Sequence[str]) -> str:
    return describe_columns(range(len(names)), names)


def _plain(value: Any) -> Any:
    """A parameter as JSON knows it; what JSON does not know, as text."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) and np.isfinite(float(value)):
        return float(value)
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(entry) for entry in value]
    return str(value)
