"""Decisions and what follows from them."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from tamis import Auto, MaxVariance, studio
from tamis.studio import _actions as actions
from tamis.studio import _columns as columns
from tamis.studio import _pictures as pictures
from tamis.studio import _session
from tamis.studio import _told as told
from tamis.studio._choice import Decisions, choose, numbers_of
from tamis.studio._session import Session
from tamis.studio._table import read_file, read_memory
from tamis.studio._work import Worker


def table(n=60, d=9, seed=0):
    rng = np.random.RandomState(seed)
    groups = rng.randint(3, size=n)
    X = 3 * rng.normal(size=(3, d))[groups] + rng.normal(size=(n, d))
    X[:, 1] = X[:, 0] + 0.1 * rng.normal(size=n)
    return X


@pytest.fixture
def open_session(monkeypatch):
    opened = []
    # What is measured for every number of columns takes most of the time, and plays no part here.
    monkeypatch.setattr(pictures, "number_evidence", lambda chosen: None)

    def start(read):
        session = Session(read)
        opened.append(session)
        assert session.worker.wait(60)
        return session

    yield start
    for session in opened:
        session.close()


def decided(session, **wish):
    actions.act(session, wish)
    assert session.worker.wait(60)
    assert session.error == ""
    return session.result.chosen


# --- the worker ---------------------------------------------------------------------------------


def test_a_job_is_stopped_for_the_next():
    failures, done, begun = [], [], threading.Event()
    worker = Worker(failures.append)

    def forever():
        begun.set()
        while True:
            time.sleep(0.001)

    worker.submit(forever)
    assert begun.wait(10)
    worker.submit(lambda: done.append(1))
    assert worker.wait(10)
    assert done == [1]
    worker.submit(forever)
    worker.cancel()
    assert worker.wait(10)
    worker.submit(lambda: 1 / 0)
    assert worker.wait(10)
    assert [type(error) for error in failures] == [ZeroDivisionError]
    worker.close()


# --- decisions ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_selection_is_that_of_the_method(open_session):
    X = table()
    session = open_session(lambda: read_memory(X))
    auto = Auto().fit(X)
    assert session.result.chosen.number == auto.n_features_
    np.testing.assert_array_equal(session.result.chosen.ranking, auto.ranking_)
    chosen = decided(session, do="method", method="max_variance")
    np.testing.assert_array_equal(chosen.ranking, MaxVariance().fit(X).ranking_)


@pytest.mark.slow
def test_keep_drop_and_undo(open_session):
    session = open_session(lambda: read_memory(table()))
    first = session.result.chosen
    last = int(np.argmax(first.ranking))
    best = int(np.argmin(first.ranking))
    kept = decided(session, do="column", place=last, wish="keep")
    assert kept.number == first.number
    assert f"x{last}" in kept.kept()
    both = decided(session, do="column", place=best, wish="drop")
    assert f"x{best}" not in both.kept()
    assert f"x{last}" in both.kept()
    fresh = Auto(first.number, keep=[last], drop=[best]).fit(table())
    np.testing.assert_array_equal(both.ranking, fresh.ranking_)
    np.testing.assert_array_equal(decided(session, do="undo").ranking, kept.ranking)
    np.testing.assert_array_equal(decided(session, do="undo").ranking, first.ranking)
    np.testing.assert_array_equal(decided(session, do="redo").ranking, kept.ranking)
    assert told.state(session)["undo"] == 1
    free = decided(session, do="column", place=last, wish="free")
    np.testing.assert_array_equal(free.ranking, first.ranking)


@pytest.mark.slow
def test_a_crash_is_a_message(open_session, monkeypatch):
    session = open_session(lambda: read_memory(table()))
    monkeypatch.setattr(_session, "choose", lambda *given: 1 / 0)
    actions.act(session, {"do": "method", "method": "mrsf"})
    assert session.worker.wait(60)
    state = told.state(session)
    assert state["error"].startswith("ZeroDivisionError")
    assert state["busy"] is None
    monkeypatch.undo()
    decided(session, do="again")


def test_what_cannot_be_read_is_a_message(open_session, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("")
    session = open_session(lambda: read_file(path))
    assert "bad.csv" in session.error
    assert told.state(session)["table"] is None


@pytest.mark.slow
def test_mixed_types_and_corrections(open_session, messy_csv):
    session = open_session(lambda: read_file(messy_csv))
    chosen = session.result.chosen
    assert "id" not in chosen.numbers.sources
    assert "town" in chosen.numbers.sources
    names = session.table.names
    assert "identifier" in told.column(session, names.index("id"))["sentences"][0]
    kinds = numbers_of(session.table, Decisions()).preparation.kinds_
    assert kinds["when"] == "date"
    chosen = decided(session, do="kind", place=names.index("pets"), kind="text")
    assert "pets" not in chosen.numbers.sources
    chosen = decided(session, do="column", place=names.index("town"), wish="label")
    assert "town" not in chosen.numbers.sources
    figure = told.figure(session, "plane before", colour="labels")
    assert {name for _, name in figure["key"]} == {"Tours", "Metz", "<i>Lyon</i>"}
    assert "<i>" not in figure["svg"]


@pytest.mark.slow
def test_comparing_methods(open_session):
    session = open_session(lambda: read_memory(table()))
    decided(session, do="number", number=3)
    decided(session, do="compare", methods=["auto", "max_variance", "m3fs"])
    compared = told.state(session)["compared"]
    assert [one["method"] for one in compared["methods"]] == ["auto", "max_variance", "m3fs"]
    assert all(len(one["kept"]) == 3 for one in compared["methods"])
    expected = np.argsort(-table().var(axis=0))[:3].tolist()
    assert compared["methods"][1]["kept"] == expected
    actions.act(session, {"do": "remember"})
    assert told.state(session)["remembered"]["kept"] == compared["methods"][0]["kept"]


# --- what sliding needs -------------------------------------------------------------------------


def test_nearest_kept_columns_for_every_number():
    X = table(50, 40, seed=1)
    chosen = choose(
        numbers_of(read_memory(X), Decisions(method="max_variance")),
        Decisions(method="max_variance"),
    )
    found = columns.nearest_by_number(chosen)
    correlations = np.corrcoef(X.T)
    for number in (1, 2, 7, 40):
        leaders = chosen.order[:number]
        for column in range(40):
            entries = slice(found["starts"][column], found["starts"][column + 1])
            ranks, alike = found["rank"][entries], found["alike"][entries]
            known = np.flatnonzero(ranks < number)
            others = leaders[leaders != column]
            if not len(others):
                assert not len(known)
                continue
            best = np.abs(correlations[column, others]).max()
            assert abs(abs(int(alike[known[-1]])) / 127 - best) < 0.006
            leader = chosen.order[ranks[known[-1]]]
            assert abs(abs(correlations[column, leader]) - best) < 2e-3


def test_histograms():
    X = np.array([[0.0, 5], [1, 5], [1, 5], [4, 5]])
    bars = columns.matrix_histograms(X)
    assert bars.shape == (2, columns.N_BINS)
    assert bars[0].tolist() == [128, 0, 0, 0, 255, *[0] * 10, 128]
    np.testing.assert_array_equal(columns.histograms([X[:, 0]])[0], bars[0])
    text = np.array(["a", "b", "b", None], dtype=object)
    assert columns.histograms([text])[0, :3].tolist() == [255, 128, 0]


# --- notebooks and the terminal -----------------------------------------------------------------


@pytest.mark.slow
def test_from_a_notebook():
    running = studio.open(table(), browser=False)
    try:
        assert running.url.startswith("http://127.0.0.1:")
        running.wait()
        assert set(running.kept) <= {f"x{j}" for j in range(9)}
    finally:
        running.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_ctrl_c_while_computing(tmp_path):
    X = np.random.RandomState(0).normal(size=(1500, 1500))
    path = tmp_path / "wide.npy"
    np.save(path, X)
    command = [sys.executable, "-m", "tamis", "studio", str(path), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    assert "http://127.0.0.1:" in line
    process.send_signal(2)
    _, err = process.communicate(timeout=30)
    assert process.returncode in (0, 130)
    assert "Traceback" not in err


def test_without_the_extra_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "tamis.studio._server", None)
    with pytest.raises(ImportError, match=r"pip install 'tamis\[studio\]'"):
        studio.open(table(), browser=False)


def test_decisions_are_plain():
    decisions = Decisions(number=2).with_column("a", "keep").with_column("b", "drop")
    assert decisions.with_column("a", "drop") == replace(decisions, keep=(), drop=("b", "a"))
    assert decisions.with_column("c", "keep").with_column("d", "keep").number == 3
    assert decisions.with_kind("a", "text").with_kind("a", "auto") == decisions
