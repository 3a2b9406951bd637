"""Many runs, on several cores, that may be stopped at any moment and go on where they were."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool
from threadpoolctl import threadpool_limits

from tamis.evaluation.bar import with_bar
from tamis.evaluation.journal import Journal, SweepError, identity
from tamis.evaluation.provenance import provenance
from tamis.evaluation.results import Record, Results
from tamis.evaluation.stopwatch import TimeLimitError, measured_parts, part, too_long
from tamis.graphs import shared_neighbors

__all__ = ["SweepError", "Task", "sweep"]


@dataclass(frozen=True)
class Task:
    """One run.

    Attributes
    ----------
    key : mapping
        What tells the run from all others, as JSON has it.
    function : callable
        Of a module's top level, so that other processes can find it. Returns rows: a list of
        dicts, as JSON has them. It must be deterministic.
    arguments : mapping
        Given to the function by name.
    fingerprint : str
        Changes with whatever the result depends on that the key does not tell: the contents of a
        table, defaults in force. A record with another fingerprint is made again.
    """

    key: Mapping[str, Any]
    function: Callable[..., list[dict[str, Any]]]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fingerprint: str = ""


def sweep(
    tasks: Sequence[Task],
    path: str | os.PathLike[str] | None = None,
    *,
    header: Mapping[str, Any] | None = None,
    n_jobs: int = 1,
    progress: bool = False,
    time_limit: float | None = None,
    limited_part: str = "all",
    fresh: bool = False,
) -> Results:
    """Run the tasks that are not yet done.

    Every finished run is a line of `path`, on the disk before the next one counts. Killed at any
    moment, a sweep loses the runs under way; called again with the same file it makes the missing
    and the failed ones and no others. Each run is confined to one thread, so that any number of
    workers gives the same bits. Neighbour searches are shared between the runs.

    Parameters
    ----------
    tasks : sequence of Task
    path : path or None, default=None
        The file of results, created or continued; None keeps them in memory only.
    header : mapping or None, default=None
        What the results depend on, such as a protocol. A file made with another is refused.
    n_jobs : int, default=1
        Processes; -1 takes every core.
    progress : bool, default=False
        Whether to show a bar that names the runs under way, on a terminal.
    time_limit : float or None, default=None
        Seconds of processor time that a run may take (where the system has such a clock, as Linux
        and macOS do). One that takes longer is recorded as failed; so is one that raises an error,
        or whose process dies. Failures are tried again by the next call, but for runs that have
        exceeded the same limit.
    limited_part : str, default="all"
        The :func:`~tamis.evaluation.stopwatch.part` of a run to which the limit applies, such as
        "fit".
    fresh : bool, default=False
        Whether to discard what `path` holds.

    Returns
    -------
    Results
        In the order of the tasks, whatever the order in which they finished.

    Raises
    ------
    SweepError
        When the file belongs to other results, is damaged, in use, or cannot be written.
    """
    header = dict(header or {})
    wanted = [identity(task.key) for task in tasks]
    if len(set(wanted)) < len(wanted):
        raise ValueError("two tasks have the same key; results could not be told apart.")
    journal = Journal(Path(path) if path is not None else None, header, fresh=fresh)
    with closing(journal), _neighbor_folder(path) as folder:
        missing = [
            task
            for task, name in zip(tasks, wanted, strict=True)
            if not _is_done(journal.records.get(name), task, time_limit)
        ]
        made_with = provenance() if path is not None and missing else {}
        limits = {} if time_limit is None else {limited_part: time_limit}
        runs = _runs(missing, n_jobs, folder, limits)
        if progress and missing and sys.stderr.isatty():
            runs = with_bar(runs, missing, len(tasks), effective_n_jobs(n_jobs))
        for record in runs:
            journal.append(replace(record, made_with=made_with))
        return Results([journal.records[name] for name in wanted], header)


def _is_done(record: Record | None, task: Task, time_limit: float | None) -> bool:
    if record is None or record.fingerprint != task.fingerprint:
        return False
    if record.error is None:
        return True
    return time_limit is not None and record.error.endswith(too_long(time_limit))


@contextmanager
def _neighbor_folder(path: str | os.PathLike[str] | None) -> Iterator[Path]:
    """Where neighbour searches are kept while the sweep goes on; beside the results, to go on."""
    folder = Path(f"{path}.neighbors") if path is not None else Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        if path is None:
            shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _runs(
    tasks: Sequence[Task], n_jobs: int, folder: Path, limits: Mapping[str, float]
) -> Iterator[Record]:
    if n_jobs == 1 or len(tasks) <= 1:
        yield from (_run(task, folder, limits) for task in tasks)
        return
    missing = {identity(task.key): task for task in tasks}
    while missing:
        parallel = Parallel(
            n_jobs,
            backend="loky",
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="n_jobs",
        )
        work = (delayed(_run)(t, folder, limits, os.getpid()) for t in list(missing.values()))
        try:
            with _interrupts_held():  # the workers start here
                records = parallel(work)
            for record in records:
                del missing[identity(record.key)]
                yield record
        except BrokenProcessPool:
            # A worker has died, of memory or of a fault in a library, and took the others along.
            # What may have been under way is made run by run, to tell which it was.
            for name in list(missing)[: 2 * effective_n_jobs(n_jobs)]:
                yield _run_alone(missing.pop(name), folder, limits)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep an interrupt of the keyboard until later; processes started meanwhile never see one.

    The sweep ends its workers when it is interrupted: they need not be told twice, nor tell it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Workers come with this helper of theirs, whose start lets interrupts through again.
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_alone(task: Task, folder: Path, limits: Mapping[str, float]) -> Record:
    """One task in a process of its own, whose death is recorded."""
    # Not the pool that joblib keeps: what it finds there next must be its own.
    try:
        with ProcessPoolExecutor(max_workers=1) as executor:
            with _interrupts_held():
                future = executor.submit(_run, task, folder, limits, os.getpid())
            record: Record = future.result()
    except BrokenProcessPool:
        error = "WorkerDied: the process was ended by the system; is there too little memory?"
        return Record(dict(task.key), [], {}, error, task.fingerprint)
    return record


def _run(
    task: Task, folder: Path, limits: Mapping[str, float], parent: int | None = None
) -> Record:
    """One task, on one thread, with what it took or why it failed."""
    if parent is not None:
        _end_with(parent)
    rows: list[dict[str, Any]] = []
    error = None
    with measured_parts(limits) as seconds:
        try:
            with threadpool_limits(1), shared_neighbors(folder), part("all"):
                found = task.function(**task.arguments)
                json.dumps(found, allow_nan=False)  # what cannot be kept is a failure too
                rows = found
        except (Exception, TimeLimitError) as failure:  # one bad run must not lose the others
            error = " ".join(f"{type(failure).__name__}: {failure}".splitlines()[:1])
    return Record(dict(task.key), rows, seconds, error, task.fingerprint)


_watched: set[int] = set()


def _end_with(parent: int) -> None:
    """End this worker when the sweep it works for is killed, and cannot tell it to."""
    if parent in _watched or os.getpid() == parent:
        return
    _watched.add(parent)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
