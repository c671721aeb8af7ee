"""The documentation site: `sphinx-build -W -c docs -b html . build/site` from the root, with the package on PYTHONPATH
(tests/python/test_site.py does it). Pages are the repository's own files, so that links work in both places."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

project, author, copyright = "hotfiber", "The hotfiber developers", "The hotfiber developers, BSD-3-Clause"
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "CMakeLists.txt"), encoding="utf-8") as file:
    version = release = re.search(r"project\(hotfiber VERSION ([0-9.]+)", file.read()).group(1)
extensions = ["myst_parser", "sphinx.ext.autodoc", "nbsphinx", "c_headers"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**.md", "docs/*.ipynb", "sample_data/README.md", "bench/accuracy/README.md",
                    "bench/results/README.md", "tests/README.md",
                    "plugin/module/scirun/README.md"]
exclude_patterns = ["build", "build-*", "out", "SECURITY.md", "docs/paper", "**.ipynb_checkpoints"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]
html_theme, html_title = "alabaster", "hotfiber " + release
html_theme_options = {"description": "Fibre directions in diffusion MRI", "page_width": "82em", "sidebar_width": "15em",
                      "body_max_width": "none", "code_font_size": ".82em"}
html_static_path, html_css_files = ["static"], ["site.css"]
html_sidebars = {"**": ["about.html", "navigation.html", "searchbox.html"]}
html_copy_source = html_show_sourcelink = False
nbsphinx_execute = "never"  # outputs are stored; tests/python/test_site.py compares them with new ones
autodoc_member_order = "bysource"
autodoc_typehints = "none"


def as_lists(app, what, name, thing, options, lines):
    """Docstrings name an argument at the begin of its line; on the page these lines are a list."""
    made, inside = [], False
    for line in lines:
        line = line if line.startswith(">>>") else line.replace("|", "\\|")
        start = re.match(r"(\w+(?:, \w+)*): (.*)", line)
        if start and what in ("function", "class", "method", "exception"):
            if not inside:
                made.append("")
            made.append(f"- **{start.group(1)}**: {start.group(2)}")
            inside = True
        elif inside and line.startswith(" "):
            made.append("  " + line.strip())
        else:
            if inside and line:
                made.append("")
            if line.startswith("    ") and made and not made[-1] and not any(one.startswith("    ") for one in made):
                made += [".. code-block:: python", ""]
            inside = False
            made.append(line)
    lines[:] = made


def first_page(app, error):
    """So that the site's folder itself can be opened."""
    if not error and app.builder.name == "html":
        with open(os.path.join(app.outdir, "index.html"), "w", encoding="utf-8") as file:
            file.write('<!DOCTYPE html><meta charset="utf-8"><title>hotfiber</title>'
                       '<meta http-equiv="refresh" content="0; url=docs/index.html"><a href="docs/index.html">hotfiber</a>')


def setup(app):
    app.connect("autodoc-process-docstring", as_lists)
    app.connect("build-finished", first_page)
