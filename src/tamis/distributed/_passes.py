"""One pass over the blocks of a table: what each adds, added up in their order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, Self

from tamis._typing import FloatArray
from tamis.distributed._checkpoint import Checkpoint, Progress
from tamis.io import Block, LazyTable
from tamis.utils.progress import progress as shown
from tamis.utils.threads import one_thread

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
    """The same for files: the next block is read while this one is worked on."""
    total: Any = None
    first = 0
    if checkpoint is not None and (before := checkpoint.before) is not None:
        if before.step > step.number:  # this pass was over: what it found is among what was kept
            return step.restored(_of_step(checkpoint.kept, step.number))
        if before.step == step.number:
            total, first = step.restored(before.state), before.n_blocks
    n_left = len(table.blocks) - first
    with one_thread():
        for block, rows in shown(_ahead(table, first), n_left, step.label, table.verbose):
            part = step(rows, block.start, block.place)
            total = part if total is None else total.merge(part)
            del rows
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


def _ahead(table: LazyTable, first: int) -> Iterator[tuple[Block, FloatArray]]:
    """The blocks, each read while the one before it is used."""
    blocks = table.read(first)
    with ThreadPoolExecutor(1) as reader:
        future = reader.submit(next, blocks, None)
        while (found := future.result()) is not None:
            future = reader.submit(next, blocks, None)
            yield found
            del found
