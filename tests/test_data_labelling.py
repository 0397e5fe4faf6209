"""The three labelling mechanisms, on data of a user's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pu_utils.data import labelling
from pu_utils.data.labelling import (
    label_by_propensity,
    label_by_weight,
    label_top_fraction,
    logistic_propensity,
)

Y = np.tile([1, 1, 0], 200)
SCORE = np.random.default_rng(1).normal(size=Y.size)
frequencies = st.floats(0.01, 1)


@given(c=frequencies, seed=st.integers(0, 100))
def test_only_positives_are_labelled(c, seed):
    """Whatever the mechanism and the frequency, s = 1 only where y = 1."""
    rng = np.random.default_rng(seed)
    for s in (
        label_by_propensity(Y, np.maximum(c, 0.1), rng),
        label_top_fraction(Y, SCORE, c),
        label_by_weight(Y, np.exp(SCORE), c, rng),
    ):
        assert s.dtype == np.int8
        assert np.all(s <= Y)


@given(c=frequencies)
def test_counts_are_the_whole_part_of_c_n(c):
    """Top fraction and weighted sample label exactly int(c n) of the positives."""
    expected = int(c * Y.sum() + 1e-9)
    assert label_top_fraction(Y, SCORE, c).sum() == expected
    assert label_by_weight(Y, np.exp(SCORE), c, np.random.default_rng(0)).sum() == expected


def test_count_survives_rounding():
    """0.29 of 100 rows is 29 rows although 0.29 * 100 is a little less in floating point."""
    assert label_top_fraction(np.ones(100), np.arange(100), 0.29).sum() == 29


def test_top_fraction_takes_the_largest_of_each_class():
    """Within each class every labelled score is above every unlabelled one."""
    classes = np.arange(Y.size) % 5
    s = label_top_fraction(Y, SCORE, 0.3, classes)
    for k in range(5):
        rows = (Y == 1) & (classes == k)
        assert s[rows].sum() == int(0.3 * rows.sum())
        assert SCORE[rows & (s == 1)].min() > SCORE[rows & (s == 0)].max()


def test_propensity_is_the_frequency_of_being_labelled():
    """Over 100,000 rows shares agree with the propensity to 4 standard errors."""
    propensity = np.repeat([0.1, 0.5, 0.9], 100_000)
    s = label_by_propensity(np.ones(300_000), propensity, np.random.default_rng(0))
    error = np.sqrt(propensity * (1 - propensity) / 100_000)[::100_000]
    assert np.all(np.abs(s.reshape(3, -1).mean(axis=1) - [0.1, 0.5, 0.9]) < 4 * error)


def test_weighted_sample_is_drawn_one_after_the_other():
    """Two of weights 1, 2, 3: the lightest is among them with probability 5/12."""
    # 1/6 + 2/6 * 1/4 + 3/6 * 1/3 = 5/12; 4 standard errors of 10,000 repetitions
    rng = np.random.default_rng(0)
    hits = sum(int(label_by_weight([1, 1, 1], [1, 2, 3], 2 / 3, rng)[0]) for _ in range(10_000))
    assert abs(hits / 10_000 - 5 / 12) < 4 * np.sqrt(5 / 12 * 7 / 12 / 10_000)


@given(c=st.floats(0.001, 0.999), power=st.sampled_from([1, 10]))
def test_logistic_propensity_meets_the_label_frequency(c, power):
    """The mean propensity of the positives is the label frequency to 1e-6."""
    propensity = logistic_propensity(Y, SCORE, c, power)
    assert propensity[Y == 1].mean() == pytest.approx(c, abs=1e-6)
    order = np.argsort(SCORE)
    assert np.all(np.diff(propensity[order]) >= 0)


@pytest.mark.parametrize("c", [0, -0.1, 1.01, float("nan"), 50])
def test_label_frequency_out_of_range(c):
    """A label frequency outside (0, 1] is named with its range."""
    rng = np.random.default_rng(0)
    for call in (
        lambda: label_top_fraction(Y, SCORE, c),
        lambda: label_by_weight(Y, np.exp(SCORE), c, rng),
        lambda: logistic_propensity(Y, SCORE, c),
        lambda: labelling.check_label_frequency(c),
    ):
        with pytest.raises(ValueError, match=r"label_frequency is .*\(0, 1\]"):
            call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rng: label_top_fraction([1, 0], [1, 2], 0.1), "no row was labelled"),
        (lambda rng: label_by_weight([1, 0], [1, 2], 0.1, rng), "no row was labelled"),
        (lambda rng: label_by_propensity([1, 0], [0.0, 1.0], rng), "no row was labelled"),
        (lambda rng: logistic_propensity([0, 0], [1, 2], 0.1), "no positive row"),
        (lambda rng: label_by_propensity([1, 0], [1.2, 0.1], rng), "propensity holds a value"),
        (
            lambda rng: label_by_propensity([1, 0], [0.1], rng),
            "finite number for each",
        ),
        (lambda rng: label_top_fraction([1, 2], [1, 2], 0.5), "y must be"),
        (lambda rng: label_top_fraction([1, 1], [1, np.nan], 0.5), "score must be a finite"),
        (
            lambda rng: label_top_fraction([1, 1], [1], 0.5),
            "finite number for each",
        ),
        (lambda rng: label_by_weight([1, 1], [-1, 1], 0.5, rng), "weight must be"),
        (lambda rng: label_by_weight([1, 1], [0, 1], 1, rng), "weight must be"),
    ],
)
def test_bad_input_is_named(call, message):
    """No labelled row, and arguments that do not fit, are errors that say the remedy."""
    with pytest.raises(ValueError, match=message):
        call(np.random.default_rng(0))
