"""Run the benchmarks: all, or those whose name or shape has a word, and rewrite their rows."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import sys
from pathlib import Path
from typing import Any

from benchmarks import (
    automatic,
    blocks,
    discriminant,
    factorization,
    foundation,
    long_tables,
    margin,
    spectral,
    subset,
    systems,
)
from benchmarks.case import Case
from benchmarks.data import has_set
from benchmarks.growth import growth_page
from benchmarks.long_growth import long_growth_page
from benchmarks.measure import Measurement, measure, work_and_report
from benchmarks.threads import ALLOWED, SHORTEST, thread_rows
from tamis.registry import METHODS

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
RECORD = Path(__file__).parent / "measured.json"
CASES = (
    *automatic.CASES,
    *foundation.CASES,
    *subset.CASES,
    *spectral.CASES,
    *discriminant.CASES,
    *margin.CASES,
    *factorization.CASES,
    *long_tables.CASES,
    *systems.CASES,
    *blocks.CASES,
)
PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "skfeature-chappers")


def key(case: Case) -> str:
    return f"{case.name}, {case.shape}"


def as_ratio(value: float) -> str:
    return f"{value:.1f}×" if value >= 1 else f"{value:.2f}×"


def run(case: Case) -> dict[str, str]:
    """Measure one case and write its row."""
    ours, peer = measure_both(case)
    row = {
        "case": case.name,
        "table": case.shape,
        "ours": f"{ours.seconds:.2f} s",
        "peer": f"{peer.seconds:.2f} s, {case.peer_name}" if peer else "",
        "ratio": as_ratio(peer.seconds / ours.seconds) if peer else "",
        "memory beyond the data": f"{ours.megabytes:.0f} MB",
        "threads": "as it comes",
    }
    wanted = []
    missed = []
    if peer and case.min_ratio is not None:
        wanted.append(f"≥ {case.min_ratio:g}×")
        missed.append(peer.seconds / ours.seconds < case.min_ratio)
    if case.max_megabytes is not None:
        wanted.append(f"< {case.max_megabytes:g} MB")
        missed.append(ours.megabytes >= case.max_megabytes)
    if peer and case.same_result:
        wanted.append("same result")
        missed.append(ours.result != peer.result)
    row["to reach"] = ", ".join(wanted)
    row["reached"] = ("no" if any(missed) else "yes") if wanted else ""
    row["note"] = ours.note
    return row


def measure_both(case: Case) -> tuple[Measurement, Measurement | None]:
    """Ours and the peer in turn, so that a slow spell of the machine meets both."""
    ours, peers = [], []
    for _ in range(case.repeats):
        ours.append(measure(key(case), "ours"))
        if case.peer is not None:
            peers.append(measure(key(case), "peer"))
    best = min(ours, key=lambda run: run.seconds)
    return best, min(peers, key=lambda run: run.seconds, default=None)


def table(rows: list[dict[str, str]]) -> str:
    """Rows as an aligned Markdown table."""
    columns = list(rows[0])
    widths = {c: max(len(c), *(len(row[c]) for row in rows)) for c in columns}
    lines = ["| " + " | ".join(c.ljust(widths[c]) for c in columns) + " |"]
    lines.append("|" + "|".join("-" * (widths[c] + 2) for c in columns) + "|")
    lines += ["| " + " | ".join(row[c].ljust(widths[c]) for c in columns) + " |" for row in rows]
    return "\n".join(lines)


def page(kept: dict[str, Any]) -> str:
    """The whole documentation page, from what has been measured so far."""
    rows = [kept["rows"][key(case)] for case in CASES if key(case) in kept["rows"]]
    left_out = [key(case) for case in CASES if key(case) not in kept["rows"]]
    text = f"""# Benchmarks

Written by `make bench`; do not edit. Each side of a row runs in a process of its own, with no
variable set, as users run it (rows marked "one" are older, both sides on one thread); a peer is
measured in the same call, in turn with ours, and the fastest run of each counts. Memory is the peak
beyond the loaded table.

{kept["machine"]}

{table(rows)}

{threads_section(kept["threads"])}

{kept["growth"]}

{kept["long growth"]}
"""
    if left_out:
        text += "\nNot measured, because the set was not available: " + "; ".join(left_out) + ".\n"
    return text


def threads_section(rows: list[dict[str, str]]) -> str:
    """The table of fits as they come beside one and all threads."""
    if not rows:
        return ""
    return f"""## Threads

numpy and scipy each bring a pool of threads, and the two spin against each other. A fit therefore
runs on one thread, but for the products and factorizations large enough for all of them. Seconds of
a fit as it comes, with one thread set by variables, and with every pool at its full number, on a
machine of its own ("quiet") and beside a process that keeps a core busy; a few iterations of the
iterative methods. To reach: at most {ALLOWED:g} times the better of one and all (below
{SHORTEST:g} s the clock decides). `make bench WORD=threads` measures it.

{table(rows)}"""


def machine() -> str:
    """Where and with what the figures were measured."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    return f"{platform.machine()}, Python {platform.python_version()}, {versions}."


def write(kept: dict[str, Any]) -> None:
    """Keep what was measured, and make the page of it."""
    RECORD.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")
    print(f"written to {PAGE.relative_to(Path.cwd())}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "word", nargs="?", default="", help="only cases that contain it; or threads, or long-growth"
    )
    parser.add_argument("--worker", nargs=2, metavar=("CASE", "SIDE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        name, side = arguments.worker
        case = next(case for case in CASES if key(case) == name)
        work = case.ours if side == "ours" else case.peer
        assert work is not None
        work_and_report(case.load, work)
        return 0

    kept: dict[str, Any] = {"rows": {}, "growth": "", "long growth": "", "threads": []}
    if RECORD.exists():
        kept |= json.loads(RECORD.read_text(encoding="utf-8"))
    if arguments.word == "long-growth":
        kept["long growth"] = long_growth_page(PAGE.parent)
        print(kept["long growth"])
        write(kept)
        return 0
    if arguments.word.startswith("threads"):
        named = arguments.word.removeprefix("threads").strip(":").split(",")
        methods = [name for name in METHODS if named == [""] or name in named]
        rows = thread_rows(methods)
        print(table(rows))
        kept["threads"] = [row for row in kept["threads"] if row["method"] not in methods] + rows
        kept["threads"].sort(key=lambda row: list(METHODS).index(row["method"]))
        write(kept)
        return 1 if any("no" in row.values() for row in rows) else 0

    chosen = [case for case in CASES if arguments.word.lower() in key(case).lower()]
    present = [case for case in chosen if case.needs is None or has_set(case.needs)]
    if not present:
        print(f"No case to run for {arguments.word!r}; is TAMIS_DATA set?", file=sys.stderr)
        return 2
    rows = []
    for case in present:
        print(f"{key(case)} …", file=sys.stderr, flush=True)
        rows.append(run(case))
    print(table(rows))
    kept["rows"] |= {key(case): row for case, row in zip(present, rows, strict=True)}
    kept["machine"] = machine()
    if not arguments.word:
        print("growth of all methods …", file=sys.stderr, flush=True)
        kept["growth"] = growth_page(PAGE.parent)
        kept["long growth"] = long_growth_page(PAGE.parent)
        kept["threads"] = thread_rows(METHODS)
    write(kept)
    return 1 if any(row["reached"] == "no" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
