"""The runs that the leaderboard stopped after a minute, made again with the code as it is now.

``python -m benchmarks.slow_runs [--methods A,B] [--jobs N]`` repeats the runs that the committed
leaderboard names as too long, on the same tables and under the same limit, and writes a page
beside it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tamis.evaluation.provenance import provenance
from tamis.evaluation.rendering import markdown_table
from tamis.evaluation.results import Record
from tamis.evaluation.sweep import sweep
from tamis.reproduction import leaderboard

FOLDER = Path(__file__).parent.parent / "docs" / "results" / "leaderboard"
# Only the fit counts: one clustering, and no classifier, show that it came to an end.
PROTOCOL = replace(leaderboard.PROTOCOL, classifiers=(), n_repeats=1, n_random=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--methods", help="only these, by their labels")
    asked = parser.parse_args()
    wanted = asked.methods.split(",") if asked.methods else None
    page = json.loads((FOLDER / "leaderboard.json").read_text(encoding="utf-8"))
    every = [(run["key"]["set"], run["key"]["label"]) for run in page["too_long"]]
    slow = [(name, label) for name, label in every if wanted is None or label in wanted]
    order = dict.fromkeys(name for name, _ in slow)
    tasks = [
        task
        for task in leaderboard.tasks(list(order), PROTOCOL)
        if (task.key["set"], task.key["label"]) in slow
    ]
    results = sweep(
        tasks,
        n_jobs=asked.jobs,
        progress=True,
        time_limit=leaderboard.TIME_LIMIT,
        limited_part="fit",
    )
    write_page(results.records, len(every))


def write_page(records: Sequence[Record], n_slow: int) -> None:
    now = {(r.key["set"], r.key["label"]): words(r) for r in records}
    sets = list(dict.fromkeys(name for name, _ in now))
    labels = list(dict.fromkeys(label for _, label in now))
    rows = [["Method", *sets], *([one, *(now.get((s, one), "") for s in sets)] for one in labels)]
    still = sum(record.too_long for record in records)
    limit = f"{leaderboard.TIME_LIMIT:.0f} s"
    note = (
        f"The leaderboard stopped {n_slow} runs after {limit} of processor time for the fit, these "
        f"among them; now {still} of these take longer than that. Seconds of processor time of the "
        "fit, on one thread and on the same tables. An empty cell is a run that was fast enough "
        "before."
    )
    table = markdown_table(f"{len(records)} slow runs, made again", rows, note)
    made = f"Made by `python -m benchmarks.slow_runs` with commit {provenance()['commit']}."
    text = f"# Slow runs of the [leaderboard](leaderboard.md)\n\n{table}\n\n{made}\n"
    (FOLDER / "slow_runs.md").write_text(text, encoding="utf-8")
    print(text)


def words(record: Record) -> str:
    if record.too_long:
        return f"over {leaderboard.TIME_LIMIT:.0f}"
    return record.error or f"{record.seconds['fit']:.1f}"


if __name__ == "__main__":
    main()
