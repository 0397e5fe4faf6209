"""Estimators around other classifiers: Elkan and Noto's, two joined, the prophets, all-negative."""

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pu_utils import rules
from pu_utils.models.base import PUClassifier
from pu_utils.models.prior import estimate_prior


class ElkanNoto(PUClassifier):
    """Any scikit-learn classifier of S and the class prior: the first thing to try.

    If labelled rows are like all positives (SCAR), then ``s(x) = c y(x)`` with ``c = P(S=1) / pi``,
    and y(x) needs no model of its own (Elkan and Noto, KDD 2008). Asked with S, an unlabelled row
    is of class 1 where ``s(x) > c / (2 - c)``: the paper's rule, on a function that data identify.

    Parameters
    ----------
    s_model : classifier, optional
        Estimates s(x). Logistic regression of standardised features where None.
    prior : float, optional
        P(Y=1); estimated by ``estimate_prior`` where None.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.
    random_state : int, RandomState or None
        Source of the folds of ``estimate_prior``.

    Attributes
    ----------
    s_model_ : classifier
        The fitted classifier of S.
    prior_, label_frequency_ : float
        P(Y=1), given or estimated, and ``c`` that follows from it.
    diagnostics_ : dict
        Counts of rows.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    >>> s = y * (rng.random(400) < 0.5)
    >>> model = ElkanNoto(prior=0.5).fit(X, s)
    >>> threshold = model.label_frequency_ / (2 - model.label_frequency_)
    >>> unlabelled = X[s == 0]
    >>> above = model.predict_label_proba(unlabelled) > threshold
    >>> bool((model.predict(unlabelled, s=s[s == 0]) == above).all())
    True
    """

    def __init__(self, s_model=None, *, prior=None, odds=1.0, random_state=None):
        self.s_model = s_model
        self.prior = prior
        self.odds = odds
        self.random_state = random_state

    def fit(self, X, s):
        """Fit the classifier of S to rows ``X`` and their label status ``s``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.

        Returns
        -------
        ElkanNoto
            Itself.
        """
        X, s = self._training_rows(X, s)
        prior = estimate_prior(X, s, self._random_state()) if self.prior is None else self.prior
        self._keep_prior(prior, s.mean())
        default = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        self.s_model_ = clone(default if self.s_model is None else self.s_model).fit(X, s)
        self._diagnose(X, s)
        return self

    def _class_posterior(self, X):
        return np.minimum(self._label_posterior(X) / self.label_frequency_, 1.0)

    def _label_posterior(self, X):
        return self.s_model_.predict_proba(X)[:, 1].astype(float)


class Augmented(PUClassifier):
    """A model of y(x) and a classifier of S made into one that can be asked with S.

    Parameters
    ----------
    y_model : classifier, optional
        Estimates y(x); fitted to (X, s), like every estimator here, so it must be one for PU
        data: a ``PUClassifier``, or a classifier already fitted to Y by other means in
        scikit-learn's ``FrozenEstimator``. (A plain classifier would learn S: then y(x) = s(x),
        which never exceeds (1 + s(x)) / 2, and no unlabelled row is ever called positive.)
        ``ElkanNoto``, which estimates the prior, where None.
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
        y_model = ElkanNoto(random_state=0) if self.y_model is None else self.y_model
        if not _estimates_y(y_model):
            raise ValueError(
                f"y_model is {y_model!r}, which fit would teach S and not Y: with y(x) = s(x) no "
                "unlabelled row is ever of class 1. Use ElkanNoto(classifier, prior=...) in place "
                "of Augmented, or give as y_model an estimator that knows the prior, such as "
                "AugmentedEM(prior=...), or a classifier fitted to Y in FrozenEstimator"
            )
        X, s = self._training_rows(X, s)
        s_model = LogisticRegression() if self.s_model is None else self.s_model
        self.y_model_, self.s_model_ = (clone(model).fit(X, s) for model in (y_model, s_model))
        self._diagnose(X, s)
        return self

    def _class_posterior(self, X):
        return self.y_model_.predict_proba(X)[:, 1].astype(float)

    def _label_posterior(self, X):
        return self.s_model_.predict_proba(X)[:, 1].astype(float)


def _estimates_y(model):
    """Whether fitting ``model`` to S makes it estimate Y: it is for PU data, or fitted already."""
    if isinstance(model, PUClassifier | FrozenEstimator):
        return True
    inner = model.steps[-1][1] if hasattr(model, "steps") else getattr(model, "estimator", None)
    return inner is not None and _estimates_y(inner)


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
