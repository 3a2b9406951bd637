"""What a sweep found: values, their means, and the parameters that were chosen."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, get_args

import numpy as np
from scipy import stats

from tamis._typing import FloatArray
from tamis.evaluation.candidates import RANDOM
from tamis.evaluation.protocol import Clusterer
from tamis.evaluation.seeds import runs_by_subset
from tamis.evaluation.ties import merge_ties

__all__ = ["Estimate", "Record", "Results", "group_sums"]

Pick = Literal["best", "mean"]


@dataclass(frozen=True)
class Record:
    """A finished run.

    Attributes
    ----------
    key : dict
        Of the task; of a selection: "set", "label", "method" and "parameters".
    rows : list of dict
        Of a selection: "n_features", "measure" and "values".
    seconds : dict of str to float
        Processor time of "all" of it, and of parts such as "fit".
    error : str or None
        Why the run failed.
    fingerprint : str
        Of what the run was made of beyond its key; see :class:`Task`.
    made_with : dict
        Commit and versions that made it.
    """

    key: dict[str, Any]
    rows: list[dict[str, Any]]
    seconds: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    fingerprint: str = ""
    made_with: dict[str, str] = field(default_factory=dict)

    @property
    def too_long(self) -> bool:
        """Whether it was stopped for taking longer than it may."""
        return self.error is not None and self.error.startswith("TimeLimitError:")

    def as_dict(self) -> dict[str, Any]:
        """The record as JSON has it; what made it is kept once for many."""
        return {
            "key": self.key,
            "rows": self.rows,
            "seconds": self.seconds,
            "error": self.error,
            "fingerprint": self.fingerprint,
        }


@dataclass(frozen=True)
class Estimate:
    """A mean and how sure it is.

    Attributes
    ----------
    mean, sd : float
        Over `values`; `sd` is that of one value, not of the mean. NaN if there is but one value.
    low, high : float
        95 % confidence interval of the mean (Student's t). Values of one random subset are not
        independent: the interval is then over the subsets. NaN if nothing tells the spread.
    values : ndarray
        One per clustering, or per fold.
    n_features : int or None
        Where they were measured; None for a mean over several numbers.
    parameters : dict
        The setting that was chosen.
    groups : tuple of int
        How many of the values, in their order, belong together; empty if each is on its own.
    """

    mean: float
    sd: float
    low: float
    high: float
    values: FloatArray
    n_features: int | None
    parameters: dict[str, Any]
    groups: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        values: FloatArray,
        n_features: int | None,
        parameters: Mapping[str, Any],
        groups: Sequence[int] = (),
    ) -> Estimate:
        """The estimate of the mean of `values`; `groups` says which of them belong together."""
        values = np.asarray(values, dtype=np.float64)
        mean, n = float(values.mean()), len(values)
        sd = float(values.std(ddof=1)) if n > 1 else np.nan
        half, n_groups = np.nan, len(groups) or n
        if n_groups > 1:
            error = sd / np.sqrt(n)
            if groups:
                # With groups of one size this is the standard error of the mean of their means.
                sums = group_sums(values - mean, groups)
                error = np.sqrt(n_groups / (n_groups - 1) * (sums**2).sum()) / n
            half = float(stats.t.ppf(0.975, n_groups - 1) * error)
        return cls(
            mean, sd, mean - half, mean + half, values, n_features, dict(parameters), tuple(groups)
        )


def group_sums(values: FloatArray, groups: Sequence[int]) -> FloatArray:
    """The sums over groups of successive values; the values themselves without groups."""
    if not groups:
        return values
    if sum(groups) != len(values):
        raise ValueError(f"groups of {sum(groups)} values do not fit {len(values)} of them.")
    return np.add.reduceat(values, np.cumsum([0, *groups[:-1]]))


class Results:
    """The records of a sweep, and the figures that tables are made of.

    Parameters
    ----------
    records : iterable of Record
    header : mapping
        The protocol; its "tuning" says how parameters are chosen among several settings.
    """

    def __init__(self, records: Iterable[Record], header: Mapping[str, Any] | None = None) -> None:
        self.records = tuple(records)
        self.header = dict(header or {})
        self.tuning = self.header.get("tuning", "defaults")
        self._selections: dict[tuple[str, str], list[Record]] = {}
        for record in self.records:
            if "set" in record.key and "label" in record.key:
                place = record.key["set"], record.key["label"]
                self._selections.setdefault(place, []).append(record)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Results:
        """The results in a file that a sweep has written, finished or not."""
        from tamis.evaluation.journal import read_journal

        header, records = read_journal(path)
        return cls(records, header)

    @property
    def made_with(self) -> list[dict[str, str]]:
        """What made the records: each commit with its versions once."""
        distinct: dict[str, dict[str, str]] = {}
        for record in self.records:
            if record.made_with:
                distinct.setdefault(json.dumps(record.made_with), record.made_with)
        return list(distinct.values())

    @property
    def sets(self) -> tuple[str, ...]:
        """Names of the sets, in order of first appearance."""
        return tuple(dict.fromkeys(name for name, _ in self._selections))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the candidates, in order of first appearance."""
        return tuple(dict.fromkeys(label for _, label in self._selections))

    def settings(self, set_name: str, label: str) -> list[dict[str, Any]]:
        """The parameter settings that were run without failing."""
        return [r.key["parameters"] for r in self._of(set_name, label)]

    def errors(self, set_name: str, label: str) -> list[str]:
        """Why runs failed."""
        return [r.error for r in self._selections.get((set_name, label), []) if r.error is not None]

    def seconds(self, set_name: str, label: str, part: str = "all") -> float:
        """Processor time of all settings together: of "all" that was done, or of the "fit"."""
        records = self._selections.get((set_name, label), [])
        return sum(record.seconds.get(part, 0.0) for record in records)

    def counts(self, set_name: str) -> list[int]:
        """The numbers of features that were judged, all features left out."""
        return sorted(
            {
                row["n_features"]
                for (name, _), records in self._selections.items()
                if name == set_name
                for record in records
                if record.key.get("method") != "all_features"
                for row in record.rows
            }
        )

    def values(
        self,
        set_name: str,
        label: str,
        measure: str,
        n_features: int | None,
        parameters: Mapping[str, Any] | None = None,
    ) -> FloatArray | None:
        """What one setting scored, a value for each clustering or fold; None if it was not run.

        Of all features there is one number only, whatever `n_features` says.
        """
        for record in self._of(set_name, label):
            if parameters is not None and not _same(record.key["parameters"], parameters):
                continue
            for row in record.rows:
                anywhere = record.key.get("method") == "all_features" or n_features is None
                if row["measure"] == measure and (anywhere or row["n_features"] == n_features):
                    return np.array(row["values"])
        return None

    def estimate(
        self,
        set_name: str,
        label: str,
        measure: str,
        n_features: int | None = None,
        pick: Pick = "best",
    ) -> Estimate | None:
        """The figure of a cell, or None where there is none.

        Parameters
        ----------
        set_name, label, measure : str
        n_features : int or None, default=None
            At this number of features; None looks at all of them.
        pick : {"best", "mean"}, default="best"
            With `n_features` None: the figure at the best number, or the mean over them. "best"
            looks at the labels, as tables in papers do.

        Returns
        -------
        Estimate or None
            Of the setting that the tuning chooses: the best by `measure` ("oracle"), or by the
            agreement with a clustering of all features ("agreement").
        """
        found = []
        records = self._of(set_name, label)
        if self.tuning == "defaults" and len(records) > 1:
            raise ValueError(
                f"there are {len(records)} settings of {label!r} on {set_name!r}, and the protocol "
                "does not say how to choose; give each its own label, or tune."
            )
        for record in records:
            rows = {row["n_features"]: row for row in record.rows if row["measure"] == measure}
            if record.key.get("method") != "all_features" and n_features is not None:
                rows = {n: row for n, row in rows.items() if n == n_features}
            if not rows:
                continue
            if pick == "mean" and n_features is None:
                each = np.array([row["values"] for row in rows.values()])
                only = next(iter(rows)) if len(rows) == 1 else None
                judged = {only: each.mean(axis=0)}
            else:
                judged = {n: np.array(row["values"]) for n, row in rows.items()}
            estimates = [
                Estimate.of(
                    values, n, record.key["parameters"], self._groups(record, measure, len(values))
                )
                for n, values in judged.items()
            ]
            found += [(self._merit(record, estimate), estimate) for estimate in estimates]
        if not found:
            return None
        if self.tuning == "agreement" and n_features is None and pick == "best":
            # The setting without labels at each number, then the best number.
            by_number: dict[int | None, list[tuple[float, Estimate]]] = {}
            for merit, estimate in found:
                by_number.setdefault(estimate.n_features, []).append((merit, estimate))
            chosen = [_best(some) for some in by_number.values()]
            return _best([(estimate.mean, estimate) for estimate in chosen])
        return _best(found)

    def to_pandas(self) -> Any:
        """All values in a long pandas data frame, one row for each.

        Its columns are "set", "label", "method", "n_features", "measure", "repeat" (which of the
        clusterings, folds or subsets), "value", and one for every parameter of the settings, called
        "parameters.NAME". A run that failed is a row without a measure and a value, whose "error"
        says why.

        Returns
        -------
        pandas.DataFrame
        """
        try:
            pandas = import_module("pandas")
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas.") from error
        rows = [row for records in self._selections.values() for r in records for row in _rows(r)]
        heads = ["set", "label", "method", "n_features", "measure", "repeat", "value", "error"]
        settings = dict.fromkeys(name for row in rows for name in row if name not in heads)
        return pandas.DataFrame(rows, columns=[*heads, *settings])

    def _groups(self, record: Record, measure: str, n_values: int) -> tuple[int, ...]:
        """How many values each random subset has; nothing where a value is on its own.

        Folds have the mean of all subsets: there is nothing to part.
        """
        n_random = self.header.get("n_random")
        clustered = measure == "agreement" or measure.split("_")[0] in get_args(Clusterer)
        if record.key.get("method") != RANDOM or not clustered or n_random is None:
            return ()
        sizes = runs_by_subset(n_random, n_values)
        return () if len(sizes) == n_values else sizes

    def _merit(self, record: Record, estimate: Estimate) -> float:
        """What settings are chosen by."""
        if self.tuning != "agreement":
            return estimate.mean
        agreements = [
            float(np.mean(row["values"]))
            for row in record.rows
            if row["measure"] == "agreement" and estimate.n_features in (None, row["n_features"])
        ]
        return float(np.mean(agreements))

    def _of(self, set_name: str, label: str) -> Sequence[Record]:
        return [r for r in self._selections.get((set_name, label), []) if r.error is None]


def _rows(record: Record) -> list[dict[str, Any]]:
    """The values of a record, one row for each; one row for one that failed."""
    told = {name: record.key.get(name) for name in ("set", "label", "method")}
    told |= {f"parameters.{name}": v for name, v in record.key.get("parameters", {}).items()}
    if record.error is not None:
        return [told | {"error": record.error}]
    return [
        told
        | {name: row[name] for name in ("n_features", "measure")}
        | {"repeat": repeat, "value": value}
        for row in record.rows
        for repeat, value in enumerate(row["values"])
    ]


def _best(found: Sequence[tuple[float, Estimate]]) -> Estimate:
    """The estimate of the largest merit; of those that part only over rounding, the first."""
    merits = merge_ties([merit for merit, _ in found])
    return found[int(np.argmax(merits))][1]


def _same(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)
