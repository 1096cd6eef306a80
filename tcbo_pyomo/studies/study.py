"""A study as its author writes it: which problems, methods, kinds of feedback, settings and seeds are crossed."""

from __future__ import annotations

import os
import re
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.foundation.settings_file import read_mapping
from tcbo_pyomo.settings import FeedbackSettings

MOST_RUNS = 100_000
"""Of one study; more are a slip of the pen."""
OWN_LISTS = {"method": "methods", "feedback": "feedback"}
"""Settings that are crossed by a list of their own."""
SHORT = ("preset", "goal")
"""Settings of every run that may be fields of the study itself."""


def _without_own_lists(value: dict[str, Any]) -> dict[str, Any]:
    for name in value:
        first = name.split(".")[0]
        if first in OWN_LISTS:
            raise ValueError(f"'{name}' cannot be set here; use the list `{OWN_LISTS[first]}` of the study")
    return value


OwnSettings = Annotated[dict[str, Any], AfterValidator(_without_own_lists)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, strict=True)


class _Entry(_Section):
    """One item of a list, with a label for tables and figures and settings that hold for it alone."""

    name: str = Field("", max_length=60)
    settings: OwnSettings = Field(default_factory=dict)


class ProblemEntry(_Entry):
    """A problem by name, or the path of a .py file."""

    problem: str = Field(min_length=1)

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.name or Path(self.problem).stem


class MethodEntry(_Entry):
    """A method by name, or 'my_module:MyMethod'."""

    method: str = Field(min_length=1)

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.name or self.method


class Study(_Section):
    """A study: problems, methods, feedback, settings and seeds, in all combinations.

    Attributes
    ----------
    name
        Letters, digits, '.', '_' and '-'; results go to a folder of this name unless you name another.
    problems, methods
        Names, or mappings with `problem` or `method`, `name` (label) and `settings`.
    feedback
        Kinds of feedback, or mappings such as {kind: delayed, delay: 25}; Default: each problem's own.
    seeds
        A list, or a range such as 1..25.
    truth
        known: the black box of each problem. drawn: for every seed a function drawn from the problem's prior.
    settings
        Settings of every run; `preset: paper` and `goal: minimise` can be here, in the settings of a method or problem, or
        fields of their own.
    grid
        Settings to vary, such as {planner.components: [1, 10, 25]}.
    data
        Past experiments that every run starts from: a CSV file, or one by the label of each problem that has them.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=80)
    problems: tuple[ProblemEntry, ...] = Field(min_length=1)
    methods: tuple[MethodEntry, ...] = Field((MethodEntry(method="mdp_bo"),), min_length=1)
    feedback: tuple[FeedbackSettings, ...] = ()
    seeds: tuple[int, ...] = Field(min_length=1)
    truth: Literal["known", "drawn"] = "known"
    settings: OwnSettings = Field(default_factory=dict)
    grid: Annotated[dict[str, tuple[Any, ...]], AfterValidator(_without_own_lists)] = Field(default_factory=dict)
    data: str | dict[str, str] = ""

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        """Names where a mapping may stand, `1..25`, and YAML's lists as tuples."""
        if not isinstance(data, dict):
            return data
        data = dict(data)
        for name in SHORT:
            if name in data and isinstance(own := data.get("settings", {}), dict):
                data["settings"] = {name: data.pop(name), **own}
        for field, key in (("problems", "problem"), ("methods", "method"), ("feedback", "kind")):
            if field in data:
                data[field] = tuple({key: item} if isinstance(item, str) else item for item in _listed(data[field]))
        if "seeds" in data:
            data["seeds"] = _seeds(data["seeds"])
        if isinstance(data.get("grid"), dict):
            data["grid"] = {name: tuple(_listed(values)) for name, values in data["grid"].items()}
        return data

    @field_validator("seeds")
    @classmethod
    def _natural(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if any(seed < 0 for seed in value):
            raise ValueError("a seed must not be negative")
        return value

    @model_validator(mode="after")
    def _data_of_known_truths(self) -> Study:
        labels = [entry.label for entry in self.problems]
        for label in self.data if isinstance(self.data, dict) else ():
            if label not in labels:
                raise ValueError(f"data: no problem '{label}'; {suggestion(label, labels)}")
        if self.data and self.truth == "drawn":
            raise ValueError("data: past experiments belong to one truth, `truth: drawn` has one per seed; leave out either")
        return self

    def data_of(self, problem: ProblemEntry) -> str:
        """The file of past experiments of a problem; empty where it has none."""
        return self.data if isinstance(self.data, str) else self.data.get(problem.label, "")

    @model_validator(mode="after")
    def _nothing_twice(self) -> Study:
        lists: dict[str, list[Any]] = {
            "problems": [entry.label for entry in self.problems],
            "methods": [entry.label for entry in self.methods],
            "feedback": [(entry.kind, entry.delay) for entry in self.feedback],
            "seeds": list(self.seeds),
            **{f"grid.{name}": [repr(value) for value in values] for name, values in self.grid.items()},
        }
        for name, items in lists.items():
            twice = _first_twice(items)
            if twice is not None:
                hint = "; give each a `name` of its own" if name in ("problems", "methods") else ""
                raise ValueError(f"{name}: {twice} is given twice{hint}")
            if not items and name.startswith("grid."):
                raise ValueError(f"{name}: the list is empty; give at least one value")
        runs = prod(len(items) for name, items in lists.items() if items)
        if runs > MOST_RUNS:
            raise ValueError(f"problems x methods x feedback x grid x seeds are {runs} runs; a study has at most {MOST_RUNS}")
        return self


def _first_twice(items: list[Any]) -> Any:
    """The first item that occurs a second time."""
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def read_study(path: str | os.PathLike[str]) -> Study:
    """The study of a YAML file; a problem file, or a table, in it is found from the folder of the study file."""
    data = read_mapping(path, "study file", "it needs name, problems, methods and seeds")
    try:
        study = study_from(data)
    except BadInput as error:
        raise BadInput(f"study file '{os.fspath(path)}': {error}") from None
    folder = Path(path).parent
    problems = tuple(_located(entry, folder) for entry in study.problems)
    return study.model_copy(update={"problems": problems, "data": _located_data(study.data, folder)})


def study_from(data: dict[str, Any]) -> Study:
    """A study from plain data; any problem is one `BadInput`."""
    try:
        return Study.model_validate(data)
    except ValidationError as error:
        raise BadInput("; ".join(_explain(detail) for detail in error.errors())) from None


def _located(entry: ProblemEntry, folder: Path) -> ProblemEntry:
    if not entry.problem.endswith(".py"):
        return entry
    return entry.model_copy(update={"problem": str(folder / entry.problem)})


def _located_data(data: str | dict[str, str], folder: Path) -> str | dict[str, str]:
    if isinstance(data, dict):
        return {label: str(folder / file) for label, file in data.items()}
    return str(folder / data) if data else ""


def _listed(value: Any) -> list[Any] | tuple[Any, ...]:
    """A list as it is; a single item as a list of one."""
    return value if isinstance(value, list | tuple) else [value]


def _seeds(value: Any) -> Any:
    if isinstance(value, str):
        found = re.fullmatch(r"\s*(\d{1,9})\s*\.\.\s*(\d{1,9})\s*", value)
        if found is None or int(found[1]) > int(found[2]):
            raise ValueError(f"seeds: got {value!r}; write a list such as [1, 2, 3] or a range such as 1..25")
        number = int(found[2]) - int(found[1]) + 1
        if number > MOST_RUNS:
            raise ValueError(f"seeds: {value} are {number} seeds; a study has at most {MOST_RUNS} runs")
        return tuple(range(int(found[1]), int(found[2]) + 1))
    return tuple(_listed(value))


def _explain(detail: Any) -> str:
    path = [str(part) for part in detail["loc"]]
    if detail["type"] == "extra_forbidden" and len(path) == 1:
        return f"unknown field '{path[0]}'; {suggestion(path[0], Study.model_fields)}"
    if detail["type"] == "missing":
        return f"field '{'.'.join(path)}' is missing"
    message = detail["msg"].removeprefix("Value error, ")
    where = f"field '{'.'.join(path)}': " if path else ""
    got = f"got {detail['input']!r}; " if path and not isinstance(detail["input"], dict) else ""
    return f"{where}{got}{message[0].lower()}{message[1:]}"
