from __future__ import annotations

import pickle
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tamis import datasets
from tamis.datasets import DatasetError
from tamis.datasets.registry import ENTRIES, plain

PAPERS = {
    "udfs": {"umist", "feret", "yaleb", "humanid", "isolet", "usps"},
    "jelsr": {"umist", "orl", "isolet5", "sonar"},
    "jdlufs": {"usps", "coil20", "warppie10p", "isolet", "lung", "pixraw10p"},
    "track": {"msrc_v1", "orl_644", "jaffe", "xm2vts"},
    "m3fs": {
        *("iris_noise", "ionosphere", "digits1v7", "digits2v7", "digits0689", "digits1279"),
        *("letter_ab", "letter_abcd", "satellite_12", "mnist_0123"),
    },
}
NOT_OBTAINABLE = {"lung", "xm2vts", "humanid"}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_set_of_the_papers_is_there(paper: str) -> None:
    assert {name for name, entry in ENTRIES.items() if paper in entry.papers} == PAPERS[paper]


def test_names_are_unique_however_written() -> None:
    assert len({plain(name) for name in datasets.names()}) == len(datasets.names())
    stems = [plain(stem) for entry in ENTRIES.values() for stem in {*map(plain, entry.files)}]
    assert len(set(stems)) == len(stems)


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=datasets.names())
def test_entries_are_complete(entry: datasets.Entry) -> None:
    assert entry.source
    assert entry.licence
    if entry.name in NOT_OBTAINABLE:
        assert entry.sha256 is None
        assert entry.download is None
        assert entry.files
    else:
        # What comes over the network is always verified.
        assert re.fullmatch("[0-9a-f]{64}", entry.sha256 or "")
        ways = (entry.recipe, entry.download, entry.source == "scikit-learn" or None)
        assert sum(way is not None for way in ways) == 1
    if entry.download is not None:
        assert entry.name in map(str.lower, entry.files)
        assert all(re.match(r"https://\S+$", address) for address in entry.download.addresses)
    if entry.recipe is not None:
        assert entry.recipe.base in ENTRIES
    if entry.image_shape is not None:
        assert entry.image_shape[0] * entry.image_shape[1] == entry.n_features
    assert pickle.loads(pickle.dumps(entry)).name == entry.name  # workers of a sweep need that


def test_checksums_differ_between_sets() -> None:
    sums = sorted(entry.sha256 for entry in ENTRIES.values() if entry.sha256)
    assert all(one != other for one, other in pairwise(sums))


@pytest.mark.parametrize("name", ["coil20", "COIL20", "COIL-20", "coil_20"])
def test_entry_forgives_spelling(name: str) -> None:
    assert datasets.entry(name).name == "coil20"


def test_unknown_names_get_close_matches() -> None:
    with pytest.raises(DatasetError, match="no data set 'uspss'; did you mean usps"):
        datasets.entry("uspss")
    with pytest.raises(DatasetError, match=r"no data set 'zzzzzz'; tamis.datasets.names\(\) lists"):
        datasets.entry("zzzzzz")


def test_the_documented_table_is_the_registry() -> None:
    page = Path(__file__).parents[2] / "docs" / "datasets.md"
    assert datasets.markdown() in page.read_text(encoding="utf-8"), (
        "docs/datasets.md is out of date: paste the output of "
        "python -c 'from tamis import datasets; print(datasets.markdown())'"
    )


def test_the_table_has_a_row_for_every_set() -> None:
    header, _, *rows = datasets.markdown().splitlines()
    assert [row.split("`")[1] for row in rows] == list(datasets.names())
    assert {row.count(" | ") for row in rows} == {header.count(" | ")}
