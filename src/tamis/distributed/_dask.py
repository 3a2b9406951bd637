"""Tables whose rows are on a Dask scheduler: sums travel, rows do not."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext, redirect_stdout
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from tamis._typing import FloatArray
from tamis.distributed._passes import Step
from tamis.io import LazyTable
from tamis.utils.columns import single_or_double
from tamis.utils.messages import describe_columns
from tamis.utils.threads import one_thread

if TYPE_CHECKING:
    from distributed import Client, Future

__all__ = ["ClusterError", "DaskTable", "dask_table", "on_cluster"]

# Seconds without any worker after which a fit gives up.
PATIENCE = 60.0
# Seconds between two looks at the cluster.
GLANCE = 1.0


class ClusterError(RuntimeError):
    """The cluster did not finish a fit; one line that says why and what to do."""

    __module__ = "tamis.distributed"  # as users import it


class DaskTable:
    """A table of which a Dask scheduler computes the sums, block by block.

    The blocks are added in their order, whatever the order in which they are done: the same chunks
    give the same bits, on any number of workers, also after one was lost.

    Parameters
    ----------
    name : str
        What messages call it.
    blocks : sequence of (callable, tuple)
        For each block a function that returns its rows where it runs, and its arguments; these may
        be Dask's own.
    sizes : sequence of int
        How many rows each block has.
    places : sequence of str
        What messages call the blocks.
    n_columns : int
    names : list of str or None
    dtype : dtype
    scaling : str, default="none"
    client : Client or None, default=None
        None takes the one there is, or else Dask's own scheduler of this process.
    verbose : bool, default=False
    """

    #: Sums are held by the workers, and the last of them here.
    memory = sys.maxsize
    ndim = 2

    def __init__(
        self,
        name: str,
        blocks: Sequence[tuple[Callable[..., FloatArray], tuple[Any, ...]]],
        sizes: Sequence[int],
        places: Sequence[str],
        *,
        n_columns: int,
        names: list[str] | None,
        dtype: np.dtype[Any],
        scaling: str = "none",
        client: Client | None = None,
        verbose: bool = False,
    ) -> None:
        filled = [i for i, size in enumerate(sizes) if size]
        self.name, self.names, self.dtype, self.scaling = name, names, dtype, scaling
        self._blocks, self._places = [blocks[i] for i in filled], [places[i] for i in filled]
        self._sizes = [int(sizes[i]) for i in filled]
        self.shape: tuple[int, int] = sum(self._sizes), n_columns
        self._client, self._verbose = client, verbose
        if self.shape[0] < 2:
            raise ValueError(f"{name}: {self.shape[0]} rows are too few; at least 2 are needed.")

    def first_row(self) -> FloatArray:
        """The first row."""
        import dask

        read, arguments = self._blocks[0]
        row: FloatArray = self._computed(dask.delayed(_first_row)(read, self.dtype, *arguments))
        return row

    def fold(self, step: Step) -> Any:
        """Add up what a step computes of each block, in the order of the blocks."""
        import dask

        everywhere = dask.delayed(step)
        starts = [0, *accumulate(self._sizes)]
        total = None
        for (read, arguments), start, place in zip(
            self._blocks, starts, self._places, strict=False
        ):
            part = dask.delayed(_sums)(everywhere, start, place, read, self.dtype, *arguments)
            total = part if total is None else dask.delayed(_merged)(total, part)
        return self._computed(total)

    def _computed(self, what: Any) -> Any:
        """The value of a delayed object, on whatever scheduler there is."""
        import dask

        client = self._client or _running_client()
        shows = self._verbose and sys.stderr.isatty()
        if client is None:
            from dask.diagnostics import ProgressBar

            with ProgressBar(out=sys.stderr) if shows else nullcontext():
                return dask.compute(what)[0]
        future = client.compute(what)
        if shows:
            from distributed import progress

            with redirect_stdout(sys.stderr):
                progress(future, notebook=False)
        try:
            return _awaited(client, future)
        finally:
            future.release()


def _awaited(client: Client, future: Future) -> Any:
    """The result of a future; gives up where it cannot come any more."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import FuturesCancelledError

    again = "start the cluster anew if need be, and call fit again"
    alone = 0.0
    while True:
        try:
            return future.result(timeout=GLANCE)
        except TimeoutError:
            if client.status not in ("running", "newly-created"):
                raise ClusterError(f"The connection to the scheduler was lost; {again}.") from None
            workers = client.scheduler_info(n_workers=-1).get("workers", {})
            alone = 0.0 if workers else alone + GLANCE
            if alone >= PATIENCE:
                raise ClusterError(
                    f"The cluster has had no worker for {alone:.0f} seconds; {again}."
                ) from None
        except (CancelledError, FuturesCancelledError) as error:
            raise ClusterError(
                f"The scheduler was restarted, or the work on it was cancelled; {again}."
            ) from error
        except KilledWorker as error:
            raise ClusterError(
                "Workers died one after the other on the same block, most likely for want of "
                "memory; give them more memory, or the table smaller chunks, and call fit again."
            ) from error


def _running_client() -> Client | None:
    """The client of `distributed` that is in use, if there is one."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


def _rows(read: Callable[..., Any], dtype: Any, arguments: tuple[Any, ...]) -> FloatArray:
    rows = read(*arguments)
    if hasattr(rows, "to_numpy"):
        return rows.to_numpy(dtype=dtype, na_value=np.nan)
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=dtype)


def _sums(
    step: Step, start: int, place: str, read: Callable[..., Any], dtype: Any, *arguments: Any
) -> Any:
    """What a step computes of a block, where the block is."""
    with one_thread():
        return step(_rows(read, dtype, arguments), start, place)


def _merged(total: Any, part: Any) -> Any:
    return total.merge(part)


def _first_row(read: Callable[..., Any], dtype: Any, *arguments: Any) -> FloatArray:
    return _rows(read, dtype, arguments)[0].astype(np.float64)


def _given(rows: Any) -> Any:
    return rows


def _of_table(table: LazyTable, number: int) -> FloatArray:
    return next(table.read(number))[1]


def dask_table(X: Any) -> DaskTable | None:
    """The table of a Dask array or data frame; None if it is neither."""
    if not type(X).__module__.startswith("dask."):
        return None
    if hasattr(X, "partitions") and hasattr(X, "columns"):
        return _of_frame(X)
    return _of_array(X) if hasattr(X, "rechunk") else None


def _of_array(X: Any) -> DaskTable:
    if X.ndim != 2:
        raise ValueError(
            f"Expected a 2D table of samples and features, not a Dask array of shape {X.shape}."
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X is a Dask array of {X.dtype}, not of numbers; convert it with astype.")
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})  # a row is read in one place
    blocks = [(_given, (block,)) for block in X.to_delayed().ravel()]
    return DaskTable(
        "The Dask array",
        blocks,
        X.chunks[0],
        [f"chunk {i} of the Dask array" for i in range(len(blocks))],
        n_columns=X.shape[1],
        names=None,
        dtype=single_or_double([X.dtype]),
    )


def _of_frame(X: Any) -> DaskTable:
    import dask

    kinds = [
        np.dtype(getattr(kind, "numpy_dtype", object)) if not isinstance(kind, np.dtype) else kind
        for kind in X.dtypes
    ]
    bad = [j for j, kind in enumerate(kinds) if kind.kind not in "fiub"]
    names = [str(name) for name in X.columns]
    if bad:
        raise ValueError(
            f"X holds values that are not numbers in {describe_columns(bad, names)}; drop the "
            "columns."
        )
    parts = X.to_delayed()
    sizes = dask.compute(*[dask.delayed(len)(part) for part in parts])
    return DaskTable(
        "The Dask data frame",
        [(_given, (part,)) for part in parts],
        sizes,
        [f"partition {i} of the Dask data frame" for i in range(len(parts))],
        n_columns=len(names),
        names=names if all(isinstance(name, str) for name in X.columns) else None,
        dtype=single_or_double(kinds),
    )


def _numpy_like(kind: Any) -> Any:
    """A dtype that numpy knows or that names one of numpy; objects for any other."""
    return kind if isinstance(kind, np.dtype) or hasattr(kind, "numpy_dtype") else np.dtype(object)


def on_cluster(table: LazyTable, address: str, *, timeout: float = 10.0) -> DaskTable:
    """Let the workers of a Dask cluster read the blocks of a table, each its own.

    Parameters
    ----------
    table : LazyTable
        Of files that the workers see under the same paths.
    address : str
        Of the scheduler, such as ``"tcp://host:8786"``.
    timeout : float, default=10.0
        Seconds to wait for it.

    Raises
    ------
    OSError
        If there is no scheduler at the address.
    """
    import dask
    from distributed import Client

    client = Client(address, timeout=timeout, set_as_default=False)
    everywhere = dask.delayed(table)
    return DaskTable(
        table.name,
        [(_of_table, (everywhere, block.number)) for block in table.blocks],
        [block.n_rows for block in table.blocks],
        [block.place for block in table.blocks],
        n_columns=table.shape[1],
        names=table.names,
        dtype=table.dtype,
        scaling=table.scaling,
        client=client,
        verbose=table.verbose,
    )
