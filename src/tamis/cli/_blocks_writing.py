"""What is written of a table that is read in blocks: columns block by block, and what is small."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli._failures import CommandError, command_words, reason
from tamis.cli._outputs import plain_parameters
from tamis.cli._screen import working
from tamis.cli._targets import write_all
from tamis.utils.messages import describe_columns

if TYPE_CHECKING:
    from tamis.base import Selector
    from tamis.io import LazyTable
    from tamis.preprocessing import Selection

__all__ = [
    "check_output_in_blocks",
    "cut_in_blocks",
    "opened",
    "opened_for_apply",
    "write_in_blocks",
]

DEFAULT_MEMORY = "1GB"


def opened(file: str, *, memory: str | None, **options: Any) -> LazyTable:
    """The table, for the options of :func:`tamis.io.open`; or one line that says why not."""
    from tamis import io

    try:
        return io.open(file, memory=memory or DEFAULT_MEMORY, **options)
    except io.TableError as error:
        raise CommandError(command_words(error)) from error


def check_output_in_blocks(
    file: str, table: LazyTable, paths: Mapping[str, Path], format: str | None
) -> None:
    """Refuse, before the work begins, what could not be written at its end."""
    from tamis import io

    for option, path in paths.items():
        real = path.resolve()
        read = {part.path.resolve() for part in table.parts}
        if not read.isdisjoint([real, *real.parents]):
            raise CommandError(f"{option} {path} is one of the files read; name another file.")
        if io.is_part_of(path, file):
            raise CommandError(
                f"{option} {path} would be read as a part of {file} the next time; name a file "
                "elsewhere."
            )
    if "--output" in paths:
        try:
            io.check_writable_in_blocks(paths["--output"], format)
        except io.TableError as error:
            raise CommandError(f"--output {command_words(error, '--output-format')}") from None


def _selection(table: LazyTable, model: Selector, method: str, aside: Sequence[str]) -> Selection:
    """What is kept, to be cut from other tables."""
    from tamis.preprocessing import Selection

    names = table.column_names
    return Selection(
        kept=[name for name, chosen in zip(names, model.get_support(), strict=True) if chosen],
        columns=dict.fromkeys(names, "number"),
        passthrough=aside,
        method=method,
        parameters={
            name: value if value is None or isinstance(value, int | float | str) else str(value)
            for name, value in plain_parameters(model).items()
        },
    )


def write_in_blocks(
    table: LazyTable,
    model: Selector,
    method: str,
    paths: Mapping[str, Path],
    *,
    aside: Sequence[str],
    format: str | None,
) -> None:
    """Write what was asked for, all of it or nothing; the columns in a pass of their own."""
    from tamis import io

    selection = _selection(table, model, method, aside)
    writers: dict[Path, Callable[[Path], object]] = {}
    if "--ranking" in paths:
        names = table.column_names
        writers[paths["--ranking"]] = lambda path: io.write_ranking(model, names, path)
    if "--save" in paths:
        writers[paths["--save"]] = lambda path: path.write_text(selection.to_json(), "utf-8")
    if "--output" in paths:
        path = paths["--output"]
        names = [*_beside(table, selection.passthrough, path, format), *selection.kept]
        writers[path] = lambda path: io.write_columns(table, names, path, format=format)
    if writers:
        write_all(writers)


def _beside(table: LazyTable, along: Sequence[str], target: Path, format: str | None) -> list[str]:
    """The columns that go along with the selected ones: none in NPY, which holds one matrix."""
    from tamis import io

    if io.format_of(target, format).name == "npy":
        return []
    return [name for name in table.all_names if name in set(along)]


def opened_for_apply(
    file: str,
    selection: Selection,
    paths: Mapping[str, Path],
    output_format: str | None,
    memory: str | None,
    format: str | None,
    key: str | None,
    *,
    raw: bool,
) -> LazyTable:
    """The table that a selection is to be cut from in blocks, after all that can be checked."""
    if selection.preparation is not None and not raw:
        raise CommandError(
            "this selection fills gaps and encodes categories, which needs the whole table in "
            f"memory, and {file} is read in blocks; write the columns as they are with --raw, or "
            "name one file without --memory."
        )
    table = opened(file, memory=memory, numeric_only=True, format=format, key=key)
    check_output_in_blocks(file, table, paths, output_format)
    try:
        selection.cut(dict.fromkeys(table.all_names))  # refuses what is not there
    except ValueError as error:
        raise CommandError(f"{table.name}: {reason(error)}.") from None
    text = [name for name in selection.kept if name in set(table.left_out)]
    if text and not raw:
        raise CommandError(
            f"{table.name}: {describe_columns(range(len(text)), text)} of the selection should "
            "hold numbers and does not; check the file, or write the columns as they are with "
            "--raw."
        )
    return table


def cut_in_blocks(
    table: LazyTable,
    selection: Selection,
    path: Path,
    aside: Sequence[str],
    format: str | None,
) -> list[str]:
    """Write the columns, all or nothing; return those that go along with the kept ones."""
    from tamis import io

    kept = set(selection.kept)
    along = [name for name in (*aside, *selection.passthrough) if name not in kept]
    along = _beside(table, along, path, format)
    names = [*along, *selection.kept]
    with working("writing"):
        write_all({path: lambda path: io.write_columns(table, names, path, format=format)})
    return along
