"""What search engines, link previews and lost readers see: descriptions, addresses, a 404 page.

The book's own address follows from the repository's, as GitHub Pages gives it. A workflow on GitHub
knows that better than ``_config.yml``.
"""

import os
from html import escape
from pathlib import Path
from textwrap import shorten

from docutils import nodes

PLACEHOLDER = "/your-name/"
CARD = "_static/two_thresholds.png"
NOT_FOUND = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Page not found</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">
<style>
body {{ font-family: sans-serif; max-width: 34rem; margin: 4rem auto; padding: 1rem; }}
a {{ color: inherit; }}
</style>
</head><body><main><article><h1>This page carries no label</h1>
<p>And, as chapter 1 would say, that is evidence that it is not there.
<a href="{address}">Start from the front page</a>.</p></article></main></body></html>
"""


INDEX = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="canonical" href="{address}">
<meta http-equiv="refresh" content="0; url={page}.html">
</head><body><a href="{page}.html">{title}</a></body></html>
"""


def book_address(repository):
    """Where GitHub Pages shows the book of a repository."""
    owner, name = repository.rstrip("/").split("/")[-2:]
    site = f"{owner.lower()}.github.io"
    return f"https://{site}/" if name.lower() == site else f"https://{site}/{name}/"


def set_address(app, config):
    """Tell Sphinx the addresses; no button leads to a placeholder."""
    options = config.html_theme_options
    if "GITHUB_REPOSITORY" in os.environ:
        options["repository_url"] = f"https://github.com/{os.environ['GITHUB_REPOSITORY']}"
    if PLACEHOLDER in options["repository_url"]:
        options |= {"launch_buttons": {}, "use_repository_button": False}
        options["use_issues_button"] = False
    config.html_baseurl = book_address(options["repository_url"])


def description(doctree):
    """The first paragraph in plain words, without formulas, at most 200 characters."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = paragraph.astext().removeprefix("The question. ")
        if len(text) > 60 and not list(paragraph.findall(nodes.math)):
            return shorten(text, 200, placeholder="…")
    return ""


def describe(app, pagename, templatename, context, doctree):
    """Add description and preview card to one page."""
    if doctree is None:
        return
    text = description(doctree) or app.config.html_title
    meta = {"description": text}
    card = {
        "og:title": doctree.next_node(nodes.title).astext(),
        "og:description": text,
        "og:type": "article",
        "og:url": context.get("pageurl", ""),
        "og:image": app.config.html_baseurl + CARD,
    }
    tags = [f'<meta name="{name}" content="{escape(value)}">' for name, value in meta.items()]
    tags += [f'<meta property="{name}" content="{escape(value)}">' for name, value in card.items()]
    tags.append('<meta name="twitter:card" content="summary_large_image">')
    context["metatags"] += "\n".join(tags)


def write_map(app, error):
    """Write a map of the site, the way from its top to the first page, and a page for the lost."""
    if error or app.builder.format != "html":
        return
    address, out = app.config.html_baseurl, Path(app.outdir)
    pages = "".join(
        f"<url><loc>{address}{name}.html</loc></url>\n" for name in sorted(app.env.found_docs)
    )
    out.joinpath("sitemap.xml").write_text(
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{pages}</urlset>\n',
        encoding="utf-8",
    )
    out.joinpath("404.html").write_text(NOT_FOUND.format(address=address), encoding="utf-8")
    title, page = escape(app.config.html_title), app.config.root_doc
    index = INDEX.format(title=title, page=page, address=f"{address}{page}.html")
    out.joinpath("index.html").write_text(index, encoding="utf-8")


def setup(app):
    """Register."""
    app.connect("config-inited", set_address)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_map)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
