"""Who gets a label: three mechanisms, and the logistic propensity with a given label frequency.

Each mechanism takes the true classes ``y`` of any data and returns the label status ``s``, an
int8 array that is 1 only where ``y`` is.
"""

import math

import numpy as np
import scipy  # its parts are loaded when they are used: commands without data need not wait

from pu_utils.data.record import same_everywhere


def label_by_propensity(y, propensity, rng):
    """Label each positive with its own probability ``e(x)``, independently of the others.

    Parameters
    ----------
    y : array of 0 and 1
    propensity : array of probabilities, or one probability (SCAR)
    rng : numpy.random.Generator

    Examples
    --------
    >>> label_by_propensity([1, 1, 0], [1.0, 0.0, 1.0], np.random.default_rng(0)).tolist()
    [1, 0, 0]
    """
    y, propensity = _checked(y, propensity=propensity)
    if not np.all((propensity >= 0) & (propensity <= 1)):
        raise ValueError("propensity holds a value that is not a probability in [0, 1]")
    return _label_status((y == 1) & (rng.random(len(y)) < propensity))


def label_top_fraction(y, score, label_frequency, classes=None):
    """Label the ``int(c n)`` positives with the largest score, within each class.

    Of equal scores the earlier row is labelled first.

    Parameters
    ----------
    y : array of 0 and 1
    score : array of finite numbers
    label_frequency : float in (0, 1]
    classes : array, optional
        Finer classes (digits, kinds of vehicle) that are labelled separately; one by default.

    Examples
    --------
    >>> label_top_fraction([1, 1, 1, 1, 0], [3, 9, 4, 7, 8], 0.5).tolist()
    [0, 1, 0, 1, 0]
    """
    numbers = y if classes is None else np.unique(classes, return_inverse=True)[1]
    y, score, classes = _checked(y, score=score, classes=numbers)
    labelled = np.zeros(len(y), dtype=bool)
    for positive_class in np.unique(classes[y == 1]):
        rows = np.flatnonzero((y == 1) & (classes == positive_class))
        boldest_first = rows[np.argsort(-score[rows], kind="stable")]
        labelled[boldest_first[: _labelled_count(label_frequency, len(rows))]] = True
    return _label_status(labelled)


def label_by_weight(y, weight, label_frequency, rng):
    """Label a weighted sample, without replacement, of ``int(c n)`` positives.

    Parameters
    ----------
    y : array of 0 and 1
    weight : array of finite numbers, at least 0
        One after the other, positives are drawn with probability proportional to their weight.
    label_frequency : float in (0, 1]
    rng : numpy.random.Generator

    Examples
    --------
    >>> label_by_weight([1, 1, 0, 0], [1, 0, 1, 1], 0.5, np.random.default_rng(0)).tolist()
    [1, 0, 0, 0]
    """
    y, weight = _checked(y, weight=weight)
    positives = np.flatnonzero(y)
    count = _labelled_count(label_frequency, len(positives))
    if (weight < 0).any() or (weight[positives] > 0).sum() < count:
        raise ValueError(
            f"weight must be at least 0 everywhere and positive for the {count} rows to be labelled"
        )
    # A race: arrival times are exponential with the weight as rate, and the first to arrive win.
    with np.errstate(divide="ignore"):
        arrival = -np.log1p(-rng.random(len(positives))) / weight[positives]
    labelled = np.zeros(len(y), dtype=bool)
    labelled[positives[np.argsort(arrival, kind="stable")[:count]]] = True
    return _label_status(labelled)


def logistic_propensity(y, score, label_frequency, power=1):
    """Propensity ``sigmoid(score + r) ** power`` whose mean over the positives is as asked.

    The mean grows with ``r``, so a bracketing root finder solves for it.

    Examples
    --------
    >>> logistic_propensity([1, 1, 0], [-1.0, 1.0, 0.0], 0.5).round(3).tolist()
    [0.269, 0.731, 0.5]
    """
    expit, brentq = scipy.special.expit, scipy.optimize.brentq
    y, score = _checked(y, score=score)
    check_label_frequency(label_frequency)
    if not y.any():
        raise ValueError("y holds no positive row, so no row can be labelled; give some")
    if label_frequency == 1:
        return np.ones(len(y))
    positive_score = score[y == 1]

    def excess(r):
        return np.mean(expit(positive_score + r) ** power) - label_frequency

    # At these ends every positive's propensity is below, or above, the label frequency.
    middle = scipy.special.logit(label_frequency ** (1 / power))
    ends = middle - positive_score.max() - 1, middle - positive_score.min() + 1
    intercept = round(brentq(excess, *ends, xtol=1e-14), 9)  # the same on every machine
    return same_everywhere(expit(score + intercept) ** power)


def check_label_frequency(label_frequency):
    """Raise unless the label frequency ``c`` lies in (0, 1]."""
    if not 0 < label_frequency <= 1:
        raise ValueError(f"label_frequency is {label_frequency}; this share must lie in (0, 1]")


def _labelled_count(label_frequency, n):
    """``int(c n)``, where a product such as 0.29 * 100 = 28.999... counts as 29."""
    check_label_frequency(label_frequency)
    return math.floor(label_frequency * n + 1e-9)


def _label_status(labelled):
    if not labelled.any():
        raise ValueError(
            "no row was labelled: give more rows, or a larger label frequency or propensity"
        )
    return labelled.astype(np.int8)


def _checked(y, **named):
    """``y`` and named numbers, one per row or one for all, as arrays; or a clear error."""
    y = np.asarray(y)
    if y.ndim != 1 or not np.isin(y, (0, 1)).all():
        raise ValueError("y must be a one-dimensional array of 0 (negative) and 1 (positive)")
    arrays = {name: np.asarray(values, dtype=float) for name, values in named.items()}
    for name, array in arrays.items():
        if array.shape not in ((), y.shape) or not np.isfinite(array).all():
            raise ValueError(f"{name} must be a finite number for each of the {len(y)} rows of y")
    return y, *arrays.values()
