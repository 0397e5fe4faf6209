"""Whether an estimated y(x) means what it says, and making it so with the help of the truth."""

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold

BINS = 10


def reliability(positive, y, bins=BINS):
    """Mean estimate and share of positives in bins of equally many rows, ordered by y.

    Parameters
    ----------
    positive : array of shape (n,)
        True classes, 0 or 1.
    y : array of shape (n,)
        Estimates of P(Y=1 | x).
    bins : int
        How many; at most n.

    Returns
    -------
    estimated, observed : arrays of shape (bins,)

    Examples
    --------
    >>> estimated, observed = reliability([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> estimated.round(2).tolist(), observed.tolist()
    ([0.2, 0.7], [0.0, 1.0])
    """
    positive, y = np.asarray(positive, dtype=float), np.asarray(y, dtype=float)
    parts = np.array_split(np.argsort(y, kind="stable"), bins)
    return np.array([y[p].mean() for p in parts]), np.array([positive[p].mean() for p in parts])


def calibration_error(positive, y, bins=BINS):
    """Mean distance between estimate and share of positives over the bins of ``reliability``.

    0 for an estimate that means what it says; known as expected calibration error.

    Examples
    --------
    >>> round(calibration_error([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.8], bins=2), 2)
    0.25
    """
    estimated, observed = reliability(positive, y, bins)
    return float(np.abs(estimated - observed).mean())


def calibrate(positive, y, folds=5, seed=0):
    """Estimates made calibrated with the help of the true classes, each row by the other folds.

    Isotonic regression keeps the order of the rows within a fold. It needs true classes, which PU
    data lack: a means of diagnosis, not a method.

    Parameters
    ----------
    positive, y
        As in :func:`reliability`.
    folds, seed : int
        Of the cross-fitting.

    Returns
    -------
    array of shape (n,)
    """
    positive, y = np.asarray(positive, dtype=float), np.asarray(y, dtype=float)
    calibrated = np.empty(len(y))
    for others, fold in KFold(folds, shuffle=True, random_state=seed).split(y):
        isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        calibrated[fold] = isotonic.fit(y[others], positive[others]).predict(y[fold])
    return calibrated
