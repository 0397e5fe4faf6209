"""Claims are judged from numbers, by one rule, and a changed number changes the answer."""

import numpy as np
import pandas as pd
import pytest
from published_numbers import recorded_as_published

from pu_utils.__main__ import main
from pu_utils.reproduction import (
    claims,
    compare,
    golden_area,
    judge,
    numbers,
    read_results,
    sign_test,
)
from pu_utils.reproduction.results import DECISION, METRICS

NOTHING = read_results("a folder that is not there")


@pytest.fixture(scope="module")
def as_published():
    """Results of ours that are the published numbers, in both readings."""
    both = [recorded_as_published(family=family) for family in ("vae_pu", "replay")]
    return pd.concat(both).drop_duplicates(DECISION, ignore_index=True)


def raised(results, by):
    """Results with every metric raised, by one number or by one for each row."""
    return results.assign(**{metric: results[metric] + by for metric in METRICS})


@pytest.mark.parametrize(
    ("holds", "run", "total", "answer"),
    [(3, 4, 4, "yes"), (2, 3, 3, "in part"), (2, 4, 4, "in part"), (1, 3, 3, "no"),
     (3, 3, 4, "yes"), (2, 2, 3, "in part"), (0, 0, 5, "not run")],
)  # fmt: skip
def test_counts_follow_the_rule(holds, run, total, answer):
    """Three quarters of all cases, half of those run, none."""
    assert claims._counted(holds, run, total)[0] == answer


@pytest.mark.parametrize(
    ("ahead", "behind", "open_", "total", "answer"),
    [(3, 0, 1, 4, "yes"), (1, 2, 1, 4, "no"), (1, 0, 3, 4, "open"), (2, 1, 1, 4, "in part"),
     (3, 0, 0, 12, "in part"), (0, 0, 0, 4, "not run")],
)  # fmt: skip
def test_paired_cases_may_stay_open(ahead, behind, open_, total, answer):
    """Significant cases count, the reverse counts against, few decided ones decide nothing."""
    sides = ["ahead"] * ahead + ["behind"] * behind + ["open"] * open_
    assert claims._decided(pd.Series(sides, dtype=str), total)[0] == answer


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (("yes", "yes", "no"), "holds"),
        (("no", "yes", "yes"), "not borne out by the paper"),
        (("yes", "no", "yes"), "holds only as the program compares"),
        (("yes", "no", "not run"), "does not hold"),
        (("yes", "open", "in part"), "cannot be told"),
        (("yes", "not run", "not run"), "not run"),
    ],
)
def test_verdict_weighs_the_three_answers(answers, expected):
    """The paper's own numbers first, then ours, and the replay where ours say otherwise."""
    assert claims.verdict(*answers) == expected


def test_published_numbers_judge_themselves(as_published):
    """Where ours are the published numbers, both readings answer as the paper's tables do.

    But for differences of exactly 0, or of exactly a margin, which no test finds.
    """
    judged = judge(as_published)
    assert list(judged.index) == list(claims.read_claims().index)
    same = judged[judged["table"] != "figure2"].drop("true-y-is-enough")
    assert (same["clean"] == same["published"]).all() and (same["replay"] == same["clean"]).all()
    refuted = same.index[same["verdict"] == "not borne out by the paper"]
    assert set(refuted) == {"traditional-margin", "real-dependence-on-c", "balanced-synthetic"}


def test_published_sign_tests():
    """The synthetic p-value is the printed one; the real one follows from the printed table."""
    tables = compare(NOTHING)
    test = sign_test(numbers(tables, "table4", "published"), "VP-B+S", "VP-B")
    assert (test.wins, test.cells) == (22, 24)
    assert test.p_value == pytest.approx(1.8e-5, rel=0.01)
    assert sign_test(numbers(tables, "table5", "published"), "VP-B+S", "VP-B").wins == 32


def test_sign_test_leaves_out_ties_and_gaps():
    """Neither is a toss of the coin; no toss, no p-value."""
    table = pd.DataFrame({"a": [1, 2, np.nan, 5], "b": [1, 1, 1, 6]})
    assert sign_test(table, "a", "b")[:2] == (1, 2)
    assert np.isnan(sign_test(table.iloc[:1], "a", "b").p_value)


CHANGES = {  # of a decision, by how many points
    "traditional-best": ("VP-B", -50), "traditional-margin": ("VP-IF", 50),
    "traditional-rare-labels": ("VP-B", 50), "traditional-many-labels": ("VP", 50),
    "synthetic-low-c": ("VP+S", 50), "synthetic-lbe-low-c": ("LBE+S (released)", 50),
    "synthetic-lbe-overtakes": ("VP-B+S", 50), "synthetic-vp-at-0.9": ("VP+S", -50),
    "synthetic-vp-elsewhere": ("VP+S", 50), "prophets-agree": ("S-Prophet", 50),
    "prophets-part": ("Y-Prophet", 50), "precision-outweighs-recall": ("VP-B", 50),
    "synthetic-rule": ("VP-B", 50), "synthetic-sign-test": ("VP-B", 50),
    "synthetic-gain-small": ("VP-B+S", 50), "y-holds-back": ("VP-B+S + true y(x)", -80),
    "true-y-is-enough": ("S-Prophet", 50), "real-best": ("LBE+S (released)", 50),
    "real-cdc": ("VP-B+S", 50), "real-rule": ("VP-B+S", -50), "real-sign-test": ("VP-B+S", -50),
    "real-gain-small": ("VP-B+S", 50), "balanced-synthetic": ("VP-B+S", -50),
    "balanced-real": ("VP-B+S", -50),
}  # fmt: skip


@pytest.mark.parametrize("key", CHANGES)
def test_a_changed_result_changes_the_answer(as_published, key):
    """Every claim can fail, in the clean reading, whatever the replay says."""
    decision, by = CHANGES[key]
    changed = raised(as_published, by / 100 * (as_published["decision"] == decision))
    assert judge(changed, [key])["clean"].item() == "no"


@pytest.mark.parametrize(
    ("key", "decision", "slope", "answer"),
    [
        ("synthetic-gain-grows", "VP-B+S", -100, "no"),
        ("synthetic-lbe-falls", "LBE+S (released)", 100, "no"),
        ("real-dependence-on-c", "VP-B", 500, "yes"),
    ],
)
def test_another_slope_is_noticed(as_published, key, decision, slope, answer):
    """The claims that a shift of all numbers leaves alone."""
    steeper = slope / 100 * as_published["label_frequency"] * (as_published["decision"] == decision)
    assert judge(raised(as_published, steeper), [key])["clean"].item() == answer


@pytest.mark.parametrize(("noise", "answer"), [(0.001, "yes"), (0.05, "open")])
def test_methods_are_equivalent_only_if_enough_seeds_say_so(noise, answer):
    """A difference of 0 is not found to lie within half a point where seeds vary by more."""
    results = recorded_as_published(seeds=5)
    told = results["decision"].isin(["S-Prophet", "VP-B+S + true y(x)"])
    drawn = np.random.default_rng(0).normal(0.6, noise, len(results))
    changed = results.assign(u_accuracy=results["u_accuracy"].mask(told, drawn))
    assert judge(changed, ["true-y-is-enough"])["clean"].item() == answer


@pytest.mark.parametrize(
    ("y", "s", "positive", "expected"),
    [
        ([0.01] * 19 + [0.6], [0] * 19 + [0.5], [0] * 20, "holds"),
        ([0.6] * 20, [0.5] * 20, [1] * 20, "does not hold"),
    ],
)
def test_figure_2_is_judged_from_estimates(y, s, positive, expected):
    """Few rows in the golden area, negative, and extreme y; or the contrary."""
    estimates = pd.DataFrame({"class": positive, "labelled": 0, "y": y, "s": s})
    estimates = pd.concat([estimates, estimates.iloc[:5].assign(labelled=1)])
    judged = judge(NOTHING, ["golden-few", "golden-negative", "extreme-y"], estimates)
    assert set(judged["verdict"]) == {expected}
    assert len(golden_area(estimates)) == 20


def test_scoreboard_command_reads_the_results(tmp_path, capsys):
    """Without results: what the paper's own numbers refute."""
    assert main(["scoreboard", "--results", str(tmp_path)]) == 0
    verdicts = pd.read_csv(tmp_path / "scoreboard.csv")["verdict"].value_counts()
    assert verdicts.to_dict() == {"not run": 27, "not borne out by the paper": 3}
    assert "not run" in capsys.readouterr().out
