"""Every page of the built book, as a reader's browser shows it: desktop and telephone."""

from itertools import product
from pathlib import Path

import pytest

from tests.browser.conftest import DESKTOP, HTML, TELEPHONE

pytestmark = pytest.mark.browser
READERS = list(product([DESKTOP, TELEPHONE], ["light", "dark"]))
# Pages made by Sphinx for its own ends (source views, indices), not written by the project.
GENERATED = ("_modules/", "_static/", "genindex", "search", "prf-prf", "py-modindex")
LOOKED_UP = "book/api"  # the reference of the module is not read from top to bottom
# Markup of docutils, not of the project: the bibliography's list holds entries of another role.
NOT_OURS = [[".citation-list"]]
RAW_MATHEMATICS = r"""
() => {
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("pre, code, script, style, mjx-container")) continue;
    if (/\$[^$]+\$|\\\(|\\\[|\\begin\{/.test(node.data)) found.push(node.data.trim());
  }
  return found;
}
"""
TOO_WIDE = """
() => document.documentElement.scrollWidth - document.documentElement.clientWidth
"""
CUT_OFF = """
() => [...document.querySelectorAll("main article :is(pre, table, div.math)")]
  .filter(box => box.checkVisibility() && box.scrollWidth > box.clientWidth + 1)
  .map(box => box.innerText.slice(0, 80))
"""
HEAVIEST, LONGEST = 1_500_000, 12  # bytes besides what pages share, screens before the appendix
WEIGHT = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .filter(file => !file.name.includes("/_static/"))
  .reduce((sum, file) => sum + file.decodedBodySize, 0)
"""
SCREENS = """
() => {
  const appendix = document.querySelector("main article :is(.appendix, [id^=appendix])");
  const article = document.querySelector("main article").getBoundingClientRect();
  const end = appendix ? appendix.getBoundingClientRect().top : article.bottom;
  const code = [...document.querySelectorAll("main article .cell_input")]
    .map(input => input.getBoundingClientRect()).filter(box => box.top < end);
  const open = code.reduce((sum, box) => sum + box.height, 0);  // the limit is one of prose
  return (end - article.top - open) / window.innerHeight;
}
"""
IMAGES = """
() => [...document.querySelectorAll("main article img")].map(
  image => ({src: image.getAttribute("src"), alt: image.alt, loaded: image.naturalWidth > 0}))
"""


def pages():
    """The pages that the project wrote, relative to the built book."""
    every = (path.relative_to(HTML).as_posix() for path in HTML.rglob("*.html"))
    return sorted(page for page in every if not page.startswith(GENERATED))


def test_the_book_is_built():
    """There is something to look at."""
    assert "index.html" in pages(), "run `make book` first"
    assert len(pages()) >= 9


def serious_violations(page, part="main article"):
    """What axe finds serious in a part of a page: rule, and the markup that breaks it."""
    from axe_playwright_python.sync_playwright import Axe

    report = Axe().run(page, context={"include": [[part]], "exclude": NOT_OURS})
    return [
        (violation["id"], [node["html"][:120] for node in violation["nodes"]])
        for violation in report.response["violations"]
        if violation["impact"] in {"serious", "critical"}
    ]


@pytest.mark.parametrize(("width", "scheme"), READERS)
@pytest.mark.parametrize("name", pages())
def test_page(name, width, scheme, visit):
    """No error, nothing from outside, formulas typeset, figures described, nothing overflows."""
    page, troubles = visit(name, width, scheme)
    assert troubles == []
    assert page.evaluate(RAW_MATHEMATICS) == []
    assert page.locator(".math").count() <= page.locator("mjx-container").count()
    for image in page.evaluate(IMAGES):
        assert image["loaded"], image
        assert len(image["alt"]) > 20, f"{image['src']} does not say what it shows"
    assert page.evaluate(TOO_WIDE) <= 0, "the page scrolls sideways"
    if width == DESKTOP:
        assert page.evaluate(CUT_OFF) == [], "wider than their boxes"
    assert serious_violations(page) == []


@pytest.mark.parametrize("name", pages())
def test_page_is_light_and_short(name, visit):
    """So that it loads on the train, and a reader sees its end."""
    page, _ = visit(name, DESKTOP)
    assert page.evaluate(WEIGHT) <= HEAVIEST, "bytes; draw crowded figures as pixels"
    if not name.startswith(LOOKED_UP):
        assert page.evaluate(SCREENS) <= LONGEST, (
            "screens; fold what few need, or begin an appendix"
        )


def test_only_the_needed_part_of_mathjax_is_published():
    """Not its other inputs, outputs and languages, which are six times as much."""
    files = [path for path in (HTML / "_static" / "mathjax").rglob("*") if path.is_file()]
    assert 1_000_000 < sum(path.stat().st_size for path in files) < 4_000_000


def test_launch_button_opens_the_same_file(visit):
    """On Colab, from the repository of the book; nothing leads to a placeholder."""
    placeholder = "//your-name.github.io/" in (HTML / "sitemap.xml").read_text()
    for name in (page for page in pages() if page.startswith("notebooks/")):
        page, _ = visit(name, DESKTOP)
        links = page.locator("a[href*='colab.research.google.com']").evaluate_all(
            "links => links.map(link => link.href)"
        )
        notebook = Path(name).with_suffix(".ipynb").as_posix()
        assert bool(links) != placeholder
        assert all(link.endswith(f"/blob/main/{notebook}") for link in links), links
