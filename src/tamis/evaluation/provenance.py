"""What made a result: the commit, the versions and the machine."""

from __future__ import annotations

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["commit", "provenance"]

_PACKAGES = ("tamis", "numpy", "scipy", "scikit-learn")


def provenance() -> dict[str, str]:
    """Commit (where tamis runs from a clone), versions and platform, by name."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a source tree that was never installed
            found[package] = "not installed"
    found["platform"] = f"{platform.system()} {platform.machine()}"
    made_by = commit(Path(__file__).parents[1])
    return {"commit": made_by, **found} if made_by else found


def commit(package: Path) -> str:
    """The commit that the files of a package are of.

    Parameters
    ----------
    package : Path
        Its folder.

    Returns
    -------
    str
        The hash, with "and changes" if the files differ from it; "" if no repository tracks them
        (a virtual environment may well lie inside a repository of something else).
    """
    if not _git(package, "ls-files", "--", "__init__.py"):
        return ""
    name = _git(package, "rev-parse", "HEAD")
    return f"{name} and changes" if _git(package, "status", "--porcelain", "--", ".") else name


def _git(folder: Path, *arguments: str) -> str:
    """What git prints; "" where it fails or is not installed."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.strip()
