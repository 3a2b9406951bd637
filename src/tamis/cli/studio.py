"""``tamis studio``: a local page to look at the columns, decide, and take the code along."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tamis.cli._completion import table_names
from tamis.cli._failures import CommandError, reason
from tamis.cli._options import (
    AsJson,
    Decimal,
    Encoding,
    Format,
    Header,
    Ids,
    Key,
    Labels,
    Na,
    Sep,
    Sheet,
    Thousands,
)
from tamis.cli._screen import print_aside, print_json, print_text

__all__ = ["studio"]


def studio(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="A table: samples in rows, columns of any kind. Or a registered data set, as "
            "dataset:NAME (see tamis datasets). Without it, the page asks for one.",
            autocompletion=table_names,
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, max=65535, help="Where to listen.", show_default="any that is free"
        ),
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page in a browser.")
    ] = True,
    labels: Labels = None,
    ids: Ids = None,
    format: Format = None,
    key: Key = None,
    header: Header = None,
    sep: Sep = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    na: Na = None,
    as_json: AsJson = False,
) -> None:
    """Look at the columns in a page, decide, and take the code along.

    The page is served by this computer to this computer alone, under an
    address that cannot be guessed; nothing leaves it. Ctrl-C ends it.

    For example:
      tamis studio data.csv
      tamis studio dataset:digits
      tamis studio data.parquet --labels species --no-browser --port 8765
    """
    from tamis.studio import serve

    if file is not None and not file.startswith("dataset:") and not Path(file).exists():
        raise CommandError(f"{file}: there is no such file; check the name.")
    options = {
        "labels": labels,
        "ids": list(ids or ()),
        "format": format,
        "key": key,
        "header": header,
        "sep": sep,
        "decimal": decimal,
        "thousands": thousands,
        "encoding": encoding,
        "sheet": sheet,
        "na": list(na or ()),
    }

    def ready(url: str) -> None:
        if as_json:
            print_json({"url": url})
        else:
            print_text(f"tamis studio: {url}")
        sys.stdout.flush()
        print_aside("Open it in a browser of this computer; Ctrl-C ends it.")
        if browser and not os.environ.get("TAMIS_NO_BROWSER"):
            webbrowser.open(url)

    try:
        serve(file, port=port, ready=ready, **options)
    except ImportError as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(
            f"cannot listen on port {port}: {reason(error)}; name another."
        ) from None
