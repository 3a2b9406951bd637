from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets

from tamis import datasets
from tamis.datasets import DatasetError, DatasetWarning, Entry, cache, checksum
from tamis.datasets.sources import github

X = np.random.default_rng(0).integers(0, 9, size=(20, 4)).astype(float)
Y = np.arange(20) % 2
SMALL = Entry(
    "small_set",
    20,
    4,
    2,
    "image",
    image_shape=(2, 2),
    source="the source",
    sha256=checksum(X, Y),
    files=("small_set", "smallish"),
    download=github("owner/name", "small.npz"),
)


def save(path: Path, X: Any = X, y: Any = Y) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, X=X, y=y)
    return path


@pytest.fixture
def small(machine: Path, register: Callable[[Entry], Entry], source: Any, tmp_path: Path) -> Entry:
    content = save(tmp_path / "served" / "small.npz").read_bytes()
    return register(source.serve(SMALL, {"small.npz": content}))


@pytest.mark.parametrize("name", ["iris", "digits", "wine", "breast_cancer"])
def test_bundled_sets(name: str, machine: Path) -> None:
    loaded = datasets.load(name, download=False)
    expected = getattr(sklearn.datasets, f"load_{name}")()
    np.testing.assert_array_equal(loaded.X, expected.data)
    np.testing.assert_array_equal(loaded.y, expected.target)
    assert loaded.n_classes == loaded.entry.n_classes


def test_present_without_files_is_what_needs_none(machine: Path) -> None:
    bundled = {"iris", "digits", "wine", "breast_cancer", "iris_noise"}
    derived = {"digits1v7", "digits2v7", "digits0689", "digits1279"}
    assert set(datasets.available()) == bundled | derived


class TestLocalFiles:
    @pytest.mark.parametrize(
        "name", ["small_set.npz", "Small-Set.npz", "SMALLSET.NPZ", "smallish.npz"]
    )
    def test_found_however_spelt(
        self, name: str, small: Entry, source: Any, tmp_path: Path
    ) -> None:
        save(tmp_path / "data" / "other.npz").rename(tmp_path / "data" / name)
        assert "small_set" in datasets.available(data_home=tmp_path / "data")
        loaded = datasets.load("small_set", data_home=tmp_path / "data")
        np.testing.assert_array_equal(loaded.X, X)
        assert not source.requests

    def test_the_environment_names_the_folder_unless_the_argument_does(
        self, small: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        save(tmp_path / "a" / "small_set.npz")
        (tmp_path / "b").mkdir()
        monkeypatch.setenv("TAMIS_DATA", str(tmp_path / "a"))
        assert datasets.load("small_set", download=False).name == "small_set"
        assert "small_set" in datasets.available()
        assert "small_set" not in datasets.available(data_home=tmp_path / "b")
        with pytest.raises(DatasetError, match="not on this machine"):
            datasets.load("small_set", data_home=tmp_path / "b", download=False)

    def test_npz_is_preferred(self, small: Entry, tmp_path: Path) -> None:
        save(tmp_path / "data" / "small_set.npz")
        (tmp_path / "data" / "small_set.csv").write_text("not read")
        np.testing.assert_array_equal(datasets.load("small_set", data_home=tmp_path / "data").X, X)

    @pytest.mark.parametrize(
        ("X_found", "y_found", "message"),
        [
            (X[:, :3], Y, "has 20 × 3 values where the registry has 20 × 4"),
            (X, np.arange(20) % 5, "has 5 classes where the registry has 2"),
            (X + np.eye(20, 4), Y, "right shape, but other values.*checksum differs"),
            (X[::-1], Y[::-1], "order of rows"),
        ],
    )
    def test_another_copy_is_used_with_a_warning_that_names_it(
        self, X_found: Any, y_found: Any, message: str, small: Entry, tmp_path: Path
    ) -> None:
        path = save(tmp_path / "data" / "small_set.npz", X_found, y_found)
        with pytest.warns(DatasetWarning, match=message) as caught:
            loaded = datasets.load("small_set", data_home=path.parent)
        assert str(path) in str(caught[0].message)
        assert caught[0].filename == __file__
        np.testing.assert_array_equal(loaded.X, X_found)

    def test_picture_layout_is_dropped_when_the_columns_differ(
        self, small: Entry, tmp_path: Path
    ) -> None:
        save(tmp_path / "data" / "small_set.npz", X[:, :3])
        with pytest.warns(DatasetWarning):
            loaded = datasets.load("small_set", data_home=tmp_path / "data")
        assert loaded.image_shape is None
        with pytest.raises(DatasetError, match="not the pixels"):
            loaded.image(loaded.X[0])

    def test_a_damaged_file_is_an_error_not_a_download(
        self, small: Entry, source: Any, tmp_path: Path
    ) -> None:
        path = save(tmp_path / "data" / "small_set.npz")
        path.write_bytes(path.read_bytes()[:-40])
        with pytest.raises(DatasetError, match="damaged or cut off"):
            datasets.load("small_set", data_home=path.parent)
        assert not source.requests

    @pytest.mark.parametrize("way", ["data_home", "TAMIS_DATA"])
    def test_a_folder_that_is_not_there(
        self, way: str, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        missing = tmp_path / "missing"
        if way == "TAMIS_DATA":
            monkeypatch.setenv("TAMIS_DATA", str(missing))
        with pytest.raises(DatasetError, match=f"{way} names {missing}, which is not a folder"):
            datasets.load("usps", data_home=missing if way == "data_home" else None)

    def test_a_set_that_cannot_be_downloaded_says_which_file_to_supply(
        self, machine: Path, tmp_path: Path
    ) -> None:
        with pytest.raises(DatasetError, match=r"put a file lung\.npz, \.mat or \.csv into"):
            datasets.load("lung")
        save(tmp_path / "data" / "LUNG.npz", np.ones((203, 3312)), np.arange(203) % 5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert datasets.load("lung", data_home=tmp_path / "data").n_classes == 5

    def test_derived_sets_use_the_local_base(self, machine: Path, tmp_path: Path) -> None:
        n_samples = 20000
        rng = np.random.default_rng(0)
        letters = np.concatenate([np.arange(26), rng.integers(0, 26, n_samples - 26)])
        save(tmp_path / "data" / "letter.npz", rng.integers(0, 16, (n_samples, 16)), letters)
        assert "letter_ab" in datasets.available(data_home=tmp_path / "data")
        with pytest.warns(DatasetWarning) as caught:
            loaded = datasets.load("letter_ab", data_home=tmp_path / "data")
        assert {"letter.npz" in str(one.message) for one in caught} == {True, False}
        assert loaded.X.shape == ((letters < 2).sum(), 16)


class TestOwnFiles:
    def test_a_file_of_ones_own(self, machine: Path, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        folder.mkdir()
        (folder / "My-Cells.csv").write_text("a,b,class\n1,2,x\n3,4,y\n5,6,x\n")
        loaded = datasets.load("my_cells", data_home=folder)
        np.testing.assert_array_equal(loaded.X, [[1, 2], [3, 4], [5, 6]])
        np.testing.assert_array_equal(loaded.y, [0, 1, 0])
        assert (loaded.name, loaded.n_classes) == ("my_cells", 2)
        assert loaded.entry.sha256 == checksum(loaded.X, loaded.y)
        assert loaded.entry.source == str(folder / "My-Cells.csv")

    def test_sparse_stays_sparse(self, machine: Path, tmp_path: Path) -> None:
        S = sp.csr_array(X)
        parts = {"X_data": S.data, "X_indices": S.indices, "X_indptr": S.indptr}
        np.savez(tmp_path / "own.npz", y=Y, X_shape=S.shape, **parts)
        loaded = datasets.load("own", data_home=tmp_path)
        assert isinstance(loaded.X, sp.csr_array)
        np.testing.assert_array_equal(loaded.X.toarray(), X)

    def test_otherwise_the_name_is_unknown(self, machine: Path, tmp_path: Path) -> None:
        with pytest.raises(DatasetError, match="did you mean usps"):
            datasets.load("uspss", data_home=tmp_path)


class TestDownload:
    def leftovers(self, machine: Path) -> list[str]:
        return sorted(path.name for path in machine.iterdir()) if machine.exists() else []

    def test_not_allowed(self, small: Entry, source: Any) -> None:
        with pytest.raises(DatasetError, match="not on this machine and download=False"):
            datasets.load("small_set", download=False)
        assert not source.requests

    def test_offline(self, small: Entry, register: Callable[[Entry], Entry], machine: Path) -> None:
        assert small.download is not None
        nobody_listens = replace(small.download, addresses=("http://127.0.0.1:1/small.npz",))
        register(replace(small, download=nobody_listens))
        with pytest.raises(DatasetError) as caught:
            datasets.load("small_set")
        assert "could not be downloaded from the source" in str(caught.value)
        assert "put a file small_set.npz" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert self.leftovers(machine) == []

    def test_gone(self, small: Entry, source: Any, machine: Path) -> None:
        source.files.clear()
        with pytest.raises(DatasetError, match=r"could not be downloaded.*404"):
            datasets.load("small_set")
        assert self.leftovers(machine) == []

    def test_cut_off_in_the_middle(self, small: Entry, source: Any, machine: Path) -> None:
        source.cut.add("small.npz")
        with pytest.raises(DatasetError, match="could not be downloaded"):
            datasets.load("small_set")
        assert self.leftovers(machine) == []
        assert "small_set" not in datasets.available()
        source.cut.clear()
        np.testing.assert_array_equal(datasets.load("small_set").X, X)

    def test_a_page_instead_of_the_file(self, small: Entry, source: Any, machine: Path) -> None:
        source.files["small.npz"] = b"<html>log in first</html>"
        with pytest.raises(DatasetError, match=r"sent for 'small_set' cannot be used \(small.npz"):
            datasets.load("small_set")
        assert self.leftovers(machine) == []

    def test_other_contents(self, small: Entry, source: Any, machine: Path, tmp_path: Path) -> None:
        source.files["small.npz"] = save(tmp_path / "x.npz", X + 1).read_bytes()
        with pytest.raises(DatasetError, match=r"What the source sent.*differs.*Nothing was kept"):
            datasets.load("small_set")
        assert self.leftovers(machine) == []

    @pytest.mark.parametrize("moment", ["os.replace", "os.fsync", "numpy.savez_compressed"])
    def test_interrupted_while_writing(
        self, moment: str, small: Entry, machine: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*args: Any, **arrays: Any) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(moment, interrupted)
            with pytest.raises(KeyboardInterrupt):
                datasets.load("small_set")
        assert self.leftovers(machine) == []
        assert datasets.load("small_set").X.shape == X.shape

    def test_disk_full(self, small: Entry, machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(file_descriptor: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DatasetError, match=r"No space left.*set TAMIS_CACHE"):
            datasets.load("small_set")
        assert self.leftovers(machine) == []

    @pytest.mark.slow
    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
    def test_killed_between_writing_and_renaming(
        self, small: Entry, source: Any, machine: Path
    ) -> None:
        assert small.download is not None
        script = f"""
            import os, signal
            from dataclasses import replace
            from tamis import datasets
            from tamis.datasets import registry
            from tamis.datasets.sources import github
            os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
            download = replace(github("o/n", "p"), addresses={small.download.addresses!r})
            registry._BY_PLAIN_NAME["smallset"] = datasets.Entry(
                "small_set", 20, 4, 2, "image", files=("small_set",), download=download
            )
            datasets.load("small_set")
        """
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert source.requests == ["small.npz"]
        (abandoned,) = self.leftovers(machine)
        assert (machine / abandoned / "small_set.npz").exists()
        assert "small_set" not in datasets.available()
        with pytest.raises(DatasetError, match="not on this machine"):
            datasets.load("small_set", download=False)
        a_while_ago = time.time() - 2 * 24 * 3600
        os.utime(machine / abandoned, (a_while_ago, a_while_ago))
        np.testing.assert_array_equal(datasets.load("small_set").X, X)
        assert self.leftovers(machine) == ["small_set.npz"]

    def test_a_download_under_way_elsewhere_is_left_alone(
        self, small: Entry, machine: Path
    ) -> None:
        with cache.WorkFolder() as elsewhere:
            datasets.load("small_set")
            assert elsewhere.exists()
        assert self.leftovers(machine) == ["small_set.npz"]

    def test_a_cache_that_cannot_be_written(
        self, small: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "file" / "cache"))
        with pytest.raises(DatasetError, match=r"Cannot write to the cache folder.*TAMIS_CACHE"):
            datasets.load("small_set")

    def test_a_damaged_cache_is_fetched_anew(
        self, small: Entry, source: Any, machine: Path
    ) -> None:
        datasets.load("small_set")
        path = machine / "small_set.npz"
        for damage in (path.read_bytes()[:-30], save(machine / "x.npz", X + 1).read_bytes()):
            path.write_bytes(damage)
            with pytest.raises(DatasetError, match=str(path)):
                datasets.load("small_set", download=False)
            with pytest.warns(DatasetWarning, match="fetched anew"):
                assert np.array_equal(datasets.load("small_set").X, X)
            np.testing.assert_array_equal(datasets.load("small_set", download=False).X, X)

    def test_the_cache_is_the_users_unless_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("TAMIS_CACHE", raising=False)
        assert "tamis" in cache.cache_folder().parts
        monkeypatch.setenv("TAMIS_CACHE", "~/somewhere")
        assert cache.cache_folder() == Path.home() / "somewhere"


def test_pictures_stand_upright(small: Entry, register: Callable[[Entry], Entry]) -> None:
    by_rows = datasets.load("small_set")
    np.testing.assert_array_equal(by_rows.image(np.arange(4)), [[0, 1], [2, 3]])
    by_columns = datasets.Dataset(
        "small_set", X, Y, Entry("s", 20, 4, 2, "image", image_shape=(2, 2), image_order="F")
    )
    np.testing.assert_array_equal(by_columns.image(np.arange(4)), [[0, 2], [1, 3]])


def test_columns_have_the_names_of_their_source(tmp_path):
    iris = datasets.load("iris")
    assert iris.feature_names[0] == "sepal length (cm)"
    assert len(iris.feature_names) == iris.X.shape[1]
    (tmp_path / "mine.csv").write_text("class,a,b\nx,1,2\ny,3,4\n")
    assert datasets.load("mine", data_home=tmp_path).feature_names == ("a", "b")
    np.savez(tmp_path / "bare.npz", X=np.eye(3), y=[0, 1, 0])
    assert datasets.load("bare", data_home=tmp_path).feature_names is None
