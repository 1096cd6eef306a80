"""Types in signatures lead to the public entry of a class, whichever module defines it."""

from __future__ import annotations

from typing import Any

from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import tcbo_pyomo


def public_name(target: str) -> str | None:
    """`tcbo_pyomo.Problem` for 'tcbo_pyomo.problem.finite.Problem', 'Problem' and the like; None for what is not public."""
    short = target.rpartition(".")[2]
    known = tcbo_pyomo._WHERE.get(short)
    return f"tcbo_pyomo.{short}" if known and target in (short, f"{known}.{short}") else None


def link_public(app: Sphinx, env: BuildEnvironment, node: Element, contnode: Element) -> Any:
    """Resolve a reference that Sphinx could not."""
    name = public_name(node.get("reftarget", ""))
    if node.get("refdomain") != "py" or name is None:
        return None
    domain: Any = env.get_domain("py")
    return domain.resolve_xref(env, node.get("refdoc", ""), app.builder, "obj", name, node, contnode)
