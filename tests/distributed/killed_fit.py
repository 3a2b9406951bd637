"""Fit a table in blocks in processes that are killed at random blocks, until one gets through."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path

import tamis.io._lazy
from tamis import MRSF, io
from tamis.distributed._checkpoint import Checkpoint


def fitted(path, checkpoint=None):
    return MRSF(3, n_clusters=4).fit(io.open(path, checkpoint=checkpoint)).scores_.tobytes()


def kill(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def killed_after(n_blocks, in_the_middle):
    """Let the process be killed once some blocks are done, or while one is written down."""
    write, left = Checkpoint.write, [n_blocks]

    def counting(checkpoint, progress):
        left[0] -= 1
        if left[0] < 0:
            kill()
        if left[0] == 0 and in_the_middle:
            os.replace = kill
        write(checkpoint, progress)

    Checkpoint.write = counting


def main(path, n_kills):
    tamis.io._lazy.LARGEST_BLOCK = 200 * 9  # small blocks
    kept = path.with_name("kept")
    rng = random.Random(0)
    expected = fitted(path)
    for place in range(n_kills):
        child = os.fork()
        if child == 0:
            killed_after(rng.randint(1, 4), place % 2 == 1)
            fitted(path, kept)
            os._exit(1)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), status
        assert os.WTERMSIG(status) == signal.SIGKILL
        print("killed", flush=True)
    assert kept.exists()
    print("same" if fitted(path, kept) == expected else "other")
    assert not kept.exists()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
