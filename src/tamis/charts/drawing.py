"""Figures as SVG, and the style sheet that they need."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import jinja2

from tamis.charts import curves, words
from tamis.charts.curves import Chart
from tamis.charts.grids import Grid


def environment(package: str) -> jinja2.Environment:
    """Templates of a package, which may import the macros of the figures; everything is escaped.

    Parameters
    ----------
    package : str
        With a folder `templates`.
    """
    made = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("tamis.charts")]
        ),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters.update(
        percent=words.percent,
        cut=words.cut,
        short=curves.short,
        signed=curves.signed,
        count_text=lambda number: f"{number:,}",
        # jinja's own would lower the rest, names included
        capitalize_first=lambda text: text[:1].upper() + text[1:],
    )
    made.globals.update(count=words.count, words=words)
    return made


def svg(figure: Chart | Grid, css: str = "", *, height: int | None = None) -> str:
    """A figure alone, as an SVG element.

    Parameters
    ----------
    figure : Chart or Grid
    css : str, default=""
        Classes of the element: "square", "map", "heat", "pixels" and so on.
    height : int or None, default=None
        Of a chart that is as high as it has rows.
    """
    macros: Any = _macros()
    if isinstance(figure, Grid):
        return str(macros.grid(figure, css))
    return str(macros.chart(figure, css, height))


@cache
def _macros() -> Any:
    return environment("tamis.charts").get_template("figures.html").module


@cache
def style() -> str:
    """Colours, light and dark, and the look of the figures."""
    return files("tamis.charts").joinpath("templates", "figures.css").read_text(encoding="utf-8")
