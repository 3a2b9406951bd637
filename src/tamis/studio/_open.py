"""Studios from a notebook and from the command line."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tamis.studio._session import Session
from tamis.studio._table import DATASET, OpenTable, read_dataset, read_file, read_memory

if TYPE_CHECKING:
    from tamis.studio._server import Studio


@dataclass(frozen=True, eq=False)
class RunningStudio:
    """A studio that runs beside the notebook.

    Attributes
    ----------
    url : str
        Its address; whoever has it can look at the table.
    """

    url: str
    _studio: Studio
    _thread: threading.Thread

    @property
    def kept(self) -> list[str] | None:
        """The names of the columns that are kept now, the best first; None while none are."""
        result = self._studio.session.result
        return None if result is None else result.chosen.kept()

    def wait(self) -> None:
        """Wait until what is under way is there."""
        self._studio.session.worker.wait()

    def close(self) -> None:
        """End it."""
        self._studio.stop()
        self._thread.join(10)

    def __repr__(self) -> str:
        return f"<RunningStudio {self.url}>"


def open(
    X: Any,
    *,
    labels: Any = None,
    feature_names: Any = None,
    image_shape: tuple[int, int] | None = None,
    browser: bool = True,
    port: int = 0,
) -> RunningStudio:
    """Open a studio on a table that is in memory.

    Parameters
    ----------
    X : {array-like, sparse, pandas, polars or Arrow frame, dict of arrays}
        Of mixed types and with gaps if need be.
    labels : array-like of shape (n_samples,) or None, default=None
        Colours of the samples; no method looks at them.
    feature_names : sequence of str or None, default=None
        Of an array, which has none.
    image_shape : (int, int) or None, default=None
        Height and width, where the columns are the pixels of an image.
    browser : bool, default=True
        Whether to open the page in a browser.
    port : int, default=0
        0 takes any that is free.

    Returns
    -------
    RunningStudio
        Its `kept` are the columns that are kept at the moment; `close` ends it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from tamis import studio
    >>> X = load_iris(as_frame=True).data
    >>> running = studio.open(X, browser=False)
    >>> running.wait()
    >>> set(running.kept) <= set(X.columns)
    True
    >>> running.close()
    """
    table = read_memory(X, labels, feature_names=feature_names, image_shape=image_shape)
    studio = _studio(Session(lambda: table), port)
    thread = studio.start()
    if browser:
        webbrowser.open(studio.url)
    return RunningStudio(studio.url, studio, thread)


def serve(
    file: str | None,
    *,
    port: int = 0,
    ready: Callable[[str], None] = lambda url: None,
    **options: Any,
) -> None:
    """Serve a studio on a file, or a registered set as "dataset:NAME", until Ctrl-C.

    Parameters
    ----------
    file : str or None
        None begins with a page that asks for a table.
    port : int, default=0
        0 takes any that is free.
    ready : callable
        Told the address.
    **options
        How a file is read, as for :func:`tamis.io.read_columns`.
    """
    read = _reader(file, options)
    studio = _studio(Session(None), port)
    if read is not None:
        studio.session.open(read)
    ready(studio.url)
    studio.serve()


def _studio(session: Session, port: int) -> Studio:
    try:
        from tamis.studio._server import Studio
    except ModuleNotFoundError as error:
        session.close()
        raise ImportError(
            f"the studio needs {error.name}, which is not installed; pip install 'tamis[studio]'."
        ) from error
    return Studio(session, port)


def _reader(file: str | None, options: dict[str, Any]) -> Callable[[], OpenTable] | None:
    if file is None:
        return None
    if file.startswith(DATASET):
        return lambda: read_dataset(file.removeprefix(DATASET))
    from pathlib import Path

    return lambda: read_file(Path(file), file, **options)
