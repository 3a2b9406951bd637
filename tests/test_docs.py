"""The documentation: every code block runs, every method has its page, the site builds."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from tamis.registry import METHODS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# What a build of the site leaves in the folder.
GENERATED = {"_build", "api", "gallery"}

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w+-]*)\s*$")
# Said in a page, with a reason: the commands or code of the next block are not run.
NOT_RUN = re.compile(r"<!-- not run: (?P<reason>.+?) -->")
# Said in a page: its blocks use packages that are not always there.
NEEDS = re.compile(r"<!-- needs: (?P<modules>.+?) -->")


def pages() -> list[Path]:
    found = [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if not GENERATED & set(page.relative_to(DOCS).parts)
    ]
    return [ROOT / "README.md", *found]


@dataclass(frozen=True)
class Block:
    """A fenced block: where its first line stands, its language and its text."""

    line: int
    language: str
    text: str
    not_run: str | None = None

    @property
    def is_code(self) -> bool:
        """Python that is not a doctest; those are run by pytest itself."""
        return self.language == "python" and ">>>" not in self.text

    def commands(self) -> list[list[str]]:
        """The `tamis` commands of a console or shell block."""
        if self.language not in {"console", "bash", "sh", "shell"}:
            return []
        prompt = r"\$ " if self.language == "console" else r"(?:\$ )?"
        joined = re.sub(r"\\\n\s*", "", self.text)
        lines = re.findall(rf"^{prompt}(tamis\b.*)$", joined, flags=re.MULTILINE)
        return [shlex.split(line, comments=True)[1:] for line in lines]


def blocks(text: str) -> Iterator[Block]:
    lines = text.splitlines()
    position, not_run = 0, None
    while position < len(lines):
        line = lines[position]
        if marked := NOT_RUN.search(line):
            not_run = marked["reason"]
        opening = FENCE.match(line)
        position += 1
        if not opening:
            continue
        start = position
        closing = opening["indent"] + opening["fence"]
        while position < len(lines) and lines[position].rstrip() != closing:
            position += 1
        body = [one.removeprefix(opening["indent"]) for one in lines[start:position]]
        yield Block(start, opening["language"], "\n".join(body) + "\n", not_run)
        not_run = None
        position += 1


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def runnable() -> list[Path]:
    return [
        page
        for page in pages()
        if any(block.is_code or block.commands() for block in blocks(page.read_text("utf-8")))
    ]


def run_command(arguments: list[str], where: str) -> None:
    start = "import sys; from tamis.cli import main; sys.exit(main())"  # as the console script
    command = [sys.executable, "-c", start, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, f"{where}: tamis {shlex.join(arguments)}\n{done.stderr}"


@pytest.mark.slow
@pytest.mark.parametrize("page", runnable(), ids=relative)
def test_the_code_and_the_commands_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    text = page.read_text("utf-8")
    for needed in NEEDS.findall(text):
        for module in needed.split(","):
            pytest.importorskip(module.strip())
    monkeypatch.chdir(tmp_path)
    # A real module: what a block defines can be pickled, as joblib and scikit-learn's checks do.
    module = ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    unavailable = 0
    for block in blocks(text):
        where = f"{relative(page)}:{block.line}"
        if block.not_run:
            continue
        if block.is_code:
            code = compile("\n" * block.line + block.text, str(page), "exec")
            exec(code, vars(module))
        for arguments in block.commands():
            if importlib.util.find_spec("tamis.cli") is None:
                unavailable += 1
            else:
                run_command(arguments, where)
    if unavailable:
        pytest.skip(f"{unavailable} commands of {relative(page)}: this version has no tamis.cli")


def test_blocks_are_found_with_their_language_and_line():
    text = (
        "# Page\n\n```python\nx = 1\n```\n\n- point\n\n  ```python\n  y = 2\n  ```\n"
        "```python\n>>> 1\n1\n```\n<!-- not run: needs a terminal -->\n"
        "```console\n$ tamis select a.csv \\\n    -k 5  # five\nkept 5\n$ ls\n```\n"
    )
    first, second, doctest, console = blocks(text)
    assert (first.line, first.text, first.is_code) == (3, "x = 1\n", True)
    assert (second.line, second.text, second.is_code) == (9, "y = 2\n", True)
    assert not doctest.is_code
    assert console.commands() == [["select", "a.csv", "-k", "5"]]
    assert console.not_run == "needs a terminal"
    assert [block.not_run for block in (first, second, doctest)] == [None] * 3


def test_the_failure_of_a_block_names_page_and_line():
    [block] = blocks("# Page\n\n```python\na = 1\nraise ValueError\n```\n")
    with pytest.raises(ValueError, match=r"^$") as caught:
        exec(compile("\n" * block.line + block.text, "page.md", "exec"), {})
    assert caught.traceback[-1].lineno + 1 == 5


def toctrees(page: Path) -> list[str]:
    """The entries of a page's toctrees, as paths of pages from the docs folder."""
    inner = re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text("utf-8"), re.S | re.M)
    entries = [line for body in inner for line in body.splitlines()]
    entries = [line.strip() for line in entries if line.strip() and not line.startswith(":")]
    return [str((page.parent / entry).relative_to(DOCS)) for entry in entries]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_page_in_the_toctree_and_the_table(name):
    page = DOCS / "methods" / f"{name}.md"
    assert page.exists(), f"write docs/methods/{name}.md"
    text = page.read_text("utf-8")
    class_name = METHODS[name].selector.__name__
    assert f"import {class_name}" in text or f", {class_name}" in text, "a doctest of the method"
    for part in ("refers**", "**Cost.**"):
        assert part in text, f"docs/methods/{name}.md lacks the paragraph {part}"
    assert f"methods/{name}" in toctrees(DOCS / "methods.md")
    assert f"[`{class_name}`](methods/{name}.md)" in (DOCS / "methods.md").read_text("utf-8")
    assert f"(methods/{name}.md)" in (DOCS / "choosing.md").read_text("utf-8") or name in {
        # Mentioned without advice: nothing measured recommends them.
        "rufs",
        "eufs",
        "jdlufs",
        "udfs",
        "rsr",
        "ndfs",
        "pfa",
        "leverage",
        "sparse_kmeans",
        "inffs",
        "sogfs",
        "fsasl",
        "u2fs",
        "dgufs",
        "spfs",
        "farthest_point",
        "egcfs",
        "rne",
        "llcfs",
        "ssfs",
    }


def test_every_page_can_be_reached_from_the_index():
    reached, waiting = set(), ["index"]
    while waiting:
        name = waiting.pop()
        page = DOCS / f"{name}.md"
        if name in reached or not page.exists():
            continue
        reached.add(name)
        for entry in toctrees(page):
            matches = DOCS.glob(f"{entry}.md") if "*" in entry else [DOCS / f"{entry}.md"]
            waiting += [str(match.relative_to(DOCS).with_suffix("")) for match in matches]
    every = {
        str(page.relative_to(DOCS).with_suffix("")) for page in pages() if DOCS in page.parents
    }
    assert every == reached


def test_relative_links_lead_somewhere():
    broken = []
    for page in pages():
        text = re.sub(r"`[^`\n]*`", "", page.read_text("utf-8"))
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            made_by_the_build = GENERATED & set(Path(target).parts)
            if "://" in target or made_by_the_build or (page.parent / target).exists():
                continue
            broken.append(f"{relative(page)}: {target}")
    assert not broken


def test_links_to_the_gallery_name_scripts_that_exist():
    scripts = {path.stem for path in (ROOT / "examples" / "gallery").glob("*.py")}
    linked = {
        name
        for page in pages()
        for name in re.findall(r"gallery/(\w+)\.rst", page.read_text("utf-8"))
    }
    assert linked
    assert linked <= scripts


@pytest.fixture
def sources(tmp_path):
    """A copy of what the site is made of: a build writes beside its sources."""
    leave = shutil.ignore_patterns(*GENERATED)
    shutil.copytree(DOCS, tmp_path / "docs", ignore=leave)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


# Furo lists every page of the site beside each page, which takes most of a build. So all pages are
# built in the plainest theme of all, and with Furo one of each kind.
PLAIN = '\nhtml_theme = "basic"\nhtml_theme_options = {}\n'
OF_EACH_KIND = (
    "index.md",
    "methods/laplacian_score.md",
    "api/tamis.rst",
    "api/generated/tamis.LaplacianScore.rst",
    "gallery/index.rst",
)


def built(sources, *pages):
    """Build the site, or some of its pages; a warning fails."""
    site = sources / "site"
    # The scripts of the gallery have their own tests; here they are shown, not run.
    options = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    docs = sources / "docs"
    command = [sys.executable, "-m", "sphinx", *options, str(docs), str(site)]
    command += [str(docs / page) for page in pages]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return site


@pytest.mark.slow
def test_the_site_builds_without_a_warning_and_asks_the_network_for_nothing(sources):
    pytest.importorskip("sphinx")
    conf = sources / "docs" / "conf.py"
    text = conf.read_text("utf-8")
    conf.write_text(text + PLAIN, "utf-8")
    site = built(sources)
    for method in METHODS.values():
        assert (site / "methods" / f"{method.name}.html").exists()
        assert (site / "api" / "generated" / f"tamis.{method.selector.__name__}.html").exists()
    ask_for_nothing(site)
    formula = (site / "api" / "generated" / "tamis.LaplacianScore.html").read_text("utf-8")
    assert "<math" in formula
    assert "mfrac" in formula
    conf.write_text(text, "utf-8")
    built(sources, *OF_EACH_KIND)
    for page in OF_EACH_KIND:
        assert "furo" in (site / page).with_suffix(".html").read_text("utf-8"), page
    ask_for_nothing(site)


def ask_for_nothing(site):
    fetched = re.compile(r'<(?:script|img|iframe)[^>]+src="https?:|<link[^>]+href="https?:')
    for page in site.rglob("*.html"):
        assert not fetched.search(page.read_text("utf-8")), f"{page.name} fetches from the network"
