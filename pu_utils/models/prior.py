"""The class prior where nobody knows it: Elkan and Noto's estimate."""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

STANDARDISED = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


class PriorWarning(UserWarning):
    """The class prior was estimated, and the estimate leans on assumptions."""


def estimate_prior(X, s, random_state=None):
    """Class prior by the estimator of Elkan and Noto.

    The label frequency is the mean of an estimate of s(x) over labelled rows, ``c = E[s(X) | S=1]``
    (their e1; *Learning classifiers from only positive and unlabeled data*, KDD 2008), and
    the prior is ``P(S=1) / c``. s(x) is a logistic regression, each row's estimate made by a fit
    that has not seen it.

    It assumes that labelled rows are drawn at random from the positives (SCAR) and that
    classes do not overlap. Where they overlap it comes out too high, and under selection bias it
    may err either way: give the prior wherever it is known.

    Parameters
    ----------
    X : array of shape (n, p)
        Rows.
    s : array of shape (n,)
        1 where labelled, 0 elsewhere.
    random_state : int, RandomState or None
        Source of the folds.

    Returns
    -------
    float
        Between ``P(S=1)`` and 0.99.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [600, 400])
    >>> X = rng.normal(size=(1000, 2)) + 6 * y[:, None]
    >>> s = y * (rng.random(1000) < 0.5)
    >>> round(estimate_prior(X, s, random_state=0), 1)
    0.4
    """
    s = np.asarray(s)
    if set(np.unique(s)) != {0, 1}:
        raise ValueError(
            f"s holds {list(np.unique(s)[:5])}; it must hold 1 for labelled and 0 for unlabelled "
            "rows, and some of both"
        )
    n_folds = min(5, int(s.sum()), int((1 - s).sum()))
    if n_folds < 2:  # a stratum of one row cannot be held out
        estimate = clone(STANDARDISED).fit(X, s).predict_proba(X)[:, 1]
    else:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
        estimate = cross_val_predict(STANDARDISED, X, s, cv=folds, method="predict_proba")[:, 1]
    label_frequency = estimate[s == 1].mean()
    return float(np.clip(s.mean() / label_frequency, s.mean(), max(0.99, s.mean())))
