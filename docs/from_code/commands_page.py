"""The reference of the command line: every command with all its arguments and options, from the Typer application."""

from __future__ import annotations

from typing import Any

import typer

from tcbo_pyomo.cli.main import app

HEAD = """# Command line

`tcbo --help` lists the commands, `tcbo COMMAND --help` the options of one. Results go to standard output, progress and
errors to standard error. An error is one line, and [the exit code](../files.md#exit-codes) says what kind it is.
"""


def commands_page() -> str:
    """The whole page, in MyST."""
    lines, panel = [HEAD], ""
    for name, command, its_panel in commands():
        if its_panel != panel:
            panel = its_panel
            lines += [f"## {panel}", ""]
        arguments = " ".join(_metavar(parameter) for parameter in _arguments(command))
        lines += [f"(command-{name})=", f"### `tcbo {name}`", "", " ".join((command.help or "").split()), ""]
        lines += ["```text", f"tcbo {name} [OPTIONS] {arguments}".rstrip(), "```", ""]
        for parameter in command.params:
            lines += [f"{_heading(parameter)}", f": {_meaning(parameter)}", ""]
    return "\n".join(lines)


def commands() -> list[tuple[str, Any, str]]:
    """Name, command and panel of the help, in the order of the help."""
    group: Any = typer.main.get_command(app)
    found = []
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        found.append((name, command, str(getattr(command, "rich_help_panel", None) or "Other commands")))
    order = list(dict.fromkeys(panel for _, _, panel in found))
    return sorted(found, key=lambda entry: order.index(entry[2]))


def option_names(command: Any) -> list[str]:
    """All options of a command, as they are typed."""
    return [option for parameter in command.params for option in parameter.opts if option.startswith("-")]


def _arguments(command: Any) -> list[Any]:
    return [parameter for parameter in command.params if parameter.param_type_name == "argument"]


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.strip("_").upper())


def _heading(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_metavar(parameter)}`" + (" (required)" if parameter.required else "")
    names = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    if parameter.is_flag:
        return names
    return f"{names} `{_metavar(parameter)}`"


def _meaning(parameter: Any) -> str:
    text = " ".join((parameter.help or "").split()).replace("<", "\\<")
    default = parameter.default
    shown = default not in (None, False, (), []) and not callable(default) and parameter.param_type_name == "option"
    repeated = " May be repeated." if parameter.multiple and "repeated" not in text else ""
    return (text or "See above.") + repeated + (f" Default: `{default}`." if shown else "")
