r"""Unbiased PU learning with logistic loss: convex, and one line of algebra from the EM.

du Plessis, Niu and Sugiyama, *Convex formulation for learning from positive and unlabeled data*,
ICML 2015. With the logistic loss l, ``l(f) - l(-f) = -f``, and the PU risk becomes

.. math::

    R(f) = E \log(1 + e^{f(X)}) - \pi\, E[f(X) \mid S = 1]

under SCAR, the first mean over all rows: the loss of a logistic regression of S divided by the
label frequency c. It is where the logistic class model of :class:`AugmentedEM` starts.
"""

from typing import ClassVar

import numpy as np
from scipy.special import expit
from sklearn.utils import check_random_state

from pu_utils.models.base import NOT_NEGATIVE, SHARE, PUClassifier, estimator
from pu_utils.models.em import (
    SETTINGS,
    Representation,
    linear,
    projected,
    ridge_logistic,
)
from pu_utils.models.simple import known_prior


@estimator
class Upu(PUClassifier):
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
    ridge: float = SETTINGS.ridge
    random_state: int | np.random.RandomState | None = None

    _parameter_constraints: ClassVar = PUClassifier._parameter_constraints | {
        "prior": [SHARE, None],
        "ridge": [NOT_NEGATIVE],
        "random_state": ["random_state"],
    }

    def fit(self, X, s):
        """Fit to rows ``X`` and their label status ``s``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.

        Returns
        -------
        Upu
            Itself.
        """
        X, s = self._training_rows(X, s)
        random_state = check_random_state(self.random_state)
        self._keep_prior(known_prior(self.prior, X, s, random_state), s.mean())
        view = Representation().fit(X, random_state)
        self.centre_, self.map_ = view.centre, view.map
        rows = projected(X, self.centre_, self.map_)
        self.y_coef_ = ridge_logistic(rows, s / self.label_frequency_, ridge=self.ridge)
        self.s_coef_ = ridge_logistic(rows, s, ridge=self.ridge)
        self._diagnose(X, s)
        return self

    def _y_proba(self, X):
        return expit(linear(projected(X, self.centre_, self.map_), self.y_coef_))

    def _s_proba(self, X):
        return expit(linear(projected(X, self.centre_, self.map_), self.s_coef_))
