from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tamis.evaluation import SweepError, Task, evaluate, sweep
from tamis.evaluation.results import Results

SCRIPT = Path(__file__).with_name("interrupted_sweep.py")


def square(number: int) -> list[dict[str, float]]:
    return [{"square": number**2}]


def fail(number: int) -> list[dict[str, float]]:
    raise ZeroDivisionError(f"no {number}\nsecond line")


def draw(seed: int) -> list[dict[str, list[float]]]:
    """Products whose last digits would hang on the number of threads."""
    X = np.random.default_rng(seed).standard_normal((400, 300))
    return [{"values": np.linalg.svd(X.T @ X, compute_uv=False).tolist()}]


def spin(number: int) -> list[dict[str, float]]:
    while True:
        number += 1


def squares(n: int) -> list[Task]:
    return [Task({"number": i}, square, {"number": i}) for i in range(n)]


def rows(results: Results) -> list[object]:
    return [(r.key, r.rows, r.error) for r in results.records]


def test_results_come_in_the_order_of_the_tasks(tmp_path):
    results = sweep(squares(7), tmp_path / "r.jsonl", n_jobs=2)
    assert [r.rows[0]["square"] for r in results.records] == [i**2 for i in range(7)]


def test_any_number_of_workers_gives_the_same_bits(tmp_path):
    tasks = [Task({"seed": i}, draw, {"seed": i}) for i in range(6)]
    one = sweep(tasks, tmp_path / "1.jsonl", n_jobs=1)
    two = sweep(tasks, tmp_path / "2.jsonl", n_jobs=2)
    assert rows(one) == rows(two) == rows(sweep(tasks))


def test_a_second_call_makes_the_missing_runs_and_no_others(tmp_path):
    path = tmp_path / "r.jsonl"
    sweep(squares(3), path)
    before = path.read_bytes()
    made = []

    def remember(number: int) -> list[dict[str, float]]:
        made.append(number)
        return square(number)

    tasks = [Task({"number": i}, remember, {"number": i}) for i in range(5)]
    results = sweep(tasks, path)
    assert made == [3, 4]
    assert path.read_bytes().startswith(before)
    assert [r.rows[0]["square"] for r in results.records] == [0, 1, 4, 9, 16]
    sweep(tasks, path)
    assert made == [3, 4]


@pytest.mark.parametrize("cut", [1, 5, 20, 60])
def test_a_line_cut_off_by_a_kill_is_made_again(tmp_path, cut):
    path = tmp_path / "r.jsonl"
    whole = sweep(squares(4), path)
    contents = path.read_bytes()
    path.write_bytes(contents[:-cut])
    assert rows(sweep(squares(4), path)) == rows(whole)
    assert rows(Results.load(path)) == rows(whole)


def test_a_file_cut_inside_its_header_starts_anew(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"format":1,"ta')
    assert len(sweep(squares(2), path).records) == 2


def test_failures_are_kept_in_one_line_and_lose_nothing(tmp_path):
    tasks = [*squares(2), Task({"bad": 1}, fail, {"number": 1})]
    results = sweep(tasks, tmp_path / "r.jsonl", n_jobs=2)
    assert [r.error for r in results.records] == [None, None, "ZeroDivisionError: no 1"]


def test_a_run_over_the_time_limit_fails_and_the_next_goes_on():
    tasks = [Task({"spin": 1}, spin, {"number": 1}), *squares(1)]
    results = sweep(tasks, time_limit=0.2)
    assert "limit of 0.2 s" in results.records[0].error
    assert results.records[1].rows == [{"square": 0}]


def test_results_of_another_protocol_are_refused(tmp_path):
    path = tmp_path / "r.jsonl"
    sweep(squares(1), path, header={"seed": 0})
    with pytest.raises(SweepError, match=r"seed=0, not 1; give another output, or discard"):
        sweep(squares(1), path, header={"seed": 1})
    sweep(squares(1), path, header={"seed": 0})  # and it is let go of


@pytest.mark.parametrize(
    "line", [b"nonsense", b"[]", b'{"key":{}}', b'{"rows":[],"seconds":{},"error":null}']
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "r.jsonl"
    sweep(squares(2), path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    with pytest.raises(SweepError, match="line 2 of"):
        sweep(squares(2), path)


def test_two_sweeps_cannot_write_one_file(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "r.jsonl"

    def second(number: int) -> list[dict[str, float]]:
        with pytest.raises(SweepError, match="in use by another sweep"):
            sweep(squares(1), path)
        return square(number)

    result = sweep([Task({"number": 0}, second, {"number": 0})], path)
    assert result.records[0].error is None


def test_a_full_disk_is_said_and_what_is_done_stays(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    sweep(squares(2), path)

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SweepError, match="No space left on device; 2 runs are kept"):
        sweep(squares(4), path)
    monkeypatch.undo()
    assert len(sweep(squares(4), path).records) == 4


def test_a_place_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SweepError, match="cannot keep results in"):
        sweep(squares(1), tmp_path / "file" / "r.jsonl")
    with pytest.raises(SweepError, match="cannot keep results in"):
        sweep(squares(1), tmp_path)


def test_keys_must_differ():
    with pytest.raises(ValueError, match="same key"):
        sweep([*squares(2), *squares(1)])


def test_results_are_json(tmp_path):
    path = tmp_path / "r.jsonl"
    sweep(squares(2), path, header={"n_features": (1, 2)})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["n_features"] == [1, 2]
    assert lines[1]["key"] == {"number": 0}


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.slow
def test_killed_twenty_times_the_results_are_those_of_an_uninterrupted_run(tmp_path):
    from evaluation.interrupted_sweep import CANDIDATES, PROTOCOL, SETS

    whole = evaluate(SETS, CANDIDATES, PROTOCOL)
    path = tmp_path / "killed.jsonl"
    command = [sys.executable, str(SCRIPT), str(path)]
    kills = 0
    for kill in range(20):
        process = subprocess.Popen([*command, "1" if kill % 4 else "2"])
        target = _lines(path) + 1 + kill % 2  # at least one more run, and then at any moment
        while _lines(path) < target and process.poll() is None:
            time.sleep(0.003)
        time.sleep(0.007 * (kill % 3))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 20
    assert _lines(path) < 1 + len(whole.records), "nothing was left to do: the test shows nothing"
    subprocess.run([*command, "2"], check=True)
    assert rows(evaluate(SETS, CANDIDATES, PROTOCOL, path=path)) == rows(whole)
    assert _lines(path) == 1 + len(whole.records), "a run was made twice"
