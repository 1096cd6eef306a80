"""The API reference: one entry for every name in `tcbo_pyomo/__init__.pyi`, grouped as in its `__all__`."""

from __future__ import annotations

import ast
from pathlib import Path

import tcbo_pyomo

TITLES = {
    "Campaign": "Campaigns",
    "BadInput": "Errors",
    "Settings": "Settings and profiling",
    "EndAt": "Constraints",
    "Box": "Regions and your own constraints",
    "build_state_action_polytope": "Pyomo models",
    "BoxActions": "Plants",
    "BlackBoxInput": "Plants that are Pyomo models, solvers handed over",
    "ContinuousProblem": "Problems",
    "open_campaign": "Campaign files",
    "campaign_figure": "Figures and reports",
    "Study": "Studies",
    "Constant": "Kernels",
    "PlainPrior": "Priors and kernels to derive from",
}
"""The title of each group of the stub, by its first name; a new group has the title 'Further names' until it gets one."""

HEAD = """# Python API

`from tcbo_pyomo import ...` offers everything below; nothing else is public. Names are loaded on first use, so that
`import tcbo_pyomo` is quick. Paths into the package, such as `tcbo_pyomo.explain`, appear on pages where they are useful and
may change between minor versions.

```{eval-rst}
.. currentmodule:: tcbo_pyomo
```
"""


def names_page() -> str:
    """The whole page, in MyST with autosummary tables."""
    lines = [HEAD]
    for group in groups():
        lines += [f"## {TITLES.get(group[0], 'Further names')}", ""]
        lines += ["```{eval-rst}", ".. autosummary::", "   :toctree: api", ""]
        lines += [f"   {name}" for name in group]
        lines += ["```", ""]
    return "\n".join(lines)


def groups() -> list[list[str]]:
    """The public names as the stub groups them; `__version__` is not an object to document."""
    stub = ast.parse(Path(tcbo_pyomo.__file__).with_name("__init__.pyi").read_text(encoding="utf-8"))
    lists = [ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign | ast.AugAssign)]
    kept = [[name for name in names if not name.startswith("__")] for names in lists]
    return [names for names in kept if names]
