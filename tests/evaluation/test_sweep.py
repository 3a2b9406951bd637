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


def fail_once(marker: str) -> list[dict[str, float]]:
    """Fails until its marker is there, which it leaves."""
    if Path(marker).exists():
        return square(3)
    Path(marker).write_text("")
    raise OSError("not at hand")


def swallow(number: int) -> list[dict[str, float]]:
    """Takes every error for its own, as careless code does."""
    while True:
        try:
            spin(number)
        except Exception:
            return square(number)


def die(number: int) -> list[dict[str, float]]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def nothing_to_keep(number: int) -> list[dict[str, float]]:
    return [{"square": float("nan")}]


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
    assert not any(record.too_long for record in results.records)


def test_a_run_over_the_time_limit_fails_and_the_next_goes_on():
    tasks = [Task({"spin": 1}, spin, {"number": 1}), *squares(1)]
    results = sweep(tasks, time_limit=0.2)
    assert "limit of 0.2 s" in results.records[0].error
    assert [record.too_long for record in results.records] == [True, False]
    assert results.records[1].rows == [{"square": 0}]


def test_no_method_can_swallow_the_time_limit():
    results = sweep([Task({"spin": 1}, swallow, {"number": 1})], time_limit=0.2)
    assert "limit of 0.2 s" in results.records[0].error


@pytest.mark.slow
def test_failures_are_tried_again_but_not_what_exceeds_the_same_limit(tmp_path):
    path = tmp_path / "r.jsonl"
    tasks = [
        Task({"once": 1}, fail_once, {"marker": str(tmp_path / "marker")}),
        Task({"spin": 1}, spin, {"number": 1}),
    ]
    first = sweep(tasks, path, time_limit=0.2)
    assert first.records[0].error == "OSError: not at hand"
    before = path.read_bytes().count(b'"spin"')
    second = sweep(tasks, path, time_limit=0.2)
    assert second.records[0].rows == [{"square": 9}]
    assert path.read_bytes().count(b'"spin"') == before
    sweep(tasks, path, time_limit=0.3)
    assert path.read_bytes().count(b'"spin"') == before + 1
    assert {str(r.key): r.error for r in Results.load(path).records}["{'once': 1}"] is None


@pytest.mark.slow
def test_a_worker_that_dies_is_one_failed_run(tmp_path):
    tasks = [*squares(3), Task({"bad": 1}, die, {"number": 1}), *[
        Task({"number": i}, square, {"number": i}) for i in range(3, 6)
    ]]  # fmt: skip
    results = sweep(tasks, tmp_path / "r.jsonl", n_jobs=2)
    assert [r.error is None for r in results.records] == [True] * 3 + [False] + [True] * 3
    assert "WorkerDied" in results.records[3].error


def test_what_json_cannot_hold_is_one_failed_run(tmp_path):
    tasks = [Task({"nan": 1}, nothing_to_keep, {"number": 1}), *squares(1)]
    for path in (None, tmp_path / "r.jsonl"):
        results = sweep(tasks, path)
        assert results.records[0].error.startswith("ValueError: Out of range")
        assert results.records[1].error is None


def test_a_run_of_other_things_is_made_again(tmp_path):
    path = tmp_path / "r.jsonl"
    for number, expected in ((2, 4), (3, 9), (3, 9)):
        task = Task({"run": 1}, square, {"number": number}, fingerprint=str(number))
        assert sweep([task], path).records[0].rows == [{"square": expected}]
    assert path.read_bytes().count(b'"square"') == 2


@pytest.mark.parametrize("contents", [b'{"precious": 1}', b"a,b\n1,2", b"one line"])
def test_a_file_of_something_else_is_left_alone(tmp_path, contents):
    path = tmp_path / "mine"
    path.write_bytes(contents)
    with pytest.raises(SweepError, match=r"no results|not a result"):
        sweep(squares(1), path)
    assert path.read_bytes() == contents


def test_a_fresh_start_waits_for_nobody_but_takes_nothing_away(tmp_path):
    path = tmp_path / "r.jsonl"
    sweep(squares(3), path, header={"seed": 0})
    results = sweep(squares(2), path, header={"seed": 1}, fresh=True)
    assert len(Results.load(path).records) == len(results.records) == 2

    def second(number: int) -> list[dict[str, float]]:
        with pytest.raises(SweepError, match="in use by another sweep"):
            sweep(squares(1), path, fresh=True)
        return square(number)

    tasks = [*squares(2), Task({"number": 9}, second, {"number": 9})]
    assert sweep(tasks, path, header={"seed": 1}).records[2].error is None
    assert len(Results.load(path).records) == 3


def test_what_made_a_run_is_kept(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    for n, commit in ((2, "first"), (2, "unused"), (4, "second")):
        found = {"commit": commit}
        monkeypatch.setattr(sys.modules["tamis.evaluation.sweep"], "provenance", found.copy)
        results = sweep(squares(n), path)
    assert [r.made_with["commit"] for r in results.records] == ["first"] * 2 + ["second"] * 2
    assert Results.load(path).made_with == [{"commit": "first"}, {"commit": "second"}]


def test_results_of_another_protocol_are_refused(tmp_path):
    path = tmp_path / "r.jsonl"
    sweep(squares(1), path, header={"seed": 0})
    with pytest.raises(SweepError, match=r"seed=0, not 1; give another output, or discard"):
        sweep(squares(1), path, header={"seed": 1})
    sweep(squares(1), path, header={"seed": 0})  # and it is let go of


def test_a_refusal_names_the_fields_that_differ_and_no_others(tmp_path):
    path = tmp_path / "r.jsonl"
    header = {"source": "a.csv", "protocol": {"seed": 0, "n_repeats": 20, "scaling": "unit"}}
    sweep(squares(1), path, header=header)
    changed = {"source": "a.csv", "protocol": {"seed": 1, "n_repeats": 5, "scaling": "unit"}}
    with pytest.raises(SweepError) as refusal:
        sweep(squares(1), path, header=changed)
    assert str(refusal.value) == (
        f"{path} holds results made with seed=0, not 1, and n_repeats=20, not 5; give another "
        "output, or discard them (fresh=True)."
    )


def selection_line(**changes: object) -> bytes:
    row = {"n_features": 2, "measure": "acc", "values": [1.0]}
    entry = {
        "key": {"set": "iris", "label": "A", "method": "a", "parameters": {}},
        "rows": [row],
        "seconds": {},
        "error": None,
        "fingerprint": "",
    }
    for name, value in changes.items():
        part = row if name in row else entry["key"] if name in entry["key"] else entry
        if value is None:
            del part[name]
        else:
            part[name] = value
    return json.dumps(entry).encode()


@pytest.mark.parametrize(
    ("line", "lack"),
    [
        (selection_line(measure=None), " (it lacks 'measure')"),
        (selection_line(n_features=None), " (it lacks 'n_features')"),
        (selection_line(values=None), " (it lacks 'values')"),
        (selection_line(parameters=None), " (it lacks 'parameters')"),
        (selection_line(fingerprint=None), " (it lacks 'fingerprint')"),
        (selection_line(values=3), ""),
        (selection_line(parameters=3), ""),
        (selection_line(rows=3), ""),
        (selection_line(rows=[3]), ""),
        (selection_line(seconds=3), ""),
        (selection_line(key=3), ""),
    ],
)
def test_a_damaged_record_is_named_with_what_to_do(tmp_path, line, lack):
    path = tmp_path / "r.jsonl"
    sweep(squares(2), path)
    with path.open("ab") as file:
        file.write(selection_line() + b"\n" + line + b"\n")
    number = len(path.read_bytes().splitlines())
    with pytest.raises(SweepError) as refusal:
        Results.load(path)
    assert str(refusal.value) == (
        f"line {number} of {path} is not a result{lack}; delete the line to have its run made "
        "again, give another output, or discard the file (fresh=True)."
    )


def held_back(number: int) -> list[dict[str, bool]]:
    return [{"held": signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])}]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="the system has no signal masks")
def test_workers_see_no_interrupts_and_the_sweep_does():
    """Ctrl-C goes to every process of a terminal; a worker would print where it was."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    tasks = [Task({"number": i}, held_back, {"number": i}) for i in range(3)]
    assert [r.rows for r in sweep(tasks, n_jobs=2).records] == [[{"held": True}]] * 3
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


@pytest.mark.parametrize(
    "line", [b"nonsense", b"[]", b'{"key":{}}', b'{"rows":[],"seconds":{},"error":null}']
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, line):
    path = tmp_path / "r.jsonl"
    sweep(squares(2), path)
    lines = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[3:]]))
    with pytest.raises(SweepError, match="line 3 of"):
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
    assert set(lines[1]) == {"made_with"}
    assert lines[2]["key"] == {"number": 0}


def _lines(path: Path) -> int:
    """Finished runs; a line for what made them comes with every start that makes one."""
    return path.read_bytes().count(b'"key":') if path.exists() else 0


@pytest.mark.slow
def test_killed_twelve_times_the_results_are_those_of_an_uninterrupted_run(tmp_path):
    from evaluation.interrupted_sweep import CANDIDATES, PROTOCOL, SETS

    whole = evaluate(SETS, CANDIDATES, PROTOCOL)
    path = tmp_path / "killed.jsonl"
    command = [sys.executable, str(SCRIPT), str(path)]
    kills = 0
    for kill in range(12):  # once with each mix of workers, runs and delay below
        process = subprocess.Popen([*command, "1" if kill % 4 else "2"])
        target = _lines(path) + 1 + kill % 2  # at least one more run, and then at any moment
        while _lines(path) < target and process.poll() is None:
            time.sleep(0.003)
        time.sleep(0.007 * (kill % 3))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills == 12
    assert _lines(path) < len(whole.records), "nothing was left to do: the test shows nothing"
    subprocess.run([*command, "2"], check=True)
    assert rows(evaluate(SETS, CANDIDATES, PROTOCOL, path=path)) == rows(whole)
    assert _lines(path) == len(whole.records), "a run was made twice"


def test_journals_older_than_a_field_of_the_protocol_stay_good(tmp_path):
    path = tmp_path / "results.jsonl"
    before = {"n_folds": 5, "inner": {"n_folds": 5}}
    sweep(squares(2), path, header=before)
    written = path.read_bytes()
    now = {**before, "n_trees": 100, "inner": {"n_folds": 5, "n_random_classified": None}}
    sweep(squares(2), path, header=now)
    assert path.read_bytes() == written
    with pytest.raises(SweepError, match="n_trees=100, not 20"):
        sweep(squares(2), path, header={**now, "n_trees": 20})
