"""The package as a whole: what a bare ``import tamis`` gives, and what its files say of it."""

from __future__ import annotations

import ast
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from runpy import run_path

import pytest
import yaml

import tamis

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MINIMUM = run_path(str(ROOT / "tools" / "minimum_versions.py"))
MODULES = [module.name for module in pkgutil.iter_modules(tamis.__path__)]
# What the package is built of; not public, and not to be relied on.
INTERNAL = {"charts", "solvers", "utils"}
PUBLIC = [name for name in MODULES if not name.startswith("_") and name not in INTERNAL]

# In a process of its own: here the tests have imported most modules. Each is asked for from a new
# `import tamis`, so that none is there because another imported it.
ATTRIBUTES = """
import sys
import tamis
assert "numpy" not in sys.modules, "importing is slow"
for name in sys.argv[1:]:
    for loaded in [module for module in sys.modules if module.partition(".")[0] == "tamis"]:
        del sys.modules[loaded]
    import tamis
    assert f"tamis.{name}" not in sys.modules, f"tamis.{name} is loaded by importing tamis"
    assert name in dir(tamis), f"{name} is not in dir(tamis)"
    assert getattr(tamis, name).__name__ == f"tamis.{name}"
"""


@pytest.mark.slow
def test_every_public_module_is_an_attribute():
    assert PUBLIC
    command = [sys.executable, "-c", ATTRIBUTES, *PUBLIC]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


# --- what is declared ---------------------------------------------------------------------------


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(*extras: str) -> set[str]:
    found = MINIMUM["requirements"](*extras)
    return {normalised(re.match(r"[\w.-]+", requirement)[0]) for requirement in found}


def imported(tree: ast.AST, at_once: bool = True) -> Iterator[tuple[str, bool]]:
    """The top-level packages that a file imports, and whether it does so when it is loaded."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[0], at_once) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0:
                yield node.module.partition(".")[0], at_once
        else:
            later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or (
                isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            )
            yield from imported(node, at_once and not later)


def test_what_a_module_imports_is_declared():
    distributions = packages_distributions()
    not_for_users = {"bench", "dev", "docs", "scanpy", "test"}
    needed = declared()
    # What is imported inside a function may be an extra, or a library whose tables come in.
    usable = declared(*set(PROJECT["optional-dependencies"]) - not_for_users)
    usable |= {"pandas", "polars"}
    usable |= {"typing-extensions"}  # for type checkers, which have it
    of_an_extra = {"studio/_server.py"}  # imported by a function, which says what is missing
    undeclared = []
    root = Path(tamis.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for package, at_once in imported(ast.parse(path.read_text("utf-8"))):
            if package == "tamis" or package in sys.stdlib_module_names:
                continue
            names = {normalised(name) for name in distributions.get(package, [package])}
            later = not at_once or path.relative_to(root).as_posix() in of_an_extra
            if not names & (usable if later else needed):
                undeclared.append(f"{path.name}: {package}")
    assert not undeclared


def test_the_extra_for_tests_holds_no_tool_for_docs_or_lint():
    tools = {"furo", "mypy", "numpydoc", "pre-commit", "ruff", "sphinx"}
    assert not declared("test") & tools
    assert declared("dev") >= tools | declared("test") | declared("docs")


def test_every_requirement_has_an_oldest_version():
    every = set(PROJECT["optional-dependencies"])
    assert "numpy==2.0" in MINIMUM["constraints"]()
    oldest = MINIMUM["constraints"](*every)
    names = [line.partition("==")[0] for line in oldest]
    assert len(set(names)) == len(names), "a package has two oldest versions"
    assert {normalised(name) for name in names} == declared(*every)


# --- what the files beside the package say ------------------------------------------------------


def test_all_files_name_one_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert PROJECT["version"] == tamis.__version__ == str(citation["version"])


def test_every_python_that_is_promised_is_tested():
    promised = {
        classifier.rpartition(" ")[2]
        for classifier in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", classifier)
    }
    text = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    assert promised == set(re.findall(r'"(3\.\d+)"', text))
    assert min(promised, key=lambda version: int(version[2:])) in PROJECT["requires-python"]


@pytest.mark.parametrize("name", ["test", "release"])
def test_a_workflow_runs_what_there_is(name):
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / f"{name}.yml").read_text("utf-8"))
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    for job in workflow["jobs"].values():
        assert set(job.get("needs", "").split()) <= set(workflow["jobs"])
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            command = step.get("run", "")
            for script in re.findall(r"\btools/\w+\.py", command):
                assert (ROOT / script).exists(), f"{name}.yml runs {script}, which is not there"
            for target in re.findall(r"^make (.+)$", command, re.MULTILINE):
                assert set(target.split()) <= set(targets)


def test_the_layout_in_contributing_is_that_of_the_tree():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:src|tests|benchmarks|examples|tools)/[\w/.]*)`", text)
    sources = Path(tamis.__file__).parent
    packages = {name.removeprefix("src/tamis/") for name in named if name.startswith("src/tamis/")}
    assert packages == {
        f"{name}/" if (sources / name).is_dir() else f"{name}.py"
        for name in MODULES
        if not name.startswith("_")
    }
    assert all((ROOT / name).exists() for name in named if not name.startswith("src/"))
