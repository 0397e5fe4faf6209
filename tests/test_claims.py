"""Claims are judged from figures, by one rule, and a changed figure changes the verdict."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pu_utils import claims, rendering, risk, rules
from pu_utils.__main__ import main
from pu_utils.claims import CLAIMS, figures, golden_area, judge, scoreboard, sign_test, verdict
from pu_utils.reproduction.record import METRIC_COLUMNS
from pu_utils.tables import compare

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


@pytest.fixture(scope="module")
def published_only():
    """The tables with nothing of ours in them."""
    return compare(pd.DataFrame(columns=METRIC_COLUMNS))


@pytest.fixture
def as_published(published_only):
    """The tables, ours being what was published."""
    ours = published_only["published"].where(published_only["method"] != "LBE+S")
    released = published_only["method"] == "LBE+S (released)"
    return published_only.assign(ours=ours.where(~released, published_only["published"]))


def change(comparison, table, method, by):
    """Add points to our figures of a method in a table."""
    chosen = (comparison["table"] == table) & (comparison["method"] == method)
    return comparison.assign(ours=comparison["ours"] + by * chosen)


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        ([True] * 3 + [False], "reproduced"),
        ([True] * 2 + [False], "reproduced in part"),
        ([True] * 2 + [False] * 2, "reproduced in part"),
        ([True] + [False] * 2, "not reproduced"),
        ([True] * 3 + [None], "reproduced"),
        ([True] * 2 + [None], "reproduced in part"),
        ([None, None], "not run"),
    ],
)
def test_verdict_follows_the_rule(cases, expected):
    """Three quarters of the cases, half of them, none."""
    assert verdict(pd.Series(cases, dtype=object)) == expected


def test_nothing_run_nothing_judged(published_only):
    """Without results of ours every claim is not run, but for the mathematics."""
    judged = judge(published_only)
    mathematics = judged["table"].isin(["theorem1", "example1", "example2"])
    assert set(judged["verdict"][~mathematics]) == {"not run"}
    assert set(judged["verdict"][mathematics]) == {"reproduced"}


def test_published_figures_judge_themselves(as_published):
    """Where ours are the published figures, both columns agree, and every case is run."""
    judged = judge(as_published)
    judged = judged[judged["published"].notna()]
    assert len(judged) == 24 and (judged["holds"] == judged["published"]).all()
    assert (judged["ran"] == judged["cases"]).all()
    refuted = judged.index[judged["refuted"]]
    assert list(refuted) == ["synthetic-lbe-falls", "balanced-synthetic"]
    assert set(judged["verdict"][refuted]) == {"not reproduced"}


def test_published_sign_tests(published_only):
    """The synthetic p-value is the printed one; the real one follows from the printed table."""
    test = sign_test(figures(published_only, "table4", "published"), "VP-B+S", "VP-B")
    assert (test.wins, test.cells) == (22, 24)
    assert test.p_value == pytest.approx(1.8e-5, rel=0.01)
    assert sign_test(figures(published_only, "table5", "published"), "VP-B+S", "VP-B").wins == 32


def test_sign_test_leaves_out_ties_and_gaps():
    """Neither is a toss of the coin; no toss, no p-value."""
    table = pd.DataFrame({"a": [1, 2, np.nan, 5], "b": [1, 1, 1, 6]})
    assert sign_test(table, "a", "b")[:2] == (1, 2)
    assert np.isnan(sign_test(table.iloc[:1], "a", "b").p_value)


@pytest.mark.parametrize(
    ("key", "table", "method", "by"),
    [
        ("traditional-best", "table1", "VP-B", -50),
        ("traditional-margin", "table1", "VP-IF", 50),
        ("traditional-rare-labels", "table1", "VP-B", 50),
        ("traditional-many-labels", "table1", "VP", 50),
        ("synthetic-low-c", "table2", "VP+S", 50),
        ("synthetic-lbe-low-c", "table2", "LBE+S (released)", 50),
        ("synthetic-lbe-overtakes", "table2", "VP-B+S", 50),
        ("synthetic-vp-at-0.9", "table2", "VP+S", 50),
        ("synthetic-sign-test", "table4", "VP-B", 50),
        ("true-y-is-enough", "table4", "S-Prophet", 50),
        ("real-sign-test", "table5", "VP-B+S", -50),
        ("prophets-agree", "table4", "S-Prophet", 50),
        ("prophets-part", "table4", "Y-Prophet", 50),
        ("synthetic-rule", "table4", "VP-B", 50),
        ("synthetic-gain-small", "table4", "VP-B+S", 50),
        ("y-holds-back", "table4", "VP-B+S + true y(x)", -80),
        ("real-best", "table3", "LBE+S (released)", 50),
        ("real-cdc", "table3", "VP-B+S", 50),
        ("real-rule", "table5", "VP-B+S", -50),
        ("real-gain-small", "table5", "VP-B+S", 50),
        ("balanced-synthetic", "tableA2", "VP-B+S", -50),
        ("balanced-real", "tableA3", "VP-B+S", -50),
    ],
)
def test_a_changed_result_changes_the_verdict(as_published, key, table, method, by):
    """Every claim can fail."""
    changed = judge(change(as_published, table, method, by), [key])
    assert changed["holds"][key] < judge(as_published, [key])["holds"][key]
    assert changed["verdict"][key] == "not reproduced"


@pytest.mark.parametrize(
    ("key", "method", "slope"),
    [("synthetic-gain-grows", "VP-B+S", -100), ("synthetic-lbe-falls", "LBE+S (released)", 100)],
)
def test_another_slope_is_noticed(as_published, key, method, slope):
    """The claims that a shift of all figures leaves alone."""
    steeper = (as_published["method"] == method) * slope * as_published["label_frequency"]
    changed = judge(as_published.assign(ours=as_published["ours"] + steeper), [key])
    assert changed["holds"].item() == 0 and changed["verdict"].item() == "not reproduced"


def test_claims_name_their_tables_and_sections():
    """Keys are unique, tables exist, and so do the sections that show the figures."""
    for claim in CLAIMS:
        name, anchor = claim.where.split("#")
        text = (NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8")
        headings = re.findall(r'"##+ ([^"]*?)(?:\\n)?"', text)
        assert anchor in {re.sub(r"[^a-z0-9]+", "-", h.lower()).strip("-") for h in headings}
    assert len({claim.key for claim in CLAIMS}) == len(CLAIMS)
    assert {claim.table for claim in CLAIMS} <= set(claims.SOURCES)
    assert "reproduced in part" in claims.RULE


@pytest.mark.parametrize(
    ("key", "module", "name", "wrong"),
    [
        ("theorem-rule", rules, "augmented_rule", lambda y, s, labelled: y > 0.5),
        ("theorem-odds", rules, "augmented_odds", lambda y, s: y / (1 - y)),
        ("example-2", rules, "augmented_posterior", lambda y, s: y),
    ],
)
def test_wrong_mathematics_is_noticed(published_only, monkeypatch, key, module, name, wrong):
    """With another formula in its place the claim does not hold."""
    monkeypatch.setattr(module, name, wrong)
    assert judge(published_only, [key])["verdict"].item() == "not reproduced"


@pytest.mark.parametrize("key", ["theorem-bounds", "example-1"])
def test_wrong_excess_risk_is_noticed(published_only, monkeypatch, key):
    """One more is too much for bounds and closed form alike."""
    right = risk.excess_risk

    def wrong(*given):
        return (found := right(*given))._replace(total=found.total + 1)

    monkeypatch.setattr(risk, "excess_risk", wrong)
    assert judge(published_only, [key])["verdict"].item() == "not reproduced"


FIGURE_2_CLAIMS = ["golden-few", "golden-negative", "extreme-y"]


@pytest.mark.parametrize(
    ("y", "s", "positive", "expected"),
    [
        ([0.01] * 19 + [0.6], [0] * 19 + [0.5], [0] * 20, ["reproduced"] * 3),
        ([0.6] * 20, [0.5] * 20, [1] * 20, ["not reproduced"] * 3),
    ],
)
def test_figure_2_is_judged_from_estimates(published_only, y, s, positive, expected):
    """Few rows in the golden area, negative, and extreme y; or the contrary."""
    estimates = pd.DataFrame({"class": positive, "labelled": 0, "y": y, "s": s})
    labelled = estimates.iloc[:5].assign(labelled=1)
    judged = judge(published_only, FIGURE_2_CLAIMS, pd.concat([estimates, labelled]))
    assert judged["verdict"].tolist() == expected
    assert len(golden_area(pd.concat([estimates, labelled]))) == 20


def test_scoreboard_has_a_row_per_claim(as_published):
    """Readable by people and programs: no cell is empty."""
    table = scoreboard(judge(as_published))
    assert list(table) == ["claim", "table", "verdict", "rule", "evidence"]
    assert len(table) == len(CLAIMS) and table.notna().all(axis=None)
    assert set(table["verdict"]) <= set(rendering.SYMBOLS)
    assert table["evidence"].str.contains("published: in").sum() == 24
    assert table["evidence"].str.contains("does not bear it out").sum() == 2


def test_scoreboard_command_reads_the_results(tmp_path, capsys):
    """Without results: mathematics alone."""
    assert main(["scoreboard", "--results", str(tmp_path)]) == 0
    written = pd.read_csv(tmp_path / "scoreboard.csv")
    assert written["verdict"].value_counts().to_dict() == {"not run": 27, "reproduced": 5}
    assert "not run" in capsys.readouterr().out
