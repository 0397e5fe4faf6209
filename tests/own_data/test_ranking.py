"""The list, what is promised of it, and what to beware of."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from pu_utils import own_data
from pu_utils.metrics import u_auc
from pu_utils.own_data import rank_table
from tests.own_data.conftest import PRIOR, make_people


def make_biased(n=1000, seed=0, interaction=True):
    """Classes that an interaction makes, labels that hang on another column; and the truth."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)).round(3), columns=list("abcdef"))
    effect = np.sign(X["a"] * X["b"]) * 4 if interaction else 3 * X["a"]
    y = rng.random(n) < expit(effect - 1)
    s = y & (rng.random(n) < expit(2.5 * X["c"]))
    return X.assign(found=s.astype(int)), y


def auc(ranking, y):
    """Of the list, whose index says which rows it has."""
    truth = y[ranking.list.index].astype(int)
    return u_auc(truth, -np.arange(len(truth), dtype=float), np.zeros(len(truth), int))


def test_a_frame_becomes_a_list():
    """Order, decisions, probabilities, reasons: all there, and better than a list by lot."""
    people, y = make_people()
    ranking = rank_table(people, "found", PRIOR, id="person_id")
    listed = ranking.list
    assert list(listed) == ["person_id", "decision", "probability", "chance_of_label", "why"]
    assert (listed["decision"] == (listed["probability"] > 0.5)).all()
    assert (
        listed[["probability", "chance_of_label"]].apply(lambda p: p.between(0, 1)).all(axis=None)
    )
    assert auc(ranking, y) > 0.7  # by lot 1/2, with a standard error of .03
    top = listed["why"].iloc[0]
    assert top.count("(+)") >= 2 and len(top.split(", ")) == 3


def test_a_budget_calls_the_first(linear):
    """So many and no others."""
    people, _ = make_people()
    decision = rank_table(people, "found", PRIOR, budget=7).list["decision"]
    assert decision.tolist() == [1] * 7 + [0] * (len(decision) - 7)


def test_interactions_are_seen(monkeypatch):
    """Trees are chosen where a linear model is lost; so it was before there were any."""
    table, y = make_biased()
    ranking = rank_table(table, "found", y.mean())
    assert ranking.candidates["log-likelihood"].idxmax()[0] != "linear"
    monkeypatch.setattr(own_data, "CLASS_MODELS", {"linear": "logistic"})
    assert auc(ranking, y) > auc(rank_table(table, "found", y.mean()), y) + 0.1


def test_wrong_propensity_columns_do_not_wreck_the_list(linear):
    """They make unseen labels less likely: it is said, and the list is that of the untold."""
    table, y = make_biased(interaction=False)
    untold = rank_table(table, "found", y.mean())
    wrong = rank_table(table, "found", y.mean(), propensity_columns=["a"])
    assert any("LESS likely" in text and "untold one" in text for text in wrong.remarks)
    pd.testing.assert_index_equal(wrong.list.index, untold.list.index)
    trusted = rank_table(table, "found", y.mean(), propensity_columns=["a"], trust_columns=True)
    assert auc(trusted, y) < auc(wrong, y) - 0.1
    right = rank_table(table, "found", y.mean(), propensity_columns=["c"])
    assert any("more likely" in text and "told one" in text for text in right.remarks)
    assert auc(right, y) > auc(untold, y)
    assert (
        right.list["why"].head(50).str.match(r"a \S+ \(\+\)").mean() > 0.9
    )  # what makes the class


def test_the_promise_is_a_range_that_holds_the_truth():
    """Over candidates, priors, told and untold, on tables of either kind; one may miss."""
    missed = 0
    for seed in range(4):
        table, y = make_biased(400, seed, interaction=seed % 2)
        ranking = rank_table(table, "found", y.mean(), propensity_columns=["c"] if seed > 1 else ())
        n, low, high = ranking.promise.loc["all"]
        truth = y[ranking.list.index[:100]].sum()
        warned = any(text.startswith("warning") for text in ranking.remarks)
        missed += not (low <= truth <= high or warned)
        assert 0 <= low < high <= n == 100
    assert missed <= 1


def test_the_range_moves_with_the_prior(linear):
    """Every scenario expects more of a higher prior."""
    people, _ = make_people()
    scenarios = rank_table(people, "found", PRIOR).scenarios
    assert (scenarios.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    assert np.allclose(scenarios.columns, [0.32, 0.4, 0.48])


def test_labels_that_nothing_tells_are_warned_of(linear):
    """A list drawn by lot does not come without a word."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600, 4)), columns=list("abcd"))
    table["found"] = (rng.random(600) < 0.2).astype(int)
    remarks = rank_table(table, "found", 0.4).remarks
    assert any(
        text.startswith("warning: labels are told apart with an AUC of 0") for text in remarks
    )
    table["known_later"] = table["found"] + rng.normal(size=600) / 100
    remarks = rank_table(table, "found", 0.4).remarks
    assert any("gives the label away" in text for text in remarks)


def test_calling_nobody_stands_beside_the_list(linear):
    """What it gets wrong, and the list, in rows."""
    people, _ = make_people()
    text = " ".join(rank_table(people, "found", PRIOR).remarks)
    hidden = round(PRIOR * 400) - (people["found"] == "yes").sum()
    assert f"Calling nobody positive is wrong for {hidden} rows" in text
    assert "Only an audit decides" in text


def test_groups(linear):
    """They share the rows of the list, and each has its own promise."""
    people, _ = make_people()
    ranking = rank_table(people.fillna({"school": "none"}), "found", PRIOR, by="school")
    promise = ranking.promise
    assert promise["rows"].iloc[1:].sum() == promise.loc["all", "rows"] == 100
    assert set(promise.index[1:]) <= {f"school {k}" for k in ("low", "middle", "high", "none")}
    assert (promise["least"] < promise["most"]).all()


def test_new_rows_are_ranked_in_the_same_run(linear):
    """By the model of the others, whether they have the label's column or not."""
    people, _ = make_people(600)
    first, new = people.head(400), people.tail(200)
    ranking = rank_table(first, "found", PRIOR, new=new.drop(columns="found"))
    assert sorted(ranking.list.index) == list(new.index)
    some = rank_table(first, "found", PRIOR, new=new)
    assert sorted(some.list.index) == list(new.index[new["found"] == ""])
    strange = new.assign(school="abroad", age="old")  # a level and words that nobody has seen
    assert len(rank_table(first, "found", PRIOR, new=strange).list) == len(some.list)


def test_more_rows_than_are_learnt_from(monkeypatch, linear):
    """All are ranked, by a seeded sample, in parts."""
    monkeypatch.setattr(own_data, "FIT_ROWS", 300)
    monkeypatch.setattr(own_data, "CHUNK", 70)
    people, _ = make_people(1000)
    lists = [rank_table(people, "found", PRIOR).list for _ in range(2)]
    pd.testing.assert_frame_equal(*lists)
    assert sorted(lists[0].index) == list(people.index[people["found"] == ""])


def test_fifty_columns_of_all_kinds(linear):
    """Numbers, categories, dates, texts and gaps in any number."""
    people, y = make_people(500)
    rng = np.random.default_rng(1)
    for k in range(15):
        people[f"number_{k}"] = rng.normal(size=500)
        people[f"category_{k}"] = rng.choice(list("abcdefgh"), 500)
        people[f"flag_{k}"] = pd.Series(rng.choice([True, False, None], 500))
    people["remark"] = [f"some words of {k % 97}" for k in range(500)]
    people["lists"] = [[1, 2]] * 500
    ranking = rank_table(people, "found", PRIOR)
    kinds = ranking.columns["read as"].value_counts()
    assert kinds["category"] >= 16 and kinds["number"] >= 17 and kinds["date"] == 1
    assert auc(ranking, y) > 0.55


@pytest.mark.parametrize("seed", [0, 1])
def test_a_list_is_the_same_every_time(seed, linear):
    """Whatever is drawn is seeded."""
    people, _ = make_people()
    lists = [rank_table(people, "found", PRIOR, seed=seed).list for _ in range(2)]
    pd.testing.assert_frame_equal(*lists)
