"""The algebra of y, s, e and ytilde: one identity per function.

``y(x) = P(Y=1 | x)`` is the class posterior, ``e(x) = P(S=1 | Y=1, x)`` the propensity,
``s(x) = P(S=1 | x)`` the label posterior and ``ytilde(x, l) = P(Y=1 | X=x, S=l)`` the augmented
posterior. Equation and theorem numbers are those of the paper.

Every function takes numbers, numpy arrays or sympy expressions, and is exact where its input is
(fractions, sympy's numbers and symbols): the notebook that proves Theorem 1 and the program that
decides call the same lines. Rules return booleans, ``True`` for class 1 (for symbols, the
inequality itself).
"""

from numbers import Integral

import numpy as np

DUST = 1e-9  # what rounding may do to a probability; anything beyond it is a mistake of the caller


def label_posterior(y, e):
    """Probability ``s(x)`` of being labelled.

    Examples
    --------
    >>> float(label_posterior(0.8, 0.5))
    0.4
    """
    y, e = _probabilities(y=y, e=e)
    # s = e y                                                                            (eq. 1)
    return e * y


def propensity(y, s):
    """Probability ``e(x)`` that a positive is labelled.

    Where ``y = 0`` there are no positives and ``e`` is undetermined; 0 is returned.

    Examples
    --------
    >>> float(propensity(0.8, 0.4))
    0.5
    """
    y, s = _posteriors(y, s)
    # e = s / y                                                                          (eq. 1)
    return _ratio(s, y)


def augmented_posterior(y, s, labelled=0):
    """Probability ``ytilde(x, labelled)`` of class 1 once the label status is known too.

    Where ``s = 1`` an unlabelled row has probability zero; 0 is returned, as the rule says.

    Examples
    --------
    >>> round(float(augmented_posterior(0.8, 0.4)), 4)
    0.6667
    >>> float(augmented_posterior(0.8, 0.4, labelled=1))
    1.0
    """
    y, s = _posteriors(y, s, labelled=labelled)
    labelled = _zeros_and_ones(labelled)
    # ytilde(x, 1) = 1,  ytilde(x, 0) = (y - s) / (1 - s)                 (proof of Theorem 1 (ii))
    return labelled + (1 - labelled) * _ratio(y - s, 1 - s)


def augmented_odds(y, s):
    """Odds of class 1 for an unlabelled row; infinite where ``y = 1 > s``.

    Examples
    --------
    >>> round(float(augmented_odds(0.8, 0.4)), 12)
    2.0
    """
    y, s = _posteriors(y, s)
    # P(Y=1 | x, S=0) / P(Y=0 | x, S=0) = (y - s) / (1 - y)              (proof of Theorem 1 (i))
    return _ratio(y - s, 1 - y)


def augmented_threshold(s, odds=1):
    """What ``y(x)`` of an unlabelled row must exceed for its odds of class 1 to exceed ``odds``.

    ``odds`` is the cost of a false positive over that of a false negative: 1 for the 0-1 loss,
    ``pi_U / (1 - pi_U)`` for balanced accuracy on unlabelled rows.

    Examples
    --------
    >>> float(augmented_threshold(0.4))
    0.7
    """
    (s,) = _probabilities(s=s)
    _check_positive(odds=odds)
    # (y - s) / (1 - y) > t  <=>  y > (t + s) / (1 + t)            (Theorem 1 (i), Remark (iii))
    return (odds + s) / (1 + odds)


def odds_ratio(e):
    """Odds of class 1 among the unlabelled, over those in the whole population, at the same x.

    Examples
    --------
    >>> float(odds_ratio(0.25))
    0.75
    """
    (e,) = _probabilities(e=e)
    # OR(x) = 1 - e(x)                                                         (Theorem 1 (iv))
    return 1 - e


def x_only_rule(y):
    """Bayes rule ``d_B(x)`` that does not look at the label status.

    Examples
    --------
    >>> x_only_rule([0.4, 0.5, 0.6]).tolist()
    [False, False, True]
    """
    (y,) = _probabilities(y=y)
    # d_B(x) = 1  <=>  y > 1/2                                                          (eq. 3)
    return 2 * y > 1


def naive_rule(y, labelled):
    """Class 1 where labelled, the x-only rule elsewhere: the paper's "naive" methods.

    Examples
    --------
    >>> naive_rule([0.4, 0.4, 0.6], [0, 1, 0]).tolist()
    [False, True, True]
    """
    _one_value_per_row(y=y, labelled=labelled)
    return (_zeros_and_ones(labelled) > 0) | x_only_rule(y)


def augmented_rule(y, s, labelled=0, odds=1):
    """Bayes rule ``d_B^PU(x, labelled)``: class 1 where labelled or where ``y > (1 + s) / 2``.

    Examples
    --------
    >>> augmented_rule([0.6, 0.6, 0.8], [0.3, 0.3, 0.3], [0, 1, 0]).tolist()
    [False, True, True]
    """
    y, s = _posteriors(y, s, labelled=labelled)
    # d_B^PU(x, 1) = 1,  d_B^PU(x, 0) = 1  <=>  y > (1 + s) / 2                          (eq. 2)
    return (_zeros_and_ones(labelled) > 0) | (y > augmented_threshold(s, odds))


# One score, many decisions: every rule below is a threshold on the augmented posterior


def cost_sensitive_rule(y, s, labelled, false_positive_cost, false_negative_cost):
    """Rule of least expected cost: class 1 where labelled or where leaving the row out costs more.

    Examples
    --------
    >>> cost_sensitive_rule([0.3, 0.6], 0.2, 0, 1, 4).tolist()  # a missed case is the dearer one
    [False, True]
    """
    _check_positive(
        false_positive_cost=false_positive_cost, false_negative_cost=false_negative_cost
    )
    # c_FN ytilde > c_FP (1 - ytilde)  <=>  odds of class 1 > c_FP / c_FN
    return augmented_rule(y, s, labelled, false_positive_cost / false_negative_cost)


def balanced_rule(y, s, labelled=0, weights=None):
    """Rule of greatest balanced accuracy on unlabelled rows: those above their mean posterior.

    Examples
    --------
    >>> balanced_rule([0.1, 0.2, 0.6], [0.0, 0.1, 0.4], [0, 0, 0]).tolist()
    [False, False, True]
    """
    _one_value_per_row(y=y, s=s, labelled=labelled, weights=weights)
    score, labelled = augmented_posterior(y, s), _zeros_and_ones(labelled)
    weights = (1 - labelled) * np.broadcast_to(1 if weights is None else weights, np.shape(score))
    # ytilde / pi_U > (1 - ytilde) / (1 - pi_U)  <=>  ytilde > pi_U = P(Y=1 | S=0)
    return (labelled > 0) | (score * weights.sum() > (score * weights).sum())


def budget_rule(score, labelled, budget):
    """Rule that finds most positives with ``budget`` calls: the unlabelled rows of highest score.

    Any increasing function of the augmented posterior serves as score. Of equal scores the earlier
    row is called. Labelled rows are class 1 and cost nothing.

    Examples
    --------
    >>> budget_rule([0.2, 0.9, 0.4, 0.7], [0, 1, 0, 0], 1).tolist()
    [False, True, False, True]
    """
    _one_value_per_row(score=score, labelled=labelled)
    score = np.atleast_1d(score)
    if (score != score).any():
        raise ValueError("score holds nan; give every row a score, or drop the row")
    if not (isinstance(budget, Integral) and budget >= 0):
        raise ValueError(f"budget is {budget!r}; it must be a whole number of rows, 0 or more")
    called = np.array(np.broadcast_to(_zeros_and_ones(labelled) > 0, score.shape))
    from_the_top = np.argsort(-score, kind="stable")
    called[from_the_top[~called[from_the_top]][:budget]] = True
    return called


def precision_rule(y, s, labelled, precision):
    """Rule that finds most positives while an expected share ``precision`` of its calls is right.

    Only calls of unlabelled rows count, and the share is as right as the posteriors are.

    Examples
    --------
    >>> precision_rule([0.9, 0.8, 0.4], 0, [0, 0, 0], 0.7).tolist()  # (.9 + .8 + .4) / 3 = .7
    [True, True, True]
    """
    y, s = _posteriors(y, s, labelled=labelled)
    (precision,) = _probabilities(precision=precision)
    score = np.atleast_1d(augmented_posterior(y, s))
    unlabelled = np.sort(score[np.broadcast_to(_zeros_and_ones(labelled) == 0, score.shape)])[::-1]
    # the mean of the k highest scores falls with k, what they find grows: the last k that will do
    enough = (np.cumsum(unlabelled - precision) >= 0) & (unlabelled > 0)
    return budget_rule(score, labelled, enough.sum())


def shift_prior(y, prior, new_prior):
    """Posterior where the prior is ``new_prior`` instead, and P(x | Y) is the same: label shift.

    It serves for ytilde as well as for y: labelling that is the same keeps P(x, S | Y) the same.
    ``prior`` is that of the whole population, P(Y=1), in both cases.

    Examples
    --------
    >>> float(shift_prior(0.5, 0.5, 0.1))
    0.1
    """
    y, prior, new_prior = _probabilities(y=y, prior=prior, new_prior=new_prior)
    # odds' = odds * (pi' / (1 - pi')) / (pi / (1 - pi))
    positive, negative = y * new_prior * (1 - prior), (1 - y) * (1 - new_prior) * prior
    return _ratio(positive, positive + negative)


# What is certain where at least a known share of the positives is labelled at every x


def certified_negative(s, least_propensity, odds=1):
    """Where the best rule calls an unlabelled row negative, whatever e(x) >= ``least_propensity``.

    Examples
    --------
    >>> certified_negative([0.1, 0.2], 0.3).tolist()  # .3 / 1.7 = .176
    [True, False]
    """
    s, least_propensity = _probabilities(s=s, least_propensity=least_propensity)
    _check_positive(odds=odds, least_propensity=least_propensity)
    # y = s / e is at most s / eps, and that is called negative where
    # s / eps <= (t + s) / (1 + t)  <=>  s <= t eps / (1 + t - eps); for t = 1, eps / (2 - eps)
    return s <= odds * least_propensity / (1 + odds - least_propensity)


# What the functions above accept


def _symbolic(value):
    """Whether ``value`` is a sympy expression with a symbol in it, of which no number is known."""
    return bool(getattr(value, "free_symbols", ()))


def _one_value_per_row(**named):
    """Refuse arrays of different shapes, and pandas objects whose rows are not the same."""
    shapes = {name: np.shape(value) for name, value in named.items() if np.shape(value)}
    indexes = [value.index for value in named.values() if hasattr(value, "iloc")]
    if len(set(shapes.values())) > 1 or not all(index.equals(indexes[0]) for index in indexes):
        raise ValueError(
            f"{', '.join(shapes)} have the shapes {list(shapes.values())} and not the same rows; "
            "give one value per row in each, a scalar, or tables with the same index"
        )


def _probabilities(**named):
    """The named arguments as floats or exact numbers in [0, 1]; symbols as they are."""
    _one_value_per_row(**named)
    return [_clipped(name, value) for name, value in named.items()]


def _clipped(name, value):
    if _symbolic(value):
        return value
    array = np.asarray(value)
    array = array if array.dtype == object else array.astype(float)
    inside = np.asarray((array >= -DUST) & (array <= 1 + DUST), dtype=bool)  # False for NaN
    if not inside.all():
        raise ValueError(
            f"{name} holds {array[~inside][0]}, which is not in [0, 1]; drop or impute missing "
            "rows, and pass probabilities, not logits, scores or percentages"
        )
    return np.asarray(np.clip(array, 0 * array, 0 * array + 1))  # ends as exact as the array


def _posteriors(y, s, **others):
    """``y`` and ``s`` as probabilities with s <= y; ``others`` must have their rows."""
    _one_value_per_row(y=y, s=s, **others)
    y, s = _probabilities(y=y, s=s)
    if _symbolic(y) or _symbolic(s):
        return y, s
    above = np.asarray(s - y > DUST, dtype=bool)
    if above.any():
        s, y = (np.broadcast_to(value, above.shape)[above][0] for value in (s, y))
        raise ValueError(
            f"s = {s} exceeds y = {y}, but s = e y cannot; clip estimates with np.minimum(s, y), "
            "or check that the two arguments are in order"
        )
    return y, np.asarray(np.minimum(s, y))


def _zeros_and_ones(labelled):
    """The label status as integers; a symbol as it is."""
    if _symbolic(labelled):
        return labelled
    labelled = np.asarray(labelled)
    strange = ~np.isin(labelled, (0, 1))
    if strange.any():
        raise ValueError(f"labelled holds {labelled[strange][0]}; it must be 1 or 0 in every row")
    return labelled.astype(int)


def _check_positive(**named):
    for name, value in named.items():
        if not _symbolic(value) and not (np.ndim(value) == 0 and 0 < value < np.inf):
            raise ValueError(f"{name} is {value}; it must be one positive, finite number")


def _ratio(numerator, denominator):
    """``numerator / denominator`` with 0/0 = 0 and 1/0 = infinity; plain division of symbols."""
    if _symbolic(numerator) or _symbolic(denominator):
        return numerator / denominator
    zero = np.asarray(denominator == 0, dtype=bool)
    quotient = np.asarray(numerator) / np.where(zero, 1, denominator)
    return np.where(zero, np.where(numerator == 0, numerator, np.inf), quotient)[()]
