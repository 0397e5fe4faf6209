"""Risks and the exact decomposition of the excess risk, against enumeration and the bounds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pu_utils.risk import (
    augmented_bayes_risk,
    bayes_risk,
    excess_risk,
    population_posteriors,
    random_population,
)
from pu_utils.rules import augmented_posterior

probability = st.fractions(0, 1, max_denominator=60)


@st.composite
def distributions(draw, max_points=4):
    """A finite distribution of X with posteriors y and s, in rational numbers."""
    n = draw(st.integers(1, max_points))
    y = np.array([draw(probability) for _ in range(n)])
    e = np.array([draw(probability) for _ in range(n)])
    mass = np.array([Fraction(draw(st.integers(1, 9))) for _ in range(n)])
    return y, e * y, mass / mass.sum()


@given(distributions())
def test_excess_risk_decomposes_exactly(distribution):
    """The two parts add up to the total, to the last digit."""
    risk = excess_risk(*distribution)
    assert risk.label_part + risk.threshold_part == risk.total


@given(distributions())
def test_bounds_of_theorem_1(distribution):
    """Theorem 1 (iii): lower <= total <= upper, and the label part is at least the lower bound."""
    risk = excess_risk(*distribution)
    assert 0 <= risk.lower <= risk.label_part <= risk.total <= risk.upper


@given(distributions())
def test_two_forms_of_the_augmented_risk(distribution):
    """E (1-s) min(ytilde, 1-ytilde) and (P(S=0) - E|w|)/2 are the same number."""
    y, s, weights = distribution
    posterior = augmented_posterior(y, s)
    by_posterior = (weights * (1 - s) * np.minimum(posterior, 1 - posterior)).sum()
    by_w = ((weights * (1 - s)).sum() - (weights * abs(1 + s - 2 * y)).sum()) / 2
    assert augmented_bayes_risk(y, s, weights) == by_posterior == by_w


@given(distributions(max_points=3))
def test_no_rule_beats_the_augmented_bayes_risk(distribution):
    """Every decision rule on (x, s), enumerated, errs at least as often."""
    y, s, weights = distribution
    errors = []
    for decision in product([0, 1], repeat=2 * len(y)):
        unlabelled, labelled = np.array(decision[: len(y)]), np.array(decision[len(y) :])
        wrong = unlabelled * (1 - y) + (1 - unlabelled) * (y - s) + (1 - labelled) * s
        errors.append((weights * wrong).sum())
    assert min(errors) == augmented_bayes_risk(y, s, weights)


def test_lower_bound_is_attained_without_mass_between_the_thresholds():
    """With y outside (1/2, (1+s)/2) the threshold part is 0 and the label part is everything."""
    risk = excess_risk([0.2, 0.95], [0.1, 0.5])
    assert risk.threshold_part == 0
    assert risk.total == pytest.approx(risk.lower)


def test_parts_and_bound_at_and_below_one_half():
    """At y = 1/2 the x-only rule says 0: its loss is a label's; the lower bound counts y < 1/2."""
    tie = excess_risk([0.5], [0.25])
    assert (tie.label_part, tie.threshold_part, tie.lower) == (0.25, 0, 0)
    below = excess_risk([0.4], [0.25])
    assert (below.label_part, below.threshold_part, below.lower) == (0.25, 0, 0.25)


def test_sample_is_an_average():
    """Without weights every row counts alike."""
    y, s = np.array([0.2, 0.6, 0.9]), np.array([0.1, 0.5, 0.3])
    assert excess_risk(y, s) == pytest.approx(excess_risk(y, s, np.full(3, 1 / 3)))
    assert bayes_risk(0.3) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.4], r"weights sum to 0\.9.*divide"),
        ([1.5, -0.5], r"weights holds 1\.5"),
        ([np.nan, 1.0], "weights sum to nan"),
        ([1.0], r"y, weights have the shapes"),
    ],
)
def test_bad_weights(weights, message):
    """Weights that are not a distribution over the points are named."""
    with pytest.raises(ValueError, match=message):
        bayes_risk([0.1, 0.2], weights)


def test_bad_posteriors():
    """The risk functions check y and s like the rules do."""
    with pytest.raises(ValueError, match="exceeds y"):
        excess_risk([0.1], [0.2])


# Small populations for exact checks


def test_posteriors_of_a_population_count_its_people():
    """Weighted back, the exact fractions are the counts."""
    generator = np.random.default_rng(0)
    for _ in range(50):
        counts = random_population(generator)
        y, s, weights = population_posteriors(counts)
        people = int(counts.sum())
        assert (y * weights * people == counts[:, 0] + counts[:, 1]).all()
        assert (s * weights * people == counts[:, 0]).all()
        assert weights.sum() == 1 and all(isinstance(value, Fraction) for value in (*y, *s))


def test_random_populations_have_every_edge():
    """Ties, values without labels, with every positive labelled, and with nobody all come up."""
    generator = np.random.default_rng(1)
    rows = np.vstack([random_population(generator) for _ in range(100)])
    labelled, silent, negative = rows[rows.any(axis=1)].T
    assert (rows >= 0).all() and 0 < (~rows.any(axis=1)).sum() < len(rows) / 4
    for edge in (silent == negative, labelled + silent == negative, labelled == 0, silent == 0):
        assert 0.05 < edge.mean() < 0.5
