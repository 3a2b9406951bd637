"""``tamis bench``: an experiment from the command to the files."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from tamis import reproduction


@pytest.fixture
def stopped(monkeypatch):
    def stop(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "run", stop)


@pytest.mark.slow
def test_an_experiment_from_end_to_end(run, tmp_path):
    options = ("bench", "m3fs", "--quick", "--sets", "iris_noise", "-o", "results")
    text = run(*options)
    assert text.exit_code == 0, text.output
    assert "m3fs: our figures beside the paper's (quick version)" in text.stdout
    assert "Verdicts: " in text.stdout
    written = [line.split(" ")[1] for line in text.stdout.splitlines() if line[:6] == "Wrote "]
    assert written
    assert all((tmp_path / name).is_file() for name in written)
    again = run(*options, "--json")
    found = json.loads(again.stdout)
    assert again.stderr == ""
    assert found["experiment"] == "m3fs"
    assert found["files"] == written
    assert found["sets"] == ["iris_noise"]


def test_what_is_passed_on(run, monkeypatch, tmp_path):
    given = {}

    def remember(name, **options):
        given.update(options, name=name)
        raise ValueError("enough seen.")

    monkeypatch.setattr(reproduction, "run", remember)
    result = run(
        "bench", "udfs", "--quick", "--sets", "USPS, umist", "-o", "out", "--jobs", 2, "--seed", 3,
        "--fresh",
    )  # fmt: skip
    assert result.exit_code == 2
    assert result.stderr == "tamis: enough seen.\n"
    assert str(given.pop("output")) == "out"
    assert given == {
        "name": "udfs",
        "quick": True,
        "sets": ["usps", "umist"],
        "n_jobs": 2,
        "seed": 3,
        "fresh": True,
        "progress": False,
        "candidates": [],
    }


@pytest.fixture
def ended(monkeypatch):
    """An experiment that ends with these runs failed and these stopped."""

    def ended(failures, too_long):
        def run(name, **options):
            data = {"failures": [made(*one) for one in failures]}
            data["too_long"] = [made(*one) for one in too_long]
            return reproduction.Outcome(name, "A table.", "", data, (), Counter())

        def made(name, label, error):
            return {"key": {"set": name, "label": label}, "error": error}

        monkeypatch.setattr(reproduction, "run", run)

    return ended


SLOW = "TimeLimitError: took longer than the limit of 60 s of processor time"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_method_that_takes_too_long_is_a_result(run, ended, options):
    slow = [("umist", "FSGMM", SLOW), ("orl", "FSGMM", SLOW), ("orl", "TRACK", SLOW)]
    ended([], slow)
    result = run("bench", "leaderboard", "--quick", *options)
    assert result.exit_code == 0
    assert result.stderr == (
        "note: 3 runs of leaderboard took longer than the time limit: FSGMM (2 times), TRACK.\n"
    )


def test_a_method_that_raises_is_a_failure(run, ended):
    ended([("umist", "UDFS", "ValueError: no")], [("umist", "FSGMM", SLOW)])
    result = run("bench", "leaderboard", "--quick")
    assert result.exit_code == 1
    note, failure = result.stderr.splitlines()
    assert note.startswith("note: 1 run of leaderboard took longer")
    assert failure == "tamis: 1 runs of leaderboard failed; see above why."


def test_an_interrupt_says_where_the_results_are(run, stopped):
    result = run("bench", "udfs", "-o", "out")
    assert result.exit_code == 130
    (line,) = result.stderr.splitlines()
    assert "what is done is kept in out" in line


def test_results_made_otherwise_are_not_mixed_in(refused, tmp_path):
    folder = tmp_path / "results" / "m3fs-quick"
    folder.mkdir(parents=True)
    (folder / "results.jsonl").write_text('{"format":1,"tamis":"0"}\n')
    line = refused("bench", "m3fs", "--quick", "--sets", "iris_noise")
    assert "--fresh" in line
