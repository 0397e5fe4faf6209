r"""Unbiased PU learning with logistic loss: convex, and one line of algebra from the EM.

du Plessis, Niu and Sugiyama, *Convex formulation for learning from positive and unlabeled data*,
ICML 2015. With the logistic loss l, ``l(f) - l(-f) = -f``, and the PU risk becomes

.. math::

    R(f) = E \log(1 + e^{f(X)}) - \pi\, E[f(X) \mid S = 1]

under SCAR, the first mean over all rows: the loss of a logistic regression of S divided by the
label frequency c. It is where the logistic class model of :class:`AugmentedEM` starts.
"""

from scipy.special import expit

from pu_utils.models.base import estimator
from pu_utils.models.em import Representation, RidgeEstimator, linear, one_thread, ridge_logistic


@estimator
class Upu(RidgeEstimator):
    """Linear unbiased PU learning for y(x), logistic regression for s(x).

    It takes labelled rows to be drawn at random from the positives (SCAR); asked with S it uses the
    augmented rule of the two.

    Parameters
    ----------
    prior, ridge, odds, random_state
        As in ``PUClassifier``.

    Attributes
    ----------
    view_ : Representation
        What the models see of X.
    y_coef_, s_coef_ : arrays
        Coefficients of y(x) and of s(x), the intercept first, of the representation.
    prior_, label_frequency_, diagnostics_
        As in ``PUClassifier``.

    Examples
    --------
    >>> import numpy as np
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
        self.view_ = Representation().fit(X, random_state)
        rows = self.view_.transform(X)
        self.y_coef_ = ridge_logistic(rows, s / self.label_frequency_, ridge=self.ridge)
        self.s_coef_ = ridge_logistic(rows, s, ridge=self.ridge)

    def _y_proba(self, X):
        return expit(linear(self.view_.transform(X), self.y_coef_))

    def _s_proba(self, X):
        return expit(linear(self.view_.transform(X), self.s_coef_))
