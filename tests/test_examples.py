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


def test_the_example_of_an_own_method_passes_every_check():
    from tamis.testing import CHECKS

    outcomes = run("own_method.py").splitlines()
    assert len(outcomes) == len(CHECKS)
    assert sum(line.endswith("passed") for line in outcomes) >= len(CHECKS) - 2


def test_the_margin_example_shows_what_a_large_weight_does(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    shares = [
        float(line.split()[3]) for line in run("gallery/plot_noise_beside_iris.py").splitlines()
    ]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] > 30


def test_the_tables_of_the_poster_are_measured_anew(tmp_path):
    pytest.importorskip("matplotlib")
    arguments = ("--sets", "digits", "--repeats", "1", "--output", str(tmp_path / "pictures"))
    text = run("factorisation.py", *arguments)
    assert text.count("JDLUFS 0.8") == 1 + 3  # its time, and a row of each table
    for measure in ("classification accuracy", "clustering NMI", "clustering ACC"):
        assert f"{measure}, %: mean (best) | poster" in text
    picture = tmp_path / "pictures" / "convergence_jdlufs.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
