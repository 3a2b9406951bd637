"""The page about the command line names every command and every option it speaks of exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
COMMANDS = ("select", "compare", "bench", "methods", "datasets")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_in_an_example_exists(run, command):
    text = PAGE.read_text(encoding="utf-8")
    examples = re.findall(rf"^tamis {command}\b.*$", text, re.MULTILINE)
    assert examples
    known = run(command, "--help").stdout
    for option in re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", " ".join(examples).split(" # ")[0]):
        assert re.search(rf"(?<!\S){option}(?!\S)", known), option
