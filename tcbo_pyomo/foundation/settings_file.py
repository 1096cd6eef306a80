"""Settings as text: YAML files, `--set name=value`, and the commented template.

The YAML here is strict: what a line looks like is what it means. Duplicate keys are refused; `1e-3` is a
number; only true and false are booleans, so yes, NO and off stay text, as do 12:30:00 and dates; there are no
tags, anchors or aliases, so nothing runs or unfolds. Every problem is one `BadInput` with file and line.
"""

from __future__ import annotations

import ast
import inspect
import json
import math
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, get_args

import yaml
from pydantic import BaseModel

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.limited_read import read_limited
from tcbo_pyomo.settings import settings_from

LARGEST_FILE = 100_000
"""Bytes; a settings file is a page of text."""
DEEPEST_NESTING = 20


class _StrictLoader(yaml.SafeLoader):
    """PyYAML's parser with the scalar rules of YAML 1.2, a limit on nesting, and no aliases."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012  (PyYAML looks for this name)
    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """As PyYAML, but refuse aliases and deep nesting before they are followed."""
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _refused(event.start_mark, "anchors (&) and aliases (*) are not allowed; write the value")
        if self.depth == DEEPEST_NESTING:
            raise _refused(event.start_mark, f"nested more than {DEEPEST_NESTING} levels deep")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789")),
):
    _StrictLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), _first)


def read_settings(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The nested dict of a settings file; its keys and types are checked later, by `settings_from`."""
    return read_mapping(path, "settings file", "`tcbo settings` prints a template")


def read_mapping(path: str | os.PathLike[str], words: str, advice: str) -> dict[str, Any]:
    """The nested dict of a YAML file; `words` name the kind of file in messages, `advice` helps where it is empty."""
    where = f"{words} '{os.fspath(path)}'"
    content = read_limited(path, where, LARGEST_FILE)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{where}, line {line}: not UTF-8 text; save the file with UTF-8 encoding") from None
    value = _load(text, lambda line: f"{where}, line {line}")
    if value is None:
        raise BadInput(f"{where} is empty; {advice}")
    if not isinstance(value, dict):
        held = "a list" if isinstance(value, list) else f"only {value!r}"
        raise BadInput(f"{where}, line 1: must have 'name: value' lines, but has {held}")
    return value


def parse_assignment(text: str) -> dict[str, Any]:
    """`planner.components=10` as `{"planner": {"components": 10}}`, the value read as in a settings file."""
    name, equals, content = text.partition("=")
    parts = [part.strip() for part in name.split(".")]
    if not equals or not all(parts) or not content.strip():
        raise BadInput(f"--set {text!r}: write NAME=VALUE, such as planner.components=10 or episodes=null")
    return nested(parts, _load(content, lambda _line: f"--set {text!r}"))


def nested(parts: Sequence[str], value: Any) -> Any:
    """A value under its names, the outermost first."""
    for part in reversed(parts):
        value = {part: value}
    return value


def settings_template(preset: str | None = None) -> str:
    """All settings with their defaults, or the values of a preset, and explanations, as YAML."""
    settings = settings_from({"preset": preset})
    what = "the default" if preset is None else f"what `--preset {preset}` gives"
    head = [
        "# Settings of a campaign: tcbo run PROBLEM --settings FILE.yaml",
        f"# Every line below is {what}. Keep only the lines you change: a settings file also overrides",
        "# the problem's own preferences. On the command line: --set planner.components=10",
        "# The method of the paper: `preset: paper` in a file, or --preset paper.",
        "",
    ]
    return "\n".join(head + _section_lines(settings, "")) + "\n"


def _load(text: str, where: Callable[[int], str]) -> Any:
    """One YAML value, or one `BadInput` whatever the text is; `where` gives the words for a line number."""
    try:
        node = _StrictLoader(text).get_single_node()
        return None if node is None else _plain(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = ", ".join(" ".join(part.split()) for part in (error.context, error.problem) if part)
        raise BadInput(f"{where(mark.line + 1 if mark else 1)}: {message}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadInput(f"{where(line)}: character {text[error.position]!a} is not allowed") from None


def _plain(node: yaml.Node) -> Any:
    """A node as dict, list, text, number, boolean or None."""
    if isinstance(node, yaml.MappingNode) and node.tag == "tag:yaml.org,2002:map":
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = _plain(key_node)
            if not isinstance(key, str):
                raise _refused(key_node.start_mark, f"the name {key!r} must be a text")
            if key in mapping:
                raise _refused(key_node.start_mark, f"'{key}' is given twice; keep one of them")
            mapping[key] = _plain(value_node)
        return mapping
    if isinstance(node, yaml.SequenceNode) and node.tag == "tag:yaml.org,2002:seq":
        return [_plain(item) for item in node.value]
    read = _SCALARS.get(node.tag.removeprefix("tag:yaml.org,2002:"))
    if read is None or not isinstance(node, yaml.ScalarNode):
        raise _refused(node.start_mark, f"the tag {node.tag!r} is not allowed; write plain values")
    try:
        return read(node.value)
    except ValueError:
        raise _refused(node.start_mark, f"{node.value[:40]!r} is not a usable number") from None


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


_SCALARS: dict[str, Callable[[str], Any]] = {
    "str": str,
    "int": int,
    "float": _finite,
    "bool": lambda word: word.lower() == "true",
    "null": lambda _word: None,
}


def _refused(mark: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _section_lines(section: BaseModel, indent: str) -> list[str]:
    """The fields of one section, each under its explanation."""
    texts = explanations(type(section))
    lines = []
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        inner = inner_section(field.annotation)
        text = texts.get(name) or inspect.getdoc(inner) or ""
        lines += [f"{indent}# {line}" for line in textwrap.wrap(text, width=108 - len(indent))]
        if isinstance(value, BaseModel):
            lines += [f"{indent}{name}:", *_section_lines(value, indent + "  ")]
        else:
            lines.append(f"{indent}{name}: {value if isinstance(value, str) else json.dumps(value)}")
    return lines


def inner_section(annotation: Any) -> type[BaseModel] | None:
    """The section a field holds, alone or in a tuple."""
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
    return None


def explanations(section: type[BaseModel]) -> dict[str, str]:
    """The text written under each field in the source of a section."""
    body = ast.parse(textwrap.dedent(inspect.getsource(section))).body[0]
    statements = body.body if isinstance(body, ast.ClassDef) else []
    found = {}
    for field, below in pairwise(statements):
        text = below.value if isinstance(below, ast.Expr) else None
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Constant):
            found[ast.unparse(field.target)] = inspect.cleandoc(str(text.value))
    return found
