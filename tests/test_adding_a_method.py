"""The page on adding a method, followed to the letter on a copy of the package."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tamis
from tamis.testing import CHECKS

PAGE = Path(__file__).parents[1] / "docs" / "adding_a_method.md"
# A step names its file; the blocks that follow belong to it, up to the next step.
STEP = re.compile(r"^\*\*\d\. [^*]+\*\*[^`\n]*(?:`(?P<path>src/tamis/[^`]+)`)?", re.MULTILINE)
BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def steps():
    """For each step of the page its file, or None, and its blocks as (language, text)."""
    text = PAGE.read_text("utf-8")
    starts = [*STEP.finditer(text)]
    ends = [*(start.start() for start in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=True):
        blocks = [
            (block["language"], block["text"]) for block in BLOCK.finditer(text, start.end(), end)
        ]
        yield start["path"], blocks


def apply(diff, path):
    """Add the lines marked + after those that stand before them in the page, and in the file."""
    lines = diff.splitlines(keepends=True)
    context = "".join(line[1:] for line in lines if line.startswith(" "))
    added = "".join(line[1:] for line in lines if line.startswith("+"))
    assert context + added == "".join(line[1:] for line in lines)
    text = path.read_text("utf-8")
    assert text.count(context) == 1, f"{path.name} must hold once:\n{context}"
    path.write_text(text.replace(context, context + added), "utf-8")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of the package to which the page's method has been added."""
    root = tmp_path_factory.mktemp("copy")
    package = Path(tamis.__file__).parent
    shutil.copytree(
        package, root / "src" / "tamis", ignore=shutil.ignore_patterns("__pycache__", "*.nb?")
    )
    (file, [(_, source), *_]), *others = steps()
    assert not (root / file).exists()
    (root / file).write_text(source, "utf-8")
    for file, blocks in others:
        for language, text in blocks:
            if language == "diff":
                apply(text, root / file)
    return root


def run(root, code):
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=root)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_has_a_file_and_additions_to_two_others():
    files = [(file, [language for language, _ in blocks]) for file, blocks in steps() if file]
    assert [(file, languages.count("diff")) for file, languages in files] == [
        ("src/tamis/selectors/range_score.py", 0),
        ("src/tamis/__init__.pyi", 2),
        ("src/tamis/registry.py", 2),
    ]


def test_the_method_of_the_page_passes_every_check(root):
    [check] = [text for _, blocks in steps() for _, text in blocks if "check_selector(" in text]
    start = "import json, tamis\nfrom tamis import RangeScore\n"
    report = json.loads(run(root, f"{start}{check}\nprint(json.dumps([tamis.__file__, report]))"))
    assert report[0].startswith(str(root))
    assert list(report[1]) == list(CHECKS)
    assert report[1]["column permutation"] == "passed"


def test_the_package_knows_the_method_of_the_page(root):
    code = (
        "import tamis; print('RangeScore' in tamis.__all__, "
        "tamis.registry.get('range_score').selector is tamis.RangeScore)"
    )
    assert run(root, code).split() == ["True", "True"]
