"""The experiment chapters show every published figure, and verdicts that follow from results/."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from pu_utils.reproduction.claims import judge_recorded, scoreboard
from pu_utils.reproduction.tables import DATASET_NAMES, TABLE_NAMES, published

ROOT = Path(__file__).parents[1]
NAMES = {shown: name for name, shown in DATASET_NAMES.items()}
TABLES = {shown: name for name, shown in TABLE_NAMES.items()}
APPENDIX = "20_every_number"


class Figures(HTMLParser):
    """Collects (table, c, method, data set, source, text) of every figure of a rendered table."""

    def __init__(self):
        super().__init__()
        self.found, self.row, self.text = [], [], None
        self.where = self.method = self.sets = None

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if given.get("role") == "region":
            self.where = re.fullmatch(r"(Table \S+), c = (\S+)", given["aria-label"]).groups()
        if tag == "tr":
            self.row = []
        if tag in ("td", "th"):
            self.text = ""

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.row.append(self.text)
            self.text = None
        if tag == "tr" and self.where:
            self._row_ends()
        if tag == "table":
            self.where = None  # tables of other kinds may follow

    def _row_ends(self):
        if self.row[0] == "method":
            self.sets = self.row[2:]
            return
        if len(self.row) == len(self.sets) + 2:  # the first line of a method names it
            self.method, *self.row = self.row
        source, *texts = self.row
        table, c = self.where
        for shown, text in zip(self.sets, texts, strict=True):
            key = (TABLES[table], float(c), self.method, NAMES[shown], source)
            self.found.append((*key, text))


@pytest.fixture(scope="module")
def shown():
    """Every figure that the appendix shows."""
    parser = Figures()
    book = json.loads((ROOT / "notebooks" / f"{APPENDIX}.ipynb").read_text(encoding="utf-8"))
    for cell in book["cells"]:
        for output in cell.get("outputs", []):
            parser.feed("".join(output.get("data", {}).get("text/html", "")))
    columns = ["table", "label_frequency", "method", "dataset", "source", "text"]
    return pd.DataFrame(parser.found, columns=columns)


def test_all_960_published_numbers_are_shown(shown):
    """Each once, as printed, at its place; LBE+S a second time beside the released variant."""
    key = ["table", "label_frequency", "method", "dataset"]
    rows = shown[(shown["source"] == "published") & (shown["text"] != "–")]
    rows = rows[rows["method"] != "LBE+S (released)"]
    figures = published()
    figures["printed"] = [f"{m:.2f} ± {e:.2f}" for m, e in figures[["mean", "se"]].to_numpy()]
    both = figures.merge(rows, on=key, how="outer", validate="one_to_one")
    assert len(both) == 960
    assert (both["printed"] == both["text"]).all()


def test_ours_stands_beside_each_or_is_said_not_to_be_run(shown):
    """A figure of ours, or the words, and then the caption says why."""
    ours = shown[shown["source"] == "ours"]
    is_figure = ours["text"].str.match(r"\d+\.\d\d")
    assert (is_figure | (ours["text"] == "not run")).all()
    if not is_figure.all():
        text = (ROOT / "notebooks" / f"{APPENDIX}.ipynb").read_text(encoding="utf-8")
        assert "not been computed yet" in html.unescape(text)


def test_scoreboard_is_what_the_results_say():
    """``python -m pu_utils scoreboard`` would write the same."""
    recorded = pd.read_csv(ROOT / "results" / "scoreboard.csv")
    computed = scoreboard(judge_recorded(ROOT / "results"))
    texts = recorded.select_dtypes(exclude="number").columns
    recorded[texts] = recorded[texts].fillna("")  # no counts where a source has no answer
    pd.testing.assert_frame_equal(recorded, computed, check_dtype=False)
