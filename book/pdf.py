"""The whole book as one PDF, printed by Chromium from the built pages: ``make pdf``.

The articles of all pages are put into one page, and links between them become links within it. This
is printed twice: the first time tells on which page each chapter begins, for the table of contents.
Folded code is left out, folded tables are opened, and of figures that move the static form is kept.
"""

import posixpath
import shutil
from pathlib import Path

import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import sync_playwright
from pypdf import PdfReader

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
PDF = "augmented-pu-book.pdf"
LEFT_OUT = "details.hide, .headerlink, a:has(.viewcode-link), .pu-play, script, #pu-bubble"
FLAGS = ["--no-sandbox", "--disable-gpu", "--allow-file-access-from-files"]
FOOTER = """<div style="font: 8px sans-serif; width: 100%; text-align: center">
<span class="pageNumber"></span></div>"""
MENU = '<div class="dropdown dropdown-download-buttons">'
ITEM = """<li><a href="{}" class="btn btn-sm dropdown-item" title="Download the whole book">
<span class="btn__icon-container"><i class="fas fa-book"></i></span>
<span class="btn__text-container">the whole book, .pdf</span></a></li>
"""
STYLE = """
@page { size: A4; margin: 18mm 16mm 20mm; }
html { font-size: 13.5px; }
body { min-height: 0; }
article { break-before: page; padding: 0 !important; }
h1, h2, h3, h4 { break-after: avoid; }
figure, .admonition, .cell_output img, mjx-container { break-inside: avoid; }
div.cell_input, div.highlight { break-inside: avoid; }
figure img { max-height: 215mm; }
pre { white-space: pre-wrap !important; overflow-wrap: anywhere; }
.bd-article :is(table, div.math, .pu-box, mjx-container, pre) { overflow: visible !important; }
.bd-article table { font-size: 0.68rem !important; break-inside: auto; }
.bd-article table.dataframe tr > th:first-child { position: static; }
.pu-cover { height: 240mm; display: flex; flex-direction: column; justify-content: center; }
.pu-cover h1 { font-size: 2.6rem; }
.pu-contents { break-before: page; }
.pu-contents h2 { font-size: 1rem; margin: 0.6rem 0 0.1rem; }
.pu-contents p { margin: 0; font-size: 0.95rem; line-height: 1.5; display: flex; gap: 0.5rem; }
.pu-contents a { flex: 1; color: inherit; text-decoration: none; }
"""
TYPESET = """async () => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  await MathJax.startup.promise;
  const images = [...document.images].map((image) => image.decode());
  await Promise.all([...images, document.fonts.ready]);
}"""

NUMBER = """(begins) => {
  for (const place of document.querySelectorAll("[data-name]"))
    place.textContent = begins[place.dataset.name];
}"""
PAPER = {
    "prefer_css_page_size": True,
    "print_background": True,
    "outline": True,
    "tagged": True,
    "display_header_footer": True,
    "header_template": "<span></span>",
    "footer_template": FOOTER,
}


def parts():
    """Caption of each part with the names of its pages, in the order of the table of contents."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))

    def names(entries):
        for entry in entries:
            yield entry["file"]
            yield from names(entry.get("sections", []))

    listed = {part["caption"]: list(names(part["chapters"])) for part in contents["parts"]}
    return {"": [contents["root"]]} | listed


def read(name):
    """A built page."""
    return BeautifulSoup((HTML / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def article(name, names):
    """The article of a page, its anchors and links made those of the whole book."""
    page = read(name)
    published = page.select_one("link[rel=canonical]")["href"].removesuffix(f"{name}.html")
    found = page.select_one("article.bd-article")
    for element in found.select(LEFT_OUT):
        element.decompose()
    for element in found.select("[id]"):
        element["id"] = f"{name}--{element['id']}"
    for image in found.select("img[src]"):
        image["src"] = _from_top(name, image["src"])
    for link in found.select("a[href]"):
        link["href"] = _link(name, link["href"], names, published)
    found["id"] = name
    return found


def _from_top(name, address):
    """A relative address on a page, as seen from the top folder of the book."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), address))


def _link(name, address, names, published):
    """Where a link leads: within the whole book, or, if it does not hold the target, on the web."""
    path, _, place = address.partition("#")
    target = _from_top(name, path).removesuffix(".html") if path else name
    if target in names:
        return f"#{target}--{place}" if place else f"#{target}"
    return address if ":" in address else published + _from_top(name, address)


def title(chapter):
    """The heading of an article."""
    return chapter.h1.get_text()


def whole_book(chapters):
    """One page of HTML: cover, contents and every chapter.

    Parameters
    ----------
    chapters : dict
        Articles by the names of their pages.
    """
    front = read(parts()[""][0])
    head = "".join(
        f'<link rel="stylesheet" href="{_from_top(parts()[""][0], sheet["href"])}">'
        for sheet in front.select("link[rel=stylesheet]")
    )
    mathjax = next(s for s in front.select("script") if "window.MathJax" in s.get_text())
    contents = ""
    for caption, names in parts().items():
        contents += f"<h2>{caption}</h2>" if caption else ""
        contents += "".join(
            f'<p><a href="#{name}">{title(chapters[name])}</a><span data-name="{name}"></span></p>'
            for name in names
        )
    return f"""<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">
<title>{front.title.get_text()}</title>{head}<style>{STYLE}</style>{mathjax}
<script defer src="_static/mathjax/tex-chtml.js"></script></head><body>
<div class="pu-cover"><h1>{front.select_one("meta[property='og:title']")["content"]}</h1></div>
<nav class="pu-contents"><h1>Contents</h1>{contents}</nav>
<div class="bd-content">{"".join(map(str, chapters.values()))}</div></body></html>"""


def print_page(source, target, names):
    """Let Chromium print the whole book once its formulas are typeset, and again with numbers."""
    browsers = ("chromium", "chromium-browser", "google-chrome")
    executable = next(filter(None, map(shutil.which, browsers)), None)
    if executable is None:
        raise SystemExit("install Chromium (Debian: apt-get install chromium) or Chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = browser.new_page()
        page.set_default_timeout(0)  # hundreds of pages take as long as they take
        page.goto(source.as_uri())
        page.evaluate(TYPESET)
        page.pdf(path=target, **PAPER)
        page.evaluate(NUMBER, first_pages(target, names))
        page.pdf(path=target, **PAPER)
        browser.close()


def first_pages(pdf, names):
    """Number of the page on which each chapter begins."""
    reader = PdfReader(pdf)
    places = reader.named_destinations
    return {name: reader.get_destination_page_number(places[f"/{name}"]) + 1 for name in names}


def offer(pdf):
    """Put the PDF into the download menu of every built page."""
    for path in HTML.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        if MENU not in text or pdf in text:
            continue
        address = "../" * len(path.relative_to(HTML).parents[:-1]) + pdf
        before, after = text.split(MENU, 1)
        menu, rest = after.split("</ul>", 1)
        path.write_text(before + MENU + menu + ITEM.format(address) + "</ul>" + rest, "utf-8")


def main():
    """Print the book, and offer it on its pages."""
    names = [name for part in parts().values() for name in part]
    chapters = {name: article(name, names) for name in names}
    source, target = HTML / "whole-book.html", HTML / PDF
    source.write_text(whole_book(chapters), encoding="utf-8")
    print_page(source, target, names)
    source.unlink()
    offer(PDF)
    print(f"The book is printed: {target.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
