"""Elkan and Noto's classifier, and a model of y(x) joined with one of S."""

from dataclasses import field

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator

from pu_utils.models.base import STANDARDISED, PUClassifier, Seed, estimator


@estimator
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
        P(Y=1); estimated by ``estimate_prior``, with a warning, where None.
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

    s_model: BaseEstimator | None = field(default=None, kw_only=False)
    prior: float | None = None
    random_state: Seed = None

    def _fit(self, X, s, random_state):
        self._settle_prior(self.prior, X, s, random_state)
        self.s_model_ = clone(STANDARDISED if self.s_model is None else self.s_model).fit(X, s)

    def _y_proba(self, X):
        return np.minimum(self._s_proba(X) / self.label_frequency_, 1.0)

    def _s_proba(self, X):
        return self.s_model_.predict_proba(X)[:, 1].astype(float)


@estimator
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
        Estimates s(x). Logistic regression of standardised features where None.
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
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    >>> s = y * (rng.random(400) < 0.5)
    >>> y_model = FrozenEstimator(LogisticRegression().fit(X, y))
    >>> model = Augmented(y_model, LogisticRegression()).fit(X, s)
    >>> bool(model.predict(X, s=s).sum() < model.predict(X).sum() + s.sum())
    True
    """

    y_model: BaseEstimator | None = field(default=None, kw_only=False)
    s_model: BaseEstimator | None = field(default=None, kw_only=False)

    def _fit(self, X, s, random_state):
        y_model = ElkanNoto(random_state=0) if self.y_model is None else self.y_model
        if not _estimates_y(y_model):
            raise ValueError(
                f"y_model is {y_model!r}, which would learn S, not Y. Use ElkanNoto(classifier, "
                "prior=...) in place of Augmented, or give an estimator that knows the prior, such "
                "as AugmentedEM(prior=...), or a classifier fitted to Y in FrozenEstimator"
            )
        s_model = STANDARDISED if self.s_model is None else self.s_model
        self.y_model_, self.s_model_ = (clone(model).fit(X, s) for model in (y_model, s_model))

    def _y_proba(self, X):
        return self.y_model_.predict_proba(X)[:, 1].astype(float)

    def _s_proba(self, X):
        return self.s_model_.predict_proba(X)[:, 1].astype(float)


def _estimates_y(model):
    """Whether fitting ``model`` to S makes it estimate Y: it is for PU data, or fitted already."""
    if isinstance(model, PUClassifier | FrozenEstimator):
        return True
    inner = model.steps[-1][1] if hasattr(model, "steps") else getattr(model, "estimator", None)
    return inner is not None and _estimates_y(inner)
