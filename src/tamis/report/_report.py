"""From a selector and its table to a page."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state

from tamis.charts import words
from tamis.charts.prepared import describe_preparation
from tamis.charts.recipe import python_code
from tamis.inspection import (
    Selection,
    Stability,
    as_chosen,
    check_labels,
    draw_sample,
    find_groups,
    measure_groups,
    measure_loss,
    measure_redundancy,
    read_selection,
    subsample_selections,
)
from tamis.report._page import image_figure, render
from tamis.report._why import explain
from tamis.utils.files import write_atomically

# What refits for the stability may cost: numbers and rows of a subsample, and seconds in all.
REFIT_NUMBERS = 5e6
REFIT_ROWS = 5000
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
        target = Path(path)
        if not target.parent.is_dir():
            raise FileNotFoundError(
                f"There is no folder {target.parent}; make it, or save the report elsewhere."
            )
        if target.is_dir():
            raise IsADirectoryError(f"{target} is a folder; name a file in it.")
        write_atomically(target, self.html)
        return target

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
    preparation: Sequence[str] = (),
    prepared_by: Any = None,
    scaler: TransformerMixin | None = None,
    source_code: str = "",
    title: str | None = None,
    random_state: int | np.random.RandomState | None = 0,
    n_subsamples: int = 10,
) -> Report:
    """Say why these columns: a self-contained HTML page about a fitted selector.

    The page shows the scores and the cut, how much the kept columns repeat each other, what is
    lost beside 20 random choices of as many columns, whether groups found in them repeat in other
    rows, the samples in the plane before and after, convergence, stability over subsamples, and
    how to repeat it all.

    Parameters
    ----------
    selector : Selector
        Fitted.
    X : {array-like, sparse, pandas or polars frame} of shape (n_samples, n_features)
        The table it was fitted on, scaled as it was then; another one gives a warning.
    feature_names : sequence of str or None, default=None
        None takes the names the selector saw, else x0, x1, …
    labels : array-like of shape (n_samples,) or None, default=None
        Colours of the samples; None takes the clusters the selector found, else K-means. Where
        they are classes, clusters are also compared with them; no other figure looks at them, but
        for the number of clusters where the selector has none.
    image_shape : (int, int) or None, default=None
        Height and width, where the columns are the pixels of an image, row by row.
    command : str or None, default=None
        The command line that made the selection, to be quoted.
    preparation : sequence of str, default=()
        What was done to the table before the fit, a sentence each: rows drawn, columns scaled. The
        page has a section of its own for it.
    prepared_by : Preparation or None, default=None
        The fitted :class:`tamis.preprocessing.Preparation` that made X of a table of mixed types;
        the page shows its notes, and what it took each column for.
    scaler : transformer of :mod:`sklearn.preprocessing` or None, default=None
        What scaled X, fitted or not; the Python code of the page scales by it.
    source_code : str, default=""
        Python that makes the table X which the scaler then scaled, such as by reading a file and
        drawing rows; the Python code of the page begins with it.
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
    Large tables are measured on at most 1000 rows and 10,000 predicted columns, and refitted on at
    most 5000 rows, all drawn at random; the page says so. O(m²d + m·t·k) for m rows, d columns,
    t predicted and k kept ones, and the time of the refits.

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
    if not len(checked.kept):
        raise ValueError(
            f"{type(checked.selector).__name__} keeps no column of X, as none varies; there is "
            "nothing to report on."
        )
    prepared = describe_preparation(preparation, prepared_by)
    if labels is not None:
        labels = check_labels(labels, n_samples)
    if image_shape is not None and int(np.prod(image_shape)) != n_features:
        raise ValueError(
            f"image_shape={tuple(image_shape)} has {int(np.prod(image_shape))} pixels, but X has "
            f"{n_features} columns."
        )
    generator: np.random.RandomState = check_random_state(random_state)
    judged = as_chosen(checked)
    sample = draw_sample(judged, generator)
    loss = measure_loss(judged, sample)
    group_evidence = measure_groups(judged, sample, loss, labels=labels, random_state=generator)
    redundancy = measure_redundancy(checked, sample, generator)
    stability = _stability(checked, n_subsamples, generator)
    groups = find_groups(
        checked.selector,
        sample.rows,
        loss.kept_gram if group_evidence.uncovered else loss.gram,
        labels=labels,
        n_samples=n_samples,
        random_state=generator,
        columns="the kept columns" if group_evidence.uncovered else "all columns",
    )
    n_kept = len(checked.kept)
    summary = words.summary(checked, loss, group_evidence, redundancy, stability)
    title = title or f"{n_kept:,} of {words.count(n_features, 'column')}"
    return Report(
        render(
            title=title,
            summary=summary,
            selection=checked,
            sample=sample,
            loss=loss,
            group_evidence=group_evidence,
            redundancy=redundancy,
            stability=stability,
            groups=groups,
            command=command,
            prepared=prepared,
            code=python_code(checked.selector, scaler, source_code),
            image=image_figure(checked, image_shape),
            why=explain(checked, judged, generator),
            notes=[
                *words.scale_notes(checked, judged),
                *words.group_notes(group_evidence),
                *words.sampling_notes(checked, sample, redundancy),
            ],
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
        most_numbers=min(REFIT_NUMBERS, REFIT_ROWS * n_features),
        time_limit=REFIT_SECONDS,
        random_state=random_state,
    )
