"""Checking by hand: the sample, the exact intervals, and what they are worth."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from pu_utils.own_data import audit
from tests.own_data.conftest import PRIOR, make_people


def make_ranking(rng, called=300, others=2000, precision=0.6, missed=0.08):
    """A ranking of which some rows are called, and the truth about each."""
    decision = np.repeat([1, 0], [called, others])
    truth = rng.random(called + others) < np.where(decision == 1, precision, missed)
    scores = np.sort(rng.random(called + others))[::-1]
    names = np.char.add("p", np.arange(called + others).astype(str))
    ranked = pd.DataFrame({"id": names, "augmented": scores, "decision": decision})
    return ranked, truth


@pytest.mark.parametrize(("positive", "checked"), [(0, 50), (7, 50), (25, 50), (50, 50)])
def test_intervals_become_clopper_and_pearson(positive, checked):
    """In a table much larger than the sample, the interval is that of the binomial."""
    size = 10_000_000
    low, high = np.array(audit.exact_interval(positive, checked, size)) / size
    expected = (
        beta.ppf(0.025, positive, checked - positive + 1) if positive else 0,
        beta.ppf(0.975, positive + 1, checked - positive) if positive < checked else 1,
    )
    # rows are whole, and fifty of ten million are known: 1e-5 is more than both
    assert np.allclose((low, high), expected, atol=1e-5)


def test_all_rows_checked_leave_no_doubt():
    """The interval is the count; with none checked it is everything."""
    assert audit.exact_interval(3, 10, 10) == (3, 3)
    assert audit.exact_interval(0, 0, 10) == (0, 10)


@pytest.mark.parametrize("size", [60, 1000, 100_000])
@pytest.mark.parametrize("width", [0.1, 0.3])
def test_as_many_checks_as_needed(size, width):
    """So many give the width whatever is found, and some fewer do not.

    Of more than a hundred the widest, those around the middle, are all tried, and a hundred others.
    """
    needed = audit.checks_needed(size, width)
    found = {*range(0, needed + 1, 1 + needed // 100), *range(needed // 2 - 20, needed // 2 + 21)}
    found = [k for k in found if 0 <= k <= needed]
    widths = [np.ptp(audit.exact_interval(k, needed, size)) / size for k in found]
    # rows are whole numbers: in a small table the worst count can be one row off the middle
    assert max(widths) <= width + 2 / size
    fewer = needed - max(3, needed // 20)
    assert np.ptp(audit.exact_interval(fewer // 2, fewer, size)) / size > width


def test_intervals_cover_the_truth():
    """Of 1,000 audits at 95% at least 940 cover precision, and hidden positives, and prior.

    Were the coverage only 94%, half of all seeds would fail; it is 95% or more by construction, of
    which 1,000 audits show 94% or less once in fourteen at the worst, and the intervals of whole
    numbers are wider than that: three seeds give 964 to 968 for precision and 994 or more for the
    others, for which two intervals are added up.
    """
    rng = np.random.default_rng(0)
    covered = dict.fromkeys(("precision", "hidden", "prior"), 0)
    for seed in range(1000):
        ranked, truth = make_ranking(rng, 300, 2000, rng.uniform(0.1, 0.9), rng.uniform(0, 0.2))
        sample = audit.draw(ranked, {1: 60, 0: 80}, seed)
        answers = np.where(ranked["id"].isin(sample["id"]), truth, np.nan)
        verdict = audit.judge(ranked, answers, labelled=200)
        hidden = truth.sum()
        truths = {"precision": truth[:300].mean(), "hidden": hidden, "prior": (200 + hidden) / 2500}
        for name, value in truths.items():
            low, high = verdict[name]
            covered[name] += low - 1e-12 <= value <= high + 1e-12
    assert min(covered.values()) >= 940, covered


def test_the_sample_is_random_seeded_and_blind():
    """The same seed draws the same rows, more of them hold the fewer, decisions are hidden."""
    ranked, _ = make_ranking(np.random.default_rng(0))
    small, large = (audit.draw(ranked, {1: n, 0: n}, seed=3) for n in (20, 40))
    assert list(small) == ["id", "answer"] and (small["answer"] == "").all()
    assert set(small["id"]) < set(large["id"])
    pd.testing.assert_frame_equal(small, audit.draw(ranked, {1: 20, 0: 20}, seed=3))
    assert set(small["id"]) != set(audit.draw(ranked, {1: 20, 0: 20}, seed=4)["id"])
    decision = small.merge(ranked, on="id")["decision"]
    assert decision.sum() == 20 and decision.head(20).nunique() == 2


def test_rows_without_an_answer_widen_the_interval():
    """They count as negative for the lower end, as positive for the upper."""
    ranked, truth = make_ranking(np.random.default_rng(0))
    answers = np.full(len(ranked), np.nan)
    answers[:50] = truth[:50]
    full = audit.judge(ranked, answers, 0)["precision"]
    answers[:10] = 0.5
    low, high = audit.judge(ranked, answers, 0)["precision"]
    negative, positive = answers.copy(), answers.copy()
    negative[:10], positive[:10] = 0, 1
    assert low == audit.judge(ranked, negative, 0)["precision"][0] <= full[0]
    assert high == audit.judge(ranked, positive, 0)["precision"][1] >= full[1]


def test_recalibration_finds_the_truth():
    """Scores twice too steep and shifted become probabilities again, in the same order."""
    rng = np.random.default_rng(0)
    logits = rng.normal(-1, 1, 20_000)
    truth = rng.random(20_000) < 1 / (1 + np.exp(-logits))
    wrong = 1 / (1 + np.exp(-(2 * logits + 1.5)))
    ranked = pd.DataFrame({"id": np.arange(20_000), "augmented": wrong})
    ranked["decision"] = (wrong > 0.5).astype(int)
    sample = audit.draw(ranked, {1: 1000, 0: 1000}, 0)
    answers = np.where(ranked["id"].isin(sample["id"]), truth, np.nan)
    right = audit.recalibration(ranked, answers)(wrong)
    # the mean of 2,000 answers, in two strata, is good to about .01; 3 of these
    assert abs(right.mean() - truth.mean()) < 0.03 < abs(wrong.mean() - truth.mean())
    assert (np.argsort(right) == np.argsort(wrong)).mean() > 0.99


def test_a_ranking_that_is_upside_down_is_not_recalibrated():
    """Where high scores hold fewer positives than low ones, the error says to stop."""
    ranked, _ = make_ranking(np.random.default_rng(0))
    with pytest.raises(ValueError, match="do not use the ranking"):
        audit.recalibration(ranked, (ranked["augmented"] < 0.5).to_numpy(float))


def test_an_audit_from_beginning_to_end(rank):
    """Rows drawn, answered as the truth has it, handed in: the intervals hold the truth."""
    people, y = make_people()
    options = ("--method", "upu", "--prior", PRIOR)
    drawn = rank(people, *options, "--audit-sample", "check.csv", "--audit-width", 0.3)
    called = int(drawn.ranked["decision"].sum())
    checks = pd.read_csv("check.csv", dtype=str)
    needed = audit.plan(drawn.ranked, 0.3)
    assert len(checks) == needed[1] + needed[0]
    assert needed == {1: audit.checks_needed(called, 0.3),
                      0: audit.checks_needed(len(drawn.ranked) - called, 0.3)}  # fmt: skip
    checks["answer"] = np.where(y[checks["id"].astype(int)], "Yes", "no")
    checks.to_csv("checked.csv", index=False)
    result = rank(people, *options, "--audit", "checked.csv", "--recalibrate")
    assert result.status == 0, result.err
    hidden = int(y[(people["found"] == "").to_numpy()].sum())
    low, high = map(
        float, result.out.split("audit: hidden between ")[1].split(" (")[0].split(" and ")
    )
    assert low <= hidden <= high
    assert "What the audit found: exact 95% intervals" in result.report
    assert not np.allclose(result.ranked["augmented"], drawn.ranked["augmented"])
    expected = result.ranked["s"] + (1 - result.ranked["s"]) * result.ranked["augmented"]
    assert np.allclose(result.ranked["y"], expected, atol=1e-4)
