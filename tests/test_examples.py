"""The example scripts run as they stand and show what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(script: str, *arguments: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLES / script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_digits_demo_shows_twenty_pixels_of_each_method_and_draws_them(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "pictures" / "digits.png"
    text = run("digits.py", "--output", str(picture))
    from tamis.registry import METHODS

    assert text.count("██") == 20 * len(METHODS)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_example_of_an_own_method_passes_every_check(monkeypatch):
    pytest.importorskip("matplotlib")
    from tamis.testing import CHECKS

    monkeypatch.setenv("MPLBACKEND", "Agg")
    outcomes = run("gallery/own_method.py").splitlines()
    assert len(outcomes) == len(CHECKS)
    assert sum(line.endswith("passed") for line in outcomes) >= len(CHECKS) - 2


def test_the_margin_example_draws_the_figure_and_judges_a_set(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "saliencies.png"
    text = run("maximum_margin.py", "figure", str(picture))
    assert "M3FS: 4 of the 4 features of iris among the first 4" in text
    assert picture.read_bytes().startswith(b"\x89PNG")
    table = run("maximum_margin.py", "clustering", "--sets", "digits1v7").splitlines()
    assert len(table) == 7
    accuracies = [float(line.split("paper")[0].split()[-2]) for line in table[1:]]
    assert min(accuracies) > 99


def test_the_tables_of_the_poster_are_measured_anew(tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ("--sets", "digits", "--repeats", "1", "--output", str(tmp_path / "pictures"))
    text = run("factorisation.py", *arguments)
    assert text.count("JDLUFS 0.8") == 1 + 3  # its time, and a row of each table
    for measure in ("classification accuracy", "clustering NMI", "clustering ACC"):
        assert f"{measure}, %: mean (best) | poster" in text
    picture = tmp_path / "pictures" / "convergence_jdlufs.png"
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_discriminant_example_draws_and_judges_without_the_sets(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    text = run("discriminant_methods.py", "--output", str(tmp_path))
    assert "digits, 500 × 64" in text
    assert text.count("| TRACK, γ") == text.count("| LDAKM, γ") == 4
    picture = tmp_path / "discriminant_scatter.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
