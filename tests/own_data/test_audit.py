"""Rows checked by hand: drawn with known chances, judged for any list."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta

from pu_utils.own_data import draw_audit, judge_audit


def make_list(rng, n=2000, first=300, precision=0.6, missed=0.08):
    """A list whose first rows are positive more often than the others, and the truth."""
    truth = rng.random(n) < np.where(np.arange(n) < first, precision, missed)
    return pd.DataFrame({"id": np.char.add("p", np.arange(n).astype(str))}), truth


def answered(sample, truth):
    """The sample as somebody who knows the truth fills it in."""
    rows = sample["id"].str[1:].astype(int)
    return sample.assign(answer=np.where(truth[rows], "yes", "no"))


def test_the_sample_is_random_seeded_and_blind():
    """Half of it from the list, in any order, with the chances; no decision is shown."""
    listed, _ = make_list(np.random.default_rng(0))
    sample = draw_audit(listed, 100, first=300, seed=3)
    assert list(sample) == ["id", "chance", "answer"] and (sample["answer"] == "").all()
    place = sample["id"].str[1:].astype(int)
    assert (place < 300).sum() == 50 and (place.head(50) < 300).sum() < 50
    assert np.allclose(sample["chance"], np.where(place < 300, 50 / 300, 50 / 1700))
    pd.testing.assert_frame_equal(sample, draw_audit(listed, 100, first=300, seed=3))
    assert set(sample["id"]) != set(draw_audit(listed, 100, first=300, seed=4)["id"])


@pytest.mark.parametrize("positive", [0, 7, 50])
def test_equal_chances_give_clopper_and_pearson(positive):
    """Within the list the sample is simple, and the interval exact."""
    listed, _ = make_list(np.random.default_rng(0))
    sample = draw_audit(listed, 100, first=300)
    on_list = sample["id"].str[1:].astype(int) < 300
    answers = np.where(on_list.cumsum() <= positive, "yes", "no")
    found = judge_audit(listed, sample.assign(answer=answers), first=300).loc["list"]
    low = beta.ppf(0.025, positive, 51 - positive) if positive else 0
    high = beta.ppf(0.975, positive + 1, 50 - positive) if positive < 50 else 1
    assert found["least"] == pytest.approx(300 * low, abs=0.06)  # one digit is given
    assert found["most"] == pytest.approx(300 * high, abs=0.06)


def test_intervals_cover_the_truth_of_this_list_and_of_another():
    """Of 200 audits at 95% at least 92% do, for a list that came after the audit too.

    At exactly 95% the standard error is 1.5 points, but Clopper and Pearson's are wider than that.
    """
    rng, covered = np.random.default_rng(0), []
    for seed in range(200):
        listed, truth = make_list(rng, precision=rng.uniform(0.2, 0.9), missed=rng.uniform(0, 0.2))
        checked = answered(draw_audit(listed, 120, first=300, seed=seed), truth)
        order = np.argsort(
            np.arange(2000) + rng.normal(0, 200, 2000)
        )  # another model, another list
        for rows, first in ((np.arange(2000), 300), (order, 150)):
            found = judge_audit(listed.iloc[rows], checked, first)
            truths = [truth[rows][:first].sum(), truth.sum()]
            covered.append((found["least"] - 0.1 <= truths) & (truths <= found["most"] + 0.1))
    assert (np.mean(covered, axis=0) >= 0.92).all(), np.mean(covered, axis=0)


def test_rows_without_an_answer_widen_the_interval():
    """They count as no at the lower end and as yes at the upper."""
    listed, truth = make_list(np.random.default_rng(0))
    checked = answered(draw_audit(listed, 100, first=300), truth)
    blank = checked.assign(answer=checked["answer"].where(np.arange(100) >= 20, ""))
    full, wide = (judge_audit(listed, some, 300) for some in (checked, blank))
    assert (wide["least"] < full["least"]).all() and (full["most"] < wide["most"]).all()


@pytest.mark.parametrize(
    "change", [{"id": "nobody"}, {"answer": "perhaps"}, {"chance": 0.0}, {"chance": np.nan}]
)
def test_answers_that_cannot_be(change):
    """A row of another list, another word, a chance that is none: an error shows it."""
    listed, truth = make_list(np.random.default_rng(0))
    checked = answered(draw_audit(listed, 100, first=300), truth)
    for name, value in change.items():
        checked.loc[5, name] = value
    with pytest.raises(ValueError, match="no row of the list"):
        judge_audit(listed, checked, 300)
