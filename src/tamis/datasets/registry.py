"""What sets there are, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tamis.datasets.catalogue import BUNDLED, DERIVED
from tamis.datasets.catalogue_images import IMAGES
from tamis.datasets.catalogue_tables import TABLES
from tamis.datasets.records import DatasetError, Entry
from tamis.utils.messages import close_names

__all__ = ["ENTRIES", "entry", "find", "markdown", "names", "plain"]

ENTRIES: Mapping[str, Entry] = MappingProxyType(
    {known.name: known for known in (*BUNDLED, *IMAGES, *TABLES, *DERIVED)}
)


def plain(name: str) -> str:
    """A name without what does not matter: case, ``-`` and ``_``."""
    return name.casefold().replace("-", "").replace("_", "")


_BY_PLAIN_NAME = {plain(name): known for name, known in ENTRIES.items()}


def find(name: str) -> Entry | None:
    """The entry of that name, or None."""
    return _BY_PLAIN_NAME.get(plain(name))


def entry(name: str) -> Entry:
    """What is known of a set.

    >>> from tamis import datasets
    >>> datasets.entry("COIL-20").n_classes
    20
    """
    known = find(name)
    if known is None:
        near = close_names(name, ENTRIES, fold=plain)
        hint = (
            f"did you mean {' or '.join(near)}?"
            if near
            else "tamis.datasets.names() lists those there are."
        )
        raise DatasetError(f"There is no data set {name!r}; {hint}")
    return known


def names() -> tuple[str, ...]:
    """Names of all registered sets, in the registry's order."""
    return tuple(ENTRIES)


def markdown() -> str:
    """The registry as a Markdown table."""
    lines = [
        "| name | samples × features | classes | kind | papers | licence | source | notes |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for known in ENTRIES.values():
        cells = (
            f"`{known.name}`",
            f"{known.n_samples} × {known.n_features}",
            str(known.n_classes),
            known.kind,
            ", ".join(known.papers) or "–",
            known.licence,
            known.source,
            known.note or "–",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
