"""Processes of their own that have nothing to import: copies of one that has, where that can be."""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SERVER = Path(__file__).with_name("preloaded.py")
MAIN = "from tamis.cli import main; main()"
# Of the environment, what may matter before a copy has its own.
AT_THE_START = ("PATH", "HOME", "PYTHON", "OMP_", "OPENBLAS_", "COV")


def start(
    *arguments, code=MAIN, cwd=None, env=None, limits=None, stdin=None, stdout=None, stderr=None
):
    """As `subprocess.Popen` of ``python -c code *arguments``: text, in pipes or in given files.

    `limits` are numbers by names as `resource` has them, such as RLIMIT_FSIZE.
    """
    files = [subprocess.PIPE if file is None else file for file in (stdin, stdout, stderr)]
    env = dict(os.environ if env is None else env)
    if sys.platform == "linux":
        request = {"code": code, "arguments": arguments, "env": env, "limits": limits or {}}
        return Forked(request | {"cwd": str(cwd or Path.cwd())}, *files)

    def prepare():
        import resource

        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for name, most in (limits or {}).items():
            resource.setrlimit(getattr(resource, name), (most, most))

    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=cwd, env=env, text=True, encoding="utf-8",
        stdin=files[0], stdout=files[1], stderr=files[2],
        preexec_fn=None if sys.platform == "win32" else prepare,
    )  # fmt: skip


def run(*arguments, input="", **options):
    """As `subprocess.run` of ``python -c code *arguments`` with its output captured."""
    process = start(*arguments, **options)
    out, err = process.communicate(input)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@functools.cache
def _server():
    """The way to the process that makes copies, which is started when it is first asked for."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = subprocess.Popen(
        [sys.executable, str(SERVER), str(there.fileno())],
        pass_fds=[there.fileno()],
        env={name: value for name, value in os.environ.items() if name.startswith(AT_THE_START)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    there.close()

    def end():
        here.close()  # which it takes for the end
        server.wait()

    atexit.register(end)
    return here


class Forked:
    """What tests ask of a `subprocess.Popen`, for a copy of the server."""

    def __init__(self, request, *files):
        self.returncode = None
        theirs = []
        for name, file in zip(("stdin", "stdout", "stderr"), files, strict=True):
            reads = name == "stdin"
            ours = None
            if file == subprocess.PIPE:
                out, into = os.pipe()
                ours = os.fdopen(into, "w") if reads else os.fdopen(out, encoding="utf-8")
                theirs.append(out if reads else into)
            else:
                theirs.append(os.dup(file if isinstance(file, int) else file.fileno()))
            setattr(self, name, ours)
        self._told, tell = os.pipe()
        socket.send_fds(_server(), [json.dumps(request).encode()], [*theirs, tell])
        for number in (*theirs, tell):
            os.close(number)
        self.pid = self._next()

    def _next(self):
        """The next number that is told of the copy: its own, then its status."""
        number = b""
        while len(number) < 20:
            number += os.read(self._told, 20 - len(number))
        return int(number)

    def poll(self):
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self):
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(self._next())
            os.close(self._told)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, input=""):
        def put():
            with self.stdin:
                self.stdin.write(input)

        with ThreadPoolExecutor(3) as pool:
            if self.stdin:
                pool.submit(put)
            out, err = (
                pool.submit(file.read) if file else None for file in (self.stdout, self.stderr)
            )
        for file in (self.stdout, self.stderr):
            if file:
                file.close()
        self.wait()
        return tuple(found and found.result() for found in (out, err))
