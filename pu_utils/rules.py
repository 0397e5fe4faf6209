"""The algebra of y, s, e and ytilde: one identity per function.

``y(x) = P(Y=1 | x)`` is the class posterior, ``e(x) = P(S=1 | Y=1, x)`` the propensity,
``s(x) = P(S=1 | x)`` the label posterior and ``ytilde(x, l) = P(Y=1 | X=x, S=l)`` the augmented
posterior. Equation and theorem numbers are those of the paper.

Every function takes scalars, numpy arrays or sympy expressions, and is exact where its input is:
the notebook that proves Theorem 1 and the program that decides call the same lines. (What compares
the rows of a list with each other takes numbers.) Rules return booleans, ``True`` for class 1 (for
symbols, the inequality itself).
"""

from numbers import Real

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
    labelled = _labels(labelled, y, s)
    y, s = _posteriors(y, s)
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
    odds = _positive("odds", odds)
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
    labelled = _labels(labelled, y)
    (y,) = _probabilities(y=y)
    return (labelled > 0) | (2 * y > 1)


def augmented_rule(y, s, labelled=0, odds=1):
    """Bayes rule ``d_B^PU(x, labelled)``: class 1 where labelled or where ``y > (1 + s) / 2``.

    Examples
    --------
    >>> augmented_rule([0.6, 0.6, 0.8], [0.3, 0.3, 0.3], [0, 1, 0]).tolist()
    [False, True, True]
    """
    labelled = _labels(labelled, y, s)
    y, s = _posteriors(y, s)
    # d_B^PU(x, 1) = 1,  d_B^PU(x, 0) = 1  <=>  y > (1 + s) / 2                          (eq. 2)
    return (labelled > 0) | (y > augmented_threshold(s, odds))


# One score, many decisions: every rule below is a threshold on the augmented posterior


def cost_sensitive_rule(y, s, labelled, false_positive_cost, false_negative_cost):
    """Rule of least expected cost: class 1 where labelled or where leaving the row out costs more.

    Examples
    --------
    >>> cost_sensitive_rule([0.3, 0.6], 0.2, 0, 1, 4).tolist()  # a missed case is the dearer one
    [False, True]
    """
    false_positive_cost = _positive("false_positive_cost", false_positive_cost)
    odds = false_positive_cost / _positive("false_negative_cost", false_negative_cost)
    # c_FN ytilde > c_FP (1 - ytilde)  <=>  odds of class 1 > c_FP / c_FN
    return augmented_rule(y, s, labelled, odds)


def balanced_rule(y, s, labelled=0, weights=None):
    """Rule of greatest balanced accuracy on unlabelled rows: those above their mean posterior.

    Examples
    --------
    >>> balanced_rule([0.1, 0.2, 0.6], [0.0, 0.1, 0.4], [0, 0, 0]).tolist()
    [False, False, True]
    """
    score = augmented_posterior(y, s)
    labelled = _labels(labelled, score)
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
    score, labelled, order = _unlabelled_by_score(score, labelled)
    if not (isinstance(budget, int | np.integer) and budget >= 0):
        raise ValueError(f"budget is {budget!r}; it must be a whole number of rows, 0 or more")
    return _called(labelled, order[:budget])


def precision_rule(y, s, labelled, precision):
    """Rule that finds most positives while an expected share ``precision`` of its calls is right.

    Only calls of unlabelled rows count, and the share is as right as the posteriors are.

    Examples
    --------
    >>> precision_rule([0.9, 0.8, 0.4], 0, [0, 0, 0], 0.7).tolist()  # (.9 + .8 + .4) / 3 = .7
    [True, True, True]
    """
    (precision,) = _probabilities(precision=precision)
    score, labelled, order = _unlabelled_by_score(augmented_posterior(y, s), labelled)
    # the mean of the k highest scores falls with k, what they find grows: the last k that will do
    enough = np.cumsum(score[order] - precision) >= 0
    return _called(labelled, order[enough & (score[order] > 0)])


def shift_prior(y, prior, new_prior):
    """Posterior where the prior is ``new_prior`` instead, and P(x | Y) is the same: label shift.

    It serves for ytilde as well as for y: labelling that is the same keeps P(x, S | Y) the same.
    ``prior`` is that of the whole population, P(Y=1), in both cases.

    Examples
    --------
    >>> float(shift_prior(0.5, 0.5, 0.1))
    0.1
    """
    (y,) = _probabilities(y=y)
    (prior,), (new_prior,) = _probabilities(prior=prior), _probabilities(new_prior=new_prior)
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
    (s,) = _probabilities(s=s)
    odds = _positive("odds", odds)
    if not _open(_array(least_propensity, "least_propensity")) and not 0 < least_propensity <= 1:
        raise ValueError(
            f"least_propensity is {least_propensity!r}; it must be above 0 and at most 1: the "
            "share of positives that is labelled at least, at every x"
        )
    # y = s / e is at most s / eps, and that is called negative where
    # s / eps <= (t + s) / (1 + t)  <=>  s <= t eps / (1 + t - eps); for t = 1, eps / (2 - eps)
    return s <= odds * least_propensity / (1 + odds - least_propensity)


# What the functions above accept


def _symbolic(value):
    """Whether ``value`` is a sympy expression (asked without importing sympy)."""
    return hasattr(value, "free_symbols") and hasattr(value, "is_number")


def _open(value):
    """Whether ``value`` is a sympy expression of which no number is known."""
    return _symbolic(value) and not value.is_number


def _real(value):
    return isinstance(value, Real) or (_symbolic(value) and bool(value.is_real))


def _array(value, name):
    """``value`` as it is if symbolic, else a float array, or an object array of exact numbers."""
    array = np.asarray(value)
    exact = array.dtype == object
    real = all(map(_real, array.flat)) if exact else array.dtype.kind in "biuf"
    if not _open(value) and (not real or array.size == 0 or np.ma.is_masked(value)):
        raise ValueError(
            f"{name} is {array!r}; it must hold real numbers, at least one, none masked or missing"
        )
    if _symbolic(value):
        return value
    if not exact:
        return array.astype(float)
    numbers = np.empty(array.shape, dtype=object)  # no float16 and no True among the exact ones
    numbers.flat = [+(one.item() if isinstance(one, np.generic) else one) for one in array.flat]
    return numbers


def _same_index(**named):
    """Refuse pandas objects whose rows are not the same, or not in the same order."""
    indexes = {name: value.index for name, value in named.items() if hasattr(value, "iloc")}
    if not all(index.equals(next(iter(indexes.values()))) for index in indexes.values()):
        names = " and ".join(indexes)
        raise ValueError(f"the indexes of {names} differ; align them, or pass .to_numpy() of each")


def _first(array, bad):
    """The first entry of ``array`` that is ``bad``, for an error message."""
    return np.broadcast_to(array, np.shape(bad))[bad].flat[0]


def _probabilities(**named):
    """The named arguments as arrays of one shape with entries in [0, 1], or a clear error."""
    _same_index(**named)
    arrays = {name: _array(value, name) for name, value in named.items()}
    shapes = {name: np.shape(a) for name, a in arrays.items() if np.shape(a) != ()}
    if len(set(shapes.values())) > 1:
        found = ", ".join(f"{name} has {shape}" for name, shape in shapes.items())
        raise ValueError(f"shapes differ: {found}; give one value per row in each, or a scalar")
    if shapes:  # a number of sympy's among arrays is one of their exact entries
        arrays = {name: a if _open(a) else np.asarray(a) for name, a in arrays.items()}
    return [_in_unit_interval(name, a) for name, a in arrays.items()]


def _in_unit_interval(name, array):
    if _open(array):
        return array
    inside = np.asarray((array >= -DUST) & (array <= 1 + DUST), dtype=bool)  # False for NaN
    if not inside.all():
        raise ValueError(
            f"{name} holds {_first(array, ~inside)}, which is not a probability; "
            f"{name} must lie in [0, 1]: drop or impute missing rows, and pass probabilities, "
            "not logits, scores or percentages"
        )
    return _between(array, 0 * array, 0 * array + 1) if _exact(array) else np.clip(array, 0, 1)


def _between(array, low, high):
    """Exact numbers cut down to a range, numbers of the same kind."""
    if _symbolic(array):
        return min(max(array, low), high)
    return np.asarray(np.minimum(np.maximum(array, low), high))


def _posteriors(y, s):
    """``y`` and ``s`` as probabilities with s <= y, or a clear error."""
    y, s = _probabilities(y=y, s=s)
    if not _open(s - y):
        bad = np.asarray(s - y > DUST, dtype=bool)
        if bad.any():
            raise ValueError(
                f"s = {_first(s, bad)} exceeds y = {_first(y, bad)}, but s = e y cannot; clip "
                "estimates with np.minimum(s, y), or check that the two arguments are in order"
            )
        s = _between(s, s, y) if _exact(s) else np.minimum(s, y)
    return y, s


def _labels(labelled, y, s=None):
    """``labelled`` as an array of 0 and 1 of the shape of ``y``, or a clear error."""
    _same_index(labelled=labelled, y=y, s=s)
    if _open(labelled):
        return labelled
    labelled = np.asarray(_array(labelled, "labelled"))
    bad = ~np.isin(labelled, (0, 1))
    if bad.any():
        raise ValueError(
            f"labelled holds {_first(labelled, bad)}; it must be 1 (labelled) or 0 (unlabelled) "
            "in every row"
        )
    if labelled.shape != () and labelled.shape != np.shape(y):
        raise ValueError(
            f"shapes differ: labelled has {labelled.shape}, y has {np.shape(y)}; "
            "give one value per row in each, or a scalar"
        )
    return labelled.astype(int)


def _positive(name, value):
    if not _open(_array(value, name)) and not (np.ndim(value) == 0 and 0 < value < np.inf):
        raise ValueError(
            f"{name} is {value!r}; it must be one positive, finite number (odds are the cost of a "
            "false positive over that of a false negative)"
        )
    return value


def _unlabelled_by_score(score, labelled):
    """``score`` and ``labelled`` as arrays of rows, and the unlabelled rows from the top down."""
    score = np.atleast_1d(_array(score, "score"))
    labelled = np.broadcast_to(_labels(labelled, score), score.shape)
    missing = np.asarray(score != score, dtype=bool)
    if missing.any():
        raise ValueError("score holds nan; give every row a score, or drop the row")
    order = np.argsort(-score, kind="stable")
    return score, labelled, order[labelled[order] == 0]


def _called(labelled, rows):
    """True where labelled and at ``rows``."""
    decision = labelled > 0
    decision[rows] = True
    return decision


def _exact(array):
    """Whether arithmetic on ``array`` has no rounding: symbols and rational numbers."""
    return _symbolic(array) or array.dtype == object


def _ratio(numerator, denominator):
    """``numerator / denominator`` with 0/0 = 0 and 1/0 = infinity; plain division of symbols."""
    if _symbolic(numerator) or _symbolic(denominator):
        return numerator / denominator
    zero = np.asarray(denominator == 0)
    quotient = numerator / np.where(zero, 1, denominator)
    return np.where(zero, np.where(numerator == 0, numerator, np.inf), quotient)[()]
