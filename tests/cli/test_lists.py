"""``tamis methods``, ``datasets``, ``bench`` without a run, and help."""

from __future__ import annotations

import json

import pytest
import typer

from tamis import __version__, datasets, reproduction
from tamis.cli import app
from tamis.cli._completion import table_names
from tamis.registry import DEFAULT_METHOD, METHODS

COMMANDS = ("select", "apply", "compare", "bench", "methods", "datasets", "studio")


def test_every_method_is_listed(run):
    result = run("methods")
    assert result.exit_code == 0
    first_words = [line.split(" ")[0] for line in result.stdout.splitlines() if line]
    assert first_words[1 : len(METHODS) + 1] == list(METHODS)
    assert f"uses {DEFAULT_METHOD}: " in result.stdout
    assert all(line == line.rstrip() for line in result.stdout.splitlines())


@pytest.mark.parametrize("name", METHODS)
def test_a_method_in_detail(run, name):
    method = METHODS[name]
    text = run("methods", name).stdout
    for part in (method.prefers, method.cost, method.reference, method.selector.__name__):
        assert part in text
    found = json.loads(run("methods", name, "--json").stdout)
    own = {"n_features_to_select", "affinity", "random_state", "n_jobs", "verbose"}
    assert set(found["parameters"]) == set(method.selector().get_params()) - own
    for parameter, entry in found["parameters"].items():
        assert entry["default"] == method.selector().get_params()[parameter]
        assert parameter in text
    assert found["recommended"] == (name == DEFAULT_METHOD)


def test_parameters_are_explained(run):
    found = json.loads(run("methods", "mrsf", "--json").stdout)["parameters"]
    assert found["alpha"]["about"].startswith("The penalty, as a fraction")
    assert "`" not in found["weights"]["about"]
    assert found["alpha"]["try"] == [0.2, 0.3, 0.4, 0.5, 0.6]


def test_methods_as_json(run):
    found = json.loads(run("methods", "--json").stdout)
    assert [entry["name"] for entry in found] == list(METHODS)


def test_every_data_set_is_listed_with_where_it_is(run):
    result = run("datasets")
    assert result.exit_code == 0
    rows = {line.split(" ")[0]: line for line in result.stdout.splitlines() if line}
    assert set(datasets.names()) <= set(rows)
    assert " yes " in rows["digits"]
    assert " no " in rows["xm2vts"]
    found = json.loads(run("datasets", "--json").stdout)
    present = [entry["name"] for entry in found if entry["available"]]
    assert present == list(datasets.available())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("digits", "available yes"),
        ("Digits", "8 × 8 pixels"),
        ("xm2vts", "available no; put xm2vts"),
        ("usps", "available no; it is downloaded when first used"),
        ("letter_ab", "available no; it is made of letter"),
    ],
)
def test_a_data_set_in_detail(run, monkeypatch, tmp_path, name, said):
    monkeypatch.setenv("TAMIS_CACHE", str(tmp_path / "cache"))
    assert said in run("datasets", name).stdout
    assert json.loads(run("datasets", name, "--json").stdout)["name"] == name.lower()


def test_the_experiments_are_listed(run):
    text = run("bench").stdout
    found = json.loads(run("bench", "--json").stdout)
    assert [entry["name"] for entry in found] == list(reproduction.names())
    for entry in found:
        assert entry["name"] in text
        assert all(dataset in text for dataset in entry["sets"])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(run, command):
    for option in ("--help", "-h"):
        result = run(command, option)
        assert result.exit_code == 0
        assert f"tamis {command}" in result.stdout.split("For example:")[1]
        assert "--json" in result.stdout
    assert command in run("--help").stdout


def test_the_version(run):
    assert run("--version").stdout == f"tamis {__version__}\n"


def test_no_arguments_show_the_help_and_say_what_is_missing(run):
    result = run()
    assert result.exit_code == 2
    assert result.stdout.rstrip() == run("--help").stdout.rstrip()
    (line,) = result.stderr.splitlines()
    assert line == "tamis: no command was named; for example, run `tamis select data.csv`."


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_flags_are_shown_as_flags(run, command):
    text = run(*command.split(), "--help").stdout
    assert "bool" not in text
    assert "--help" in text


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_breaks_no_word(run, command, monkeypatch):
    """Every word of every help text is whole in a window of 80 columns."""
    from typer.main import get_command

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    shown = set(run(*command.split(), "--help").stdout.replace("│", " ").split())
    group = get_command(app)
    chosen = group.commands[command] if command else group
    context = typer.Context(chosen)
    for option in chosen.get_params(context):
        names = option.opts if option.param_type_name == "option" else []
        words = [*(option.help or "").split(), *names, *option.display_type_rich(context).split()]
        assert set(words) <= shown, option.name


def test_a_flag_takes_no_value(run, refused):
    for words in (("methods", "--json", "true"), ("select", "--json", "False", "data.csv")):
        assert "--json takes no value; write --json alone" in refused(*words)
    assert "does not take a value" in refused("methods", "--json=true")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("tamis sel", {"select"}),
        ("tamis methods mr", {"mrsf"}),
        ("tamis select data.csv --method lap", {"laplacian_score"}),
        ("tamis datasets iri", {"iris", "iris_noise"}),
        ("tamis bench jel", {"jelsr"}),
        ("tamis bench udfs --sets usps,umi", {"usps,umist"}),
        ("tamis compare data.csv -m mrsf,lap", {"mrsf,laplacian_score"}),
        ("tamis select data.csv --format par", {"parquet"}),
        ("tamis select data.csv --output-format h5", {"h5ad"}),
        ("tamis select data.csv -m udfs --param n_n", {"n_neighbors=5"}),
        ("tamis select data.csv -m udfs --param reg", {"reg=1.0", "reg=0.001", "reg=1000.0"}),
        ("tamis select data.csv --scale st", {"standard"}),
        ("tamis select dataset:iri", {"dataset:iris", "dataset:iris_noise"}),
        ("tamis select nothing", set()),
        # Bash takes words apart, and replaces the last part only.
        ("tamis select dataset : iri", {"iris", "iris_noise"}),
        ("tamis select data.csv -m udfs --param reg = 1", {"1.0", "1000.0"}),
    ],
)
def test_the_shell_completes(words, wanted, monkeypatch, capsys):
    monkeypatch.setenv("_TAMIS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        app(prog_name="tamis")
    assert set(capsys.readouterr().out.split()) == wanted


def test_files_come_before_data_sets(monkeypatch, tmp_path):
    """Where a file begins so the shell completes it, as nothing else is offered."""
    monkeypatch.chdir(tmp_path)
    assert "dataset:iris" in table_names("data")
    (tmp_path / "data.csv").touch()
    assert table_names("data") == []
    assert "dataset:iris" in table_names("datas")


def test_no_processes_do_no_work(refused):
    for words in (("select", "data.csv"), ("compare", "data.csv"), ("bench", "udfs")):
        assert "-1 for every core" in refused(*words, "--jobs", "0")


def test_experiments_are_kept_in_a_folder(refused):
    assert "--json" in refused("bench", "udfs", "-o", "-")
