"""From a selector and its table to a page."""

from __future__ import annotations

import base64
import hashlib
import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
from sklearn.utils import check_random_state

from tamis.evidence import (
    Loss,
    Redundancy,
    Sample,
    Selection,
    Stability,
    draw_sample,
    find_groups,
    knee,
    measure_loss,
    measure_redundancy,
    planar_views,
    read_selection,
    subsample_selections,
)
from tamis.evidence._groups import check_labels
from tamis.registry import method_of
from tamis.report import _charts as charts
from tamis.report import _recipe as recipe
from tamis.report import _words as words
from tamis.report._files import write_whole

MOST_LISTED = 500
# Above this many pixels the mean image is left out from under the kept ones.
MOST_INKED = 20_000
# What refits for the stability may cost: numbers in a subsample, and seconds in all.
REFIT_NUMBERS = 2e7
REFIT_SECONDS = 30.0


@dataclass(frozen=True)
class Report:
    """A page about a selection.

    Attributes
    ----------
    html : str
        The whole document; it needs no other file and makes no request.
    title : str
    summary : tuple of str
        Its findings in plain sentences.
    """

    html: str
    title: str
    summary: tuple[str, ...]

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file, whole or not at all, and return its path."""
        return write_whole(path, self.html)

    def _repr_html_(self) -> str:
        # Sandboxed: in a notebook the page's script runs, but cannot reach the notebook.
        return (
            f'<iframe title="{html.escape(self.title)}" sandbox="allow-scripts" width="100%" '
            f'height="720" frameborder="0" srcdoc="{html.escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Report {self.title!r}, {len(self.html) / 1000:.0f} kB>"


def selection(
    selector: Any,
    X: Any,
    *,
    feature_names: Sequence[Any] | None = None,
    labels: Any = None,
    image_shape: tuple[int, int] | None = None,
    command: str | None = None,
    title: str | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_subsamples: int = 10,
) -> Report:
    """Say why these columns: a self-contained HTML page about a fitted selector.

    The page shows the scores and the cut, how much the kept columns repeat each other, what is
    lost beside 20 random choices of as many columns, the samples in the plane before and after,
    convergence, stability over subsamples, and how to repeat it all.

    Parameters
    ----------
    selector : Selector
        Fitted.
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        The table it was fitted on, scaled as it was then.
    feature_names : sequence of str or None, default=None
        None takes the names the selector saw, else x0, x1, …
    labels : array-like of shape (n_samples,) or None, default=None
        Colours of the samples; None takes the clusters the selector found, else K-means. They
        change nothing but the colours.
    image_shape : (int, int) or None, default=None
        Height and width, where the columns are the pixels of an image, row by row.
    command : str or None, default=None
        The command line that made the selection, to be quoted.
    title : str or None, default=None
    random_state : int, RandomState or None, default=0
        Draws the rows, the random choices and the subsamples.
    n_subsamples : int, default=10
        Refits for the stability; 0 leaves it out. Fewer are made once they have taken 30 seconds.

    Returns
    -------
    Report

    Notes
    -----
    Large tables are measured on at most 1000 rows and 10,000 predicted columns, drawn at random,
    and the page says so. O(m²d + m·t·k) for m rows, d columns, t predicted and k kept ones, and
    the time of the refits.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from tamis import MRSF, report
    >>> X = scale(load_wine().data)
    >>> page = report.selection(MRSF(5, n_clusters=3).fit(X), X, title="Wine")
    >>> page.title
    'Wine'
    """
    checked = read_selection(selector, X, feature_names)
    n_samples, n_features = checked.X.shape
    if labels is not None:
        labels = check_labels(labels, n_samples)
    if image_shape is not None and int(np.prod(image_shape)) != n_features:
        raise ValueError(
            f"image_shape={tuple(image_shape)} has {int(np.prod(image_shape))} pixels, but X has "
            f"{n_features} columns."
        )
    random_state = check_random_state(random_state)
    sample = draw_sample(checked, random_state)
    loss = measure_loss(checked, sample)
    redundancy = measure_redundancy(checked, sample, random_state)
    stability = _stability(checked, n_subsamples, random_state)
    groups = find_groups(
        checked.selector,
        sample.rows,
        loss.gram,
        labels=labels,
        n_samples=n_samples,
        random_state=random_state,
    )
    n_kept = len(checked.kept)
    summary = words.summary(checked, sample, loss, redundancy, stability)
    title = title or f"{n_kept:,} of {words.count(n_features, 'column')}"
    return Report(
        _page(
            title=title,
            summary=summary,
            selection=checked,
            sample=sample,
            loss=loss,
            redundancy=redundancy,
            stability=stability,
            groups=groups,
            command=command,
            image=_image(checked, image_shape),
            notes=words.sampling_notes(checked, sample, redundancy),
        ),
        title,
        tuple(summary),
    )


def _stability(
    checked: Selection, n_subsamples: int, random_state: np.random.RandomState
) -> Stability:
    n_features = checked.X.shape[1]
    note = ""
    if n_subsamples == 0:
        note = "Stability was not asked for."
    elif len(checked.kept) == n_features:
        note = "All columns are kept: there is nothing that could change."
    if note:
        return Stability(np.empty((0, n_features), dtype=bool), 0, note)
    return subsample_selections(
        checked,
        n_subsamples=n_subsamples,
        most_numbers=REFIT_NUMBERS,
        time_limit=REFIT_SECONDS,
        random_state=random_state,
    )


def _image(checked: Selection, image_shape: tuple[int, int] | None) -> charts.Grid | None:
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


def _page(
    *,
    selection: Selection,
    sample: Sample,
    loss: Loss,
    redundancy: Redundancy,
    stability: Stability,
    groups: Any,
    **rest: Any,
) -> str:
    selector, scores = selection.selector, selection.scores
    n_samples, n_features = selection.X.shape
    n_kept = len(selection.kept)
    bend = knee(scores[~selection.constant])
    views = planar_views(loss.gram, loss.kept_gram)
    objective = np.asarray(getattr(selector, "objective_", ()))
    style, script = _asset("report.css"), _asset("report.js")
    return _environment().get_template("report.html").render(
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
        tiles=_tiles(loss, n_kept),
        redundancy=redundancy,
        pairs=[
            (selection.names[left], selection.names[right], value)
            for left, right, value in redundancy.strongest(5)
        ],
        heat=charts.heat_grid(redundancy.correlations, selection.names[redundancy.columns]),
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
            charts.frequency_chart(stability.frequencies, _mask(selection), len(stability.masks))
            if stability.value is not None
            else None
        ),
        code=recipe.python_code(selector),
        parameters=recipe.parameters(selector),
        versions=recipe.versions(),
        unseeded=recipe.depends_on_chance(selector),
        sample=sample,
        most_listed=MOST_LISTED,
        **rest,
    )


def _tiles(loss: Loss, n_kept: int) -> list[dict[str, Any]]:
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
        count_text=lambda number: f"{number:,}",
        # jinja's own would lower the rest, names included
        capitalize_first=lambda text: text[:1].upper() + text[1:],
    )
    environment.globals.update(count=words.count)
    return environment
