"""A process that has imported everything and makes copies of itself: `python preloaded.py FD`.

A copy becomes the process that a request describes, ends as any Python does, and costs a hundredth
of a second instead of two. `forked.py` asks for them.
"""

from __future__ import annotations

import gc
import io
import json
import os
import resource
import signal
import socket
import sys
import types

import tamis.cli
import tamis.evaluation
import tamis.inspection
import tamis.registry
import tamis.report  # noqa: F401


def serve(channel: socket.socket) -> dict:
    """Answer requests for ever; what returns is a copy, with the request that it is to follow."""
    n_tellers = 0
    while True:
        message, files, _, _ = socket.recv_fds(channel, 1 << 20, 4)
        while n_tellers and os.waitpid(-1, os.WNOHANG)[0]:
            n_tellers -= 1
        if not message:  # the tests have ended
            os._exit(0)
        *standard, tell = files
        if os.fork() == 0:
            copy = os.fork()
            if copy == 0:
                os.close(tell)
                channel.close()
                for file, number in zip(standard, range(3), strict=True):
                    os.dup2(file, number)
                    os.close(file)
                return json.loads(message)
            os.write(tell, b"%20d" % copy)
            for file in standard:  # a reader is to see their end
                os.close(file)
            os.write(tell, b"%20d" % os.waitpid(copy, 0)[1])
            os._exit(0)
        n_tellers += 1
        for file in files:
            os.close(file)


def become(request: dict) -> None:
    """Take over what a new process would find."""
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, most in request["limits"].items():
        resource.setrlimit(getattr(resource, name), (most, most))
    sys.argv[:] = ["-c", *request["arguments"]]
    sys.stdin = sys.__stdin__ = opened(0, "r")
    sys.stdout = sys.__stdout__ = opened(1, "w")
    sys.stderr = sys.__stderr__ = opened(2, "w", errors="backslashreplace", line_buffering=True)


def opened(number: int, mode: str, errors: str = "strict", line_buffering: bool = False):
    """A standard stream as Python opens it."""
    terminal = os.isatty(number)
    return io.TextIOWrapper(
        open(number, f"{mode}b", closefd=False),
        encoding="utf-8",
        errors=errors,
        line_buffering=line_buffering or terminal,
    )


if __name__ == "__main__":
    gc.freeze()  # else the first collection in every copy would write all of memory anew
    request = serve(socket.socket(fileno=int(sys.argv[1])))
    become(request)
    sys.modules["__main__"] = types.ModuleType("__main__")
    exec(request["code"], vars(sys.modules["__main__"]))
