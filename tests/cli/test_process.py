"""The command line as a process of its own: pipes, signals, limits, imports.

Most processes are copies of one that has imported everything.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from processes import forked

# Interrupts itself when three methods are done, as Ctrl-C in that moment would.
INTERRUPTED = """
import os, signal
from tamis.evaluation.journal import Journal

append = Journal.append

def append_and_stop(self, record):
    append(self, record)
    if len(self.records) == 3:
        os.kill(os.getpid(), signal.SIGINT)

Journal.append = append_and_stop
from tamis.cli import main
main()
"""
COMPARE = ("compare", "wine.csv", "--labels", "cultivar", "-m", "mcfs,mrsf,udfs", "--repeats", "2")


@pytest.fixture
def environment(monkeypatch):
    for name in ("FORCE_COLOR", "TAMIS_TRACEBACK", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.fixture
def process(wine_csv, tmp_path, environment):
    def process(*arguments, **options):
        return forked.run(*arguments, cwd=tmp_path, env=environment, **options)

    return process


def test_nothing_heavy_is_imported_for_help(environment):
    code = (
        "import sys, tamis.cli\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'rich.markdown'}\n"
        "print(sorted(heavy.intersection(sys.modules)))"
    )
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


@pytest.mark.slow
def test_piped_output_is_plain_and_quiet(process):
    result = process("select", "wine.csv", "--labels", "cultivar")
    assert result.returncode == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert "proline" in result.stdout


@pytest.fixture
def terminal(wine_csv, tmp_path, environment):
    """Run a command on a terminal of 80 columns; return what it shows, without its end."""
    pty = pytest.importorskip("pty")
    import fcntl
    import struct
    import termios

    def terminal(*arguments, code=0):
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        running = forked.start(
            *arguments, cwd=tmp_path, stdin=child, stdout=child, stderr=child,
            env={**environment, "TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(child)
        shown = b""
        while True:
            try:
                part = os.read(parent, 4096)
            except OSError:  # Linux tells the end of a terminal so
                break
            if not part:
                break
            shown += part
        os.close(parent)
        assert running.wait() == code
        return shown.decode()

    return terminal


def plain(shown):
    """What a terminal shows, without colours and movements."""
    return re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", shown).replace("\r", "\n")


@pytest.mark.slow
def test_a_terminal_gets_colours(terminal):
    shown = terminal("methods", "udfs")
    assert "\x1b[1m" in shown
    assert "──" in shown


@pytest.mark.slow
@pytest.mark.parametrize("command", ["methods", "datasets"])
def test_a_terminal_of_80_columns_breaks_no_word(terminal, process, command):
    """What a pipe shows is in the tables of a terminal, word by word; long words are cut."""
    shown = plain(terminal(command)).replace("\n", " ").split()
    for word in process(command).stdout.split():
        assert word in shown or (len(word) > 40 and word[:39] + "…" in shown), word


@pytest.mark.slow
def test_a_refusal_breaks_no_word_either(terminal, process):
    words = ("select", "wine.csv", "-o", "-", "--json")
    (line,) = process(*words).stderr.splitlines()
    assert len(line) > 80
    shown = plain(terminal(*words, code=2)).splitlines()
    assert max(map(len, shown)) <= 80
    assert " ".join(" ".join(shown).split()) == line


@pytest.mark.slow
def test_a_wide_table_is_shown_in_parts(terminal):
    shown = plain(terminal("compare", "wine.csv", "--labels", "cultivar", "-m", "mrsf", "--repeats",
                           "2"))  # fmt: skip
    lines = [line.rstrip() for line in shown.splitlines()]
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if line.startswith("mrsf ")]
    assert len(rows) > 1
    head = " ".join(" ".join(line.split()) for line in lines)
    for word in ("redundancy", "variance kept", "rebuilding", "neighbours", "agreement", "ACC"):
        assert word in head
    figures = [cell for row in rows for cell in row[1:] if cell != "±"]
    assert all(re.fullmatch(r"\d+(\.\d+)?", figure) for figure in figures)


@pytest.mark.slow
def test_the_bar_names_what_is_waited_for(terminal):
    shown = terminal("compare", "wine.csv", "--labels", "cultivar", "-m", "mrsf,udfs", "--repeats",
                     "2")  # fmt: skip
    assert re.search(r"all_features on wine\.csv, \d+ s", plain(shown))


@pytest.mark.slow
def test_long_names_are_cut_on_a_terminal_only(terminal, process, tmp_path):
    name = "a long name of a column " * 4 + "x" * 60
    lines = [f"{name},b,c,d", *(f"{i * i},{i * i % 7},{i % 3},{i % 5}" for i in range(20))]
    (tmp_path / "long.csv").write_text("\n".join(lines) + "\n")
    options = ("select", "long.csv", "-m", "max_variance", "-k", "2")
    assert name in process(*options).stdout
    shown = plain(terminal(*options))
    assert name[:39] + "…" in shown
    assert "x" * 60 not in shown


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",), ("methods",), ("methods", "--json"), ("select", "wine.csv"),
        ("select", "wine.csv", "-o", "-"),
    ],
)  # fmt: skip
def test_a_full_disk_is_one_line(environment, wine_csv, tmp_path, arguments):
    with open("/dev/full", "w") as full:
        result = forked.run(*arguments, cwd=tmp_path, env=environment, stdout=full)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        "tamis: cannot write to standard output: No space left on device; make room, or send it "
        "elsewhere."
    )
    if "-" not in arguments:
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("methods",), ("select", "wine.csv", "-k", "2")])
def test_a_reader_that_leaves_early_is_no_failure(process, arguments):
    code = (
        "import os, sys\n"
        "reader, writer = os.pipe()\n"
        "os.close(reader)\n"
        "os.dup2(writer, 1)\n"
        "from tamis.cli import main\n"
        "main()"
    )
    result = process(*arguments, code=code)
    assert result.returncode == 0
    assert result.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupted_comparison_goes_on_where_it_was(process, run, tmp_path):
    stopped = process(*COMPARE, "-o", "kept", code=INTERRUPTED)
    assert stopped.returncode == 130
    (line,) = stopped.stderr.splitlines()
    assert line == (
        "tamis: stopped after 3 of 5 methods; they are kept in kept, and the same command goes on "
        "from there."
    )
    journal = tmp_path / "kept" / "results.jsonl"
    first = journal.read_text()
    assert first.count('"key":') == 3
    finished = run(*COMPARE, "-o", "kept", "--json")
    assert finished.exit_code == 0
    assert journal.read_text().startswith(first)
    whole = json.loads(run(*COMPARE, "--json").stdout)["methods"]
    found = json.loads(finished.stdout)["methods"]
    for line in (*whole, *found):
        del line["fit_seconds"]
    assert found == whole


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_from_outside(wine_csv, tmp_path, environment):
    running = forked.start(
        "compare", "wine.csv", "--labels", "cultivar", cwd=tmp_path, env=environment
    )
    assert running.stdout.readline().startswith("wine.csv: ")
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 130
    (line,) = said.splitlines()
    assert line.startswith("tamis: stopped")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
@pytest.mark.parametrize(
    "arguments",
    [
        ("select", "wine.csv", "--ranking", "ranking.json", "-o", "kept.csv"),
        ("select", "wine.csv", "--report", "report.html"),
    ],
)
def test_a_folder_that_takes_no_more(process, tmp_path, arguments):
    before = sorted(tmp_path.iterdir())
    result = process(*arguments, limits={"RLIMIT_FSIZE": 500})
    assert result.returncode == 2, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("tamis: ")
    assert line.endswith("Nothing was written.")
    assert arguments[3] in line
    assert sorted(tmp_path.iterdir()) == before


def test_the_module_is_the_command(process, tmp_path, environment):
    result = subprocess.run(
        [sys.executable, "-m", "tamis", "--version"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert result.stdout.startswith("tamis ")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes that have a name")
@pytest.mark.parametrize("arguments", [(), ("-o", "kept.csv")], ids=["screen", "output"])
def test_a_table_from_a_pipe(process, wine_csv, tmp_path, arguments):
    file = process("select", "wine.csv", "--labels", "cultivar", "-k", "3", "--json")
    piped = process(
        "select", "/dev/stdin", "--format", "csv", "--labels", "cultivar", "-k", "3", "--json",
        *arguments, input=wine_csv.read_text(),
    )  # fmt: skip
    assert piped.returncode == 0, piped.stderr
    found, wanted = json.loads(piped.stdout), json.loads(file.stdout)
    assert found["source"] == "/dev/stdin"
    assert found["n_samples"] == 178
    assert found["kept"] == wanted["kept"]
    if arguments:
        assert len((tmp_path / "kept.csv").read_text().splitlines()) == 179


@pytest.mark.slow
def test_what_is_wrong_with_a_pipe_is_said_of_the_pipe(process):
    result = process("select", "/dev/stdin", "--format", "csv", input="a,b\n1,2\n3\n")
    assert result.returncode == 2
    assert result.stderr.startswith("tamis: /dev/stdin: line 3 has 1 cells")
    unnamed = process("select", "/dev/stdin", input="a,b\n1,2\n")
    assert "name the format with --format NAME" in unnamed.stderr
