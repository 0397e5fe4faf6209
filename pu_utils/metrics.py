"""Metrics on the unlabelled rows (U-metrics).

Where ``s = 1`` every rule that knows the label says 1 and is right, so rules are told apart on the
rows with ``s = 0``. All numbers are shares in [0, 1], not percentages.
"""

import numpy as np
import scipy  # imports scipy.stats, which is slow, where it is first used

from pu_utils.rules import _one_value_per_row

METRIC_NAMES = {
    "accuracy": "accuracy without S",
    "u_accuracy": "U-accuracy",
    "u_balanced_accuracy": "U-balanced accuracy",
}


def accuracy(y, predicted):
    """Share of the rows whose class is predicted.

    Examples
    --------
    >>> accuracy([1, 0, 0, 1], [1, 0, 1, 1])
    0.75
    """
    y, predicted = _rows(y=y, predicted=predicted)
    return float(np.mean(y == predicted))


def u_accuracy(y, predicted, s):
    """Share of the unlabelled rows whose class is predicted.

    Examples
    --------
    >>> u_accuracy([1, 0, 0, 1], [1, 0, 1, 1], s=[1, 0, 0, 0])
    0.6666666666666666
    """
    return accuracy(*_unlabelled(s, y=y, predicted=predicted))


def u_balanced_accuracy(y, predicted, s):
    """Mean of the shares predicted of the unlabelled positives and of the negatives.

    NaN where one of the classes has no unlabelled row.
    """
    y, predicted = _unlabelled(s, y=y, predicted=predicted)
    return (_share(predicted[y == 1] == 1) + _share(predicted[y == 0] == 0)) / 2


def u_precision(y, predicted, s):
    """Share of positives among the unlabelled rows called positive; 0 where none is."""
    y, predicted = _unlabelled(s, y=y, predicted=predicted)
    return float(np.sum(y[predicted == 1]) / max(1, np.sum(predicted == 1)))


def u_recall(y, predicted, s):
    """Share of the unlabelled positives called positive; NaN where there is none."""
    y, predicted = _unlabelled(s, y=y, predicted=predicted)
    return _share(predicted[y == 1] == 1)


def u_f1(y, predicted, s):
    """Harmonic mean of U-precision and U-recall; 0 where nothing is right.

    Examples
    --------
    >>> u_f1([1, 1, 0, 1], [1, 1, 1, 0], s=[1, 0, 0, 0])
    0.5
    """
    y, predicted = _unlabelled(s, y=y, predicted=predicted)
    both = np.sum((y == 1) & (predicted == 1))
    return float(2 * both / max(1, np.sum(y == 1) + np.sum(predicted == 1)))


def u_auc(y, score, s):
    """Probability that an unlabelled positive scores above a negative, ties counting half.

    NaN where one of the classes has no unlabelled row.

    Examples
    --------
    >>> u_auc([1, 1, 0, 0], [0.1, 0.6, 0.5, 0.6], s=[1, 0, 0, 0])
    0.75
    """
    y, score = _unlabelled(s, y=y, score=score)
    positives, negatives = np.sum(y == 1), np.sum(y == 0)
    if positives == 0 or negatives == 0:
        return float("nan")
    # Mann and Whitney: rank sum of the positives, less the least it can be
    above = np.sum(scipy.stats.rankdata(score)[y == 1]) - positives * (positives + 1) / 2
    return float(above / (positives * negatives))


def u_log_loss(y, score, s, least=1e-6):
    """Mean of minus the logarithm of the probability that unlabelled rows' classes were given.

    A class that was held impossible costs as much as one of probability ``least``.

    Examples
    --------
    >>> round(u_log_loss([1, 1, 0], [0.2, 0.5, 0.5], s=[1, 0, 0]), 4)
    0.6931
    """
    y, score = _unlabelled(s, y=y, score=score)
    return float(-np.mean(np.log(np.clip(np.where(y == 1, score, 1 - score), least, 1))))


def all_negative_u_accuracy(prior, label_frequency):
    """U-accuracy of calling every unlabelled row negative, in expectation.

    Examples
    --------
    >>> round(all_negative_u_accuracy(prior=0.5, label_frequency=0.9), 4)
    0.9091
    """
    if not (0 < prior < 1 and 0 <= label_frequency <= 1):
        raise ValueError(
            f"prior {prior} must lie in (0, 1) and label_frequency {label_frequency} in [0, 1]"
        )
    # P(Y=0 | S=0) = (1 - pi) / (1 - pi c)
    return float((1 - prior) / (1 - prior * label_frequency))


def _rows(**named):
    """The named arguments as arrays of one length, or a clear error."""
    _one_value_per_row(**named)
    arrays = {name: np.asarray(value, dtype=float) for name, value in named.items()}
    for name, array in arrays.items():
        if array.ndim != 1:
            raise ValueError(f"{name} has shape {array.shape}; give one value per row")
        if np.isnan(array).any():
            raise ValueError(f"{name} holds nan; drop or impute missing rows")
        if name != "score" and not np.isin(array, (0, 1)).all():
            raise ValueError(f"{name} must hold 0 and 1 only: decide before measuring")
    return list(arrays.values())


def _unlabelled(s, **named):
    """The named arguments on the rows with ``s = 0``."""
    s, *arrays = _rows(s=s, **named)
    if np.all(s == 1):
        raise ValueError("s is 1 in every row; U-metrics need at least one unlabelled row")
    return [array[s == 0] for array in arrays]


def _share(hits):
    return float(hits.mean()) if len(hits) else float("nan")
