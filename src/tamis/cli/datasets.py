"""``tamis datasets``: the registered sets, and where they are found."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli._completion import dataset_names
from tamis.cli._failures import CommandError, command_words
from tamis.cli._options import AsJson
from tamis.cli._screen import print_json, print_table, print_text

if TYPE_CHECKING:
    from tamis.datasets import Entry

__all__ = ["datasets"]


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="One set, in detail.",
            autocompletion=dataset_names,
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the registered data sets, or show one and where it comes from.

    Use a set as dataset:NAME wherever a FILE is asked for. Sets are looked
    for in the folder that the variable TAMIS_DATA names, too.

    For example:
      tamis datasets
      tamis datasets usps
      tamis select dataset:digits
    """
    from tamis import datasets as registered

    available = set(registered.available())
    if name is not None:
        try:
            entry = registered.entry(name)
        except registered.DatasetError as error:
            raise CommandError(command_words(error)) from None
        _print_one(entry, entry.name in available, as_json)
        return
    entries = [registered.entry(name) for name in registered.names()]
    if as_json:
        print_json([_described(entry, entry.name in available) for entry in entries])
        return
    print_table(
        ("name", "samples", "columns", "classes", "kind", "papers", "available", "source"),
        [
            (
                entry.name,
                _count(entry.n_samples),
                _count(entry.n_features),
                _count(entry.n_classes),
                entry.kind,
                ", ".join(entry.papers),
                "yes" if entry.name in available else "no",
                entry.source,
            )
            for entry in entries
        ],
        right=("samples", "columns", "classes"),
    )
    print_text("")
    print_text(
        f"{len(available)} of {len(entries)} are available. `tamis datasets NAME` tells where "
        "another comes from."
    )


def _count(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _described(entry: Entry, available: bool) -> dict[str, Any]:
    fields = {
        field.name: getattr(entry, field.name)
        for field in dataclasses.fields(entry)
        if field.name not in ("recipe", "download")
    }
    return {
        **fields,
        "made_of": entry.recipe.base if entry.recipe else None,
        "downloadable": entry.download is not None,
        "available": available,
    }


def _print_one(entry: Entry, available: bool, as_json: bool) -> None:
    if as_json:
        print_json(_described(entry, available))
        return
    shape = f"{_count(entry.n_samples)} samples × {_count(entry.n_features)} columns"
    print_text(entry.name, style="bold")
    print_text(f"shape     {shape}, {_count(entry.n_classes)} classes")
    pixels = ", {} × {} pixels".format(*entry.image_shape) if entry.image_shape else ""
    print_text(f"kind      {entry.kind}{pixels}")
    print_text(f"papers    {', '.join(entry.papers) or '–'}")
    print_text(f"source    {entry.source}")
    print_text(f"licence   {entry.licence}")
    if entry.note:
        print_text(f"note      {entry.note}")
    if entry.sha256:
        print_text(f"sha256    {entry.sha256} (of the contents)")
    print_text(f"available {'yes' if available else _what_to_do(entry)}")


def _what_to_do(entry: Entry) -> str:
    supply = "put {} (.npz, .mat or .csv) into the folder that TAMIS_DATA names"
    if entry.recipe is not None:
        return f"no; it is made of {entry.recipe.base}, which is not available either"
    if entry.download is not None:
        return "no; it is downloaded when first used, or " + supply.format(" or ".join(entry.files))
    return "no; " + supply.format(" or ".join(entry.files))
