"""The rules of one score: each best for its own criterion among all rules there are.

Populations are small and exact, so that *every* rule can be tried and no tolerance is needed.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import sympy

from pu_utils.risk import population_posteriors, random_population
from pu_utils.rules import (
    augmented_posterior,
    augmented_rule,
    augmented_threshold,
    balanced_rule,
    budget_rule,
    certified_negative,
    cost_sensitive_rule,
    label_posterior,
    precision_rule,
    propensity,
    shift_prior,
)

POPULATIONS = 300  # of which 200 or more serve; 3 to 5 values of x each, so at most 2^10 rules


def populations():
    """Cells (x, S) of random populations: y, s, label status, and people, positive and negative."""
    generator = np.random.default_rng(18)  # any seed will do: the rules are best for all
    for _ in range(POPULATIONS):
        counts = random_population(generator)
        y, s, _ = population_posteriors(counts)
        labelled = np.repeat([0, 1], len(counts))
        positive = np.concatenate([counts[:, 1], counts[:, 0]])
        negative = np.concatenate([counts[:, 2], np.zeros(len(counts), int)])
        yield generator, np.tile(y, 2), np.tile(s, 2), labelled, positive, negative


def all_rules(n):
    """Every way of calling n cells or rows, one per line."""
    return np.array(list(itertools.product([False, True], repeat=n)))


def test_cost_sensitive_rule_has_the_least_cost():
    """No rule on (x, S) costs less, whatever the two costs."""
    for generator, y, s, labelled, positive, negative in populations():
        false_positive, false_negative = (Fraction(int(c)) for c in generator.integers(1, 9, 2))

        def cost(rule, positive=positive, negative=negative, a=false_positive, b=false_negative):
            return a * (negative * rule).sum(-1) + b * (positive * ~rule).sum(-1)

        rule = cost_sensitive_rule(y, s, labelled, false_positive, false_negative)
        assert cost(rule) == cost(all_rules(len(y))).min()


def test_balanced_rule_has_the_greatest_balanced_accuracy():
    """No rule has a higher mean of the two accuracies on unlabelled people, where both exist."""
    tried = 0
    for _, y, s, labelled, positive, negative in populations():
        hidden, innocent = positive * (labelled == 0), negative
        if not (hidden.any() and innocent.any()):
            continue
        tried += 1

        def accuracy(rule, hidden=hidden, innocent=innocent):
            # both shares over a common denominator: an integer, so exact
            found, spared = (hidden * rule).sum(-1), (innocent * ~rule).sum(-1)
            return found * innocent.sum() + spared * hidden.sum()

        rule = balanced_rule(y, s, labelled, weights=positive + negative)
        assert accuracy(rule) == accuracy(all_rules(len(y))).max()
        assert rule[labelled == 1].all()
    assert tried >= 200


def rows(generator):
    """Rows with exact posteriors, one person each, some of them labelled."""
    y, s, _ = population_posteriors(random_population(generator))
    labelled = generator.integers(0, 2, len(y))
    return augmented_posterior(y, s), y, s, labelled


def test_budget_rule_finds_most():
    """No other set of at most as many unlabelled rows is expected to hold more positives."""
    generator = np.random.default_rng(18)
    for _ in range(POPULATIONS):
        score, _, _, labelled = rows(generator)
        budget = int(generator.integers(0, len(score) + 2))
        calls = all_rules(len(score)) & (labelled == 0)
        calls = calls[calls.sum(1) <= budget]
        rule = budget_rule(score, labelled, budget)
        called = rule & (labelled == 0)
        assert called.sum() == min(budget, (labelled == 0).sum())
        assert (score * called).sum() == (calls * score).sum(1).max()
        assert rule[labelled == 1].all()


def test_precision_rule_finds_most_at_its_precision():
    """No other set of unlabelled rows with that share of positives is expected to hold more."""
    generator = np.random.default_rng(18)
    for _ in range(POPULATIONS):
        score, y, s, labelled = rows(generator)
        precision = Fraction(int(generator.integers(0, 11)), 10)
        calls = all_rules(len(score)) & (labelled == 0)
        found = (calls * score).sum(1)
        rule = precision_rule(y, s, labelled, precision)
        called = rule & (labelled == 0)
        assert (score * called).sum() >= precision * called.sum()
        assert (score * called).sum() == found[found >= precision * calls.sum(1)].max()
        assert rule[labelled == 1].all()


def test_shifted_posterior_is_that_of_the_shifted_population():
    """Weighing positives and negatives anew and counting gives what shift_prior says: y and ytilde.

    The weights make the prior what it is to be and leave P(x, S | Y) alone.
    """
    tried = 0
    for generator, _, _, labelled, positive, negative in populations():
        if not (positive.any() and negative.any()):
            continue
        tried += 1
        prior = Fraction(int(positive.sum()), int((positive + negative).sum()))
        new_prior = Fraction(int(generator.integers(1, 10)), 10)
        p, n = new_prior / int(positive.sum()), (1 - new_prior) / int(negative.sum())
        for cells in (labelled == 0, labelled == 1, labelled >= 0):  # given S = 0, S = 1, or not
            of_x = [v[cells].reshape(-1, len(positive) // 2).sum(0) for v in (positive, negative)]
            for good, bad in zip(*of_x, strict=True):
                if good + bad:
                    counted = p * int(good) / (p * int(good) + n * int(bad))
                    before = Fraction(int(good), int(good + bad))
                    assert shift_prior(before, prior, new_prior) == counted
    assert tried >= 200


def test_shifting_before_and_after_looking_at_s_is_the_same():
    """The augmented posterior of shifted y and the same e is the shifted augmented posterior."""
    y, e, prior, new_prior = sympy.symbols("y e pi pi_new", positive=True)
    shifted = shift_prior(y, prior, new_prior)
    before = augmented_posterior(shifted, label_posterior(shifted, e))
    after = shift_prior(augmented_posterior(y, label_posterior(y, e)), prior, new_prior)
    assert sympy.simplify(before - after) == 0
    assert sympy.simplify(shift_prior(shifted, new_prior, prior) - y) == 0


@pytest.mark.parametrize("odds", [Fraction(1), Fraction(1, 4), Fraction(3)])
def test_certified_rows_are_negative_and_no_other_row_can_be_certified(odds):
    """Certified: every possible y is called negative; not certified: some possible y is not."""
    generator = np.random.default_rng(18)
    for _ in range(POPULATIONS):
        y, s, weights = population_posteriors(random_population(generator))
        y, s = y[weights > 0], s[weights > 0]
        share = propensity(y, s)[y > 0]
        least = share.min() if share.size and share.min() > 0 else Fraction(1, 3)
        possible = (y == 0) | (propensity(y, s) >= least)
        certain = certified_negative(s, least, odds)
        assert not (augmented_rule(y, s, 0, odds) & certain & possible).any()
        worst = np.minimum(s / least, 1)  # y = s / e, and e is at least so large
        assert (y <= worst)[possible].all()
        # at s = 1 no row is unlabelled, and there is nothing to certify
        assert ((worst > augmented_threshold(s, odds)) == ~certain)[s < 1].all()


def test_a_score_may_be_any_number():
    """A budget needs an order alone: logits, infinite ones too."""
    assert budget_rule([-np.inf, 3.0, np.inf], 0, 2).tolist() == [False, True, True]
    assert budget_rule([1, 1, 1], [0, 0, 0], np.int64(2)).tolist() == [True, True, False]


def test_without_s_the_rules_are_those_of_y():
    """s = 0 says nothing of labels, and each rule is a threshold on y."""
    y = np.array([0.1, 0.2, 0.3, 0.8])
    assert cost_sensitive_rule(y, 0, 0, 1, 3).tolist() == (y > 0.25).tolist()
    assert balanced_rule(y, 0).tolist() == (y > y.mean()).tolist()
    assert precision_rule(y, 0, 0, 0.5).tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cost_sensitive_rule(0.5, 0, 0, 0, 1), "false_positive_cost is 0.*positive"),
        (lambda: cost_sensitive_rule(0.5, 0, 0, 1, np.nan), "false_negative_cost is nan"),
        (lambda: budget_rule([0.5], 0, -1), "budget is -1.*whole number"),
        (lambda: budget_rule([0.5], 0, 2.5), "budget is 2.5"),
        (lambda: budget_rule([0.5, np.nan], 0, 1), "score holds nan.*drop"),
        (lambda: budget_rule([0.5, 0.5], [0, 2], 1), "labelled holds 2"),
        (lambda: precision_rule([0.5], 0, 0, 90), "precision holds 90.*percentages"),
        (lambda: shift_prior(0.5, 0.5, 10), "new_prior holds 10"),
        (lambda: certified_negative(0.5, 0), "least_propensity is 0.*positive"),
        (lambda: certified_negative(0.5, 1.5), "least_propensity holds 1.5"),
    ],
)
def test_bad_input_names_argument_value_and_remedy(call, message):
    """Each error says which argument is wrong, its value and what to do."""
    with pytest.raises(ValueError, match=message):
        call()
