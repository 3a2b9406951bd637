"""The script that installs Chromium: as root with apt only, and never a failure of the build."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "install"
BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")


@pytest.fixture
def programs(tmp_path):
    """A folder of programs that stand for those of the system."""
    folder = tmp_path / "bin"
    folder.mkdir()

    def add(name, text):
        (folder / name).write_text(f"#!{BASH}\n{text}\n")
        (folder / name).chmod(0o755)

    add("id", "echo 0")
    return add


@pytest.fixture
def install(tmp_path):
    """Run the script with these programs only: what it said, and the calls of apt-get."""

    def install():
        result = subprocess.run(
            [BASH, SCRIPT], env={"PATH": str(tmp_path / "bin")}, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stderr
        log = tmp_path / "calls"
        return result.stdout, log.read_text().splitlines() if log.exists() else []

    return install


def apt(tmp_path, rest=""):
    return f'echo "$*" >> {tmp_path}/calls\n{rest}'


def test_the_packages_are_installed(programs, install, tmp_path):
    make = f"#!{BASH}\n"
    lines = [
        f"echo '{make}' > {tmp_path}/bin/{name}; /bin/chmod +x {tmp_path}/bin/{name}"
        for name in ("chromium", "chromedriver")
    ]
    programs("apt-get", apt(tmp_path, "\n".join(lines)))
    said, (first, second) = install()
    assert said == ""
    assert first.startswith("-y ")
    assert first.endswith(" update")
    assert second.startswith("-y ")
    assert second.endswith(" install --no-install-recommends chromium chromium-driver")
    assert install()[1] == [first, second]  # nothing more to do


def test_apt_that_fails_is_said(programs, install, tmp_path):
    programs("apt-get", apt(tmp_path, "exit 100"))
    said, calls = install()
    assert "could not be installed" in said
    assert len(calls) == 2


def test_without_root(programs, install, tmp_path):
    programs("id", "echo 1000")
    programs("apt-get", apt(tmp_path))
    said, calls = install()
    assert "install Debian's chromium and chromium-driver" in said
    assert calls == []


def test_without_apt(programs, install):
    assert "install Debian's chromium and chromium-driver" in install()[0]
