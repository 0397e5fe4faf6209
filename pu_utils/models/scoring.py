"""Scores that need no Y, for choosing among estimators.

What scikit-learn compares with the second argument of ``fit`` it compares with S: ``score``,
``GridSearchCV`` and ``cross_val_score`` without a ``scoring``, ``CalibratedClassifierCV`` and
``TunedThresholdClassifierCV`` all reward agreement with S, and the best of all classifiers is then
one that calls every unlabelled row negative. Use the scores below as ``scoring``, and
:class:`pu_utils.models.Recalibrated` in place of ``CalibratedClassifierCV``. Neither score can tell
class and propensity apart where the data cannot (:class:`pu_utils.models.AugmentedEM` says more).
"""

import numpy as np

from pu_utils.models.base import label_status
from pu_utils.models.em import TINY, log_likelihood


def label_log_likelihood(model, X, s):
    """Mean log-likelihood of the label status under the model's s(x); higher is better.

    It judges s(x) = y(x) e(x), the product, and therefore estimators that fit the two together.

    Parameters
    ----------
    model : PUClassifier
        A fitted one.
    X, s : arrays
        Rows that it has not seen, and their label status.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.model_selection import cross_val_score
    >>> from pu_utils.models import ElkanNoto
    >>> X, s = np.array([[0.0], [1.0], [2.0], [3.0]] * 10), np.array([0, 0, 0, 1] * 10)
    >>> scores = cross_val_score(ElkanNoto(prior=0.5), X, s, scoring=label_log_likelihood)
    >>> bool(-0.7 < scores.mean() < 0)
    True
    """
    return float(log_likelihood(model.predict_label_proba(X), 1.0, label_status(s)).mean())


def negative_nnpu_risk(model, X, s, prior):
    """Minus the non-negative PU risk of the model's y(x), with logistic loss; higher is better.

    It estimates minus the log-likelihood of Y if labelled rows are like all positives (SCAR). It
    compares models that share a prior; to choose the prior itself it is no use (on 300 rows it
    preferred 0.3 to the true 0.5).

    Parameters
    ----------
    model : classifier
        A fitted one, whose column 1 of ``predict_proba`` is y(x).
    X, s : arrays
        Rows that it has not seen, and their label status.
    prior : float
        P(Y=1), the same for all that are compared: ``partial(negative_nnpu_risk, prior=0.3)`` is
        a ``scoring`` of scikit-learn.

    Returns
    -------
    float
    """
    y_proba, labelled = np.clip(model.predict_proba(X)[:, 1], TINY, 1 - TINY), label_status(s) == 1
    if not labelled.any():
        raise ValueError("s holds no labelled row; the risk needs some: use stratified folds")
    as_positive, as_negative = -np.log(y_proba), -np.log1p(-y_proba)
    negative = as_negative.mean() - prior * as_negative[labelled].mean()
    return -float(prior * as_positive[labelled].mean() + max(negative, 0))
