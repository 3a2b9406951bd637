"""Genes on the command line: ``tamis select cells.h5ad --genes``."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli._failures import CommandError, reason
from tamis.cli._screen import print_json, print_table, print_text, working
from tamis.cli._targets import check_output, check_targets, write_all

if TYPE_CHECKING:
    import anndata

__all__ = ["Batch", "Genes", "Subset", "select_genes"]

# As scanpy's users expect.
N_TOP_GENES = 2000

Genes = Annotated[
    bool,
    typer.Option(
        "--genes",
        help="The columns are genes of cells, in an h5ad file or a Zarr store: choose by groups of "
        "cells, and mark them where scanpy looks for them.",
    ),
]
Batch = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of obs: genes are ranked within each of its batches. Means --genes.",
    ),
]
Subset = Annotated[
    bool,
    typer.Option(
        "--subset", help="Write the chosen genes only, not all with marks. Means --genes."
    ),
]


def select_genes(
    file: str,
    *,
    number: int | float | None,
    method: str | None,
    layer: str | None,
    batch: str | None,
    clusters: int | None,
    subset: bool,
    output: Path | None,
    seed: int,
    top: int,
    as_json: bool,
    others: Mapping[str, Any],
) -> None:
    """Mark genes in a copy of an AnnData file, and say which.

    Parameters
    ----------
    file : str
    number, method, layer, batch, clusters, subset, output, seed, top, as_json
        The options of ``tamis select``.
    others : mapping of str to object
        Options that say nothing here, with their values: those given are refused.
    """
    import numpy as np

    from tamis.genes import select, sentences

    given = [option for option, value in others.items() if value]
    if given:
        raise CommandError(
            f"{given[0]} does not go with --genes, --batch or --subset; leave it out."
        )
    if subset and output is None:
        raise CommandError("--subset says what -o writes; name a file with -o.")
    path = Path(file)
    paths = check_targets({"--output": output}, path, check_output(output, None))
    if output is not None:
        _format(output, "--output")
    adata = _read(path)
    n_cells, n_genes = adata.shape
    wanted = N_TOP_GENES if number is None else number
    n_top = max(1, round(wanted * n_genes)) if isinstance(wanted, float) else wanted
    start = time.perf_counter()
    with working(f"choosing among {n_genes:,} genes"):
        try:
            select(
                adata,
                n_top_genes=n_top,
                method=method or "auto",
                layer=layer.removeprefix("layers/") if layer is not None else None,
                batch_key=batch,
                n_clusters=clusters or "auto",
                random_state=seed,
            )
        except ValueError as error:
            raise CommandError(f"{file}: {reason(error)}.") from None
    seconds = time.perf_counter() - start
    var, told = adata.var, adata.uns["tamis"]
    chosen = var[var["highly_variable"]].sort_values("tamis_score", ascending=False)
    written = adata[:, var["highly_variable"].to_numpy()].copy() if subset else adata
    if output is not None:
        with working("writing"):
            write_all({paths["--output"]: lambda place: _write(written, place)})
    nuisances = sentences(told["nuisances"])
    if as_json:
        print_json(
            {
                "source": file,
                "n_cells": n_cells,
                "n_genes": n_genes,
                "method": told["method"],
                "values": told["values"],
                "n_groups": told.get("n_groups"),
                "seconds": round(seconds, 3),
                "nuisances": told["nuisances"],
                "n_kept": len(chosen),
                "kept": [
                    {"name": str(name), "score": float(score)}
                    for name, score in zip(chosen.index, chosen["tamis_score"], strict=True)
                ],
                "files": {"output": str(output)} if output is not None else {},
            }
        )
        return
    print_text(f"{file}: {n_cells:,} cells × {n_genes:,} genes.")
    print_text(told["values"])
    if "n_groups" in told:
        print_text(f"Groups of cells: {told['n_groups']}.")
    if batch is not None:
        n_batches = len(np.unique(adata.obs[batch].astype(str)))
        n_all = int(var["highly_variable_intersection"].sum())
        print_text(f"Ranked within {n_batches} batches; {n_all:,} genes are among the best of all.")
    print_text(f"Chosen: {len(chosen):,} genes, by {told['method']}.")
    for sentence in nuisances:
        print_text(sentence)
    print_text("")
    rows = [
        (str(place), str(name), f"{score:.4g}")
        for place, (name, score) in enumerate(
            zip(chosen.index[:top], chosen["tamis_score"][:top], strict=True), start=1
        )
    ]
    print_table(("rank", "gene", "score"), rows, right=("rank", "score"), names=("gene",))
    if output is not None:
        print_text(f"Wrote {output}")
        if subset:
            print_text(f"It holds the {len(chosen):,} chosen genes, with all that belongs to them.")
        else:
            print_text(
                f"It is a copy of {file} with all {n_genes:,} genes; the chosen are marked in var, "
                "as highly_variable, beside highly_variable_rank and tamis_score."
            )


def _format(path: Path, what: str) -> str:
    from tamis import io

    try:
        name = io.format_of(path, None).name
    except io.TableError as error:
        raise CommandError(f"{what} {error}") from None
    if name not in ("h5ad", "zarr"):
        raise CommandError(
            f"{what} {path}: genes are marked in h5ad files and Zarr stores only; name one, or "
            "leave --genes, --batch and --subset out."
        )
    return name


def _read(path: Path) -> anndata.AnnData:
    try:
        import anndata
    except ImportError:
        raise CommandError(
            "to choose genes, anndata is needed: pip install 'tamis[genes]'."
        ) from None
    if not path.exists():
        raise CommandError(f"{path}: there is no such file; check the name.")
    name = _format(path, "FILE")
    with working(f"reading {path}"):
        try:
            return anndata.read_h5ad(path) if name == "h5ad" else anndata.read_zarr(path)
        except (OSError, KeyError, ValueError) as error:
            raise CommandError(f"{path} is not what its name says: {reason(error)}.") from None


def _write(adata: anndata.AnnData, place: Path) -> None:
    if _format(place, "--output") == "zarr":
        adata.write_zarr(place)
    else:
        adata.write_h5ad(place)
