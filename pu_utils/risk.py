"""Bayes risks with and without the label status, and what ignoring it costs.

``y`` and ``s`` hold the posteriors at the points of a distribution and ``weights`` the
probabilities of these points: a quadrature grid, a finite distribution, or (``weights=None``) a
sample in which every row counts alike. Rational numbers in, rational numbers out.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from pu_utils.rules import DUST, _one_value_per_row, _posteriors, _probabilities


class ExcessRisk(NamedTuple):
    """Excess risk of the x-only rule over the augmented one: exact parts and the paper's bounds.

    Attributes
    ----------
    total : float
        ``Delta(d_B)``, the difference of the two Bayes risks.
    label_part : float
        Price of not using S = 1: labelled rows that the x-only rule calls negative.
    threshold_part : float
        Price of the wrong threshold: unlabelled rows with y between 1/2 and (1 + s)/2.
    lower, upper : float
        The bounds of Theorem 1 (iii); the upper one is P(S = 1).
    """

    total: float
    label_part: float
    threshold_part: float
    lower: float
    upper: float


def bayes_risk(y, weights=None):
    """Risk ``L*`` of the x-only Bayes rule: ``E min(y, 1 - y)``.

    Examples
    --------
    >>> float(bayes_risk([0.25, 0.75, 0.5, 0.0]))
    0.25
    """
    _one_value_per_row(y=y, weights=weights)
    (y,) = _probabilities(y=y)
    return _mean(np.minimum(y, 1 - y), weights)


def augmented_bayes_risk(y, s, weights=None):
    """Risk ``L*_PU`` of the augmented Bayes rule, ``(P(S=0) - E|1 + s - 2y|) / 2``.

    Examples
    --------
    >>> float(augmented_bayes_risk([0.25, 0.75], [0.25, 0.5]))
    0.125
    """
    y, s = _posteriors(y, s, weights=weights)
    # P(S=0 | x) min(ytilde, 1 - ytilde) = min(y - s, 1 - y) = ((1 - s) - |1 + s - 2y|) / 2  (eq. 5)
    return _mean(np.minimum(y - s, 1 - y), weights)


def excess_risk(y, s, weights=None):
    """Excess risk ``Delta(d_B)`` of the x-only rule, its exact decomposition and its bounds.

    The two parts add up to the total; Theorem 1 (iii) has only ``lower <= total <= upper``.

    Examples
    --------
    >>> risk = excess_risk([0.25, 0.75], [0.125, 0.625])
    >>> [float(value) for value in (risk.total, risk.label_part, risk.threshold_part)]
    [0.125, 0.0625, 0.0625]
    """
    y, s = _posteriors(y, s, weights=weights)
    below = 2 * y <= 1
    between = ~below & (2 * y < 1 + s)
    return ExcessRisk(
        total=bayes_risk(y + 0 * s, weights) - augmented_bayes_risk(y, s, weights),
        label_part=_mean(np.where(below, s, 0 * s), weights),
        threshold_part=_mean(np.where(between, 1 + s - 2 * y, 0 * s), weights),
        lower=_mean(np.where(2 * y < 1, s, 0 * s), weights),
        upper=_mean(s, weights),
    )


def random_population(generator):
    """A small population for exact checks: how many people of each kind there are at each x.

    Rows are values of x; columns count the positive and labelled, the positive and silent, and the
    negative. About five rows in twelve are put on an edge: a tie, no label, every positive
    labelled, nobody.

    Examples
    --------
    >>> random_population(np.random.default_rng(0)).shape
    (5, 3)
    """
    counts = generator.integers(0, 7, size=(generator.integers(3, 6), 3))
    labelled, silent, negative = counts.T  # views: what follows changes counts
    edge = generator.integers(0, 12, size=len(counts))
    silent[edge == 0] = negative[edge == 0]  # y = (1 + s) / 2
    negative[edge == 1] = (labelled + silent)[edge == 1]  # y = 1/2
    labelled[edge == 2] = 0  # s = 0
    silent[edge == 3] = 0  # s = y
    counts[edge == 4] = 0  # nobody
    if not counts.any():
        counts[0] = 1
    return counts


def population_posteriors(counts):
    """``y``, ``s`` and weights of a population of :func:`random_population`, as exact fractions.

    Where there is nobody the weight is 0, and so are ``y`` and ``s``, which do not matter there.

    Examples
    --------
    >>> y, s, weights = population_posteriors(np.array([[1, 1, 2], [0, 0, 0]]))
    >>> [str(value) for value in (*y, *s, *weights)]
    ['1/2', '0', '1/4', '0', '1', '0']
    """
    people = counts.sum(axis=1)
    exact = np.vectorize(lambda part, whole: Fraction(int(part), int(whole)), otypes=[object])
    some = np.maximum(people, 1)
    y = exact(counts[:, 0] + counts[:, 1], some)
    return y, exact(counts[:, 0], some), exact(people, people.sum())


def _mean(values, weights):
    """Expectation of ``values`` under ``weights``, which must be a probability distribution."""
    values = np.atleast_1d(values)
    if weights is None:
        return values.sum() / values.size
    total = np.sum(weights)
    if not abs(total - 1) <= DUST:
        raise ValueError(f"weights sum to {total}, not to 1; divide them by their sum")
    (weights,) = _probabilities(weights=weights)
    return (weights * values).sum()
