"""One pass over the blocks of a table: what each adds, added up in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, Self

from tamis._typing import FloatArray
from tamis.distributed._checkpoint import Checkpoint, Progress
from tamis.io import Block, LazyTable
from tamis.utils.progress import progress as shown
from tamis.utils.threads import one_thread, threads_of_a_fit

# Blocks that are worked on at the same time, at most: each takes memory.
MOST_THREADS = 4

__all__ = ["RowSource", "Step", "Sums", "run_pass"]


class RowSource(Protocol):
    """A table whose rows come in blocks, here or elsewhere."""

    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def names(self) -> list[str] | None: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def memory(self) -> int: ...
    @property
    def scaling(self) -> str: ...
    def first_row(self) -> FloatArray: ...


class Sums(Protocol):
    """What can be computed of any rows, and added up."""

    def merge(self, other: Self) -> Self:
        """Of the rows of both."""
        ...

    def arrays(self) -> dict[str, FloatArray]:
        """All that it holds, by name."""
        ...


class Step(Protocol):
    """What a pass computes of a block of rows; small, since it is sent to where the rows are."""

    @property
    def number(self) -> int:
        """Which pass it is: a checkpoint of a later one tells that this one is over."""
        ...

    @property
    def label(self) -> str:
        """What a progress bar says."""
        ...

    def __call__(self, X: FloatArray, start: int, place: str) -> Any:
        """The sums of the rows of a block, the first of which has the number `start`."""
        ...

    def restored(self, held: Mapping[str, FloatArray]) -> Any:
        """Sums from their arrays."""
        ...


def run_pass(source: RowSource, step: Step, checkpoint: Checkpoint | None = None) -> Any:
    """Add up what a step computes of each block, in the order of the blocks.

    The order is always the same, and the linear algebra of each block has one thread: the same
    blocks give the same bits, wherever they are computed.
    """
    if isinstance(source, LazyTable):
        return _fold(source, step, checkpoint)
    return source.fold(step)  # type: ignore[attr-defined]


def _fold(table: LazyTable, step: Step, checkpoint: Checkpoint | None) -> Any:
    """The same for files: blocks are read ahead, and a few are worked on at a time."""
    total: Any = None
    first = 0
    if checkpoint is not None and (before := checkpoint.before) is not None:
        if before.step > step.number:  # this pass was over: what it found is among what was kept
            return step.restored(_of_step(checkpoint.kept, step.number))
        if before.step == step.number:
            total, first = step.restored(before.state), before.n_blocks
    n_left = len(table.blocks) - first
    with one_thread():
        parts = _worked_on(table, step, first)
        for block, part in shown(parts, n_left, step.label, table.verbose):
            total = part if total is None else total.merge(part)
            if checkpoint is not None:
                checkpoint.write(Progress(step.number, block.number + 1, total.arrays()))
    if checkpoint is not None:
        own = {f"{step.number}/{name}": values for name, values in total.arrays().items()}
        checkpoint.kept.update(own)
    return total


def _of_step(kept: Mapping[str, FloatArray], number: int) -> dict[str, FloatArray]:
    start = f"{number}/"
    return {
        name.removeprefix(start): values for name, values in kept.items() if name.startswith(start)
    }


def _worked_on(table: LazyTable, step: Step, first: int) -> Iterator[tuple[Block, Any]]:
    """What a step computes of each block, in their order, some of them at the same time."""
    n_threads = min(threads_of_a_fit(), MOST_THREADS)
    blocks = table.read(first)
    with ThreadPoolExecutor(1) as reader, ThreadPoolExecutor(n_threads) as workers:
        under_way: deque[tuple[Block, Future[Any]]] = deque()
        reading = reader.submit(next, blocks, None)
        try:
            while (found := reading.result()) is not None:
                block, rows = found
                reading = reader.submit(next, blocks, None)
                under_way.append((block, workers.submit(step, rows, block.start, block.place)))
                del found, rows
                if len(under_way) == n_threads:
                    yield _finished(under_way)
            while under_way:
                yield _finished(under_way)
        except BaseException:
            for _, future in under_way:
                future.cancel()
            raise


def _finished(under_way: deque[tuple[Block, Future[Any]]]) -> tuple[Block, Any]:
    block, future = under_way.popleft()
    return block, future.result()
