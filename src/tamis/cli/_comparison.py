"""What ``tamis compare`` runs, and what the runs found: made of :mod:`tamis.evaluation`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

import tamis
from tamis._typing import IntArray
from tamis.cli._comparison_screen import MEASURES
from tamis.cli._failures import CommandError, reason
from tamis.cli._mixed import Missing
from tamis.cli._preparation import Scale, scaling_words
from tamis.cli._source import Source
from tamis.datasets import Dataset
from tamis.evaluation import (
    ALL_FEATURES,
    Candidate,
    Estimate,
    MixedTable,
    Protocol,
    Record,
    Task,
    contents_name,
    prepared,
    selection_tasks,
)
from tamis.metrics import jaccard
from tamis.preprocessing import Preparation, Scaling, drawn_samples
from tamis.registry import METHODS, RANDOM_BASELINE, Method

__all__ = ["comparison", "mixed_data", "plan"]


def mixed_data(source: Source, missing: Missing, max_rows: int, seed: int) -> MixedTable | None:
    """A table of mixed types to be prepared inside each run; None where all are numbers.

    The source is given the prepared numbers of the rows that the runs see.
    """
    if source.mixed is None:
        return None
    raw = source.mixed.raw
    columns = {name: raw.columns[name] for name in source.mixed.preparation.groups_}
    kinds = {name: source.mixed.preparation.kinds_[name] for name in columns}
    labels = None if raw.labels_name is None else raw.columns[raw.labels_name]
    source.table = replace(source.table, labels=labels)
    data = MixedTable(
        source.name,
        columns,
        _classes(source, slice(None)),
        Preparation(missing=missing, kinds=kinds),
    )
    try:
        X, _, preparation, rows = data.prepared(max_rows, seed)
    except ValueError as error:
        raise CommandError(f"{source.name}: {reason(error)}.") from None
    source.table = replace(
        source.table,
        X=X,
        feature_names=preparation.get_feature_names_out(),
        labels=None if labels is None else labels[rows],
        ids=None,
    )
    return data


def plan(
    source: Source,
    mixed: MixedTable | None,
    methods: Sequence[Method],
    third_party: Mapping[str, Any],
    n_kept: int,
    *,
    scale: Scale,
    clusters: int | None,
    repeats: int,
    max_rows: int,
    seed: int,
) -> tuple[list[Task], dict[str, Any], list[str]]:
    """The runs, the header of their results, and in words what is done to the table.

    A `mixed` table takes the place of that of the source. Selectors of other packages
    (`third_party`, by name) get the columns as they are judged.
    """
    table = source.table
    n_samples, n_columns = table.X.shape
    rows = drawn_samples(n_samples, max_rows, seed)
    scored_scale: Scaling = "standard" if scale == "auto" else scale
    data = Dataset(
        source.name,
        table.X[rows],
        _classes(source, rows),
        feature_names=tuple(map(str, table.feature_names)),
        n_clusters=clusters,
    )
    n_clusters = min(data.n_classes, data.X.shape[0] - 1) if clusters is None else clusters
    if n_clusters > data.X.shape[0]:
        raise CommandError(f"--clusters {n_clusters} is more than the {data.X.shape[0]} samples.")
    data = replace(data, n_clusters=n_clusters)
    judged = data if mixed is None else replace(mixed, n_clusters=n_clusters)
    protocol = Protocol(
        scaling=scored_scale,
        # A number of features is below that of all; the share of all is 1.
        n_features=(n_kept if n_kept < n_columns else 1.0,),
        n_repeats=repeats,
        max_samples=max_rows,
        seed=seed,
    )
    prepared(data, scored_scale, max_rows, seed)  # warns once of columns that cannot be scaled
    candidates = [
        Candidate(ALL_FEATURES, ALL_FEATURES),
        _candidate(METHODS[RANDOM_BASELINE], clusters, scored_scale),
        *(_candidate(m, clusters, m.scaling if scale == "auto" else scale) for m in methods),
        *(Candidate(name, name, selector=one) for name, one in third_party.items()),
    ]
    header = {
        "command": "compare",
        "version": tamis.__version__,
        "source": source.name,
        "contents": contents_name(judged),
        "n_clusters": n_clusters,
        "n_kept": n_kept,
        "protocol": protocol.as_dict(),
    }
    words = []
    n_rows = n_samples if source.mixed is None else source.mixed.raw.n_rows
    if data.X.shape[0] < n_rows:
        words.append(
            f"On {data.X.shape[0]:,} of the {n_rows:,} rows, drawn at random; --max-rows sets "
            "another number."
        )
    words.append(scaling_words(scored_scale, sp.issparse(data.X)))
    return selection_tasks([judged], candidates, protocol, details=True), header, words


def _candidate(method: Method, clusters: int | None, scaling: Scaling) -> Candidate:
    """A method with its own defaults, but for the number of clusters if one is given."""
    known = method.cluster_parameter
    parameters = {known: clusters} if known and clusters is not None else {}
    return Candidate(method.name, method.name, parameters, scaling=scaling)


def _classes(source: Source, rows: IntArray | slice) -> IntArray | None:
    """Codes of the classes, from 0."""
    if source.table.labels is None:
        return None
    labels = source.table.labels[rows]
    missing = sum(1 for label in labels if label is None or label != label or label == "")
    if missing:
        raise CommandError(
            f"{source.name}: {missing} of {len(labels)} labels are missing; fill them in, or leave "
            "out --labels."
        )
    found, codes = np.unique(labels.astype(str), return_inverse=True)
    if len(found) < 2 or len(found) > len(labels) / 2:
        raise CommandError(
            f"{source.name}: the labels have {len(found)} different values in {len(labels)} rows; "
            "name a column of classes with --labels, or none."
        )
    return codes


def comparison(
    source: Source,
    records: Sequence[Record],
    header: dict[str, Any],
    complete: bool,
    time_limit: float | None,
) -> dict[str, Any]:
    """Everything that is known of the methods, ready for JSON."""
    lines = [_summary(record) for record in records]
    names, shares = _overlap(lines)
    return {
        "source": source.name,
        "n_samples": source.table.X.shape[0],
        "n_columns": source.table.X.shape[1],
        **{name: header[name] for name in ("n_kept", "n_clusters", "protocol")},
        "time_limit": time_limit,
        "complete": complete,
        "methods": lines,
        "overlap": {"methods": names, "jaccard": shares},
        "column_names": {
            str(column): str(source.table.feature_names[column])
            for column in sorted({c for line in lines for c in line["selected"] or ()})
        },
    }


def _summary(record: Record) -> dict[str, Any]:
    """A method's line: means and deviations of its measures, its time, its columns, its failure."""
    values = {row["measure"]: row["values"] for row in record.rows}
    figures: dict[str, Any] = {}
    for measure in MEASURES:
        if values.get(measure):
            estimate = Estimate.of(np.array(values[measure]), None, {})
            n = len(estimate.values)
            sd = estimate.sd if n > 1 else None  # of one value there is none
            figures[measure] = {"mean": estimate.mean, "sd": sd, "n": n}
    return {
        "method": record.key["label"],
        "parameters": record.key["parameters"],
        "n_columns": record.rows[0]["n_features"] if record.rows else None,
        "fit_seconds": None if record.too_long else record.seconds.get("fit"),
        "over_time_limit": record.too_long,
        "measures": figures,
        "selected": values.get("selected"),
        "warnings": values.get("warnings", []),
        "error": None if record.too_long else record.error,
    }


def _overlap(lines: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[float]]]:
    """The methods that have one selection, and the Jaccard index of each pair."""
    selections = {line["method"]: line["selected"] for line in lines if line["selected"]}
    return list(selections), [
        [jaccard(one, other) for other in selections.values()] for one in selections.values()
    ]
