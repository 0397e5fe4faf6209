"""The front page: its numbers are those of results/, and they say what its sentences say."""

import re
from pathlib import Path
from unicodedata import normalize

import pandas as pd
import pytest
from book_extensions import extension
from scipy.special import expit

from pu_utils.data import DATASET_NAMES
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
    assert facts["ours_gains"] < 0.6 * facts["published_cells"]  # "what does not hold"
    assert facts["cifar_ct_off"] > facts["cifar_va_off"] > 3  # "nor do we reach"
    assert facts["em_gain"] > 0.9 * facts["prophets_gain"] > facts["vp_gain"] + 2  # "achievable"
    assert facts["nobody_ahead"] > 0 and facts["nobody_best"] > 0  # "even so"
    assert facts["em_above_best"] > 0.7 * facts["em_cells"] and facts["em_seeds"] == 10  # "seldom"
    assert facts["questions_behind"] > facts["questions_ahead"]  # "but"
    assert facts["told_most"] > 20 and facts["told_small"] > facts["told_sets"] / 2
    assert facts["table_least"] > 0 and facts["table_paper_least"] > 0  # "ahead"


def test_em_beside_each_yardstick(facts):
    """The same counts, taken from recorded rows and published numbers without the module."""
    rows = pd.concat(map(pd.read_csv, (ROOT / "results/confirmation").glob("decisions_*.csv")))
    rows = rows[rows["rule"] != "x_only"].groupby(["dataset", "label_frequency", "decision"])
    ours = 100 * rows["u_accuracy"].mean().unstack()
    printed = pd.read_csv(ROOT / "pu_utils/reproduction/published/tables.csv")
    printed = printed[printed["table"].isin(["table2", "table3"])]
    printed = printed.pivot(index=ours.index.names, columns="method", values="mean")
    best = printed[["VP+S", "VP-B+S", "LBE+S"]].max(axis=1)
    rivals = {"ours": ours["VP-B+S"], "published": printed["VP-B+S"], "best": best}
    for name, rival in rivals.items():
        above = ours["EM+S"] >= rival.reindex(ours.index)
        assert facts[f"em_above_{name}"] == above.sum() and len(above) == facts["em_cells"]
        by_set = above.groupby("dataset").sum()
        column = list(rivals).index(name)
        for line in facts["em_by_set"].splitlines()[2:]:
            title, *counts = line.strip("| ").split(" | ")
            (dataset,) = [key for key, value in DATASET_NAMES.items() if value == title]
            assert counts[column].startswith(f"{by_set[dataset]} of 6 (")


def test_the_page_is_short_and_names_what_is_compared():
    """A minute's reading: at most 700 words, and each yardstick by its name."""
    page = (ROOT / "book" / "intro.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\([^)]*\)|^:{1,3} |[{}]", " ", page, flags=re.MULTILINE)
    assert sum(bool(re.search(r"\w", word)) for word in text.split()) <= 700
    for yardstick in ("*our* VP-B+S", "*published* VP-B+S", "*best published method*", "EN+S"):
        assert yardstick in page


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
