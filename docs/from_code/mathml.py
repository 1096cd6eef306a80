"""Formulas as MathML, written when the site is built: a browser draws them itself, and nothing is fetched from the network."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

_ALPHABETS = {"mathcal": "SCRIPT", "mathbb": "DOUBLE-STRUCK"}
"""What Unicode calls them; browsers no longer know MathML's own names of alphabets."""
_LETTER = re.compile(r"\\(mathcal|mathbb)\s*(?:\{([A-Z])\}|([A-Z]))")


def mathml(latex: str, display: str) -> str:
    """A LaTeX formula as a MathML element; `display` is `inline` or `block`."""
    return convert(_LETTER.sub(_script_letter, latex), display=display)


def _script_letter(match: re.Match[str]) -> str:
    name = f"{_ALPHABETS[match[1]]} CAPITAL {match[2] or match[3]}"
    try:
        return unicodedata.lookup(f"MATHEMATICAL {name}")
    except KeyError:  # A few letters are older than the block of mathematical ones.
        return unicodedata.lookup(name)


def _written(node: nodes.math | nodes.math_block, display: str) -> str:
    try:
        return mathml(node.astext(), display)
    except Exception as error:  # Whatever the parser raises, the build (-W) must stop and name the formula.
        logging.getLogger(__name__).warning("formula cannot be written as MathML (%s): %s", error, node.astext(), location=node)
        return ""


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_written(node, "inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    # Wide formulas scroll inside their own box on a phone.
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    translator.body.append(_written(node, "block") + "</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer `mathml`."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
