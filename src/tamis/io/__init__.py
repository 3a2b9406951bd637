r"""Read a table of any usual format; write the selection and the ranking.

>>> import tempfile
>>> from pathlib import Path
>>> from tamis import io
>>> folder = tempfile.TemporaryDirectory()
>>> path = Path(folder.name) / "flowers.csv"
>>> _ = path.write_text("name,length,width,kind\na,5.1,3.5,0\nb,4.9,3,1\n")
>>> table = io.read(path, labels="kind", ids="name")
>>> table.feature_names, table.labels
(array(['length', 'width'], dtype=object), array([0, 1]))
>>> folder.cleanup()
"""

from __future__ import annotations

from tamis.io._array_files import ArrayFileError, csr_parts, named_arrays
from tamis.io._arrays import LABEL_NAMES, TABLE_NAMES
from tamis.io._errors import TableError, TableWarning
from tamis.io._formats import format_of, formats
from tamis.io._lazy import Block, LazyTable
from tamis.io._lazy_writing import check_writable_in_blocks
from tamis.io._opening import is_part_of
from tamis.io._opening import open_table as open
from tamis.io._ranking import write_ranking
from tamis.io._raw import RawTable
from tamis.io._read import read, read_columns
from tamis.io._table import Table
from tamis.io._write import write_columns, write_table
from tamis.io._writing import check_replaceable

__all__ = [
    "LABEL_NAMES",
    "TABLE_NAMES",
    "ArrayFileError",
    "Block",
    "LazyTable",
    "RawTable",
    "Table",
    "TableError",
    "TableWarning",
    "check_replaceable",
    "check_writable_in_blocks",
    "csr_parts",
    "format_of",
    "formats",
    "is_part_of",
    "named_arrays",
    "open",
    "read",
    "read_columns",
    "write_columns",
    "write_ranking",
    "write_table",
]
