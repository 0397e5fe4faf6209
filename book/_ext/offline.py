"""Keep the built pages free of addresses outside the book.

jupyter-book announces thebe's script (live code from a public server) on every page, twice,
though the book does not use it; without a network this is an error in the reader's console.
"""


def drop_thebe(app, pagename, templatename, context, doctree):
    """Remove the scripts that belong to thebe from one page."""
    context["script_files"] = [
        script
        for script in context["script_files"]
        if "thebe" not in str(getattr(script, "filename", script)).lower()
        and "thebe" not in str(getattr(script, "attributes", "")).lower()
    ]


def setup(app):
    """Register the page filter, after every extension has added its scripts."""
    app.connect("html-page-context", drop_thebe, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
