"""Pages from the examples: each script with its recorded output, and the READMEs of studies with links that work here."""

from __future__ import annotations

import ast
import re
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
TITLES = {
    "01_first_plan": "A first plan",
    "02_own_constraint": "Your own constraint",
    "03_swap_solver": "Swapping the solver",
    "04_ask_and_tell": "Ask and tell",
    "05_replay": "Re-planning a past campaign from a table",
    "06_no_go_zone": "A continuous plant with a no-go zone",
    "07_certified_plan": "A certified plan",
    "08_pyomo_cstr": "Pyomo's own CSTR",
    "09_idaes_reactor": "An IDAES reactor",
    "10_tclab": "The temperature lab on the desk",
    "11_kinetics_from_parmest": "Kinetics fitted with parmest as prior knowledge",
    "12_goals": "Three goals on one plant",
}
"""A script that is not named here has its file name as title."""
LINK = re.compile(r"\]\((?!https?:|#|\.\./\.\./)([^)]+)\)")


def scripts() -> list[Path]:
    """The numbered examples."""
    return sorted(EXAMPLES.glob("[0-9]*.py"))


def studies() -> list[str]:
    """The folders of `examples/` that have a README."""
    return sorted(path.parent.name for path in EXAMPLES.glob("*/README.md"))


def examples_page() -> str:
    """All scripts, read top to bottom, with what they print."""
    head = "Read them top to bottom. Each is a script that runs as it is; a test compares what it prints."
    lines = ["# Examples", "", head, ""]
    for script in scripts():
        words = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
        lines += [f"## {TITLES.get(script.stem, script.stem)}", "", words, "", f"`examples/{script.name}`:", ""]
        lines += [f"```{{literalinclude}} ../examples/{script.name}", ":language: python", "```", "", "It prints:", ""]
        lines += [f"```{{literalinclude}} printed/{script.stem}.txt", ":language: text", "```", ""]
    return "\n".join(lines)


def study_page(name: str) -> str:
    """The README of one folder, for a page in `docs/benchmarks/`."""
    text = (EXAMPLES / name / "README.md").read_text(encoding="utf-8")

    def moved(match: re.Match[str]) -> str:
        target = match[1]
        other = re.fullmatch(r"\.\./(\w+)/README\.md(#.*)?", target)
        if other:
            return f"]({other[1]}.md{other[2] or ''})"
        if target.startswith("../"):
            return f"](../../examples/{target.removeprefix('../')})"
        return f"](../../examples/{name}/{target})"

    return LINK.sub(moved, text)
