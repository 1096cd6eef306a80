"""HiGHS options by their real names, types and ranges; Pyomo would accept misspelt ones in silence."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from highspy import Highs, HighsOptionType, HighsStatus

from tcbo_pyomo.errors import BadInput, suggestion

DEFAULTS: dict[str, Any] = {
    "output_flag": False,
    "primal_feasibility_tolerance": 1e-10,
    "dual_feasibility_tolerance": 1e-10,
    "small_matrix_value": 1e-12,
    "mip_feasibility_tolerance": 1e-10,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 1e-10,
}
"""Exact by default: tight tolerances, no probability dropped as too small, integer programmes solved to the end."""

ACCEPTED: dict[HighsOptionType, tuple[type, ...]] = {
    HighsOptionType.kBool: (bool,),
    HighsOptionType.kInt: (int,),
    HighsOptionType.kDouble: (int, float),
    HighsOptionType.kString: (str,),
}


def set_highs_options(highs: Highs, options: Mapping[str, Any]) -> None:
    """Set options on a HiGHS instance; an unknown name, a wrong type or a refused value is named."""
    for name, setting in options.items():
        status, option_type = highs.getOptionType(name)
        if status == HighsStatus.kError:
            raise BadInput(f"HiGHS has no option '{name}'; {suggestion(name, describe_highs_options())}")
        yes_or_no = option_type == HighsOptionType.kBool
        fits = isinstance(setting, ACCEPTED[option_type]) and isinstance(setting, bool) == yes_or_no
        given: Any = float(setting) if fits and option_type == HighsOptionType.kDouble else setting
        if not fits or given != given or highs.setOptionValue(name, given) == HighsStatus.kError:
            allowed = describe_highs_options().get(name, "another type or range")
            raise BadInput(f"HiGHS option '{name}' cannot be {setting!r}; it is: {allowed}")


def check_highs_options(options: Mapping[str, Any]) -> None:
    """Refuse options that HiGHS would not take; for HiGHS behind a Pyomo interface."""
    set_highs_options(Highs(), {"output_flag": False, **options})


def describe_highs_options() -> dict[str, str]:
    """All option names with HiGHS's own one-line description of meaning, type and range."""
    highs = Highs()
    highs.setOptionValue("output_flag", False)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "options.txt")
        highs.writeOptions(str(file))
        text = file.read_text(encoding="utf-8")
    entries = re.findall(r"^# (.*)\n# \[(.*)\]\n(\w+) =", text, flags=re.MULTILINE)
    return {name: f"{meaning.strip()} [{kind.replace('advanced: false, ', '')}]" for meaning, kind, name in entries}
