"""Estimators that train nothing of their own: two models joined, the prophets, all-negative."""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from pu_utils import rules
from pu_utils.models.base import PUClassifier


class Augmented(PUClassifier):
    """Any two scikit-learn classifiers made into one that can be asked with S.

    Parameters
    ----------
    y_model : classifier, optional
        Estimates y(x); fitted to (X, s), like every estimator here, so it should be one for PU
        data: a ``PUClassifier``, or a classifier already fitted to Y by other means in
        scikit-learn's ``FrozenEstimator``. Logistic regression where None.
    s_model : classifier, optional
        Estimates s(x). Logistic regression where None.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.

    Attributes
    ----------
    y_model_, s_model_ : classifiers
        The fitted pair.
    diagnostics_ : dict
        Counts of rows, among them those whose estimate of s(x) exceeds that of y(x).

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    >>> s = y * (rng.random(400) < 0.5)
    >>> y_model = FrozenEstimator(LogisticRegression().fit(X, y))
    >>> model = Augmented(y_model, LogisticRegression()).fit(X, s)
    >>> bool(model.predict(X, s=s).sum() < model.predict(X).sum() + s.sum())
    True
    """

    def __init__(self, y_model=None, s_model=None, *, odds=1.0):
        self.y_model = y_model
        self.s_model = s_model
        self.odds = odds

    def fit(self, X, s):
        """Fit both classifiers to rows ``X`` and their label status ``s``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.

        Returns
        -------
        Augmented
            Itself.
        """
        X, s = self._training_rows(X, s)
        self.y_model_, self.s_model_ = (
            clone(LogisticRegression() if model is None else model).fit(X, s)
            for model in (self.y_model, self.s_model)
        )
        self._diagnose(X, s)
        return self

    def _class_posterior(self, X):
        return self.y_model_.predict_proba(X)[:, 1].astype(float)

    def _label_posterior(self, X):
        return self.s_model_.predict_proba(X)[:, 1].astype(float)


class Prophet(PUClassifier):
    """Knows the true y(x) and e(x): the paper's S-Prophet, and Y-Prophet by the naive rule.

    Parameters
    ----------
    y_proba, propensity : function of X, optional
        Give y(x) and e(x), one value per row; 1/2 for every row where None.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.

    Attributes
    ----------
    diagnostics_ : dict
        Counts of rows.

    Examples
    --------
    >>> X, s = np.array([[0.9], [0.6], [0.2]]), np.array([1, 0, 0])
    >>> prophet = Prophet(lambda X: X[:, 0], lambda X: np.full(len(X), 0.5)).fit(X, s)
    >>> prophet.predict(X).tolist(), prophet.predict(X, s=s).tolist()
    ([1, 1, 0], [1, 0, 0])
    """

    def __init__(self, y_proba=None, propensity=None, *, odds=1.0):
        self.y_proba = y_proba
        self.propensity = propensity
        self.odds = odds

    def fit(self, X, s):
        """Look at the shape of ``X`` and the values of ``s``; nothing is learnt.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.

        Returns
        -------
        Prophet
            Itself.
        """
        X, s = self._training_rows(X, s)
        self._diagnose(X, s)
        return self

    def _class_posterior(self, X):
        return self._told(self.y_proba, X)

    def _label_posterior(self, X):
        return rules.label_posterior(self._class_posterior(X), self._told(self.propensity, X))

    def _told(self, function, X):
        return np.full(len(X), 0.5) if function is None else np.asarray(function(X), dtype=float)


class AllNegative(PUClassifier):
    """Takes every unlabelled row for a negative: the baseline that the paper's tables lack.

    Its U-accuracy is ``(1 - pi) / (1 - pi c)``. Asked without ``s`` it says class 0 everywhere.

    Parameters
    ----------
    odds : float
        Of no effect: 0 exceeds no odds.

    Examples
    --------
    >>> AllNegative().fit([[0.0], [1.0]], [0, 1]).predict([[0.0], [1.0]], s=[0, 1]).tolist()
    [0, 1]
    """

    def __init__(self, *, odds=1.0):
        self.odds = odds

    def fit(self, X, s):
        """Look at the shape of ``X`` and the values of ``s``; nothing is learnt.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.

        Returns
        -------
        AllNegative
            Itself.
        """
        X, s = self._training_rows(X, s)
        self._diagnose(X, s)
        return self

    def _class_posterior(self, X):
        return np.zeros(len(X))

    _label_posterior = _class_posterior
