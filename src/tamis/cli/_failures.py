"""Failures as the command line reports them: one line on standard error, and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from tamis.cli._completion import bash_words
from tamis.cli._screen import one_line, print_aside

__all__ = [
    "ARGUMENTS",
    "COMPUTATION",
    "INTERRUPTED",
    "USAGE",
    "Command",
    "CommandError",
    "Group",
    "command_words",
    "reason",
]

COMPUTATION = 1
USAGE = 2
INTERRUPTED = 130

# Where a context keeps the arguments of the command line.
ARGUMENTS = "tamis.arguments"

# What libraries tell programmers is of no use to somebody at a command line.
_FOR_PROGRAMMERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)

# How a disk says that it takes no more.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class CommandError(Exception):
    """What went wrong and what to do, in one line, with the exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        super().__init__(one_line(message))
        self.code = code


class Group(TyperGroup):
    """The commands. However one of them fails, it says so in one line."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command and exit with its code."""
        alone = settings.get("standalone_mode", True)
        settings["standalone_mode"] = False
        if not alone:
            return super().main(*args, **settings)
        try:
            result = super().main(*args, **settings)
            sys.stdout.flush()  # of help, too
        except BrokenPipeError:
            _leave_stdout()
            result = 0
        except Exception as error:
            _report(error)
        sys.exit(result if isinstance(result, int) else 0)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the arguments as they were given: reports quote them."""
        if not args and not ctx.resilient_parsing:
            print(ctx.get_help() or "", end="")  # rich prints it by itself
            raise CommandError("no command was named; for example, run `tamis select data.csv`.")
        ctx.meta[ARGUMENTS] = list(args)
        return super().parse_args(ctx, args)

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, flags among them as flags."""
        return _plain_flags(super().get_params(ctx))

    def _main_shell_completion(self, *args: Any, **settings: Any) -> None:
        """Complete a word, also where bash has taken it apart."""
        with bash_words():
            super()._main_shell_completion(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, with warnings as lines."""
        with _warnings_as_lines():
            try:
                result = super().invoke(ctx)
                sys.stdout.flush()
                return result
            except KeyboardInterrupt:
                raise CommandError("stopped; nothing was written.", INTERRUPTED) from None
            except BrokenPipeError:  # the reader has seen enough, `tamis methods | head` for one
                _leave_stdout()
                return None


class Command(TyperCommand):
    """A command whose flags take no value, and are not shown as if they did."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options, flags among them as flags."""
        return _plain_flags(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse a truth value after a flag: it would be taken for a file."""
        flags = {
            name
            for option in self.get_params(ctx)
            if isinstance(option, TyperOption) and option.is_flag
            for name in (*option.opts, *option.secondary_opts)
        }
        for flag, value in pairwise(args):
            if flag in flags and value.lower() in ("true", "false"):
                raise CommandError(
                    f"{flag} takes no value; write {flag} alone, without {value}, or leave it out."
                )
        return super().parse_args(ctx, args)


def _plain_flags(options: list[Any]) -> list[Any]:
    """The options, those that take no value without the name of one in the help."""
    for option in options:
        if isinstance(option, TyperOption) and option.is_flag:
            option.metavar = ""
    return options


def _leave_stdout() -> None:
    """Let what is still in the buffer go nowhere, instead of failing again at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(error: Exception) -> NoReturn:
    """Say what failed on standard error, and exit."""
    if isinstance(error, CommandError):
        message, code = str(error), error.code
    elif isinstance(error, typer.TyperException):
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "tamis"
        text = one_line(error.format_message())
        stop = "" if text.endswith((".", "?")) else "."
        message, code = f"{text}{stop} See `{command} --help`.", USAGE
    elif isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        # The commands tell of the files that they name; what is left is standard output.
        _leave_stdout()
        message = (
            f"cannot write to standard output: {reason(error)}; make room, or send it elsewhere."
        )
        code = COMPUTATION
    elif isinstance(error, MemoryError):
        message = (
            f"not enough memory ({one_line(str(error)) or 'the system gave no more'}); use fewer "
            "rows (--max-rows), or a method that needs less."
        )
        code = COMPUTATION
    else:
        message = (
            f"{reason(error)}; this looks like a fault of tamis: TAMIS_TRACEBACK=1 shows where."
        )
        code = COMPUTATION
    if os.environ.get("TAMIS_TRACEBACK"):
        traceback.print_exception(error)
    print_aside(f"tamis: {message}")
    sys.exit(code)


def reason(error: BaseException) -> str:
    """The message of an error without its full stop, in one line; its kind if that tells more."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = one_line(str(error)).rstrip(".")
    if not text:
        return type(error).__name__
    return (
        text if isinstance(error, ValueError | LookupError) else f"{type(error).__name__}: {text}"
    )


def command_words(error: Exception | str, format_option: str = "--format") -> str:
    """The message of an error of the library, its advice in words of the command line."""
    text = str(error)
    for advice, option in (
        ("format=…", f"{format_option} NAME"),
        ("key=…", "--key NAME"),
        ("header=…", "--header"),
        ("header=True", "--header"),
        ("header=False", "--no-header"),
        ("ids='", "--id '"),
        ('ids="', '--id "'),
        ("fresh=True", "--fresh"),
        ("drop=…", "--drop NAME"),
        ("numeric_only=True", "--numeric-only"),
        ("tamis.datasets.names()", "`tamis datasets`"),
    ):
        text = text.replace(advice, option)
    return text


@contextmanager
def _warnings_as_lines() -> Iterator[None]:
    """Print warnings as lines on standard error, each once, without file names and code."""
    said: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        text = one_line(str(message))
        if text not in said:
            said.add(text)
            print_aside(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        for category in _FOR_PROGRAMMERS:
            warnings.simplefilter("ignore", category)
        warnings.showwarning = show
        yield
