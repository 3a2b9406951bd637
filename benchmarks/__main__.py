"""Run the benchmarks: ``python -m benchmarks [WORD]`` (cases whose name or shape has the word)."""

from __future__ import annotations

import argparse
import importlib.metadata
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import foundation, spectral
from benchmarks.case import Case
from benchmarks.data import has_set
from benchmarks.growth import growth_page
from benchmarks.measure import Measurement, measure, work_and_report

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
CASES = (*foundation.CASES, *spectral.CASES)
PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn", "skfeature-chappers")


def key(case: Case) -> str:
    return f"{case.name}, {case.shape}"


def run(case: Case) -> dict[str, str]:
    """Measure one case and write its row."""
    ours, peer = measure_both(case)
    row = {
        "case": case.name,
        "table": case.shape,
        "ours": f"{ours.seconds:.2f} s",
        "peer": f"{peer.seconds:.2f} s, {case.peer_name}" if peer else "",
        "ratio": f"{peer.seconds / ours.seconds:.1f}×" if peer else "",
        "memory beyond the data": f"{ours.megabytes:.0f} MB",
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


def page(rows: list[dict[str, str]], left_out: list[str], growth: str) -> str:
    """The whole documentation page."""
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in PACKAGES)
    text = f"""# Benchmarks

Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}; do not edit. Every row is measured in this
one run, each side in a process of its own, on one thread. Where a peer is named, both ran in turn
and the fastest run of each counts. Memory is the peak beyond the loaded table.

{platform.machine()}, Python {platform.python_version()}, {versions}.

{table(rows)}

{growth}
"""
    if left_out:
        text += "\nNot measured, because the set was not at hand: " + "; ".join(left_out) + ".\n"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="only cases that contain it")
    parser.add_argument("--worker", nargs=2, metavar=("CASE", "SIDE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        name, side = arguments.worker
        case = next(case for case in CASES if key(case) == name)
        work = case.ours if side == "ours" else case.peer
        assert work is not None
        work_and_report(case.load, work)
        return 0

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
    if not arguments.word:
        print("growth of all methods …", file=sys.stderr, flush=True)
        left_out = [key(case) for case in chosen if case not in present]
        PAGE.write_text(page(rows, left_out, growth_page(PAGE.parent)), encoding="utf-8")
        print(f"written to {PAGE.relative_to(Path.cwd())}", file=sys.stderr)
    return 1 if any(row["reached"] == "no" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
