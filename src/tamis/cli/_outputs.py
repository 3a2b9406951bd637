"""What ``tamis select`` writes: the columns, the ranking, the selection, the report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.cli._failures import CommandError
from tamis.cli._grouping import SourceRanking
from tamis.cli._mixed import prepared_columns
from tamis.cli._preparation import Prepared
from tamis.cli._screen import working
from tamis.cli._source import Source
from tamis.cli._standard_output import STANDARD_OUTPUT
from tamis.cli._targets import (
    check_output,
    check_ranking,
    check_report,
    check_targets,
    write_all,
)

if TYPE_CHECKING:
    from tamis.base import Selector
    from tamis.preprocessing import Selection

__all__ = ["Output", "files_to_write", "plain_parameters", "write_outputs"]


@dataclass(frozen=True)
class Output:
    """How the files are written: the format of the table, and what the report shows."""

    format: str | None
    prepared: bool
    pixels: tuple[int, int] | None
    command: str


def files_to_write(
    source: Path | None,
    *,
    output: Path | None,
    output_format: str | None,
    ranking: Path | None,
    report: Path | None,
    save: Path | None,
) -> dict[str, Path]:
    """The files that are asked for, by option, each checked before the work begins.

    Parameters
    ----------
    source : Path or None
        The input, which is never written over; None where that is checked elsewhere.
    output, output_format, ranking, report, save
        The options.
    """
    to_stdout = output == STANDARD_OUTPUT
    targets = {
        "--output": None if to_stdout else output,
        "--ranking": ranking,
        "--report": report,
        "--save": save,
    }
    check_ranking(ranking)
    folders = check_output(output, output_format)
    paths = check_targets(targets, source, folders)
    check_report(report)
    if save is not None and save.suffix.lower() != ".json":
        raise CommandError(f"--save {save}: a selection is a JSON file; give it a name in .json.")
    if to_stdout:
        paths["--output"] = STANDARD_OUTPUT
    return paths


def write_outputs(
    paths: dict[str, Path],
    source: Source,
    prepared: Prepared,
    model: Selector,
    ranked: Selector | SourceRanking,
    method: str,
    how: Output,
) -> None:
    """Write what was asked for, all of it or nothing."""
    import numpy as np

    from tamis import io

    feature_names = source.table.feature_names
    mixed = source.mixed
    sources = feature_names if mixed is None else list(mixed.preparation.groups_)
    writers: dict[Path, Callable[[Path], object]] = {}
    if "--ranking" in paths:
        writers[paths["--ranking"]] = lambda path: io.write_ranking(ranked, sources, path)
    if "--save" in paths:
        selection = _selection(source, model, ranked, method)
        writers[paths["--save"]] = lambda path: path.write_text(selection.to_json(), "utf-8")
    if "--report" in paths:
        from tamis import report

        labels = source.table.labels
        if labels is not None:
            labels = labels[prepared.rows]

        def write_report(path: Path) -> None:
            report.selection(
                model,
                prepared.X,
                feature_names=list(feature_names),
                labels=labels,
                image_shape=how.pixels,
                command=how.command,
                preparation=[*(mixed.notes if mixed else ()), *prepared.words],
                prepared_by=None if mixed is None else mixed.preparation,
                scaler=prepared.scaler,
                source_code=f"{source.code}\n{prepared.code}",
                title=source.name,
            ).save(path)

        writers[paths["--report"]] = write_report
    if "--output" in paths:

        def write_output(path: Path) -> None:
            if mixed is not None:
                chosen = _selection(source, model, ranked, method)
                if how.prepared:
                    cut = prepared_columns(mixed.raw, chosen, chosen.passthrough)
                    io.write_columns(cut, cut.names, path, format=how.format)
                else:
                    names = [*chosen.passthrough, *chosen.kept]
                    io.write_columns(mixed.raw, names, path, format=how.format)
                return
            if prepared.altered:
                # Scaling in place has left nothing of the values that are to be written; what it
                # made of them is not needed any more, nor is the memory for both.
                del prepared.X
                source.reread()
            columns = np.flatnonzero(model.get_support())
            io.write_table(source.table, columns, path, format=how.format, selector=model)

        writers[paths["--output"]] = write_output
    if writers:
        with working("writing"):
            write_all(writers)


def _selection(
    source: Source, model: Selector, ranked: Selector | SourceRanking, method: str
) -> Selection:
    """What is kept, to be cut from other tables."""
    from tamis.preprocessing import Selection

    table = source.table
    parameters = {
        name: value if value is None or isinstance(value, int | float | str) else str(value)
        for name, value in plain_parameters(model).items()
    }
    if source.mixed is not None:
        names = list(source.mixed.preparation.groups_)
    else:
        names = [str(name) for name in table.feature_names]
    kept = [name for name, chosen in zip(names, ranked.get_support(), strict=True) if chosen]
    if source.mixed is not None:
        return source.mixed.selection(kept, method, parameters)
    return Selection(
        kept=kept,
        columns=dict.fromkeys(names, "number"),
        passthrough=[name for name in (table.ids_name, table.labels_name) if name is not None],
        method=method,
        parameters=parameters,
    )


def plain_parameters(model: Selector) -> dict[str, Any]:
    """The parameters of a method that say how it chose."""
    return {
        name: value
        for name, value in model.get_params().items()
        if name not in ("affinity", "verbose", "n_features_to_select")
    }
