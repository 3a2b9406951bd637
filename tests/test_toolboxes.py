"""The table of methods against toolboxes: made anew it is the one in the documentation."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tamis.registry import METHODS

TOOL = Path(__file__).parent.parent / "tools" / "toolboxes.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("toolboxes", TOOL)
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["toolboxes"] = module  # its dataclass looks itself up
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_table_as_it_is_made_now(tool):
    page = tool.PAGE.read_text(encoding="utf-8")
    assert tool.page_with_table(page) == page, "run python tools/toolboxes.py"


def test_every_method_of_tamis_is_in_it(tool):
    found = tool.table()
    for name, method in METHODS.items():
        assert f"[`{method.selector.__name__}`](methods/{name}.md)" in found


def test_toolboxes_have_as_many_methods_as_their_documentation_lists(tool):
    counts = {one: sum(one in row.others for row in tool.ROWS) for one in tool.TOOLBOXES}
    assert counts["AutoUFSTool"] == 23
    assert counts["Rdimtools"] == 13
    assert counts["skfeature-chappers"] == 6
    assert counts["ITMO_FS"] == 5
    assert counts["skmatter"] == 2
    assert len({row.method for row in tool.ROWS}) == len(tool.ROWS)
    assert all(set(row.others) <= set(tool.TOOLBOXES) for row in tool.ROWS)
