"""The appendix on what can be known: each statement, tried on 300 populations in exact fractions.

A population says how many people of each kind there are at each x, so that risks are counts of
people, every rule can be tried, and no tolerance is needed anywhere.
"""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from pu_utils.risk import excess_risk, population_posteriors, random_population
from pu_utils.rules import augmented_odds, augmented_rule, certified_negative, propensity


@pytest.fixture(scope="module")
def populations():
    generator = np.random.default_rng(16)
    return [random_population(generator) for _ in range(300)]


@pytest.fixture
def generator():
    return np.random.default_rng(17)


def errors(counts, says_one):
    """Number of people whom a rule gets wrong that says this about the unlabelled at each x."""
    _, silent, negative = counts.T
    return says_one @ negative + (1 - says_one) @ silent


def all_rules(counts):
    """Every rule on the values of x, one a row."""
    return np.array(list(product([0, 1], repeat=len(counts))))


def random_estimates(generator, number):
    """Fractions yhat and shat with shat <= yhat, as an estimator might give them."""
    y_hat = np.array([Fraction(int(k), 12) for k in generator.integers(0, 13, number)])
    return y_hat, y_hat * [Fraction(int(k), 6) for k in generator.integers(0, 7, number)]


def estimated_rule(y_hat, s_hat):
    """What an estimated rule says: 1 where 1 + shat - 2 yhat < 0."""
    return (1 + s_hat - 2 * y_hat < 0).astype(int)


def test_the_regret_of_every_rule_and_its_bounds(populations, generator):
    """E|w| where a rule differs from the best is its regret, and 2 E|dy| + E|ds| bounds it."""
    for counts in populations:
        y, s, weights = population_posteriors(counts)
        people, distance = int(counts.sum()), abs(1 + s - 2 * y)
        best = augmented_rule(y, s).astype(int)
        least = errors(counts, best)
        for rule in all_rules(counts):
            assert errors(counts, rule) - least == (distance * (rule != best)) @ weights * people
        for _ in range(3):
            y_hat, s_hat = random_estimates(generator, len(counts))
            dy, ds = y_hat - y, s_hat - s
            rule = estimated_rule(y_hat, s_hat)
            regret = Fraction(int(errors(counts, rule) - least), people)
            joint, apart = abs(2 * dy - ds) @ weights, 2 * abs(dy) @ weights + abs(ds) @ weights
            assert 0 <= regret <= (abs(2 * dy - ds) * (rule != best)) @ weights <= joint <= apart


def smallest_constant(distance, weights, power):
    """The least C of the margin condition: P(0 < |w| <= r) jumps at the values of |w| alone."""
    present = sorted({d for d, p in zip(distance, weights, strict=True) if d > 0 and p > 0})
    mass = [weights[(distance > 0) & (distance <= value)].sum() for value in present]
    return max([m / value**power for m, value in zip(mass, present, strict=True)], default=0)


def test_the_margin_bounds_the_regret(populations, generator):
    """No estimate has more than C eps^(1 + a), with the least C of the population, a = 0, 1, 2."""
    for counts in populations:
        y, s, weights = population_posteriors(counts)
        w = 1 + s - 2 * y
        candidates = [random_estimates(generator, len(counts)) for _ in range(3)]
        candidates += [(y + Fraction(sign, 24), s) for sign in (-1, 1)]  # small errors too
        for y_hat, s_hat in candidates:
            w_hat = 1 + s_hat - 2 * y_hat
            regret = (abs(w) * ((w_hat < 0) != (w < 0))) @ weights
            largest = max(abs(w_hat - w)[weights > 0])
            for power in (0, 1, 2):
                constant = smallest_constant(abs(w), weights, power)
                assert regret <= constant * largest ** (1 + power)


def test_when_an_estimated_rule_beats_the_naive_ones(populations, generator):
    """(a) Regret below T, (b) the three terms of the gain, (c) twice too many taken back."""
    came_up = {"gained": 0, "lost": 0, "(a) says so": 0, "(c) says so": 0}
    for counts in populations:
        y, s, weights = population_posteriors(counts)
        people, w = int(counts.sum()), 1 + s - 2 * y
        best = augmented_rule(y, s).astype(int)
        knows_y = (2 * y > 1).astype(int)
        threshold_part = excess_risk(y, s, weights).threshold_part
        for _ in range(5):
            y_hat, s_hat = random_estimates(generator, len(counts))
            w_hat = 1 + s_hat - 2 * y_hat
            rule, own_naive = estimated_rule(y_hat, s_hat), (2 * y_hat > 1).astype(int)
            beats = errors(counts, rule) < errors(counts, knows_y)
            assert beats == ((abs(w) * (rule != best)) @ weights < threshold_part)
            came_up["(a) says so"] += beats

            golden = (own_naive == 1) & (w_hat >= 0)
            assert (rule == own_naive - golden).all()
            gain = Fraction(int(errors(counts, own_naive) - errors(counts, rule)), people)
            promised = (w_hat * golden) @ weights
            dy, ds = ((y_hat - y) * golden) @ weights, ((s_hat - s) * golden) @ weights
            assert gain == (w * golden) @ weights == promised + 2 * dy - ds and promised >= 0
            came_up["gained"] += gain > 0
            came_up["lost"] += gain < 0

            taken_back, there = golden @ (counts[:, 1] + counts[:, 2]), counts[:, 1].sum()
            if taken_back > 2 * there:
                assert gain > 0
                came_up["(c) says so"] += 1
    assert min(came_up.values()) > 30, came_up  # no case was left untried


def power_product(pairs):
    """The product of base^count, exactly; 0^0 = 1."""
    return prod((Fraction(base) ** int(count) for base, count in pairs if count), start=Fraction(1))


def test_the_worth_of_s_at_every_cost_ratio(populations):
    """E min(s, (t + s - (1 + t) y)+) is what the cheapest of all rules saves by seeing S."""
    for counts in populations:
        y, s, weights = population_posteriors(counts)
        people, (labelled, silent, negative) = int(counts.sum()), counts.T
        rules = all_rules(counts)
        ties = augmented_odds(y, s)[(y < 1) & (y > s)]
        for t in {Fraction(1, 3), Fraction(1), Fraction(5, 2), *ties}:
            costs = (rules @ negative) * t + (1 - rules) @ silent
            saved = min(costs + (1 - rules) @ labelled) - min(costs)
            assert saved == np.minimum(s, np.maximum(t + s - (1 + t) * y, 0)) @ weights * people


def test_the_worth_of_s_for_the_two_scores(populations):
    """s (1 - y)^2 / (1 - s) for the squared score; for the logarithmic one h(s) - y h(e), which is
    the mutual information. Exponentials make logarithms products of fractions."""
    for counts in populations:
        y, s, _ = population_posteriors(counts)
        by_definition, by_entropies = [], []
        for (labelled, silent, negative), y_x, s_x in zip(counts, y, s, strict=True):
            unlabelled, positive = silent + negative, labelled + silent
            if unlabelled == 0:
                continue  # nobody, or nobody without a label
            tilde, e_x = (y_x - s_x) / (1 - s_x), (s_x / y_x if y_x else 0)
            gain = y_x * (1 - y_x) - (1 - s_x) * tilde * (1 - tilde)
            assert gain == s_x * (1 - y_x) ** 2 / (1 - s_x)
            here = labelled + unlabelled
            for both, of_y, of_s in [
                (labelled, positive, labelled),
                (silent, positive, unlabelled),
                (negative, negative, unlabelled),
            ]:
                if both:
                    by_definition.append((Fraction(int(both * here), int(of_y * of_s)), both))
            by_entropies += [(s_x, -labelled), (1 - s_x, -unlabelled)]
            by_entropies += [(e_x, labelled), (1 - e_x, silent)]
        assert power_product(by_definition) == power_product(by_entropies) >= 1


def test_the_rule_in_terms_of_s(populations):
    """(a) s > e/(2 - e) wherever e > 0, (b) what limits of e certify, (c) and nothing else."""
    came_up = {"certified": 0, "undecided": 0, "e = 0 and y > 1/2": 0}
    for counts in populations:
        y, s, weights = population_posteriors(counts)
        y, s = y[weights > 0], s[weights > 0]
        says_one, e = augmented_rule(y, s), propensity(y, s)
        by_s = s > e / (2 - e)
        assert (says_one == by_s)[e > 0].all() and not by_s[e == 0].any()
        came_up["e = 0 and y > 1/2"] += says_one[e == 0].sum()
        limits = e[y > 0]
        if len(limits) == 0 or min(limits) == 0:
            continue
        floor, ceiling = min(limits), max(limits)
        zero, one = certified_negative(s, floor), s > ceiling / (2 - ceiling)
        assert not says_one[zero].any() and says_one[one].all()
        for s_x in s[~zero & ~one & (s < 1)]:  # both answers are possible, by these propensities
            ends = max(floor, s_x), ceiling
            assert {s_x > end / (2 - end) for end in ends} == {True, False} and s_x <= ceiling
            came_up["undecided"] += 1
        came_up["certified"] += (zero | one).sum()
    assert min(came_up.values()) > 30, came_up


def test_nothing_but_s_is_identified(populations, generator):
    """Any y' from s to 1 gives the same law of (X, S), and ytilde any value that we like."""
    for counts in populations:
        _, s, _ = population_posteriors(counts)
        share = np.array([Fraction(int(k), 4) for k in generator.integers(0, 5, len(counts))])
        y = s + (1 - s) * share
        e = propensity(y, s)
        assert (y * e == s).all() and (e <= 1).all()
        some = s < 1
        assert ((y - y * e)[some] / (1 - s)[some] == share[some]).all()


def completions(counts):
    """All numbers of positives at each x that look the same in the data, one possibility a row."""
    labelled, silent, negative = counts.T
    ranges = (range(int(least), int(least + hidden) + 1) for least, hidden in
              zip(labelled, silent + negative, strict=True))  # fmt: skip
    return np.array(list(product(*ranges)))


def people_of(populations):
    """The populations, cut to three values of x with somebody there: few enough completions."""
    for counts in populations:
        yield counts[counts.any(axis=1)][:3]


def test_the_prior_bounds_the_positives_of_every_set(populations):
    """The limits of each P(Y = 1 | A) are the least and the most of all completions."""
    for counts in people_of(populations):
        y, s, weights = population_posteriors(counts)
        prior, total = y @ weights, counts.sum()
        positives = completions(counts)
        with_prior = positives[positives.sum(axis=1) == counts[:, :2].sum()]
        for chosen in product([False, True], repeat=len(counts)):
            in_a = np.array(chosen)
            if not in_a.any():
                continue
            p_a, labels = weights[in_a].sum(), (s * weights)[in_a].sum()
            found = [Fraction(int(n), int(total)) for n in with_prior[:, in_a].sum(axis=1)]
            assert min(found) == max(labels, p_a - (1 - prior))
            assert max(found) == min(p_a, labels + prior - s @ weights)


def order_limits(s, weights, k, v):
    """Least and greatest y' of the order assumption that have the value v at the k-th x."""
    return np.where(s < s[k], s, np.maximum(v, s)), np.where(s <= s[k], v, Fraction(1))


def test_the_order_and_the_prior_leave_this_set_and_no_other(populations):
    """Ordered completions lie in the set; every value in it belongs to some y' with this prior."""
    inside = outside = 0
    for counts in people_of(populations):
        y, s, weights = population_posteriors(counts)
        prior, people = y @ weights, counts.sum(axis=1)
        hidden = completions(counts)
        for row in hidden[hidden.sum(axis=1) == counts[:, :2].sum()]:  # those with this prior
            other = np.array([Fraction(int(n), int(m)) for n, m in zip(row, people, strict=True)])
            never_falls = (np.subtract.outer(other, other) * np.subtract.outer(s, s) >= 0).all()
            function_of_s = (np.subtract.outer(other, other)[s[:, None] == s] == 0).all()
            if not (never_falls and function_of_s):
                continue
            for k, v in enumerate(other):
                low, high = order_limits(s, weights, k, v)
                assert low @ weights <= prior <= high @ weights
        for k, step in product(range(len(counts)), range(9)):
            v = s[k] + (1 - s[k]) * Fraction(step, 8)
            low, high = order_limits(s, weights, k, v)
            if not low @ weights <= prior <= high @ weights:
                outside += 1
                continue
            gap = (high - low) @ weights
            mixed = low + (high - low) * ((prior - low @ weights) / gap if gap else 0)
            assert mixed[k] == v and mixed @ weights == prior
            assert (mixed >= s).all() and (mixed <= 1).all()
            assert (np.diff(mixed[np.argsort(s)]) >= 0).all()
            inside += 1
    assert min(inside, outside) > 1000


def test_scar_leaves_one_number_open(populations):
    """Completions with one label frequency c at every x have y = s/c, and max s <= c <= 1."""
    found = 0
    for counts in people_of(populations):
        _, s, weights = population_posteriors(counts)
        people, labelled = counts.sum(axis=1), counts[:, 0]
        if labelled.sum() == 0:
            continue
        for row in completions(counts):
            c = Fraction(int(labelled.sum()), int(row.sum()))
            if all(c * int(n) == int(m) for n, m in zip(row, labelled, strict=True)):
                y = np.array([Fraction(int(n), int(m)) for n, m in zip(row, people, strict=True)])
                assert (y == s / c).all() and max(s) <= c <= 1
                assert c == (s @ weights) / (y @ weights)
                assert max(y) < 1 or c == max(s)
                found += 1
    assert found > 300


def test_the_two_rules_of_an_exchange_have_no_call_in_common(populations):
    """Where y and e swap places, s is the same, and no x is called positive by both."""
    calls = np.zeros(2, dtype=int)
    for counts in populations:
        y, s, _ = population_posteriors(counts)
        e = propensity(y, s)
        assert (y * e == s).all()
        first, second = 2 * y > 1 + s, 2 * e > 1 + s
        assert not (first & second).any()
        calls += first.sum(), second.sum()
    assert calls.min() > 50
