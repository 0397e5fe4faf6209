"""The identities of rules.py: exact round trips, equivalences of thresholds, edges, bad input."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from pu_utils.metrics import accuracy
from pu_utils.risk import bayes_risk
from pu_utils.rules import (
    augmented_odds,
    augmented_posterior,
    augmented_rule,
    augmented_threshold,
    label_posterior,
    naive_rule,
    odds_ratio,
    propensity,
    x_only_rule,
)

# Rational numbers make every identity exact: no tolerance hides a wrong sign near a threshold.
probability = st.fractions(0, 1, max_denominator=1000)
positive_probability = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)
positive_odds = st.fractions(Fraction(1, 100), 100, max_denominator=100)
label = st.sampled_from([0, 1])


# Round trips


@given(y=positive_probability, e=probability)
def test_propensity_inverts_label_posterior(y, e):
    """y, e -> s -> e is the identity wherever positives exist."""
    assert propensity(y, label_posterior(y, e)) == e


@given(y=probability, e=probability)
def test_label_posterior_inverts_propensity(y, e):
    """y, s -> e -> s is the identity everywhere."""
    s = label_posterior(y, e)
    assert label_posterior(y, propensity(y, s)) == s


@given(y=probability, e=probability)
def test_class_posterior_is_the_mixture_of_augmented_posteriors(y, e):
    """Total probability over S recovers y from the augmented posterior."""
    s = label_posterior(y, e)
    assert s * augmented_posterior(y, s, 1) + (1 - s) * augmented_posterior(y, s, 0) == y


@given(y=probability, e=probability)
def test_augmented_posterior_in_terms_of_propensity(y, e):
    """ytilde = y (1 - e) / (1 - y e), the second form of the specification."""
    s = label_posterior(y, e)
    if s < 1:
        assert augmented_posterior(y, s) == y * (1 - e) / (1 - y * e)


@given(y=probability, e=probability)
def test_odds_and_posterior_agree(y, e):
    """The odds are ytilde / (1 - ytilde)."""
    s = label_posterior(y, e)
    posterior = augmented_posterior(y, s)
    if y < 1:
        assert augmented_odds(y, s) == posterior / (1 - posterior)


@given(y=st.fractions(Fraction(1, 1000), Fraction(999, 1000), max_denominator=1000), e=probability)
def test_odds_ratio_is_the_ratio_of_odds(y, e):
    """Theorem 1 (iv): odds among the unlabelled over odds in the population is 1 - e."""
    assert augmented_odds(y, label_posterior(y, e)) / (y / (1 - y)) == odds_ratio(e)


# Thresholds and rules


@given(y=probability, e=probability)
def test_four_forms_of_the_threshold(y, e):
    """ytilde > 1/2, y > (1 + s)/2, y > 1/(2 - e) and odds > 1 are the same decision."""
    s = label_posterior(y, e)
    decision = bool(augmented_rule(y, s))
    assert decision == (augmented_posterior(y, s) > Fraction(1, 2))
    assert decision == (y > augmented_threshold(s))
    assert decision == (y > 1 / (2 - e))
    assert decision == (augmented_odds(y, s) > 1)


@given(y=probability, e=probability, odds=positive_odds)
def test_threshold_for_any_odds(y, e, odds):
    """The rule with odds t says 1 exactly where the odds of class 1 exceed t."""
    s = label_posterior(y, e)
    assert bool(augmented_rule(y, s, odds=odds)) == (augmented_odds(y, s) > odds)


@given(y=probability, e=probability, labelled=label)
def test_conservative(y, e, labelled):
    """The augmented rule never says 1 where the naive rule says 0."""
    augmented = augmented_rule(y, label_posterior(y, e), labelled)
    assert augmented <= naive_rule(y, labelled)


@given(y=probability, e=probability)
def test_labelled_rows_are_positive(y, e):
    """S = 1 implies Y = 1 for the posterior and for both rules."""
    s = label_posterior(y, e)
    assert augmented_posterior(y, s, 1) == 1
    assert augmented_rule(y, s, 1) and naive_rule(y, 1)


@given(y=probability, e=probability, step=probability)
def test_monotone_in_propensity(y, e, step):
    """The more is labelled, the less an unlabelled row is positive and the higher the threshold."""
    more = e + (1 - e) * step
    s, s_more = label_posterior(y, e), label_posterior(y, more)
    assert augmented_posterior(y, s_more) <= augmented_posterior(y, s) <= y
    assert augmented_threshold(s_more) >= augmented_threshold(s) >= Fraction(1, 2)
    assert odds_ratio(more) <= odds_ratio(e)


# Edges: e = 0, e = 1, y = 0, y = 1, s = 1


@pytest.mark.parametrize(
    ("y", "s", "posterior", "odds", "decision"),
    [
        (0.0, 0.0, 0.0, 0.0, False),  # a certain negative
        (1.0, 0.0, 1.0, np.inf, True),  # a certain positive, never labelled
        (1.0, 0.5, 1.0, np.inf, True),  # a certain positive, labelled half of the time
        (1.0, 1.0, 0.0, 0.0, False),  # never unlabelled: the convention for an impossible row
        (0.7, 0.7, 0.0, 0.0, False),  # e = 1: an unlabelled row is negative
        (0.7, 0.0, 0.7, 7 / 3, True),  # e = 0: being unlabelled tells nothing
    ],
)
def test_edges(y, s, posterior, odds, decision):
    """The corners of the unit square have the values that the limits and the rule demand."""
    assert augmented_posterior(y, s) == pytest.approx(posterior)
    assert augmented_odds(y, s) == pytest.approx(odds)
    assert augmented_rule(y, s) == decision


def test_propensity_without_positives_is_zero():
    """Where y = 0 the propensity is undetermined and 0 by convention, with no warning."""
    assert propensity(np.array([0.0, 0.5]), np.array([0.0, 0.25])).tolist() == [0.0, 0.5]


def test_edges_stay_exact():
    """At 0/0 a rational number gives a rational zero, not a floating-point one."""
    one = np.array([Fraction(1), Fraction(1, 2)])
    assert isinstance(augmented_posterior(one, one)[0], Fraction)


# Kinds of input


def test_scalars_arrays_and_symbols_agree():
    """One function gives the same number for a float, an array and a sympy expression."""
    y, s = sympy.symbols("y s")
    values = {y: sympy.Rational(4, 5), s: sympy.Rational(2, 5)}
    for function in (propensity, augmented_posterior, augmented_odds):
        exact = float(function(y, s).subs(values))
        assert float(function(0.8, 0.4)) == pytest.approx(exact)
        assert function(np.full(3, 0.8), np.full(3, 0.4)) == pytest.approx(exact)
    assert label_posterior(y, s) == y * s
    assert augmented_rule(y, s).subs(values) == sympy.true


def test_symbolic_rules_are_inequalities():
    """For symbols the rules are the inequalities of equations (2) and (3)."""
    y, s, t = sympy.symbols("y s t", positive=True)
    assert augmented_rule(y, s) == (y > (1 + s) / 2)
    assert augmented_threshold(s, t).equals((t + s) / (1 + t))
    assert x_only_rule(y) == (2 * y > 1)
    assert naive_rule(y, 0) == (2 * y > 1)
    assert augmented_posterior(y, s, sympy.Integer(1)) == 1
    assert odds_ratio(s) == 1 - s


def test_label_status_and_odds_may_be_symbols():
    """Of the label status and of the odds nothing need be known but their names."""
    y, s, label, t = sympy.symbols("y s l t")
    posterior = augmented_posterior(y, s, label)
    assert posterior.subs(label, 1) == 1
    assert posterior.subs(label, 0) == (y - s) / (1 - s)
    assert augmented_threshold(s, t) == (t + s) / (1 + t)


def test_sympy_numbers_stay_exact_and_are_checked():
    """Sympy numbers give sympy numbers, and the same errors as floats."""
    half, quarter = sympy.Rational(1, 2), sympy.Rational(1, 4)
    assert augmented_posterior(half, quarter) == sympy.Rational(1, 3)
    with pytest.raises(ValueError, match="exceeds y"):
        augmented_posterior(quarter, half)
    with pytest.raises(ValueError, match="y holds 2"):
        x_only_rule(sympy.Integer(2))


def test_a_sympy_number_among_arrays():
    """It counts for every row, and what comes out is exact."""
    y, s = np.array([Fraction(1, 2), Fraction(1)]), sympy.Rational(1, 3)
    assert propensity(y, s).tolist() == [sympy.Rational(2, 3), sympy.Rational(1, 3)]
    assert augmented_rule([0.6, 0.7], s).tolist() == [False, True]


# Bad input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: x_only_rule(1.2), r"y holds 1\.2.*\[0, 1\]"),
        (lambda: label_posterior(0.5, [-0.1, 0.5]), r"e holds -0\.1.*not logits"),
        (lambda: x_only_rule([0.5, np.nan]), "y holds nan.*missing rows"),
        (lambda: odds_ratio(np.inf), "e holds inf"),
        (lambda: augmented_posterior([0.5, 0.1], [0.2, 0.3]), r"s = 0\.3 exceeds y = 0\.1.*clip"),
        (lambda: propensity(0.1, 0.3), "exceeds y"),
        (
            lambda: label_posterior(np.ones(3), np.ones(2)),
            r"y, e have the shapes \[\(3,\), \(2,\)\].*scalar",
        ),
        (lambda: naive_rule(np.ones(3), [0, 1]), r"y, labelled have the shapes"),
        (lambda: naive_rule(0.5, 2), "labelled holds 2.*must be 1 or 0"),
        (lambda: augmented_threshold(0.5, odds=0), "odds is 0.*positive"),
        (lambda: augmented_threshold(0.5, odds=np.nan), "odds is nan"),
        (lambda: augmented_rule(0.5, 0.2, odds=[1, 2]), "one positive, finite number"),
    ],
)
def test_bad_input_names_argument_value_and_remedy(call, message):
    """Each error says which argument is wrong, its value and what to do."""
    with pytest.raises(ValueError, match=message):
        call()


def test_tables_are_aligned_or_refused():
    """Rows of two Series belong together by their index, whatever their order."""
    y, s = pd.Series([0.5, 0.8], index=[0, 1]), pd.Series([0.1, 0.4], index=[1, 0])
    for call in (
        lambda: augmented_posterior(y, s),
        lambda: naive_rule(y, s > 0.2),
        lambda: bayes_risk(y, s * 2),
        lambda: accuracy(y > 0.6, s > 0.2),
    ):
        with pytest.raises(ValueError, match="tables with the same index"):
            call()
    np.testing.assert_allclose(augmented_posterior(y, s.sort_index()), [1 / 6, 7 / 9])


@pytest.mark.parametrize("one", [Fraction(1), sympy.Integer(1)])
def test_dust_on_exact_numbers(one):
    """It is clipped as on floats, and what comes out is exact."""
    dust = one / 10**12
    assert label_posterior(one + dust, one) == 1 and label_posterior(-dust, one) == 0
    assert augmented_posterior(one / 2, one / 2 + dust) == 0
    assert augmented_posterior(one + dust, one / 2) == 1
    assert type(augmented_posterior(np.array([one + dust]), one / 3)[0]) is type(one / 3 * 3)


def test_dust_is_tolerated():
    """Rounding errors within 1e-9 are clipped, larger ones are not."""
    assert x_only_rule(1 + 1e-12) and not x_only_rule(-1e-12)
    assert augmented_posterior(0.3, 0.3 + 1e-12) == 0
    assert label_posterior(1 + 1e-12, 1.0) == 1
    with pytest.raises(ValueError, match="y holds"):
        x_only_rule(1 + 1e-8)
