"""What the page is told of a session."""

from __future__ import annotations

from typing import Any

import numpy as np

from tamis import registry
from tamis.charts.prepared import KINDS
from tamis.studio import _columns as columns
from tamis.studio import _pictures as pictures
from tamis.studio._choice import Chosen
from tamis.studio._session import NotThereError, Result, Session
from tamis.studio._table import OpenTable

# Rows and columns of the table that are shown as they were read.
ROWS_SHOWN, MOST_SHOWN = 8, 40
# States of a column, as the page knows them by number.
FREE, KEEP, DROP, ASIDE, UNUSED = range(5)


def state(session: Session) -> dict[str, Any]:
    """Everything that is small."""
    with session.lock:
        table, result, decisions = session.table, session.result, session.decisions
        told: dict[str, Any] = {
            "version": session.version,
            "parts": dict(session.parts),
            "error": session.error,
            "busy": None
            if session.doing is None
            else {"what": session.doing[0], "share": session.doing[1]},
            "undo": len(session.past),
            "redo": len(session.future),
            "methods": [
                {"name": m.name, "prefers": m.prefers, "family": m.family}
                for m in registry.METHODS.values()
            ],
            "kinds": KINDS,
            "compared": session.compared,
        }
        if table is None:
            return {**told, "table": None, "decisions": None, "result": None}
        told["table"] = {
            "name": table.name,
            "n_rows": table.n_rows,
            "n_columns": len(table.names),
            "aside": list(table.aside),
            "notes": [*table.notes, *_notes(session)],
            "image": list(table.image_shape) if table.image_shape else None,
            "is_file": table.is_file,
            "has_labels": table.labels is not None or decisions.labels is not None,
        }
        told["decisions"] = {
            "method": decisions.method,
            "number": decisions.number,
            "clusters": decisions.clusters,
            "keep": list(decisions.keep),
            "drop": list(decisions.drop),
            "kinds": dict(decisions.kinds),
            "labels": decisions.labels,
            "ids": list(decisions.ids),
        }
        told["result"] = None if result is None else _told_result(session, result)
        told["remembered"] = _told_remembered(session, table)
        return told


def _notes(session: Session) -> tuple[str, ...]:
    numbers = session.numbers
    if numbers is None or numbers.preparation is None:
        return ()
    return numbers.preparation.notes_


def _told_result(session: Session, result: Result) -> dict[str, Any]:
    chosen = result.chosen
    return {
        "method": chosen.decisions.method,
        "number": chosen.number,
        "found": chosen.found,
        "settled": not result.quick and chosen.decisions == session.decisions,
        "n_ranked": len(chosen.numbers.sources) - _n_unseen(session, chosen),
        "seconds": round(result.seconds, 3),
        "sentences": result.sentences,
        "said": list(chosen.said),
        "figures": sorted(result.figures),
        "reasons": bool(result.reasons),
    }


def _n_unseen(session: Session, chosen: Chosen) -> int:
    unseen = set(chosen.decisions.unseen)
    return sum(name in unseen for name in chosen.numbers.sources)


def _told_remembered(session: Session, table: OpenTable) -> dict[str, Any] | None:
    if session.remembered is None:
        return None
    chosen = session.remembered
    places = table.places(chosen.numbers.sources)
    return {
        "method": chosen.decisions.method,
        "number": chosen.number,
        "kept": [int(places[j]) for j in chosen.order[: chosen.number]],
    }


def table_data(session: Session) -> bytes:
    """Names, kinds, gaps and histograms of all columns."""
    with session.lock:
        table, kinds = session.table, dict(session.kinds)
    if table is None:
        raise NotThereError("no table is open.")
    names = table.names
    if table.matrix is not None:
        bars = columns.matrix_histograms(columns.some_rows(table.matrix))
        gaps = np.zeros(len(names), dtype=np.float32)
    else:
        rows = columns.drawn(table.n_rows)
        held = table.columns
        bars = columns.histograms([np.asarray(held[name])[rows] for name in names])
        gaps = np.array([columns.share_missing(held[name]) for name in names], np.float32)
    listed = list(KINDS)
    codes = np.array([listed.index(kinds.get(name, "number")) for name in names], np.uint8)
    return columns.packed(
        {"bars": bars.ravel(), "gaps": gaps, "kinds": codes}, names=names, n_bins=columns.N_BINS
    )


def ranking_data(session: Session) -> bytes:
    """Scores, ranks and states of all columns; those not chosen among have rank 0."""
    with session.lock:
        table, result = session.table, session.result
    if table is None or result is None:
        raise NotThereError("nothing has been ranked yet.")
    chosen = result.chosen
    n_columns = len(table.names)
    places = table.places(chosen.numbers.sources)
    scores, ranks = np.full(n_columns, np.nan), np.zeros(n_columns, dtype=np.uint32)
    states = np.full(n_columns, UNUSED, dtype=np.uint8)
    scores[places], ranks[places], states[places] = chosen.scores, chosen.ranking, FREE
    where = {name: place for place, name in enumerate(table.names)}
    decided = chosen.decisions
    for names, state in ((decided.keep, KEEP), (decided.drop, DROP)):
        states[[where[name] for name in names]] = state
    aside = (*decided.ids, *(() if decided.labels is None else (decided.labels,)))
    states[[where[name] for name in aside]] = ASIDE
    ranks[(states == DROP) | (states == ASIDE)] = 0
    return columns.packed(
        {"scores": scores.astype(np.float32), "ranks": ranks, "states": states},
        version=session.parts.get("ranking", 0),
    )


def nearest_data(session: Session) -> bytes:
    """Which kept column each is most like, for every number, and how stable each is."""
    with session.lock:
        table, result = session.table, session.result
    if table is None or result is None or result.nearest is None:
        raise NotThereError("nothing has been compared yet.")
    chosen = result.chosen
    places, n_columns = table.places(chosen.numbers.sources), len(table.names)
    counts = np.zeros(n_columns, dtype=np.uint32)
    counts[places] = np.diff(result.nearest["starts"])
    stability = np.full(n_columns, np.nan, dtype=np.float32)
    if result.stability is not None:
        stability[places] = result.stability
    return columns.packed(
        {
            "starts": np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
            "rank": result.nearest["rank"],
            "alike": result.nearest["alike"],
            "stability": stability,
        },
        most=columns.MOST_RANKED,
    )


def column(session: Session, place: int) -> dict[str, Any]:
    """Everything known of one column."""
    with session.lock:
        table, result = session.table, session.result
    if table is None or not 0 <= place < len(table.names):
        raise ValueError("there is no such column.")
    name = table.names[place]
    told: dict[str, Any] = {"name": name, "place": place, "sentences": [], "stands_for": []}
    told["examples"] = columns.examples(table.column(name))
    dropped = _why_unused(session, name)
    if dropped:
        told["sentences"].append(dropped)
    if result is None or name not in (sources := result.chosen.numbers.sources):
        return told
    chosen, source = result.chosen, sources.index(name)
    numbers = chosen.numbers
    outputs = slice(numbers.starts[source], numbers.starts[source] + numbers.sizes[source])
    if result.reasons:
        rows = sorted(result.reasons[outputs], key=lambda row: (not row["kept"], row["rank"] or 0))
        for row in rows[:3]:
            start = "Kept: " if row["kept"] else "Not kept: "
            of = f"{row['column']}: " if row["column"] != name else ""
            told["sentences"].append(f"{of}{start}{row['reason']}.")
        inside = {row["column"] for row in rows}
        near = [row for row in result.reasons if row["nearest"] in inside and not row["kept"]]
        near.sort(key=lambda row: -abs(row["correlation"]))
        told["stands_for"] = [[row["column"], row["correlation"]] for row in near[:12]]
    told["made_of"] = numbers.outputs[outputs] if numbers.sizes[source] > 1 else []
    return told


def _why_unused(session: Session, name: str) -> str:
    numbers = session.numbers
    if numbers is None or numbers.preparation is None:
        return ""
    why = numbers.preparation.dropped_.get(name)
    return "" if why is None else f"Not chosen among: {why}."


def figure(session: Session, name: str, *, colour: str = "") -> dict[str, Any]:
    """A figure by name; planes by the colour of the samples."""
    with session.lock:
        table, result = session.table, session.result
    if table is None or result is None:
        raise NotThereError("nothing has been ranked yet.")
    if name.startswith("plane "):
        if result.planes is None:
            raise NotThereError("the picture is not drawn yet.")
        labels, source = _colours(session, table, result, colour)
        figures = pictures.plane_figures(result.planes, result.chosen.number, labels, source)
        return figures[name].plain()
    if name not in result.figures:
        raise NotThereError("there is no such figure now.")
    return result.figures[name].plain()


def _colours(session: Session, table: OpenTable, result: Result, colour: str) -> tuple[Any, str]:
    """The values to colour samples by: "" for groups, "labels", or the name of a column."""
    if not colour:
        return None, ""
    if colour == "labels":
        named = result.chosen.decisions.labels
        values = table.labels if named is None else table.column(named)
        source = "the labels"
    elif colour.startswith("column:"):
        name = colour.removeprefix("column:")
        values, source = table.column(name), f"{name}"
    else:
        raise ValueError("there is no such colour.")
    if values is None:
        raise ValueError("the table has no labels.")
    assert result.planes is not None
    values = np.asarray(values)[result.chosen.numbers.rows]
    if values.dtype.kind == "M":
        values = values.astype("datetime64[s]").astype(np.float64)
    n_fitted = result.chosen.X.shape[0]
    if n_fitted < len(values):
        from tamis.preprocessing import drawn_samples

        values = values[drawn_samples(len(values), n_fitted, 0)]
    return values[result.planes.rows], source


def rows(session: Session) -> dict[str, Any]:
    """Some rows of the table as they were read."""
    with session.lock:
        table = session.table
    if table is None:
        raise NotThereError("no table is open.")
    names = [*table.aside, *table.names][:MOST_SHOWN]
    places = np.linspace(0, table.n_rows - 1, min(ROWS_SHOWN, table.n_rows))
    rows = np.unique(places.round().astype(np.intp))
    return {
        "columns": names,
        "rows": [int(row) + 1 for row in rows],
        "cells": [columns.cells(np.asarray(table.column(name))[rows]) for name in names],
        "left_out": len(table.names) + len(table.aside) - len(names),
    }


def pixels(session: Session, number: int) -> dict[str, Any]:
    """The kept pixels of a table of images."""
    with session.lock:
        table, result = session.table, session.result
    if table is None or result is None or table.image_shape is None or table.matrix is None:
        raise ValueError("the rows of the table are no images.")
    kept = result.chosen.order[: max(0, number)]
    mean = np.asarray(table.matrix.mean(axis=0), dtype=float).reshape(table.image_shape)
    return pictures.pixel_figure(table.image_shape, kept, mean).plain()
