r"""SAR-EM: logistic models of the class and of the propensity, fitted by EM without a prior.

Bekker, Robberechts and Davis, *Beyond the selected completely at random assumption for learning
from positive and unlabeled data*, ECML PKDD 2019:

.. math::

    \text{E-step:}\quad & r_i = P(Y=1 \mid x_i, S_i)                                       & (1) \\
    \text{M-step:}\quad & \max_y \sum_i r_i \log y(x_i) + (1 - r_i) \log(1 - y(x_i))       & (2) \\
                        & \max_e \sum_i r_i [S_i \log e(z_i) + (1 - S_i) \log(1 - e(z_i))] & (3)

(1) is the augmented posterior of Theorem 1; z are the features that labelling depends on.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import expit

from pu_utils import rules
from pu_utils.models import em
from pu_utils.models.base import Count, NotNegative, estimator
from pu_utils.models.em import SETTINGS, RidgeEstimator, linear


@estimator
class SarEm(RidgeEstimator):
    """SAR-EM: EM for logistic y(x) and e(x), without a class prior.

    It starts at the logistic regression of S that gives labelled and unlabelled rows equal weight,
    and at the propensity that follows if this is y(x).

    Where the propensity sees the same features as the class, nothing in the likelihood of S tells
    the two apart: exchanged, they explain S equally well, and the start alone decides which is
    called the class. ``propensity_features`` remove that ambiguity; so does, in part, the prior
    that :class:`AugmentedEM` takes.

    Parameters
    ----------
    max_rounds : int
        Most rounds of EM.
    tol : float
        Gain in mean log-likelihood of S below which the rounds end.
    propensity_features, ridge, odds, random_state
        As in ``PUClassifier``.

    Attributes
    ----------
    y_view_, e_view_ : Representation
        What the class and what the propensity sees of X.
    y_coef_, e_coef_ : arrays
        Coefficients of class and propensity, the intercept first, of these representations.
    history_ : list of dict
        The mean log-likelihood of S after each round.
    diagnostics_ : dict
        As in ``PUClassifier``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = rng.random(1000) < expit(3 * X[:, 0])
    >>> s = (y & (rng.random(1000) < expit(2 * X[:, 1]))).astype(int)
    >>> model = SarEm(propensity_features=[1]).fit(X, s)
    >>> bool(abs(model.y_coef_[1]) > 3 * abs(model.y_coef_[2]))
    True
    """

    propensity_features: Sequence | Callable | None = None
    max_rounds: Count = SETTINGS.sar_rounds
    tol: NotNegative = SETTINGS.sar_tol

    @em.one_thread
    def _fit(self, X, s, random_state):
        self.y_view_ = em.Representation().fit(X, random_state)
        self.e_view_ = em.Representation().fit(self._propensity_columns(X), random_state)
        positive, labelled = (em.RidgeLogistic(rows, self.ridge) for rows in self._views(X))
        # labelled and unlabelled rows have equal weight at the start
        positive.fit(s, np.where(s == 1, 1 / s.sum(), 1 / (1 - s).sum()) * len(s) / 2)
        labelled.fit(s, np.where(s == 1, 1.0, positive.proba))
        self.history_, before = [], -np.inf
        for round_ in range(self.max_rounds):
            r = em.responsibilities(positive.proba, labelled.proba, s)  # (1)
            self.y_coef_, self.e_coef_ = positive.fit(r), labelled.fit(s, r)  # (2) and (3)
            reached = float(em.log_likelihood(positive.proba, labelled.proba, s).mean())
            self.history_.append({"round": round_, "log_likelihood": reached})
            if reached - before < self.tol:
                break
            before = reached

    def _views(self, X):
        """What the class and what the propensity sees of ``X``."""
        return self.y_view_.transform(X), self.e_view_.transform(self._propensity_columns(X))

    def _y_proba(self, X):
        return expit(linear(self.y_view_.transform(X), self.y_coef_))

    def _s_proba(self, X):
        X, Z = self._views(X)
        y, e = expit(linear(X, self.y_coef_)), expit(linear(Z, self.e_coef_))
        return rules.label_posterior(y, e)
