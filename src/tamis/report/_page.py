"""The figures and texts of a report, put into its template."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
import numpy as np

from tamis.evidence import (
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
from tamis.report import _charts as charts
from tamis.report import _recipe as recipe
from tamis.report import _words as words

MOST_LISTED = 500
# Above this many pixels the mean image is left out from under the kept ones.
MOST_INKED = 20_000


def image_figure(checked: Selection, image_shape: tuple[int, int] | None) -> charts.Grid | None:
    """The kept pixels, where the columns are those of an image."""
    if image_shape is None:
        return None
    mean = None
    if checked.X.shape[1] <= MOST_INKED:
        mean = np.asarray(checked.X.mean(axis=0), dtype=np.float64).reshape(image_shape)
    return charts.pixel_grid(_mask(checked).reshape(image_shape), mean)


def _mask(checked: Selection) -> Any:
    mask = np.zeros(checked.X.shape[1], dtype=bool)
    mask[checked.kept] = True
    return mask


def render(
    *,
    selection: Selection,
    sample: Sample,
    loss: Loss,
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
    style, script = _asset("report.css"), _asset("report.js")
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
            barcode=charts.barcode_grid(_mask(selection)),
            tiles=_tiles(loss),
            redundancy=redundancy,
            pairs=[
                (selection.names[left], selection.names[right], value)
                for left, right, value in redundancy.strongest(5)
            ],
            heat=charts.heat_grid(
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
            path_chart=charts.path_chart(objective) if len(objective) else None,
            n_iter=len(objective),
            max_iter=getattr(selector, "max_iter", None),
            stability=stability,
            frequency_chart=(
                charts.frequency_chart(
                    stability.frequencies, _mask(selection), len(stability.masks)
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


def _tiles(loss: Loss) -> list[dict[str, Any]]:
    """The three measures of loss, ready to be drawn."""
    named = (
        (
            "Variance kept",
            loss.variance,
            "share of the variance of all columns that a linear regression on the kept ones "
            "explains",
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
            "error of predicting all columns, standardised, of unseen rows from the kept ones; "
            "100 % is guessing the mean, less is better",
        ),
    )
    return [
        {
            "name": name,
            "value": words.percent(measure.selected),
            "against": words.against_random(measure),
            "about": about,
            "chart": charts.strip_chart(
                measure.selected,
                measure.random,
                f"{name}: {words.percent(measure.selected)}. {words.against_random(measure)}",
            ),
        }
        for name, measure, about in named
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
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tamis.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters.update(
        percent=words.percent,
        short=charts.short,
        signed=charts.signed,
        count_text=lambda number: f"{number:,}",
        # jinja's own would lower the rest, names included
        capitalize_first=lambda text: text[:1].upper() + text[1:],
    )
    environment.globals.update(count=words.count)
    return environment
