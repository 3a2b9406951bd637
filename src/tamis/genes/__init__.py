"""Genes of single cells: the contract of scanpy's highly variable genes, chosen by groups of cells.

:func:`select` takes an AnnData object and marks genes in its ``var``. It needs anndata, but not
scanpy.
"""

from tamis.genes._select import select

__all__ = ["select"]
