"""The folder of a study: every finished run under its key, what failed, and the tables.

A run is written as a whole when it ends, under a name that says what it is; two processes that work on one folder at worst
make the same run twice and write the same numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tcbo_pyomo.errors import BadInput, DamagedFile, DiskError
from tcbo_pyomo.foundation.atomic_file import read_checked, write_checked
from tcbo_pyomo.records.determining_parts import Parts, changed_parts
from tcbo_pyomo.settings import DEFAULTS_BEFORE, merged
from tcbo_pyomo.studies.runs import Run
from tcbo_pyomo.studies.study import Study

STUDY, RUN, FAILURE = "tcbo_study", "tcbo_run", "tcbo_failure"
VERSION = 1
DEFAULTS = "0.2.0"
"""Since when the defaults are those of today. A folder begun earlier names no version, and keeps the defaults of then."""

log = logging.getLogger(__name__)


class StudyFolder:
    """Where a study is kept."""

    def __init__(self, place: str | Path) -> None:
        self.place = Path(place)
        self.definition = self.place / "study.json"
        # Finished runs, and those that ended with an error until they are repeated.
        self.runs, self.failures = self.place / "runs", self.place / "failures"
        self._known: dict[str, dict[str, Any]] = {}
        self._parts: dict[str, Parts] = {}
        self._defaults: str | None = DEFAULTS
        self._older: dict[str, Parts] | None = None
        """What determined the numbers of each case when it was run last; and of runs of 0.1.0, which did not record it,
        when a later version first saw them: they count as made with that. None: nobody has recorded it yet."""

    def refuse_another(self, study: Study, extend: bool = False) -> None:
        """Refuse the folder of another study, or one with other files; writes nothing."""
        definition = study.model_dump(mode="json")
        if self.definition.exists():
            content = read_checked(self.definition, STUDY, VERSION, "study")
            before, self._parts, self._older = content["study"], content.get("parts", {}), content.get("older")
            self._defaults = content.get("defaults")
            # What an older version did not write had its default.
            defaults = {name: field.default for name, field in Study.model_fields.items()}
            changed = [name for name in definition if definition[name] != before.get(name, defaults[name])]
            if changed and not extend and changed != ["seeds"]:
                raise BadInput(
                    f"folder '{self.place}' holds the study '{before['name']}', which differs in {', '.join(changed)}; "
                    "name another folder, or use --extend to continue with the changed study"
                )
        elif self.place.is_dir() and not all(self._left_behind(item) for item in self.place.iterdir()):
            raise BadInput(f"folder '{self.place}' is not empty and holds no study; name another folder")
        elif self.place.exists() and not self.place.is_dir():
            raise BadInput(f"folder '{self.place}' is a file; name a folder")

    def _left_behind(self, item: Path) -> bool:
        """Whether a study that was killed before its first word was written may have left this."""
        if item in (self.runs, self.failures):
            return item.is_dir() and not any(item.iterdir())
        return item.name.startswith(f".{self.definition.name}.")

    def as_begun(self, study: Study) -> Study:
        """The study with the defaults that held when the folder was begun: half a study continues with the same moves."""
        if self._defaults is not None:
            return study
        log.warning("folder '%s' was begun with earlier defaults and keeps them: %s", self.place, DEFAULTS_BEFORE)
        return study.model_copy(update={"settings": merged(DEFAULTS_BEFORE, study.settings)})

    def changes(self, runs: list[Run]) -> dict[tuple[str, ...], list[Run]]:
        """Runs whose case was run before with other parts, by the names of the parts that changed."""
        found: dict[tuple[str, ...], list[Run]] = {}
        for run in runs:
            before = self._parts.get(run.case.label)
            if before is not None and before != run.case.parts:
                found.setdefault(tuple(changed_parts(before, run.case.parts)), []).append(run)
        return found

    def claim(self, study: Study, runs: Sequence[Run] = ()) -> None:
        """Make the folder that of a study."""
        try:
            for folder in (self.runs, self.failures):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DiskError(f"folder '{self.place}': {error.strerror}; nothing was run") from None
        parts = {run.case.label: run.case.parts for run in runs}
        content = {
            "study": study.model_dump(mode="json"),
            "parts": {**self._parts, **parts},
            "older": parts if self._older is None else self._older,
            **({} if self._defaults is None else {"defaults": self._defaults}),
        }
        write_checked(self.definition, STUDY, VERSION, content)

    def record(self, run: Run) -> dict[str, Any] | None:
        """What is stored of a run; a damaged file counts as missing, and the run is repeated."""
        if run.key not in self._known:
            keys = [run.key, run.key_of_0_1_0] if self._made_by_0_1_0(run) else [run.key]
            for path in (self.runs / f"{key}.json" for key in keys):
                if run.key in self._known or not path.exists():
                    continue
                try:
                    self._known[run.key] = read_checked(path, RUN, VERSION, "run")
                except DamagedFile as error:
                    log.warning("%s; the run is repeated", error)
        return self._known.get(run.key)

    def _made_by_0_1_0(self, run: Run) -> bool:
        """Whether what version 0.1.0 may have kept of a run still counts."""
        return self._older is None or self._older.get(run.case.label) == run.case.parts

    def failure(self, run: Run) -> dict[str, Any] | None:
        """Why a run failed, where it did."""
        path = self.failures / f"{run.key}.json"
        return read_checked(path, FAILURE, VERSION, "failure") if path.exists() else None

    def keep(self, record: dict[str, Any]) -> None:
        """Store what a run returned."""
        failed = "error" in record
        place, kind = (self.failures, FAILURE) if failed else (self.runs, RUN)
        # A run that a power cut damages counts as missing and is made again: no need to wait for the disk after each.
        write_checked(place / f"{record['key']}.json", kind, VERSION, record, at_once=False)
        if not failed:
            self._known[record["key"]] = record
            (self.failures / f"{record['key']}.json").unlink(missing_ok=True)
