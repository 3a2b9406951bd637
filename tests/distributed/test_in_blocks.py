"""Selectors on tables that are read in blocks: the numbers of the table in memory."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

from tamis import (
    JELSR,
    MCFS,
    MRSF,
    SPEC,
    UDFS,
    Auto,
    ColumnSubset,
    LaplacianScore,
    MaxVariance,
    PCAScore,
    io,
)
from tamis.base import IN_BLOCKS, Selector
from tamis.distributed import condense
from tamis.distributed._survey import drawn_rows
from tamis.graphs import LandmarkGraph, choose_landmarks
from tamis.registry import METHODS
from tamis.utils import files

N, D, CONSTANT = 1500, 9, 4
PRODUCTS = [MaxVariance(3), PCAScore(3), ColumnSubset(3), ColumnSubset(3, swaps=False, keep=[2])]
GRAPHS = [
    LaplacianScore(3),
    SPEC(3),
    SPEC(3, style=2),
    SPEC(3, style=3, n_clusters=3),
    MCFS(3, n_clusters=3),
    MCFS(3, n_clusters=3, keep=[7]),
    MRSF(3, n_clusters=4),
    MRSF(3, n_clusters=4, drop=[0]),
    JELSR(3, n_components=3),
    JELSR(3, n_components=4, alpha=0.2, beta=5.0, drop=[7]),
]


def table_of_groups():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 4, N)
    latent = rng.normal(size=(N, 4)) + 5 * np.eye(4)[group]
    X = latent @ rng.normal(size=(4, D)) + rng.normal(size=(N, D))
    X[:, CONSTANT] = 3
    return X


@pytest.fixture(name="X", scope="module")
def table_fixture():
    return table_of_groups()


@pytest.fixture(name="small_blocks", autouse=True)
def small_blocks_fixture(monkeypatch):
    monkeypatch.setattr("tamis.io._lazy.LARGEST_BLOCK", 200 * D)


def parquet(X, folder, *, parts=3):
    for part, rows in enumerate(np.array_split(X, parts)):
        frame = pa.table({f"c{j}": rows[:, j] for j in range(X.shape[1])})
        pq.write_table(frame, folder / f"part-{part}.parquet", row_group_size=300)
    return folder


@pytest.mark.parametrize("selector", PRODUCTS, ids=repr)
def test_products_tell_what_the_table_does(selector, X, tmp_path):
    if selector.keep:
        selector.set_params(keep=["c2"])
    table = io.open(parquet(X, tmp_path))
    assert len(table.blocks) > 6
    found = type(selector)(**selector.get_params()).fit(table)
    if selector.keep:
        selector.set_params(keep=[2])
    expected = type(selector)(**selector.get_params()).fit(X)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    assert found.feature_names_in_.tolist() == table.names
    assert found.get_feature_names_out().tolist() == [
        f"c{j}" for j in np.flatnonzero(expected.get_support())
    ]


@pytest.mark.parametrize("selector", GRAPHS, ids=repr)
def test_landmarks_tell_what_their_graph_does(selector, X, tmp_path):
    """Beside the same methods on the matrix of the graph, which is formed here."""
    np.save(tmp_path / "x.npy", X)
    dropped = [CONSTANT, *(selector.drop or ())]
    inner = np.delete(X, dropped, axis=1)
    graph = LandmarkGraph.of(choose_landmarks(inner, n_nearest=5).tie(inner))
    W = (graph.ties @ sp.diags_array(1 / graph.mass) @ graph.ties.T).toarray()
    parameters = selector.get_params()
    expected = type(selector)(**parameters | {"affinity": (W + W.T) / 2}).fit(X)
    found = type(selector)(**parameters).fit(io.open(tmp_path / "x.npy"))
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    assert not hasattr(found, "embedding_")


@pytest.mark.parametrize("scaling", ["standard", "columns", "unit"])
def test_scaling_inside(scaling, X, tmp_path):
    shift, scale = {
        "standard": (X.mean(axis=0), X.std(axis=0)),
        "columns": (X.min(axis=0), np.ptp(X, axis=0)),
        "unit": (X.min(), np.ptp(X)),
    }[scaling]
    scaled = (X - shift) / np.where(scale > 0, scale, 1)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "scaled.npy", scaled)
    for selector in (ColumnSubset(3), MRSF(3, n_clusters=4)):
        expected = selector.fit(io.open(tmp_path / "scaled.npy")).scores_
        found = selector.fit(io.open(tmp_path / "x.npy", scaling=scaling)).scores_
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


def test_columns_of_rounding_are_set_aside(X, tmp_path):
    X = X.copy()
    X[:, 1] = 1 + np.finfo(float).eps * (np.arange(N) % 3)
    np.save(tmp_path / "x.npy", X)
    with pytest.warns(UserWarning, match="takes column 1 for constant"):
        found = MaxVariance(3).fit(io.open(tmp_path / "x.npy"))
    with pytest.warns(UserWarning, match="takes column 1 for constant"):
        expected = MaxVariance(3).fit(X)
    np.testing.assert_allclose(found.scores_, expected.scores_)


def test_a_table_of_constants(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((20, 3)))
    assert MRSF(2).fit(io.open(tmp_path / "x.npy")).scores_.tolist() == [0, 0, 0]


def test_the_others_say_who_can(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    table = io.open(tmp_path / "x.npy")
    with pytest.raises(TypeError, match=r"UDFS needs all rows .* JELSR and Auto do"):
        UDFS(3).fit(table)
    with pytest.raises(ValueError, match="affinity"):
        MRSF(3, affinity=sp.eye_array(N, format="csr")).fit(table)
    with pytest.raises(ValueError, match="n_neighbors=1500 is too large"):
        LaplacianScore(3, n_neighbors=N).fit(table)


def test_the_list_of_those_who_can_is_right():
    able = {m.selector.__name__ for m in METHODS.values() if m.selector._needs is not None}
    assert able == set(IN_BLOCKS)
    assert Selector._needs is None


def test_a_wide_table_is_read_whole_where_it_fits(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 300))
    np.save(tmp_path / "x.npy", X)
    table = io.open(tmp_path / "x.npy")
    np.testing.assert_array_equal(PCAScore(3).fit(table).scores_, PCAScore(3).fit(X).scores_)
    selector = MRSF(3, neighbors="exact")
    with pytest.raises(ValueError, match="neighbors='exact' needs all rows"):
        selector.fit(table)
    selector.set_params(neighbors="auto")
    np.testing.assert_array_equal(selector.fit(table).scores_, selector.fit(X).scores_)
    assert selector.fit(table).embedding_.shape == (60, 9)


def test_auto_decides_on_rows_drawn_at_random(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    table = io.open(tmp_path / "x.npy")
    expected = Auto(3).fit(X)
    np.testing.assert_array_equal(Auto(3).fit(table).ranking_, expected.ranking_)
    monkeypatch.setattr("tamis.distributed._table.SAMPLED_ROWS", 600)
    with pytest.warns(UserWarning, match="decides on 600 of the 1,500 rows"):
        found = Auto(3).fit(table)
    np.testing.assert_array_equal(found.ranking_, Auto(3).fit(X[drawn_rows(N, 600)]).ranking_)


def test_too_many_columns_for_their_products(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(400, 1000)))
    table = io.open(tmp_path / "x.npy", memory="16MiB")
    with pytest.raises(io.TableError, match=r"the products of 1,000 columns take 0.0 GB.*MaxVar"):
        PCAScore(3).fit(table)
    assert MaxVariance(3).fit(table).get_support().sum() == 3


# --- going on --------------------------------------------------------------------------------


def test_a_gap_in_the_last_block(X, tmp_path):
    folder = parquet(X, tmp_path)
    last = folder / "part-2.parquet"
    whole = pq.read_table(last)
    broken = X[-500:].copy()
    broken[7, 5] = np.nan
    pq.write_table(pa.table({f"c{j}": broken[:, j] for j in range(D)}), last, row_group_size=300)
    kept = tmp_path / "kept"
    with pytest.raises(
        io.TableError, match=r"part-2.parquet, row group 0: it contains NaN in column 'c5'"
    ):
        MRSF(3).fit(io.open(f"{folder}/*.parquet", checkpoint=kept))
    assert kept.exists()
    pq.write_table(whole, last, row_group_size=300)
    with Reads() as reads:
        found = MRSF(3).fit(io.open(f"{folder}/*.parquet", checkpoint=kept))
    assert reads.first_pass < 9  # what was done before the gap is not done again
    np.testing.assert_array_equal(
        found.scores_, MRSF(3).fit(io.open(f"{folder}/*.parquet")).scores_
    )
    assert not kept.exists()


class Reads:
    """How many blocks are worked on in the first pass."""

    def __enter__(self):
        from tamis.distributed._survey import MomentsStep

        self._step, self._call, self.first_pass = MomentsStep, MomentsStep.__call__, 0

        def counted(step, *arguments):
            self.first_pass += 1
            return self._call(step, *arguments)

        MomentsStep.__call__ = counted
        return self

    def __exit__(self, *_):
        self._step.__call__ = self._call


def stopped_at(path, table_path, selector, n_writes, monkeypatch):
    """Leave the checkpoint of a fit that was stopped after some blocks."""
    from tamis.distributed._checkpoint import Checkpoint

    write, left = Checkpoint.write, [n_writes]

    def stopping(checkpoint, progress):
        write(checkpoint, progress)
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", stopping)
        with pytest.raises(KeyboardInterrupt):
            selector.fit(io.open(table_path, checkpoint=path))


@pytest.mark.parametrize("n_writes", [1, 5, 8, 12])
def test_the_result_is_the_same_after_an_interruption(n_writes, X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    expected = MRSF(3, n_clusters=4).fit(io.open(tmp_path / "x.npy")).scores_
    stopped_at(tmp_path / "kept", tmp_path / "x.npy", MRSF(3, n_clusters=4), n_writes, monkeypatch)
    found = MRSF(3, n_clusters=4).fit(io.open(tmp_path / "x.npy", checkpoint=tmp_path / "kept"))
    assert found.scores_.tobytes() == expected.tobytes()
    assert not (tmp_path / "kept").exists()


def test_a_checkpoint_of_something_else(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "other.npy", X)
    kept = tmp_path / "kept"
    stopped_at(kept, tmp_path / "x.npy", MRSF(3), 3, monkeypatch)
    before = kept.read_bytes()

    def refused(name, selector, what, **options):
        with pytest.raises(io.TableError, match=what):
            selector.fit(io.open(tmp_path / name, checkpoint=kept, **options))
        assert kept.read_bytes() == before

    refused("other.npy", MRSF(3), "of another table")
    refused("x.npy", MRSF(3, n_neighbors=4), "of another task")
    refused("x.npy", MaxVariance(3), "of another task")
    refused("x.npy", MRSF(3), "of another task", scaling="standard")
    monkeypatch.setattr("tamis.io._lazy.LARGEST_BLOCK", 100 * D)
    refused("x.npy", MRSF(3), "of other blocks of rows")
    monkeypatch.setattr("tamis.io._lazy.LARGEST_BLOCK", 200 * D)
    np.save(tmp_path / "x.npy", X + 1)
    refused("x.npy", MRSF(3), "made before .* changed")
    kept.write_text("anything")
    before = kept.read_bytes()
    refused("x.npy", MRSF(3), "no checkpoint of tamis")


def test_a_full_disk(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    kept = tmp_path / "kept"
    stopped_at(kept, tmp_path / "x.npy", MRSF(3), 3, monkeypatch)
    before = kept.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_flush", full)
    with pytest.raises(io.TableError, match=r"kept: the checkpoint cannot be written \(the disk"):
        MRSF(3).fit(io.open(tmp_path / "x.npy", checkpoint=kept))
    assert kept.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed by a signal")
def test_killed_again_and_again(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    script = Path(__file__).parent / "killed_fit.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path / "x.npy", "3"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["killed", "killed", "killed", "same"]


def test_memory_is_that_of_the_blocks(tmp_path):
    from references.memory import with_peak_memory

    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(60_000, 50)))
    table = io.open(tmp_path / "x.npy", memory="16MiB")
    _, peak = with_peak_memory(ColumnSubset(3).fit, table)
    assert peak < 2 << 20  # the table has 24 million bytes


def test_condense_holds_what_it_says(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    condensed = condense(io.open(tmp_path / "x.npy"), "products", {}).X
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(condensed.gram, centred.T @ centred, atol=1e-9)
    fewer = condensed.of_columns([1, 3])
    assert fewer.shape == (N, 2)
    np.testing.assert_allclose(fewer.mean, X[:, [1, 3]].mean(axis=0))


def test_jelsr_by_landmarks_in_memory_and_in_blocks(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    expected = JELSR(3, neighbors="landmarks").fit(X)
    found = JELSR(3).fit(io.open(tmp_path / "x.npy"))
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-6)
    assert found.graph_.method == expected.graph_.method == "landmarks"


def test_too_many_landmarks_for_their_products(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(4000, 100)))
    table = io.open(tmp_path / "x.npy", memory="18MiB")
    with pytest.raises(io.TableError, match=r"the products of 100 columns and 800 landmarks take"):
        JELSR(3).fit(table)


@pytest.mark.parametrize("weights", ["heat", "binary", "cosine"])
@pytest.mark.parametrize("selector", [LaplacianScore(3), MRSF(3, n_clusters=4)], ids=repr)
def test_the_numbers_of_landmarks_in_memory(selector, weights, X, tmp_path):
    """The same parameters and rows give the same landmarks, and so the same numbers."""
    np.save(tmp_path / "x.npy", X)
    selector.set_params(weights=weights, neighbors="landmarks")
    expected = selector.fit(X).scores_
    n_landmarks = selector.graph_.n_landmarks
    found = selector.set_params(neighbors="auto").fit(io.open(tmp_path / "x.npy"))
    np.testing.assert_allclose(found.scores_, expected, rtol=1e-6, atol=1e-8)
    assert found.graph_.method == "landmarks"
    assert found.graph_.n_landmarks == n_landmarks


def test_exact_neighbours_need_all_rows(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="neighbors='exact' needs all rows at once"):
        MRSF(3, neighbors="exact").fit(io.open(tmp_path / "x.npy"))


def test_more_threads_give_the_same_bits(X, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", X)
    one = MRSF(3).fit(io.open(tmp_path / "x.npy")).scores_
    monkeypatch.setattr("tamis.distributed._passes.threads_of_a_fit", lambda: 3)
    several = MRSF(3).fit(io.open(tmp_path / "x.npy")).scores_
    assert one.tobytes() == several.tobytes()
