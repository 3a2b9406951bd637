"""The figures and texts of a report, put into its template."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np

from tamis.charts import curves as charts
from tamis.charts import drawing, grids, recipe, words
from tamis.inspection import (
    GroupEvidence,
    Groups,
    Loss,
    Redundancy,
    Sample,
    Selection,
    Stability,
    knee_of,
    planar_views,
)
from tamis.registry import method_of

MOST_LISTED = 500
# Columns that Find reaches beyond those: about 60 bytes each.
MOST_FOUND = 20_000
# Above this many pixels the mean image is left out from under the kept ones.
MOST_INKED = 20_000


def image_figure(checked: Selection, image_shape: tuple[int, int] | None) -> grids.Grid | None:
    """The kept pixels, where the columns are those of an image."""
    if image_shape is None:
        return None
    mean = None
    if checked.X.shape[1] <= MOST_INKED:
        mean = np.asarray(checked.X.mean(axis=0), dtype=np.float64).reshape(image_shape)
    return grids.pixel_grid(_mask(checked).reshape(image_shape), mean)


def _mask(checked: Selection) -> Any:
    mask = np.zeros(checked.X.shape[1], dtype=bool)
    mask[checked.kept] = True
    return mask


def render(
    *,
    selection: Selection,
    sample: Sample,
    loss: Loss,
    group_evidence: GroupEvidence,
    redundancy: Redundancy,
    stability: Stability,
    groups: Groups,
    **rest: Any,
) -> str:
    """The whole page; `rest` goes to the template as it is."""
    selector, scores = selection.selector, selection.scores
    n_samples, n_features = selection.X.shape
    n_kept = len(selection.kept)
    bend = knee_of(selector)
    views = planar_views(loss.gram, loss.kept_gram)
    objective = np.asarray(getattr(selector, "objective_", ()))
    style = f"{drawing.style()}\n{_asset('report.css')}"
    script = _asset("report.js")
    return (
        _environment()
        .get_template("report.html")
        .render(
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            method=type(selector).__name__,
            entry=method_of(selector),
            n_samples=n_samples,
            n_features=n_features,
            n_kept=n_kept,
            rows=_table_rows(selection, redundancy, stability),
            bend=bend,
            score_chart=charts.score_chart(scores, n_kept, bend),
            barcode=grids.barcode_grid(_mask(selection)),
            others=_other_columns(selection, stability),
            caution=selection.caution,
            tiles=_tiles(loss, group_evidence),
            redundancy=redundancy,
            pairs=[
                (selection.names[left], selection.names[right], value)
                for left, right, value in redundancy.strongest(5)
            ],
            heat=grids.heat_grid(
                redundancy.correlations, list(selection.names[redundancy.columns])
            ),
            groups=groups,
            views=[
                (
                    place,
                    view,
                    charts.view_chart(
                        view, groups, f"{len(sample.rows):,} samples in the plane, {place}."
                    ),
                )
                for place, view in zip(
                    (f"all {n_features:,} columns", f"the {n_kept:,} kept"), views, strict=True
                )
            ],
            path_chart=charts.path_chart(objective),
            n_iter=len(objective),
            max_iter=getattr(selector, "max_iter", None),
            stability=stability,
            frequency_chart=(
                charts.frequency_chart(
                    stability.frequencies,
                    _mask(selection),
                    list(selection.names),
                    len(stability.masks),
                )
                if stability.value is not None
                else None
            ),
            parameters=recipe.parameters(selector),
            versions=recipe.versions(),
            unseeded=recipe.depends_on_chance(selector),
            sample=sample,
            most_listed=MOST_LISTED,
            **rest,
        )
    )


def _tiles(loss: Loss, group_evidence: GroupEvidence) -> list[dict[str, Any]]:
    """The measures of loss and of groups, ready to be drawn."""
    named = (
        (
            "Variance kept",
            loss.variance,
            "share of the variance of all columns: that of the kept ones themselves, and of the "
            "others what a ridge regression on the kept ones predicts in rows it has not seen",
        ),
        (
            "Neighbours kept",
            loss.neighbors,
            f"share of the {loss.n_neighbors} nearest neighbours of each row that are still its "
            "nearest in the kept columns",
        ),
        (
            "Reconstruction error",
            loss.reconstruction,
            "error of rebuilding all columns, standardised, of unseen rows from the kept ones; "
            "100 % is guessing the mean of every column, less is better",
        ),
    )
    tiles = [
        {
            "name": name,
            "value": words.percent(measure.selected),
            "against": words.against_random(measure),
            "about": about,
            "lines": (
                [f"Noise level (line): {words.percent(loss.noise)}, their own variance."]
                if measure is loss.variance
                else []
            ),
            "chart": charts.strip_chart(
                measure.selected,
                measure.random,
                f"{name}: {words.percent(measure.selected)}. {words.against_random(measure)}",
                level=loss.noise if measure is loss.variance else None,
            ),
        }
        for name, measure, about in named
    ]
    if group_evidence.repeat is not None:
        tiles.insert(2, _group_tile(group_evidence))
    return tiles


def _group_tile(group_evidence: GroupEvidence) -> dict[str, Any]:
    repeat = group_evidence.repeat
    assert repeat is not None
    value = words.index(repeat.measure.selected)
    against = words.against_random(repeat.measure, shares=False)
    lines = [
        f"All columns (line): {words.index(repeat.everything)}. A cloud without groups, spread as "
        f"the kept columns: {words.index(group_evidence.cloud)}."
    ]
    if group_evidence.nmi is not None and group_evidence.accuracy is not None:
        nmi, accuracy = group_evidence.nmi, group_evidence.accuracy
        lines.append(
            f"Against the labels: NMI {words.index(nmi.measure.selected)}, accuracy "
            f"{words.index(accuracy.measure.selected)}; all columns {words.index(nmi.everything)} "
            f"and {words.index(accuracy.everything)}."
        )
    return {
        "name": "Groups that repeat",
        "value": value,
        "against": against,
        "about": f"agreement of {group_evidence.n_clusters} clusters of one half of the rows with "
        "those of the other half (adjusted Rand index): 1 is the same clusters, 0 is chance",
        "lines": lines,
        "chart": charts.strip_chart(
            repeat.measure.selected,
            repeat.measure.random,
            f"Groups that repeat: {value}. {against}",
            level=repeat.everything,
            shares=False,
        ),
    }


def _other_columns(selection: Selection, stability: Stability) -> list[list[Any]]:
    """The columns that the table does not list, best first, as the page's Find shows them."""
    order = np.argsort(selection.selector.ranking_, kind="stable")
    kept = _mask(selection)
    known = stability.value is not None
    return [
        [
            str(selection.names[column]),
            words.cut(str(selection.names[column])),
            place + 1,
            int(column),
            charts.short(float(selection.scores[column])),
            words.percent(float(stability.frequencies[column])) if known else None,
            int(kept[column]),
        ]
        for place, column in enumerate(order[: MOST_LISTED + MOST_FOUND])
        if not (kept[column] and place < MOST_LISTED)
    ]


def _table_rows(
    selection: Selection, redundancy: Redundancy, stability: Stability
) -> list[dict[str, Any]]:
    """The kept columns for the table, best first."""
    kept = selection.kept[:MOST_LISTED]
    scores = selection.scores[kept]
    low = min(0.0, float(selection.scores.min()))
    reach = float(scores.max(initial=low)) - low
    others = np.abs(redundancy.correlations) - np.eye(len(redundancy.columns))
    rows = []
    for place, column in enumerate(kept):
        closest = None
        if place < len(others) > 1:
            nearest = int(np.argmax(others[place]))
            closest = (
                selection.names[redundancy.columns[nearest]],
                float(redundancy.correlations[place, nearest]),
            )
        rows.append(
            {
                "rank": place + 1,
                "name": selection.names[column],
                "index": int(column),
                "score": float(scores[place]),
                "bar": 100 * (float(scores[place]) - low) / reach if reach > 0 else 100,
                "frequency": (
                    float(stability.frequencies[column]) if stability.value is not None else None
                ),
                "closest": closest,
            }
        )
    return rows


@cache
def _asset(name: str) -> str:
    return files("tamis.report").joinpath("templates", name).read_text(encoding="utf-8").strip()


def _hash(text: str) -> str:
    """As a content security policy names an inline style or script."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _environment() -> jinja2.Environment:
    return drawing.environment("tamis.report")
