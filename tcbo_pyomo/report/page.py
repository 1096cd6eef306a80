"""The report: one HTML page with the state of a campaign, how it got there, and what to do next (`tcbo report`).

The page needs nothing but itself: pictures are inside it, it has no scripts, and its content-security policy forbids
the browser to load or run anything. Every text goes through the escaping of jinja2, and characters that a reader could
not see are written out.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from tcbo_pyomo.campaign.campaign import Campaign
from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation.atomic_file import refuse_to_replace, write_atomically
from tcbo_pyomo.foundation.user_code import without_user_code
from tcbo_pyomo.foundation.wording import visible
from tcbo_pyomo.report.page_content import page_content

TEMPLATE, STYLE = "page.html.jinja", "page.css"


def write_report(
    campaign: Campaign,
    path: str | os.PathLike[str],
    plans: Sequence[dict[str, Any] | None] = (),
    force: bool = False,
) -> None:
    """Write the page of a campaign, running or finished.

    Parameters
    ----------
    campaign
        The campaign; it is not changed.
    path
        Where the page is written, ending in .html; the folder must exist.
    plans
        Records of the plans made so far, for the solver statistics. Default: the last plan only.
    force
        Whether to overwrite an existing file.
    """
    check_output(path, force)
    write_atomically(Path(path), render_report(campaign, plans).encode("utf-8"))


def check_output(path: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse, before any work is done, a path that is no place for a page; writes nothing."""
    place = Path(path)
    # A page never replaces a campaign, however it was typed.
    if place.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"report '{place}' must end in .html")
    if not place.parent.is_dir():
        raise BadInput(f"report '{place}': the folder '{place.parent}' does not exist; create it first")
    if place.is_dir():
        raise BadInput(f"report '{place}' is a folder; name a file in it")
    refuse_to_replace(place)
    if os.path.lexists(place) and not force:
        raise BadInput(f"report '{place}' already exists; name another file, or overwrite it with --force")


def render_report(campaign: Campaign, plans: Sequence[dict[str, Any] | None] = ()) -> str:
    """The page as text."""
    with without_user_code(campaign.refusal):
        content = page_content(campaign, plans)
    return rendered(TEMPLATE, content)


def rendered(template: str, content: dict[str, Any]) -> str:
    """A template of this folder with its content: every text is escaped, and nothing is loaded from elsewhere."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    def shown(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=shown, trim_blocks=True, lstrip_blocks=True
    )
    style = _text_of(STYLE)
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    laid_out = environment.from_string(_text_of(template))
    return laid_out.render(style=Markup(style), style_digest=digest, **content)


def _text_of(name: str) -> str:
    return resources.files("tcbo_pyomo.report").joinpath(name).read_text(encoding="utf-8")
