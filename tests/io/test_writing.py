"""Outputs are written whole or not at all, and never over the input."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tamis import MaxVariance, io
from tamis.io import TableError

SUFFIX = {name: extensions[0] for name, extensions in io.formats().items()}


@pytest.fixture
def table(tmp_path):
    (tmp_path / "in.csv").write_text("a,b,c\n1,2,3\n4,5,7\n0,1,1\n")
    return io.read(tmp_path / "in.csv")


def files(folder):
    return sorted(path.name for path in folder.iterdir())


class TestNeverOverTheInput:
    def test_same_name(self, tmp_path, table):
        self.refused(table, tmp_path / "in.csv")

    def test_another_way_to_say_it(self, tmp_path, table, monkeypatch):
        (tmp_path / "sub").mkdir()
        self.refused(table, tmp_path / "sub" / ".." / "in.csv")
        monkeypatch.chdir(tmp_path)
        self.refused(table, Path("in.csv"))

    def test_links(self, tmp_path, table):
        (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
        self.refused(table, tmp_path / "link.csv")
        os.link(tmp_path / "in.csv", tmp_path / "hard.csv")
        self.refused(table, tmp_path / "hard.csv")

    def test_input_read_through_a_link(self, tmp_path, table):
        (tmp_path / "link.csv").symlink_to(tmp_path / "in.csv")
        self.refused(io.read(tmp_path / "link.csv"), tmp_path / "in.csv")

    @staticmethod
    def refused(table, path):
        before = Path(table.path).read_bytes()
        with pytest.raises(TableError, match="this is the input; choose another name"):
            io.write_table(table, [0, 1], path)
        assert Path(table.path).read_bytes() == before


def test_an_older_output_is_replaced_and_keeps_its_rights(tmp_path, table):
    out = tmp_path / "out.csv"
    out.write_text("old")
    out.chmod(0o640)
    io.write_table(table, [2, 0], out)
    assert out.read_text() == "c,a\n3,1\n7,4\n1,0\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert files(tmp_path) == ["in.csv", "out.csv"]


def test_a_link_stays_a_link(tmp_path, table):
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    io.write_table(table, [0], tmp_path / "link.csv")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "a\n1\n4\n0\n"


def test_missing_folder(tmp_path, table):
    with pytest.raises(TableError, match=r"the folder .*nowhere does not exist; create it first"):
        io.write_table(table, [0], tmp_path / "nowhere" / "out.csv")
    selector = MaxVariance(1).fit(table.X)
    with pytest.raises(TableError, match="does not exist"):
        io.write_ranking(selector, table.feature_names, tmp_path / "nowhere" / "r.csv")


def test_a_folder_in_the_way(tmp_path, table):
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(TableError, match="this is a folder; name a file"):
        io.write_table(table, [0], tmp_path / "out.csv")


def test_wrong_columns(tmp_path, table):
    for columns in ([3], [-1], [], [[0, 1]]):
        with pytest.raises(TableError, match="indices from 0 to 2"):
            io.write_table(table, columns, tmp_path / "out.csv")
    with pytest.raises(TableError, match="stands for no known format"):
        io.write_table(table, [0], tmp_path / "out.qqq")
    assert files(tmp_path) == ["in.csv"]


FAILURES = {
    errno.ENOSPC: "no space is left on the disk; make room, or write elsewhere",
    errno.EACCES: "writing is not permitted here",
    errno.EIO: "cannot be written",
}


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    ("format", "code"),
    [(format, errno.ENOSPC) for format in SUFFIX] + [("csv", errno.EACCES), ("csv", errno.EIO)],
)
def test_failure_leaves_everything_as_it_was(tmp_path, table, monkeypatch, format, code, old):
    out = tmp_path / f"out{SUFFIX[format]}"
    if old:
        io.write_table(table, [0, 1], out)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    def fails(handle):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(TableError, match=f"{FAILURES[code]}.*Nothing was written"):
        io.write_table(table, [0, 2], out)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_full_device(tmp_path, table):
    with pytest.raises(TableError, match="/dev/full: no space is left"):
        io.write_table(table, [0], "/dev/full", format="csv")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="the system has no /dev/stdout")
def test_a_pipe_is_written_through():
    script = (
        "import numpy as np; from tamis import io; "
        "t = io.Table(X=np.eye(2), feature_names=np.array(['a', 'b'], dtype=object)); "
        "io.write_table(t, [1, 0], '/dev/stdout', format='csv')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "b,a\n0,1\n1,0\n"


LIMITED = """
import resource, sys
import numpy as np
from pathlib import Path
from tamis import io
folder = Path(sys.argv[1])
X = np.random.default_rng(0).normal(size=(5000, 20))
table = io.Table(X=X, feature_names=np.arange(20).astype(str).astype(object))
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
for format, extensions in io.formats().items():
    try:
        io.write_table(table, range(20), folder / f"out{extensions[0]}")
    except io.TableError as error:
        print(format, "refused", error)
    else:
        print(format, "WRITTEN")
print("left:", [path.name for path in folder.iterdir()])
"""


@pytest.mark.slow
def test_real_failure_in_the_middle_of_writing(tmp_path):
    """The system stops every file at 20 kB: each library must tell, and nothing may be left."""
    pytest.importorskip("resource", reason="limits of file sizes are Unix only")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines[:-1]] == ["refused"] * len(SUFFIX), done.stdout
    assert all("Nothing was written" in line for line in lines[:-1])
    assert lines[-1] == "left: []"
