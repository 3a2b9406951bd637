"""Genes of single cells: the contract of scanpy's highly variable genes, chosen by groups of cells.

:func:`select` takes an AnnData object and marks genes in its ``var``. It needs anndata, but not
scanpy. The highly variable genes of the field are here as selectors of tables as well.
"""

from tamis.genes._nuisance import sentences
from tamis.genes._select import select
from tamis.genes._selectors import NormalizedDispersion, PearsonResiduals, StandardizedVariance

__all__ = [
    "NormalizedDispersion",
    "PearsonResiduals",
    "StandardizedVariance",
    "select",
    "sentences",
]
