"""How the site is built: sphinx-build -W -b html docs docs/_build. Nothing is fetched from the network."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent))

from from_code.commands_page import commands_page  # noqa: E402
from from_code.example_pages import examples_page, studies, study_page  # noqa: E402
from from_code.names_page import names_page  # noqa: E402
from from_code.plain_docstrings import escape_markup  # noqa: E402
from from_code.settings_page import settings_page  # noqa: E402
from from_code.type_links import link_public  # noqa: E402

from tcbo_pyomo._version import __version__  # noqa: E402

project = "tcbo_pyomo"
author = "the tcbo_pyomo developers"
copyright = "the tcbo_pyomo developers, MIT licence"
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "from_code.mathml",
]
exclude_patterns = ["_build", "from_code", "_templates", "pictures"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"tcbo_pyomo {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Formulas are MathML: no JavaScript, no network.
html_math_renderer = "mathml"
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence", "smartquotes"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = False

autosummary_generate = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
# Docstrings are plain text: a name in backticks is code.
default_role = "literal"
python_use_unqualified_type_names = True


def setup(app):
    """Write the pages that follow from code and examples, and link types to public names."""
    pages = {f"benchmarks/{name}.md": study_page(name) for name in studies()}
    pages["examples.md"] = examples_page()
    pages["reference/generated/api.md"] = names_page()
    pages["reference/generated/commands.md"] = commands_page()
    pages["reference/generated/settings.md"] = settings_page()
    for name, text in pages.items():
        file = HERE / name
        file.parent.mkdir(exist_ok=True)
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")
    app.connect("missing-reference", link_public)
    # Before napoleon, which writes markup of its own.
    app.connect("autodoc-process-docstring", escape_markup, priority=400)
