"""Keep the built pages free of addresses outside the book.

jupyter-book announces thebe's script (live code from a public server) on every page, twice,
though the book does not use it; without a network this is an error in the reader's console.
MathJax comes with the book, but all of it: what no page can ask for is left out of the built book.
"""

from pathlib import Path

# What pages load, what single commands of TeX load, and what reads formulas aloud, in English
MATHJAX = (
    "tex-chtml.js",
    "output/chtml/fonts/",
    "input/tex/extensions/",
    "a11y/",
    "sre/mathmaps/base.json",
    "sre/mathmaps/en.json",
)


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove the scripts that belong to thebe from one page."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in str(getattr(script, "filename", script)).lower()
        and "thebe" not in str(getattr(script, "attributes", "")).lower()
    ]


def prune_mathjax(app, error):
    """Delete the other inputs, outputs and languages of MathJax from the built book."""
    everything = Path(app.outdir) / "_static" / "mathjax"
    for path in everything.rglob("*"):
        if path.is_file() and not path.relative_to(everything).as_posix().startswith(MATHJAX):
            path.unlink()


def setup(app):
    """Register both, after every extension has added its scripts and copied its files."""
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("build-finished", prune_mathjax, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
