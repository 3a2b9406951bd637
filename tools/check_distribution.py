"""Install a wheel or a source distribution into a fresh environment and run the tests there.

    python -m build
    python tools/check_distribution.py dist/tamis-0.1.0-py3-none-any.whl
    python tools/check_distribution.py dist/tamis-0.1.0.tar.gz tests/test_package.py

The tests are those of the source distribution beside the file. Further arguments are pytest's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path


def check(distribution: Path, arguments: list[str]) -> int:
    """The exit code of pytest."""
    [source] = distribution.parent.glob("tamis-*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "environment"
        venv.create(environment, with_pip=True)
        python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        install = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            f"{distribution.resolve()}[test]",
        ]
        subprocess.run(install, check=True)
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        [unpacked] = Path(folder).glob("tamis-*")
        # What is tested is what was installed; its sources must not be at hand.
        shutil.rmtree(unpacked / "src")
        command = [
            str(python),
            "-m",
            "pytest",
            *(arguments or ["-n", "auto", "tests", "docs", "README.md"]),
        ]
        # Nor other sources: the environment is to stand alone.
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.run(command, cwd=unpacked, env=variables).returncode


if __name__ == "__main__":
    sys.exit(check(Path(sys.argv[1]), sys.argv[2:]))
