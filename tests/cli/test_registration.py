"""A command is a file: it is found by its name, imported only when it is called, and the help lists it in its panel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tcbo_pyomo.cli
from tcbo_pyomo.cli import main as command_line

CLI = Path(tcbo_pyomo.cli.__file__).parent


@pytest.fixture
def tcbo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def called(*arguments):
        with pytest.raises(SystemExit) as stopped:
            command_line.main(list(arguments))
        captured = capsys.readouterr()
        return stopped.value.code, captured.out, captured.err

    return called


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose files are commands too."""
    more = tmp_path / "more"
    more.mkdir()
    monkeypatch.setattr(tcbo_pyomo.cli, "__path__", [*tcbo_pyomo.cli.__path__, str(more)])
    yield more
    for name in ("greet", "bare"):
        sys.modules.pop(f"tcbo_pyomo.cli.{name}", None)
        vars(tcbo_pyomo.cli).pop(name, None)


def test_a_file_with_a_function_is_a_command_and_nothing_else_is_needed(tcbo, folder):
    head = "def bare(name: str, times: int = 1) -> None:"
    (folder / "bare.py").write_text(f'{head}\n    """Say a name."""\n    print(name * times)\n')
    assert tcbo("bare", "ab", "--times", "2") == (0, "abab\n", "")
    _, help_text, _ = tcbo("--help")
    assert "bare" in help_text and "Say a name." in help_text and "Other commands" in help_text
    assert tcbo("bare", "--help")[0] == 0


def test_a_file_says_where_it_stands_in_the_help(tcbo, folder):
    text = 'PANEL, POSITION = "Studies", 40.5\n\n\ndef greet() -> None:\n    """Say hello."""\n    print("hello")\n'
    (folder / "greet.py").write_text(text)
    (folder / "_shared.py").write_text("def _shared() -> None: ...\n")
    _, out, _ = tcbo("--help")
    words = [line.split()[1] for line in out.splitlines() if line.startswith("│") and line[2] != " "]
    assert words.index("study") + 1 == words.index("greet") == words.index("figures") - 1
    assert "_shared" not in out and "Other commands" not in out


def test_every_file_is_a_command_in_the_order_of_work(tcbo):
    _, out, _ = tcbo("--help")
    words = [line.split()[1] for line in out.splitlines() if line.startswith("│") and line[2] not in " -"]
    assert sorted(words) == sorted(file.stem for file in CLI.glob("[a-z]*.py") if file.stem != "main")
    real = ["start", "ask", "tell", "arrive", "skip", "undo", "status", "best", "export"]
    assert [word for word in words if word in real] == real
    assert words[0] == "problems"
    for word in words:
        assert tcbo(word, "--help")[0] == 0


@pytest.mark.parametrize("wrong", ["aks", "main", "_tables", "templates", "__init__"])
def test_what_is_no_command_is_refused_in_one_line(tcbo, wrong):
    code, out, err = tcbo(wrong)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"unknown command '{wrong}'" in err and "known: " in err


def test_a_misspelt_command_gets_a_hint(tcbo):
    assert "did you mean 'ask'?" in tcbo("aks")[2]


@pytest.mark.parametrize(("arguments", "loaded"), [(["--version"], set()), (["settings"], {"settings"})])
def test_only_the_file_of_the_command_is_imported(arguments, loaded, tmp_path):
    code = (
        "import sys\nfrom tcbo_pyomo.cli.main import main\n"
        f"try:\n    main({arguments!r})\nexcept SystemExit:\n    pass\n"
        "print(*(name for name in sys.modules if name.startswith('tcbo_pyomo.cli.')), file=sys.stderr)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(CLI.parents[1])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    names = {name.removeprefix("tcbo_pyomo.cli.") for name in done.stderr.split()}
    assert {name for name in names if not name.startswith("_")} == {"main", *loaded}
