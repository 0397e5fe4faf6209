"""Whether an estimated y(x) means what it says, and making it so with the help of the truth."""

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.isotonic import IsotonicRegression
from sklearn.model_selection import KFold, cross_val_predict

BINS = 10


def reliability(positive, y, bins=BINS):
    """Mean estimate and share of positives in bins between quantiles of y.

    Parameters
    ----------
    positive : array of shape (n,)
        True classes, 0 or 1.
    y : array of shape (n,)
        Estimates of P(Y=1 | x).
    bins : int
        How many; fewer are returned where ties leave some of them empty.

    Returns
    -------
    estimated, observed : arrays of shape (bins,)

    Examples
    --------
    >>> estimated, observed = reliability([0, 0, 1, 1], [0.1, 0.3, 0.6, 0.8], bins=2)
    >>> estimated.round(2).tolist(), observed.tolist()
    ([0.2, 0.7], [0.0, 1.0])
    """
    observed, estimated = calibration_curve(positive, y, n_bins=bins, strategy="quantile")
    return estimated, observed


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
    isotonic = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
    cross_fitting = KFold(folds, shuffle=True, random_state=seed)
    positive, y = np.asarray(positive, dtype=float), np.asarray(y, dtype=float)
    return cross_val_predict(isotonic, y, positive, cv=cross_fitting)
