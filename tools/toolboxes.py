"""The table of methods against toolboxes in docs/toolboxes.md, from the rows here and the registry.

    python tools/toolboxes.py

writes it anew; a method that has come to tamis gets its link by itself. What the others have is
what their documentation lists, as docs/toolboxes.md cites it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tamis.registry import METHODS

__all__ = ["PAGE", "ROWS", "Row", "page_with_table", "table"]

PAGE = Path(__file__).parent.parent / "docs" / "toolboxes.md"
BEGIN, END = "<!-- begin: made by tools/toolboxes.py -->", "<!-- end -->"
TOOLBOXES = (
    "AutoUFSTool",
    "Rdimtools",
    "scikit-feature",
    "skfeature-chappers",
    "ITMO_FS",
    "fastcan",
    "skmatter",
)
# The two that share one code.
SKFEATURE = ("scikit-feature", "skfeature-chappers")


@dataclass(frozen=True)
class Row:
    """A method: its name, its paper, its class in tamis if there is one, and who else has it."""

    method: str
    paper: str
    selector: str | None
    others: tuple[str, ...]


AUTO, R, ITMO = "AutoUFSTool", "Rdimtools", "ITMO_FS"
ROWS = (
    Row("Variance", "", "MaxVariance", SKFEATURE),
    Row("Laplacian score", "He et al. 2005", "LaplacianScore", (AUTO, R, *SKFEATURE)),
    Row("SPEC", "Zhao, Liu 2007", "SPEC", (AUTO, R, *SKFEATURE, ITMO)),
    Row("MCFS", "Cai et al. 2010", "MCFS", (AUTO, R, *SKFEATURE, ITMO)),
    Row("UDFS", "Yang et al. 2011", "UDFS", (AUTO, R, *SKFEATURE, ITMO)),
    Row("LLCFS", "Zeng, Cheung 2011", "LLCFS", (AUTO,)),
    Row("NDFS", "Li et al. 2012", "NDFS", (AUTO, *SKFEATURE, ITMO)),
    Row("RUFS", "Qian, Zhai 2013", "RUFS", (AUTO,)),
    Row("RSR", "Zhu et al. 2015", "RSR", (R,)),
    Row("FSASL", "Du, Shen 2015", "FSASL", (AUTO,)),
    Row("SOCFS", "CVPR 2015", "SOCFS", (AUTO,)),
    Row("InfFS", "Roffo et al. 2015", "InfFS", (AUTO,)),
    Row("SOGFS", "Nie et al. 2016", "SOGFS", (AUTO,)),
    Row("UFSOL", "ICME 2017", "UFSOL", (AUTO,)),
    Row("DISR", "Liu et al. 2017", "DISR", (R,)),
    Row("Non-convex RSR", "Zhu et al. 2017", "NRSR", (R,)),
    Row("DGUFS", "AAAI 2018", "DGUFS", (AUTO,)),
    Row("UGFS", "Henni et al. 2018", "UGFS", (R,)),
    Row("SPUFS", "as Rdimtools has it", "SPUFS", (R,)),
    Row("SRCFS", "Huang et al. 2019", "SRCFS", (AUTO,)),
    Row("RNE", "Liu et al. 2020", "RNE", (AUTO,)),
    Row("CNAFS", "IEEE Cybernetics 2020", "CNAFS", (AUTO,)),
    Row("EGCFS", "TNNLS 2020", "EGCFS", (AUTO,)),
    Row("Inf-FS of 2020", "TPAMI 2020", None, (AUTO,)),
    Row("U2FS", "Villa et al. 2021", "U2FS", (AUTO,)),
    Row("FRUAR", "Information Sciences 2021", None, (AUTO,)),
    Row("UAR-HKCMI", "Knowledge-Based Systems 2021", None, (AUTO,)),
    Row("FMIUFS", "IEEE Fuzzy Systems 2021", None, (AUTO,)),
    Row("CFS", "as AutoUFSTool has it", None, (AUTO,)),
    Row("PFA", "Lu et al. 2007", "PFA", (R,)),
    Row("Procrustes", "Krzanowski 1987", None, (R,)),
    Row("FOS-MOD", "Wei, Billings 2007", None, (R,)),
    Row("LSPE", "Fang et al. 2014", None, (R,)),
    Row("Trace ratio, Laplacian", "Nie et al. 2008", None, (ITMO,)),
    Row("CUR, leverage scores", "Mahoney, Drineas 2009", "LeverageScore", ("skmatter",)),
    Row("Farthest points", "Imbalzano et al. 2018", "FarthestPointSampling", ("skmatter",)),
    Row("Canonical correlation with components", "Zhang, Lang 2022", None, ("fastcan",)),
)


def _link(selector: str | None) -> str:
    """A class of tamis with its page; a dash if it is not there."""
    for name, method in METHODS.items():
        if method.selector.__name__ == selector:
            return f"[`{selector}`](methods/{name}.md)"
    return "–"


def table() -> str:
    """The table, and the methods that no other toolbox has."""
    heads = ("method", "tamis", *TOOLBOXES)
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for row in ROWS:
        name = f"{row.method} ({row.paper})" if row.paper else row.method
        has = ("×" if one in row.others else "" for one in TOOLBOXES)
        lines.append(f"| {name} | {_link(row.selector)} | {' | '.join(has)} |")
    common = {row.selector for row in ROWS}
    alone = [m.selector.__name__ for m in METHODS.values() if m.selector.__name__ not in common]
    links = ", ".join(_link(one) for one in alone)
    return "\n".join([*lines, "", f"As selectors in none of the others: {links}."])


def page_with_table(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def main() -> None:
    """Write the table into the page."""
    page = PAGE.read_text(encoding="utf-8")
    if BEGIN not in page or END not in page:
        sys.exit(f"{PAGE} has no place for the table: {BEGIN} … {END}.")
    PAGE.write_text(page_with_table(page), encoding="utf-8")


if __name__ == "__main__":
    main()
