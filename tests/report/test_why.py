"""The report of an automatic selection: a reason for every column, and the number."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from references.pages import HOSTILE, Reader, paths, section
from references.tables import groups_with_copies as grouped
from references.tables import positive_of_three_factors as table

from tamis import Auto, MaxVariance, report

pytestmark = pytest.mark.usefixtures("rough_evidence")


@pytest.fixture(scope="module")
def automatic():
    X, names = grouped()
    frame = pd.DataFrame(X, columns=names)
    auto = Auto().fit(frame)
    return auto, frame, report.selection(auto, frame, n_subsamples=0)


class TestWhy:
    def test_every_column_has_its_reason(self, automatic):
        rows = re.findall(
            r'<th scope="row">(.*?)</th>\n<td>(.*?)</td>', section(automatic[2], "why")
        )
        frame = automatic[0].reasons()
        state = frame["kept"].map({True: "Kept: ", False: "Not kept: "})
        assert dict(rows) == dict(zip(frame["column"], state + frame["reason"], strict=True))
        assert dict(rows)["flat"] == "Not kept: does not vary"
        kept = set(frame["column"][frame["kept"]])
        assert [name for name, _ in rows][: len(kept)] == list(
            frame[frame["kept"]].sort_values("rank")["column"]
        )

    def test_a_copy_of_a_kept_column_is_told(self, automatic):
        frame = automatic[1]
        page = report.selection(Auto(keep=["a"]).fit(frame), frame, n_subsamples=0)
        assert "Not kept: copy of a" in section(page, "why")

    def test_the_decisions_are_said(self, automatic):
        text = section(automatic[2], "why")
        assert "Structure: the columns know more of each other" in text
        assert f"Groups: {automatic[0].n_clusters_} were found" in text
        assert "1 does not vary" in text
        assert "Measured in the columns as Auto scaled them." in automatic[2].html

    def test_the_map_shows_every_column_beside_the_one_it_is_like(self, automatic):
        figure = section(automatic[2], "why").split("<figure>")[1].split("</figure>")[0]
        shown = re.findall(r"<title>(.*?): r = (\S+) with (.*?)</title>", figure)
        frame = automatic[0].reasons()
        others = frame[~frame["kept"] & frame["nearest"].notna()]
        assert {(name, near) for name, _, near in shown} == set(
            zip(others["column"], others["nearest"], strict=True)
        )
        assert figure.count('class="dots kept"') == (others["correlation"].abs() >= 0.7).sum()
        assert figure.count('text-anchor="end"') == frame["kept"].sum()

    def test_the_number_is_marked_on_its_curves(self, automatic):
        text = section(automatic[2], "how-many")
        assert text.count('<svg class="chart') == 3
        assert f"found, and kept: {automatic[0].n_features_}<" in text
        assert text.count(f">kept: {automatic[0].n_features_}<") == 2
        assert "line chance" in text

    def test_another_number_than_the_one_found(self, automatic):
        auto, frame, _ = automatic
        page = report.selection(Auto(auto.n_features_ + 1).fit(frame), frame, n_subsamples=0)
        assert f">found: {auto.n_features_}<" in section(page, "how-many")
        changed = Auto().fit(frame).set_params(n_features_to_select=9)
        page = report.selection(changed, frame, n_subsamples=0)
        assert "No reasons: Auto was fitted for" in section(page, "why")

    def test_other_methods_have_no_such_section(self):
        X = table()
        page = report.selection(MaxVariance(3).fit(X), X, n_subsamples=0)
        assert 'id="why"' not in page.html
        assert "as MaxVariance scaled them" not in page.html

    def test_names_are_escaped(self):
        X, _ = grouped()
        names = [f"{HOSTILE} {j}" for j in range(X.shape[1])]
        page = report.selection(Auto().fit(X), X, feature_names=names, n_subsamples=0)
        reader = Reader(page.html)
        assert reader.count("script") == 1
        assert HOSTILE not in page.html

    @pytest.mark.parametrize(
        "X",
        [
            table(3, 4),
            table(2, 2),
            table(30, 1),
            np.c_[table(30, 2), np.ones((30, 3))],
            np.repeat(table(30, 1), 4, axis=1),
            sp.csr_array(np.where(table(40, 50) > 1, table(40, 50), 0)),
            grouped(300)[0],
        ],
        ids=["three rows", "two rows", "one", "two vary", "copies", "sparse", "wide"],
    )
    def test_awkward_tables(self, X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of no structure, which is what some of them have
            auto = Auto().fit(X)
            page = report.selection(auto, X, n_subsamples=0)
        Reader(page.html)
        assert not re.search(r"\bnan\b|\binf\b", " ".join(paths(page)), re.IGNORECASE)
        assert "Number: " in section(page, "how-many")
