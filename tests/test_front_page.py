"""The front page: its numbers are those of results/, and they say what its sentences say."""

import re
from pathlib import Path
from unicodedata import normalize

import pytest
from book_extensions import extension
from scipy.special import expit

from pu_utils.rules import label_posterior

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def front_page():
    """The Sphinx extension of the page."""
    return extension("front_page")


@pytest.fixture(scope="module")
def facts(front_page):
    """The numbers, from results/ as they are."""
    return front_page.facts(ROOT / "results")


def test_every_number_is_used_and_every_name_has_its_number(facts):
    """A name that nobody computes would stand in the page as it is."""
    page = (ROOT / "book" / "intro.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\{\{ (\w+) \}\}", page)) == facts.keys()


def test_the_sentences_hold(facts):
    """If new results turn one of these round, the words of the page must change, too."""
    assert facts["published_gains"] > 0.8 * facts["published_cells"]  # "nearly everywhere"
    assert facts["ours_gains"] < 0.6 * facts["ours_cells"]  # "what does not"
    assert facts["prophet_least"] > 10  # "gain"
    assert facts["nobody_best"] > 0
    assert facts["table_least"] > 0  # "ahead"
    assert facts["em_gain"] > 0.9 * facts["prophets_gain"] > facts["vp_gain"] + 2  # "can be had"
    assert facts["em_above"] > 0.8 * facts["em_cells"] and facts["em_seeds"] == 10
    assert facts["told_most"] > 20


def test_the_picture_is_chapter_1_at_65(front_page):
    """A hundred patients, rounded: ill and reported, ill and silent, healthy."""
    y = expit(0.10 * (65 - 58))
    s = label_posterior(y, expit(0.05 * (65 - 58)))
    exact = [100 * s, 100 * (y - s), 100 * (1 - y)]
    drawn = [front_page.REPORTED, front_page.SILENT, front_page.HEALTHY]
    assert drawn == [round(value) for value in exact] and sum(drawn) == 100
    assert front_page.picture().count("<rect") == front_page.REPORTED + 1  # and one in the legend


def test_glossary_is_in_order():
    """As a reader looks words up, each once."""
    page = (ROOT / "book" / "glossary.md").read_text(encoding="utf-8")
    entries = re.search(r":::\{glossary\}\n(.*?)\n:::", page, flags=re.DOTALL)[1]
    terms = re.findall(r"^(\S.*)$", entries, flags=re.MULTILINE)
    in_order = sorted(terms, key=lambda term: normalize("NFKD", term).lower())  # A³ is A3
    assert len(terms) >= 30 and terms == in_order
