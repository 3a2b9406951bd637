"""Tables larger than memory, and tables of a Dask cluster: sums over their rows, block by block.

A selector that knows a table by its products only needs one pass or two over its rows, each of
which adds up small matrices. They are computed where the rows are, and added in the order of the
blocks.
"""

from tamis.distributed._dask import ClusterError, DaskTable, on_cluster
from tamis.distributed._distinct import DistinctValues
from tamis.distributed._graph import CondensedRows, condensed_embedding, condensed_roughness
from tamis.distributed._moments import Moments
from tamis.distributed._sources import in_blocks
from tamis.distributed._survey import drawn_rows
from tamis.distributed._table import SAMPLED_ROWS, CondensedTable, Needs, condense
from tamis.distributed._ties import TieProducts

__all__ = [
    "SAMPLED_ROWS",
    "ClusterError",
    "CondensedRows",
    "CondensedTable",
    "DaskTable",
    "DistinctValues",
    "Moments",
    "Needs",
    "TieProducts",
    "condense",
    "condensed_embedding",
    "condensed_roughness",
    "drawn_rows",
    "in_blocks",
    "on_cluster",
]
