"""The algebra of y, s, e and ytilde: one identity per function.

``y(x) = P(Y=1 | x)`` is the class posterior, ``e(x) = P(S=1 | Y=1, x)`` the propensity,
``s(x) = P(S=1 | x)`` the label posterior and ``ytilde(x, l) = P(Y=1 | X=x, S=l)`` the augmented
posterior. Equation and theorem numbers are those of the paper.

Every function takes scalars, numpy arrays or sympy expressions, and is exact where its input is:
the notebook that proves Theorem 1 and the program that decides call the same lines. Rules return
booleans, ``True`` for class 1 (for symbols, the inequality itself).
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
    odds = _positive(odds)
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


def _positive(odds):
    if not _open(_array(odds, "odds")) and not (np.ndim(odds) == 0 and 0 < odds < np.inf):
        raise ValueError(
            f"odds is {odds}; it must be one positive, finite number: the cost of a false "
            "positive over that of a false negative"
        )
    return odds


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
