"""The code that a report shows gives the same selection again."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from references.pages import HOSTILE, Reader
from references.tables import groups_with_copies as grouped
from references.tables import positive_of_three_factors as table
from sklearn.preprocessing import StandardScaler

from tamis import MCFS, UDFS, RandomSubset, report
from tamis.graphs import neighbor_graph

pytestmark = pytest.mark.usefixtures("rough_evidence")


@pytest.mark.slow
def test_how_to_repeat_it():
    X = table()
    graph = neighbor_graph(X, 4)
    selector = MCFS(3, n_clusters=2, affinity=graph).fit(X)
    page = report.selection(selector, X, command="tamis select table.csv -k 3")
    texts = Reader(page.html).texts
    assert "tamis select table.csv -k 3" in texts
    code = next(text for text in texts if text.startswith("from tamis import MCFS"))
    assert "# affinity: a csr_array of shape (40, 40)" in code
    assert "MCFS(n_features_to_select=3, n_clusters=2, affinity=affinity)" in code
    found: dict[str, object] = {"X": X, "affinity": graph}
    exec(code, found)
    assert (found["X_selected"] == selector.transform(X)).all()
    plain = report.selection(UDFS(3, n_clusters=2, gamma=0.5).fit(X), X)
    code = next(text for text in Reader(plain.html).texts if text.startswith("from tamis"))
    found = {"X": X}
    exec(code, found)
    assert found["X_selected"].shape == (40, 3)
    assert "given no" in report.selection(RandomSubset(3).fit(X), X).html
    assert "given no" not in report.selection(RandomSubset(3, random_state=0).fit(X), X).html


def test_the_recipe_scales_as_the_table_was_scaled():
    X = table() * np.logspace(0, 3, 9)
    scaler = StandardScaler(with_mean=False)
    selector = UDFS(3, n_clusters=2).fit(scaler.fit_transform(X))
    page = report.selection(
        selector, scaler.transform(X), preparation=[f"Scaled. {HOSTILE}"], scaler=scaler
    )
    reader = Reader(page.html)
    assert f"Scaled. {HOSTILE}" in reader.texts
    (code,) = (text for text in reader.texts if "fit_transform" in text)
    found = {"X": X}
    exec(code, found)
    np.testing.assert_allclose(found["X_selected"], selector.transform(scaler.transform(X)))
    with pytest.raises(TypeError, match="sequence of sentences"):
        report.selection(selector, scaler.transform(X), preparation="Scaled.")


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["auto", "standard", "columns", "unit", "none"])
@pytest.mark.parametrize("max_rows", [None, 60])
def test_the_recipe_of_a_command_repeats_it(scale, max_rows, tmp_path, monkeypatch):
    """Read, drawn, scaled and fitted once more by the code of the page: the same columns."""
    from typer.testing import CliRunner

    from tamis.cli import app

    monkeypatch.chdir(tmp_path)
    X = table(100, 12) * np.logspace(0, 2, 12)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    frame.insert(3, "kind", np.resize(["a", "b"], 100))
    frame.insert(0, "sample", [f"s{i}" for i in range(100)])
    frame.to_csv("table.csv", index=False)
    command = "select table.csv -k 4 -m laplacian_score --labels kind --id sample --seed 3"
    command += f" --scale {scale} --report r.html -o out.csv"
    if max_rows:
        command += f" --max-rows {max_rows}"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    (code,) = (text for text in Reader(page).texts if "selector = LaplacianScore" in text)
    assert ("default_rng(3)" in code) == (max_rows is not None)
    found: dict[str, Any] = {}
    exec(code, found)
    names = np.array(found["table"].feature_names)[found["selector"].get_support()]
    kept = pd.read_csv("out.csv").columns
    assert set(names) == set(kept) - {"kind", "sample"}
    assert len(found["X"]) == (max_rows or 100)
    shown = [attrs["data-score"] for _, attrs in Reader(page).tags if "data-score" in attrs]
    again = np.sort(found["selector"].scores_)[::-1][:4]
    np.testing.assert_allclose([float(score) for score in shown], again)


@pytest.mark.parametrize("options", ["", "--scale columns", "--clusters 3 --seed 5", "-k 2"])
def test_the_recipe_of_the_automatic_selection(options, tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from tamis.cli import app

    monkeypatch.chdir(tmp_path)
    X, names = grouped()
    pd.DataFrame(X, columns=names).to_csv("table.csv", index=False)
    command = f"select table.csv --max-rows 90 --report r.html --json {options}"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    (code,) = (text for text in Reader(page).texts if "selector = Auto(" in text)
    found: dict[str, Any] = {}
    exec(code, found)
    wanted = json.loads(result.stdout)
    kept = np.flatnonzero(found["selector"].get_support())
    assert sorted(entry["column"] for entry in wanted["kept"]) == kept.tolist()
    assert found["selector"].n_clusters_ == wanted["n_clusters"]
    assert found["selector"].structure_ == wanted["structure"]


@pytest.mark.slow
def test_the_recipe_of_a_sparse_sample(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from tamis.cli import app

    monkeypatch.chdir(tmp_path)
    X = sp.random_array((80, 30), density=0.3, format="csr", rng=0)
    sp.save_npz("table.npz", X)
    command = "select table.npz -k 4 -m laplacian_score --scale unit --max-rows 50 --report r.html"
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    reader = Reader((tmp_path / "r.html").read_text(encoding="utf-8"))
    (code,) = (text for text in reader.texts if "selector = LaplacianScore" in text)
    found: dict[str, Any] = {}
    exec(code, found)
    assert found["X"].shape == (50, 30)
    shown = [attrs["data-index"] for _, attrs in reader.tags if "data-index" in attrs]
    best = np.argsort(found["selector"].ranking_)[:4]
    assert [int(index) for index in shown] == best.tolist()
