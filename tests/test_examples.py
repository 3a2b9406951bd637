"""The example scripts run as they stand and show what they promise."""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.testing import CHECKS

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


@pytest.fixture
def gallery(monkeypatch):
    """Run a script of the gallery here, and return the figure that it shows last."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    def run_script(script: Path):
        shown = []
        monkeypatch.setattr(pyplot, "show", lambda: shown.append(pyplot.gcf()))
        runpy.run_path(str(script), run_name="__main__")
        assert shown, f"{script.name} shows no picture"
        return shown[-1]

    yield run_script
    pyplot.close("all")


GALLERY = sorted((EXAMPLES / "gallery").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_a_gallery_script_ends_in_a_picture(script, gallery, capsys):
    figure = gallery(script)
    assert figure.axes
    assert all(axis.has_data() for axis in figure.axes)
    if script.stem == "own_method":
        outcomes = capsys.readouterr().out.splitlines()
        assert len(outcomes) == len(CHECKS)
        assert sum(line.endswith("passed") for line in outcomes) >= len(CHECKS) - 2


@pytest.mark.parametrize("script", GALLERY, ids=lambda script: script.stem)
def test_a_gallery_script_has_a_title_and_cells(script):
    text = script.read_text("utf-8")
    title, line = ast.get_docstring(ast.parse(text)).splitlines()[:2]
    assert line == "=" * len(title)
    assert "\n# %%\n" in text


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
