"""Selections on Dask: the same bits on every scheduler, whatever happens to the workers."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, Event, LocalCluster

from tamis import MRSF, UDFS, ColumnSubset, MaxVariance, io
from tamis.distributed import ClusterError, DaskTable, _dask, on_cluster

# Processes of a cluster leave sockets and logs behind that are none of ours.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

N, D, ROWS = 1200, 6, 200
# Nothing may take longer: a fit that hangs fails.
PATIENCE = 120


def table():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, N)
    latent = rng.normal(size=(N, 3)) + 4 * np.eye(3)[group]
    return latent @ rng.normal(size=(3, D)) + rng.normal(size=(N, D))


@pytest.fixture(name="X", scope="module")
def table_fixture():
    return table()


@pytest.fixture(name="expected", scope="module")
def expected_fixture(X, tmp_path_factory):
    """The scores of a fit in this process, on the same blocks of rows."""
    path = tmp_path_factory.mktemp("table") / "x.npy"
    np.save(path, X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tamis.io._lazy.LARGEST_BLOCK", ROWS * D)
        blocks = io.open(path)
    return MRSF(2, n_clusters=3).fit(blocks).scores_, blocks


@pytest.fixture(name="cluster", scope="module")
def cluster_fixture():
    settings = {
        "distributed.scheduler.allowed-failures": 1,
        "distributed.worker.memory.pause": False,
        "distributed.worker.memory.terminate": False,
    }
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
    ):
        yield cluster


@pytest.fixture(name="client")
def client_fixture(cluster):
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


def fitted(X):
    """The scores, or a failure if they take too long."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(MRSF(2, n_clusters=3).fit, X).result(timeout=PATIENCE).scores_


def blocks_of(X, read, client):
    """The table in blocks that a function reads where it runs."""
    starts = range(0, N, ROWS)
    return DaskTable(
        "The table",
        [(read, (X[start : start + ROWS], i)) for i, start in enumerate(starts)],
        [ROWS] * len(starts),
        [f"block {i}" for i in range(len(starts))],
        n_columns=D,
        names=None,
        dtype=X.dtype,
        client=client,
    )


def plainly(rows, number):
    return rows


# --- without a cluster -----------------------------------------------------------------------


def test_arrays_on_the_schedulers_of_this_process(X, expected):
    scores, _ = expected
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found = fitted(da.from_array(X, chunks=(ROWS, 2)))
        assert found.tobytes() == scores.tobytes()


def test_a_frame(X):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["b"] = frame["b"].round().astype("Int64")
    selector = ColumnSubset(3).fit(dd.from_pandas(frame, npartitions=4))
    expected = ColumnSubset(3).fit(frame.to_numpy(dtype=float))
    np.testing.assert_allclose(selector.scores_, expected.scores_, rtol=1e-9)
    assert selector.get_feature_names_out().tolist() == [
        "abcdef"[j] for j in expected.get_support(indices=True)
    ]


def test_chunks_of_unknown_and_of_no_rows(X):
    some = da.from_array(X, chunks=(ROWS, D))
    some = some[some[:, 0] > 100]  # nothing is left of any chunk
    both = da.concatenate([some, da.from_array(X, chunks=(ROWS, D))])
    np.testing.assert_allclose(MaxVariance(2).fit(both).scores_, X.var(axis=0))


def test_what_is_refused(X):
    with pytest.raises(ValueError, match=r"not numbers in column 'b'; drop"):
        MaxVariance(1).fit(dd.from_pandas(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})))
    with pytest.raises(ValueError, match="2D table"):
        MaxVariance(1).fit(da.ones(5))
    with pytest.raises(ValueError, match="not of numbers"):
        MaxVariance(1).fit(da.from_array(np.array([["a", "b"]] * 3)))
    with pytest.raises(ValueError, match="1 rows are too few"):
        MaxVariance(1).fit(da.ones((1, 5)))
    with pytest.raises(TypeError, match="UDFS needs all rows"):
        UDFS(2).fit(da.from_array(X))
    X = X.copy()
    X[700, 4] = np.nan
    with pytest.raises(
        io.TableError, match="chunk 3 of the Dask array: it contains NaN in column 4"
    ):
        MaxVariance(1).fit(da.from_array(X, chunks=(ROWS, D)))


# --- on a cluster ----------------------------------------------------------------------------


def test_the_same_bits_on_a_cluster(X, expected, client):
    scores, blocks = expected
    assert fitted(da.from_array(X, chunks=(ROWS, D))).tobytes() == scores.tobytes()
    files = on_cluster(blocks, client.scheduler.address)
    assert fitted(files).tobytes() == scores.tobytes()
    files._client.close()


def test_no_scheduler(expected):
    with pytest.raises(OSError, match="Timed out"):
        on_cluster(expected[1], "tcp://127.0.0.1:9", timeout=0.2)


def killed_once(rows, number):
    """Kill the worker that is the first to come to block 3."""
    if number == 3 and not Event("killed").is_set():
        Event("killed").set()
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def test_a_worker_killed_in_the_middle(X, expected, client):
    found = fitted(blocks_of(X, killed_once, client))
    assert Event("killed", client=client).is_set()
    assert found.tobytes() == expected[0].tobytes()


def held_up(rows, number):
    """Let the worker with the first block be slower than the other with all of the rest."""
    if number == 0:
        Event("last").wait(timeout=PATIENCE)
    if number == len(range(0, N, ROWS)) - 1:
        Event("last").set()
    return rows


def test_a_slow_worker(X, expected, client):
    # The first row is asked for by itself: the first block would wait for ever for the last.
    slow = blocks_of(X, held_up, client)
    slow.first_row = lambda: X[0]
    assert fitted(slow).tobytes() == expected[0].tobytes()


def out_of_memory(rows, number):
    """End as the system ends a process that has taken too much."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return rows


def test_a_block_too_large_for_every_worker(X, client):
    with pytest.raises(ClusterError, match=r"Workers died .* give them more memory, or the table"):
        fitted(blocks_of(X, out_of_memory, client))


def waiting(rows, number):
    """Tell that the work has begun, and wait for what does not come."""
    if number == 2:
        Event("begun").set()
        Event("never").wait(timeout=5)
    return rows


def begun_and_then(X, client, interfere):
    """The error of a fit with which something interferes when it is under way."""
    begun = Event("begun", client=client)
    begun.clear()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(MRSF(2, n_clusters=3).fit, blocks_of(X, waiting, client))
        assert begun.wait(timeout=PATIENCE)
        interfere()
        return running.exception(timeout=PATIENCE)


def test_the_workers_are_restarted(X, client):
    error = begun_and_then(X, client, lambda: client.restart(wait_for_workers=False))
    assert isinstance(error, ClusterError), error
    assert "restarted" in str(error)


def test_no_worker_is_left(X, monkeypatch):
    monkeypatch.setattr(_dask, "PATIENCE", 2 * _dask.GLANCE)
    with (
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as few,
        Client(few) as client,
    ):
        error = begun_and_then(X, client, lambda: few.scale(0))
    assert isinstance(error, ClusterError), error
    assert "no worker" in str(error)


def test_the_scheduler_is_gone(X):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),  # it is sought in the end
        LocalCluster(n_workers=1, processes=False, dashboard_address=None) as lost,
        Client(lost, timeout=2) as client,
    ):
        error = begun_and_then(X, client, lambda: lost.sync(lost.scheduler.close))
    assert isinstance(error, ClusterError), error


@contextmanager
def process(*command):
    """A process of the cluster, killed at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as running:
        try:
            yield running
        finally:
            running.kill()


@contextmanager
def one_worker(address):
    alone = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
    with process("distributed.cli.dask_worker", address, *alone):
        yield


def test_the_scheduler_is_killed_and_started_anew(X, expected):
    """The fit ends with a sentence, and the next one has the same bits."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    command = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port))
    command += ("--no-dashboard", "--no-show")
    with process(*command) as first, one_worker(address):
        client = Client(address, timeout=PATIENCE)
        client.wait_for_workers(1, timeout=PATIENCE)

        def killed():
            first.kill()
            first.wait()

        error = begun_and_then(X, client, killed)
    assert isinstance(error, ClusterError), error
    assert "fit again" in str(error)
    with process(*command), one_worker(address), Client(address, timeout=PATIENCE) as again:
        again.wait_for_workers(1, timeout=PATIENCE)
        assert fitted(blocks_of(X, plainly, again)).tobytes() == expected[0].tobytes()
    client.close()
