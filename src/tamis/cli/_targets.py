"""The files that a command writes: checked before the work, and all written or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping
from contextlib import ExitStack
from pathlib import Path

from tamis.cli._failures import CommandError, command_words, reason
from tamis.utils.files import replacing

__all__ = [
    "check_folder",
    "check_output",
    "check_ranking",
    "check_report",
    "check_targets",
    "write_all",
]

RANKING_FORMATS = (".csv", ".tsv", ".json")


def check_targets(
    targets: Mapping[str, Path | None], source: Path | None, folders: Container[str] = ()
) -> dict[str, Path]:
    """The files to write, by the option that names them, after everything that can be checked.

    Parameters
    ----------
    targets : mapping of option to path
        None where an option is not given.
    source : Path or None
        The input, which is never written over, nor into.
    folders : container of str
        The options whose target is to be a Zarr store, which is a folder.
    """
    from tamis.io import TableError, check_replaceable

    checked: dict[str, Path] = {}
    for option, path in targets.items():
        if path is None:
            continue
        check_folder(path.absolute().parent, option)
        if source is not None and _same(path, source):
            raise CommandError(f"{option} {path} is the input; name another file.")
        real = Path(os.path.realpath(path))
        if source is not None and Path(os.path.realpath(source)) in real.parents:
            raise CommandError(f"{option} {path} lies inside the input; name a file elsewhere.")
        for other, taken in checked.items():
            if _same(path, taken):
                raise CommandError(f"{option} and {other} name the same file, {path}; name two.")
        if path.exists():
            try:
                check_replaceable(path, real, option in folders)
            except TableError as error:
                raise CommandError(f"{option} {error}") from None
        checked[option] = path
    return checked


def check_output(output: Path | None, output_format: str | None) -> tuple[str, ...]:
    """Refuse a table of no known format; return the options that write a folder."""
    from tamis import io

    formats = io.formats()
    if output_format is not None and output_format not in formats:
        raise CommandError(
            f"--output-format {output_format} is unknown; the formats are {', '.join(formats)}."
        )
    if output is None:
        return ()
    try:
        return ("--output",) if io.format_of(output, output_format).name == "zarr" else ()
    except io.TableError as error:
        raise CommandError(f"--output {command_words(error, '--output-format')}") from None


def check_ranking(path: Path | None) -> None:
    """Refuse a name that tells no format of a ranking."""
    if path is not None and path.suffix.lower() not in RANKING_FORMATS:
        raise CommandError(f"--ranking {path} must end in {', '.join(RANKING_FORMATS)}.")


def check_report(path: Path | None) -> None:
    """Refuse a name that says that the report is anything but HTML."""
    if path is None or path.suffix.lower() in (".html", ".htm"):
        return
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device or a pipe
    better = path.with_suffix(".html") if path.stem.strip("-.") else "report.html"
    raise CommandError(f"--report {path}: a report is an HTML page; call it {better}.")


def check_folder(folder: Path, option: str) -> None:
    """Refuse a folder that is not there, or cannot be written to."""
    if not folder.exists():
        raise CommandError(
            f"the folder {folder} of {option} does not exist; create it, or name another."
        )
    if not folder.is_dir():
        raise CommandError(f"{folder}, of {option}, is not a folder; name another.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandError(f"the folder {folder} of {option} cannot be written to; name another.")


def _same(first: Path, second: Path) -> bool:
    if first.exists() and second.exists():
        return first.samefile(second)
    return first.resolve() == second.resolve()


def write_all(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write every file beside its place first, and move all there when all are whole.

    Whatever fails, the folders are left as they were.
    """
    target, beside = Path(), Path()
    try:
        with ExitStack() as stack:
            for target, write in writers.items():
                beside = stack.enter_context(replacing(target))
                write(beside)
    except OSError as error:
        raise CommandError(
            f"cannot write {target}: {reason(error)}; make room, or write elsewhere. Nothing was "
            "written."
        ) from error
    except ValueError as error:
        text = reason(error).replace(str(beside), str(target)).removesuffix(". Nothing was written")
        raise CommandError(f"{text}. Nothing was written.") from error
