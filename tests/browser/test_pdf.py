"""The whole book as one PDF: every chapter is in it, formulas are typeset, links lead on."""

import re
import sys

import pytest

from tests.browser.conftest import DESKTOP, HTML

pytestmark = pytest.mark.browser
ROOT = HTML.parents[1]


@pytest.fixture(scope="module")
def printing():
    """The program that prints the book."""
    sys.path.insert(0, str(ROOT / "book"))
    import pdf

    sys.path.pop(0)
    return pdf


@pytest.fixture(scope="module")
def book(printing):
    """The printed book."""
    from pypdf import PdfReader

    path = HTML / printing.PDF
    assert path.is_file(), "run `make pdf` first"
    return PdfReader(path)


@pytest.fixture(scope="module")
def begins(printing):
    """Number of the page on which each page of the book begins, by its name."""
    names = [name for part in printing.parts().values() for name in part]
    return printing.first_pages(HTML / printing.PDF, names)


def letters(text):
    """A text without its spaces: lines break elsewhere in print."""
    return "".join(text.split())


def fonts(page):
    """Names of the typefaces that a page brings along as drawings."""
    used = [font.get_object() for font in page["/Resources"]["/Font"].values()]
    return {str(font["/FontDescriptor"]["/FontName"]) for font in used if "/FontDescriptor" in font}


def test_every_chapter_begins_where_the_contents_say(printing, book, begins):
    """Its title stands at the top of that page, and in the contents with its number."""
    contents = letters(book.pages[1].extract_text())
    assert len(begins) >= 30 and len(book.pages) > 150
    assert list(begins.values()) == sorted(begins.values())
    for name, number in begins.items():
        title = letters(printing.read(name).select_one("article h1").get_text().rstrip("#"))
        assert letters(book.pages[number - 1].extract_text()).startswith(title), name
        assert f"{title}{number}" in contents, name


def test_formulas_are_typeset(book, begins):
    """The chapters on the mathematics begin with letters of MathJax; no page shows bare TeX."""
    for name in ("notebooks/01_the_idea", "notebooks/02_theorem_1", "notebooks/03_examples"):
        assert any("MathJax" in font for font in fonts(book.pages[begins[name] - 1])), name
    bare = [
        k for k, page in enumerate(book.pages, 1) if re.search(r"\\\(|\\\[", page.extract_text())
    ]
    assert bare == []


def test_links_stay_in_the_book_or_lead_to_the_web(book):
    """None leads to a file of the machine that has printed it."""
    links = [link.get_object() for page in book.pages for link in page.get("/Annots", [])]
    addresses = {str(link["/A"]["/URI"]) for link in links if "/A" in link}
    assert "https://arxiv.org/abs/2407.10309" in addresses
    assert not [address for address in addresses if re.match(r"file:|.*127\.0\.0\.1", address)]
    assert sum("/Dest" in link for link in links) > 100


def test_pages_offer_the_book(visit, printing):
    """The download menu of a page leads to it."""
    page, _ = visit("notebooks/02_theorem_1.html", DESKTOP)
    address = page.locator(".dropdown-download-buttons a", has_text="whole book")
    assert address.get_attribute("href") == f"../{printing.PDF}"
