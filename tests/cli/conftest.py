"""Tables in files, and the command line as a function."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from typer.testing import CliRunner

from tamis.cli import app


@pytest.fixture(scope="session")
def wine():
    """178 wines, 13 numbers, and the cultivar as a label."""
    return load_wine(as_frame=True).frame.rename(columns={"target": "cultivar"})


@pytest.fixture
def wine_csv(wine, tmp_path):
    path = tmp_path / "wine.csv"
    wine.to_csv(path, index=False)
    return path


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Run a command in the temporary folder: its result has exit_code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAMIS_DATA", raising=False)

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="tamis")

    return run


@pytest.fixture
def refused(run, tmp_path):
    """Run a command that must refuse: one line, the exit code, and nothing written."""

    def refused(*arguments, code=2):
        before = contents(tmp_path)
        result = run(*arguments)
        assert result.exit_code == code, result.output
        assert result.stdout == ""
        assert contents(tmp_path) == before
        (line,) = result.stderr.splitlines()
        assert line.startswith("tamis: ")
        assert line.endswith((".", "?"))
        return line

    return refused


def contents(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture(scope="session")
def blobs():
    """Three clusters that only the first four of 40 columns tell apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    X[:, :4] += 6 * rng.normal(size=(3, 4))[np.repeat([0, 1, 2], 20)]
    return pd.DataFrame(X, columns=[f"gene{j}" for j in range(40)])
