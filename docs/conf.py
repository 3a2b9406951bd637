"""Settings of the documentation site; `make docs` builds it."""

import os
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
# The extensions and gallery scripts run here: a picture needs no screen, a core no company.
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")

project = "tamis"
author = "The tamis developers"
copyright = author
version = release = installed_version("tamis")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "docstrings",
    "mathml",
    "optional_pages",
]

exclude_patterns = ["_build", "**/GALLERY_HEADER.rst"]
templates_path = ["_templates"]
default_role = "code"
smartquotes = False  # "heat" in a docstring is a value, to be copied
# Functions among the settings cannot be kept between builds; nothing is lost.
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Formulas become MathML while the site is built: nothing is fetched when a page is read.
html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"tamis {release}"
html_static_path = ["_static"]
html_css_files = ["tamis.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-api-name": "#0b6e4f",
        "color-api-pre-name": "#5a6b63",
        "color-brand-primary": "#0b6e4f",
        "color-brand-content": "#0b6e4f",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
    },
    "dark_css_variables": {
        "color-api-name": "#5fd3a6",
        "color-api-pre-name": "#9fb3aa",
        "color-brand-primary": "#5fd3a6",
        "color-brand-content": "#5fd3a6",
    },
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": [str(HERE.parent / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "thumbnail_size": (400, 280),
}
