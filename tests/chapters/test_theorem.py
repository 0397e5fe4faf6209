"""Theorem 1 without algebra: all rules on small populations, counted in whole numbers.

And what its chapter leaves to a test: the inequalities of the paper's own proof, case by case, and
that the best score of a smooth loss is the only one.
"""

from itertools import product

import numpy as np
import pytest
import sympy as sp

from pu_utils.risk import (
    augmented_bayes_risk,
    bayes_risk,
    excess_risk,
    population_posteriors,
    random_population,
)
from pu_utils.rules import augmented_odds, augmented_posterior, augmented_rule, x_only_rule


@pytest.fixture(scope="module")
def populations():
    """Counts (labelled, silent, negative) at each x, and their y, s and weights as fractions."""
    generator = np.random.default_rng(2024)
    counts = [random_population(generator) for _ in range(400)]
    return [(one, *population_posteriors(one)) for one in counts]


def mistakes(counts, if_unlabelled, if_labelled):
    """Number of people whom a rule gets wrong, by what it says at each x for S = 0 and S = 1."""
    labelled, silent, negative = counts.T
    return if_unlabelled @ negative + (1 - if_unlabelled) @ silent + (1 - if_labelled) @ labelled


def all_rules(counts):
    """The answers of each of the 2^(2k) rules on (x, s), for S = 0 and for S = 1."""
    return np.hsplit(np.array(list(product([0, 1], repeat=2 * len(counts)))), 2)


def says(rule):
    """A rule's answers as whole numbers."""
    return np.asarray(rule).astype(int)


def test_the_populations_have_every_edge(populations):
    """Each in many of them."""
    seen = np.zeros(6, dtype=int)
    for _, y, s, weights in populations:
        there = weights > 0
        edges = [2 * y == 1, 2 * y == 1 + s, s == 0, s == y, y == 1]
        seen += [*((edge & there).any() for edge in edges), not there.all()]
    assert seen.min() >= 30


def test_no_rule_errs_less_and_each_errs_more_by_what_the_chapter_says(populations):
    """Theorem 1 (i), on all rows and on the unlabelled ones, and the regret of every rule."""
    for counts, y, s, weights in populations:
        d0, d1 = all_rules(counts)
        everyone, best = mistakes(counts, d0, d1), says(augmented_rule(y, s))
        own = mistakes(counts, best, np.ones_like(best))
        assert own == everyone.min()
        none_labelled = counts * [0, 1, 1]
        assert mistakes(none_labelled, best, best) == mistakes(none_labelled, d0, d1).min()
        abs_w, label = (weights * counts.sum() * [abs(1 + s - 2 * y), s]).astype(int)  # people
        assert (everyone - own == (d0 != best) @ abs_w + (1 - d1) @ label).all()


def test_the_risk_in_both_forms_and_per_unlabelled_row(populations):
    """Theorem 1 (ii), and the paper's last form of the risk on S = 0 with its factor 1/2."""
    without_factor = 0
    for counts, y, s, weights in populations:
        wrong = mistakes(counts, says(augmented_rule(y, s)), np.ones(len(y), dtype=int))
        unlabelled, mean_w = (1 - s) @ weights, abs(1 + s - 2 * y) @ weights
        by_posterior = ((1 - s) * abs(2 * augmented_posterior(y, s) - 1)) @ weights
        risk = (unlabelled - mean_w) / 2
        assert augmented_bayes_risk(y, s, weights) == risk == wrong / sp.Integer(int(counts.sum()))
        assert by_posterior == mean_w
        if unlabelled:
            assert risk / unlabelled == sp.Rational(1, 2) - mean_w / (2 * unlabelled)
            without_factor += risk / unlabelled != sp.Rational(1, 2) - mean_w / unlabelled
    assert without_factor > 300


def test_the_rule_is_conservative_and_unlabelled_rows_are_less_often_positive(populations):
    """At every x and on the whole; equal only if there are no labels or no negatives."""
    for counts, y, s, _ in populations:
        assert (augmented_rule(y, s) <= x_only_rule(y)).all()
        assert (augmented_posterior(y, s) <= y).all()
        labelled, silent, negative = map(int, counts.sum(axis=0))
        positive, unlabelled, people = labelled + silent, silent + negative, int(counts.sum())
        if unlabelled:
            assert silent * people <= positive * unlabelled
            assert (silent * people == positive * unlabelled) == (labelled * negative == 0)


def test_the_excess_risk_is_its_two_parts(populations):
    """Theorem 1 (iii), the decomposition, and exactly when each bound is attained."""
    lower_attained, upper_attained = 0, 0
    for counts, y, s, weights in populations:
        people, ones = int(counts.sum()), np.ones(len(y), dtype=int)
        x_only, best = says(x_only_rule(y)), says(augmented_rule(y, s))
        excess = excess_risk(y, s, weights)
        naive = mistakes(counts, x_only, ones)
        assert mistakes(counts, x_only, x_only) - naive == excess.label_part * people
        assert naive - mistakes(counts, best, ones) == excess.threshold_part * people
        assert mistakes(counts, x_only, x_only) == bayes_risk(y, weights) * people
        assert excess.total == excess.label_part + excess.threshold_part
        assert excess.total == np.minimum(s, np.maximum(1 + s - 2 * y, 0)) @ weights

        assert excess.lower <= excess.total <= excess.upper
        there = (weights > 0) & (s > 0)
        between = there & (2 * y >= 1) & (2 * y < 1 + s)
        assert (excess.lower == excess.total) == (not between.any())
        assert (excess.upper == excess.total) == (not (there & (2 * y > 1)).any())
        lower_attained += excess.lower == excess.total
        upper_attained += excess.upper == excess.total
    assert min(lower_attained, upper_attained) >= 30


def test_a_missing_label_multiplies_the_odds(populations):
    """Theorem 1 (iv) inside, and both odds 0 or both infinite at the edges."""
    for counts, y, s, _ in populations:
        odds = augmented_odds(y, s)
        for (labelled, silent, negative), one, of_unlabelled in zip(counts, y, odds, strict=True):
            if 0 < one < 1:
                e = sp.Rational(int(labelled), int(labelled + silent))
                assert of_unlabelled == (1 - e) * sp.Rational(int(labelled + silent), int(negative))
            elif one == 0:
                assert of_unlabelled == 0
            else:
                assert of_unlabelled == (np.inf if silent else 0)  # 0: nobody is unlabelled


@pytest.mark.parametrize("case", ["a < 0", "0 <= a < b", "a >= b"])
def test_the_inequalities_of_the_papers_proof(case):
    """What the triangle inequality and its refinement give away, in each case."""
    a, b, h = sp.symbols("a b h", nonnegative=True)
    a, b, negative, upper, lower = {
        "a < 0": (-h, b, 1, 0, 0),
        "0 <= a < b": (a, a + h, 0, 2 * a, 2 * h),  # 2 (b - a) = 2 (1 + s - 2y)
        "a >= b": (b + h, b, 0, 2 * b, 0),
    }[case]
    assert sp.simplify(sp.Abs(a) + b - sp.Abs(a - b) - upper) == 0
    assert sp.simplify(sp.Abs(a - b) - (sp.Abs(a) - b + 2 * b * negative) - lower) == 0


def test_the_best_score_of_a_smooth_loss_is_the_only_one_and_rises_with_the_odds():
    """The mean cost is convex; the link of Remark (iii) is strictly increasing, and 0 somewhere."""
    g, (o, t) = sp.symbols("g", real=True), sp.symbols("o t", positive=True)
    losses = {
        sp.log(o): (sp.log(1 + sp.exp(-g)), sp.log(1 + sp.exp(g))),
        sp.log(o / t): (sp.log(1 + sp.exp(-g)), t * sp.log(1 + sp.exp(g))),
        sp.log(o) / 2: (sp.exp(-g), sp.exp(g)),
        (o - 1) / (o + 1): ((1 - g) ** 2, (1 + g) ** 2),
    }
    for link, (if_positive, if_negative) in losses.items():
        cost = o * if_positive + if_negative
        assert sp.simplify(sp.diff(cost, g).subs(g, link)) == 0
        assert sp.factor(sp.simplify(sp.diff(cost, g, 2))).is_positive
        assert sp.factor(sp.diff(link, o)).is_positive
