r"""Unbiased PU learning with logistic loss: convex, and one line of algebra from the EM.

du Plessis, Niu and Sugiyama, *Convex formulation for learning from positive and unlabeled data*,
ICML 2015. With the logistic loss l, ``l(f) - l(-f) = -f``, and the PU risk becomes

.. math::

    R(f) = E \log(1 + e^{f(X)}) - \pi\, E[f(X) \mid S = 1]

under SCAR, the first mean over all rows: the loss of a logistic regression of S divided by the
label frequency c. It is where the logistic class model of :class:`AugmentedEM` starts.
"""

import numpy as np
from scipy.special import expit

from pu_utils.models.base import estimator
from pu_utils.models.em import (
    Representation,
    RidgeEstimator,
    least,
    linear,
    one_thread,
    projected,
    ridge_logistic,
)


@estimator
class Upu(RidgeEstimator):
    """Linear unbiased PU learning for y(x), logistic regression for s(x).

    It takes labelled rows to be drawn at random from the positives (SCAR); asked with S it uses the
    augmented rule of the two.

    Parameters
    ----------
    prior : float, optional
        P(Y=1); estimated by ``estimate_prior``, with a warning, where None.
    ridge : float
        Weight of the penalty on the coefficients of standardised features.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.
    random_state : int, RandomState or None
        Source of the folds of ``estimate_prior``, and of randomness where more than 100 columns are
        condensed.

    Attributes
    ----------
    y_coef_, s_coef_ : arrays
        Coefficients of y(x) and of s(x), the intercept first, of the representation.
    prior_, label_frequency_ : float
        P(Y=1), given or estimated, and ``c`` that follows from it.
    diagnostics_ : dict
        Counts of rows, among them those whose estimate of s(x) exceeds that of y(x).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = rng.random(1000) < expit(2 * X[:, 0])
    >>> s = (y & (rng.random(1000) < 0.5)).astype(int)
    >>> model = Upu(prior=0.5).fit(X, s)
    >>> bool(abs(model.predict_proba(X)[:, 1].mean() - 0.5) < 1e-4)
    True
    """

    prior: float | None = None

    @one_thread
    def _fit(self, X, s, random_state):
        self._settle_prior(self.prior, X, s, random_state)
        view = Representation().fit(X, random_state)
        self.centre_, self.map_ = view.centre, view.map
        rows = projected(X, self.centre_, self.map_)
        self.y_coef_ = self._class_coef(rows, s)
        self.s_coef_ = ridge_logistic(rows, s, ridge=self.ridge)

    def _class_coef(self, rows, s):
        return ridge_logistic(rows, s / self.label_frequency_, ridge=self.ridge)

    def _y_proba(self, X):
        return expit(linear(projected(X, self.centre_, self.map_), self.y_coef_))

    def _s_proba(self, X):
        return expit(linear(projected(X, self.centre_, self.map_), self.s_coef_))


@estimator
class NnPu(Upu):
    """Linear non-negative PU learning for y(x), logistic regression for s(x).

    The part of the risk that estimates the loss on negatives is a difference, and unbiased
    learning may drive it below 0, which no loss can be. Here it counts as 0 then (Kiryo et al.,
    *Positive-unlabeled learning with non-negative risk estimator*, NeurIPS 2017). Where it stays
    positive, as on tables with many more rows than columns, the two estimators are one.

    Parameters and attributes are those of :class:`Upu`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = rng.random(1000) < expit(2 * X[:, 0])
    >>> s = (y & (rng.random(1000) < 0.5)).astype(int)
    >>> bool(np.allclose(NnPu(prior=0.5).fit(X, s).y_coef_, Upu(prior=0.5).fit(X, s).y_coef_, 0.01))
    True
    """

    def _class_coef(self, rows, s):
        positive = self.prior_ * s / s.sum()  # weights of the rows in a mean over positives
        negative = 1 / len(s) - positive

        def objective(coef):
            f = linear(rows, coef)
            counts = negative * (negative @ np.logaddexp(0, f) > 0)
            loss = positive @ np.logaddexp(0, -f) + counts @ np.logaddexp(0, f)
            slope = counts * expit(f) - positive * expit(-f)
            penalty = self.ridge * coef[1:] / len(s)
            gradient = np.concatenate([[slope.sum()], slope @ rows + penalty])
            return loss + penalty @ coef[1:] / 2, gradient

        start = np.zeros(rows.shape[1] + 1)
        return least(objective, start)
