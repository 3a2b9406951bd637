"""The page about the command line names every command and every option it speaks of exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
COMMANDS = ("select", "apply", "compare", "bench", "methods", "datasets", "studio")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_in_an_example_exists(run, command):
    text = PAGE.read_text(encoding="utf-8")
    examples = re.findall(rf"^tamis {command}\b.*$", text, re.MULTILINE)
    assert examples
    known = run(command, "--help").stdout
    for option in re.findall(r"(?<!\S)(--?[a-z][a-z-]*)", " ".join(examples).split(" # ")[0]):
        assert re.search(rf"(?<!\S){option}(?!\S)", known), option


def test_the_decisions_in_the_example_are_those_that_are_printed(run):
    text = PAGE.read_text(encoding="utf-8")
    (command, lines) = re.search(
        r"```\ntamis (select dataset:\S+)\n```\n\nprints .*?\n```\n(.*?)```", text, re.DOTALL
    ).groups()
    said = run(*command.split()).stdout.splitlines()
    assert [line for line in lines.splitlines() if line not in said] == []
