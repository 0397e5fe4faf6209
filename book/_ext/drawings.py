"""Figures on a dark page: drawings change with it, photographs stay as they are.

``pu_utils.plots`` marks the photographs; ``book/_static/book.css`` darkens the class
``pu-drawing``, which every other figure of a notebook is given here.
"""

from pathlib import Path

from docutils import nodes

from pu_utils.plots import PHOTOGRAPH


def mark_drawings(app, doctree):
    """Give each SVG without a photograph its class."""
    for image in doctree.findall(nodes.image):
        path = Path(app.srcdir) / image["uri"]
        if path.suffix == ".svg" and f'id="{PHOTOGRAPH}' not in path.read_text(encoding="utf-8"):
            image["classes"].append("pu-drawing")


def setup(app):
    """Register, as soon as a page has been read."""
    app.connect("doctree-read", mark_drawings)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
