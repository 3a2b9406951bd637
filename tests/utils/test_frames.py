"""Data frames of whichever library is installed."""

from __future__ import annotations

import pandas as pd
import pytest

from tamis.utils import frames
from tamis.utils.frames import frame_of_rows

ROWS = [{"name": "a", "value": 1.5, "near": None}, {"name": "b", "value": 2.5, "near": "a"}]


def only(monkeypatch, *installed):
    monkeypatch.setattr(frames, "find_spec", lambda name: name if name in installed else None)


def test_rows_become_a_frame_of_pandas():
    frame = frame_of_rows(ROWS)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame) == ["name", "value", "near"]
    assert frame["value"].tolist() == [1.5, 2.5]
    assert frame["near"].isna().tolist() == [True, False]


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_another_library_serves_where_pandas_is_missing(monkeypatch, library):
    pytest.importorskip(library)
    only(monkeypatch, library)
    frame = frame_of_rows(ROWS)
    assert type(frame).__module__.startswith(library)
    assert frame.shape == (2, 3)


def test_without_any_of_them_one_sentence_says_what_to_install(monkeypatch):
    only(monkeypatch)
    with pytest.raises(ImportError, match=r"pandas, polars or pyarrow.*pip install pandas"):
        frame_of_rows(ROWS)
