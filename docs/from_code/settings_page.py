"""The settings reference: every setting with its type, default and explanation, from `tcbo_pyomo/settings.py`."""

from __future__ import annotations

import inspect
import json
import types
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel

from tcbo_pyomo.foundation.settings_file import explanations, inner_section
from tcbo_pyomo.settings import PRESETS, RETIRED, Settings

HEAD = """# Settings

Every setting has a default: keep only the lines that you change. `tcbo settings` prints this list as a commented YAML file.
Later sources win, key by key: the defaults, the problem's own preferences, `--preset`, a settings file (`--settings`), and
`--set NAME=VALUE` on the command line. Unknown names and wrong types are refused in one line.
"""


def settings_page() -> str:
    """The whole page, in MyST."""
    lines = [HEAD]
    for path, section in sections():
        lines += ["", f"## {path or 'General'}", "", _escaped(inspect.getdoc(section) or ""), ""]
        for name, field in section.model_fields.items():
            if inner_section(field.annotation) is not None and field.annotation is inner_section(field.annotation):
                continue
            full = f"{path}.{name}" if path else name
            default = json.dumps(field.get_default(call_default_factory=True), default=list)
            lines += [f"(setting-{full.replace('.', '-')})=", f"### `{full}`", ""]
            lines += [f"Default `{default}`. Type: {_words(field.annotation)}.", ""]
            lines += [_escaped(explanations(section).get(name, "") or inspect.getdoc(_inside(field.annotation)) or ""), ""]
    lines += ["## Presets", ""]
    for name, values in PRESETS.items():
        lines += [f"`{name}`", f": `{json.dumps(values)}`", ""]
    lines += ["## Retired", ""]
    for name, (version, advice) in RETIRED.items():
        lines += [f"`{name}`", f": removed in {version}; {advice}. Files that earlier versions wrote may still name it.", ""]
    return "\n".join(lines)


def sections(section: type[BaseModel] = Settings, path: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Every section with its dotted path, the outermost first."""
    yield path, section
    for name, field in section.model_fields.items():
        inner = inner_section(field.annotation)
        if inner is not None and field.annotation is inner:
            yield from sections(inner, f"{path}.{name}" if path else name)


def setting_names() -> list[str]:
    """The dotted name of every setting that has a value of its own."""
    return [
        f"{path}.{name}" if path else name
        for path, section in sections()
        for name, field in section.model_fields.items()
        if field.annotation is not inner_section(field.annotation)
    ]


def _inside(annotation: Any) -> Any:
    return inner_section(annotation) or type(None)


def _words(annotation: Any) -> str:
    """A type as a reader would say it."""
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if isinstance(annotation, types.UnionType) or (get_origin(annotation) is not None and "Union" in str(annotation)):
        return " or ".join(_words(part) for part in get_args(annotation))
    if annotation is type(None):
        return "`null`"
    if isinstance(annotation, type) and not get_args(annotation):
        return {"str": "text", "int": "whole number", "float": "number", "bool": "`true` or `false`"}.get(
            annotation.__name__, annotation.__name__
        )
    return f"`{str(annotation).replace('typing.', '').replace('tcbo_pyomo.settings.', '')}`"


def _escaped(text: str) -> str:
    return " ".join(text.split()).replace("<", "\\<").replace("*", "\\*").replace("{", "\\{")
