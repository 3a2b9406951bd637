"""The example scripts run as they stand and show what they promise."""

from __future__ import annotations

import ast
import re
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


@pytest.mark.slow
def test_the_digits_demo_shows_twenty_pixels_of_each_method_and_draws_them(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "pictures" / "digits.png"
    text = run("digits.py", "--samples", "200", "--output", str(picture))
    from tamis.registry import METHODS

    assert "20 of the 64 pixels of 200 handwritten digits" in text
    found = int(re.search(r"Auto, told nothing, finds \d+ groups and keeps (\d+) pixels", text)[1])
    assert text.count("██") == found + 20 * len(METHODS)
    assert text.count(" is kept: ") == 3
    assert "pixel_0_0 is not: does not vary" in text
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


@pytest.mark.slow
def test_the_margin_example_shows_what_a_large_weight_does(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    shares = [
        float(line.split()[3]) for line in run("gallery/plot_noise_beside_iris.py").splitlines()
    ]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert shares[-1] > 30


@pytest.mark.slow
def test_the_objective_of_jdlufs_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    text = run("convergence_jdlufs.py", "--sets", "digits", "--output", str(tmp_path / "pictures"))
    assert 0 < float(text.split()[1]) < 1
    picture = tmp_path / "pictures" / "convergence_jdlufs.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
