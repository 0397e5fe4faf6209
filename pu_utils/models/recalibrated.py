r"""Recalibrated: temperature and shift of an estimator's y(x), by the likelihood of S alone.

A network's y(x) orders rows better than it weighs them. Its logit g(x) is divided by a temperature
T and shifted,

.. math::

    y_T(x) = \sigma\{g(x) / T + b_T\}, \qquad \text{mean } y_T = \pi,

and T is the one that makes S most likely if s(x) = y_T(x) e(x). The propensity e(x) is a ridge
logistic regression, as in :class:`AugmentedEM`, fitted for each T. No Y is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import field
from inspect import signature

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import check_random_state

from pu_utils import rules
from pu_utils.models import em
from pu_utils.models.base import PUClassifier, Share, estimator
from pu_utils.models.em import SETTINGS, TINY, RidgeEstimator, linear

TEMPERATURES = np.geomspace(1 / 8, 16, 29)  # ours: four to the octave


@estimator
class Recalibrated(RidgeEstimator):
    """An estimator with its y(x) made milder or sharper, so that S is most likely.

    On VAE-PU-Bayes at high label frequencies, whose y(x) is too sure of itself, it tends towards
    calling no unlabelled row positive, which is then hard to beat: compare with
    :func:`pu_utils.metrics.all_negative_u_accuracy`.

    Parameters
    ----------
    estimator : PUClassifier
        Gives y(x). It is fitted to the training rows; in scikit-learn's ``FrozenEstimator`` it is
        taken as it is. Its s(x) is replaced by the product of the new y(x) and of e(x).
    prior : float, optional
        P(Y=1). Where None it is the ``prior_`` of the fitted estimator, or else estimated by
        ``estimate_prior``, with a warning.
    propensity_features, ridge, validation_fraction, odds, random_state
        As in ``PUClassifier``; the penalty is that of the propensity, and the rows held out are
        for the temperature.

    Attributes
    ----------
    estimator_ : PUClassifier
        The fitted estimator.
    temperature_, shift_ : float
        T and b.
    history_ : list of dict
        The mean log-likelihood of S on held-out rows at every temperature tried.
    training_rows_ : array of int
        Which rows of ``X`` the estimator was fitted to; the others were held out.
    prior_, label_frequency_, diagnostics_
        As in ``PUClassifier``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> y = rng.random(2000) < expit(2 * X[:, 0])
    >>> s = (y & (rng.random(2000) < 0.5)).astype(int)
    >>> too_sure = LogisticRegression().fit(X, y)
    >>> too_sure.coef_ *= 5
    >>> model = Recalibrated(FrozenEstimator(too_sure), prior=0.5, random_state=0).fit(X, s)
    >>> model.temperature_ > 2
    True
    """

    estimator: BaseEstimator = field(kw_only=False)
    propensity_features: Sequence | Callable | None = None
    prior: float | None = None
    validation_fraction: Share = SETTINGS.validation_fraction

    def fit(self, X, s, *, validation=None):
        """Fit the estimator to rows ``X`` and their label status ``s``, then the temperature.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.
        validation : tuple (X, s), optional
            Rows for the temperature, and for the estimator's own stopping where it has one; held
            out of ``X`` where not given.

        Returns
        -------
        Recalibrated
            Itself.
        """
        if not isinstance(self.estimator, PUClassifier | FrozenEstimator):
            raise ValueError(
                f"estimator is {self.estimator!r}; give an estimator of this package, such as "
                "VaePuBayes, or make one of a classifier of S with ElkanNoto. One that was fitted "
                "elsewhere goes into scikit-learn's FrozenEstimator"
            )
        X, s = self._training_rows(X, s)
        random_state = check_random_state(self.random_state)
        training, held = self._parts(X, s, validation, random_state)
        self.estimator_ = clone(self.estimator)
        stops = "validation" in signature(self.estimator_.fit).parameters
        self.estimator_.fit(*training, **({"validation": held[:2]} if stops else {}))
        given = getattr(self.estimator_, "prior_", None) if self.prior is None else self.prior
        self._settle_prior(given, X, s, random_state)
        self._choose_temperature(*held[:2], random_state)
        self._diagnose(X, s)
        return self

    def _choose_temperature(self, X, s, random_state):
        """Every temperature with its best propensity; the most likely pair is kept."""
        self.e_view_ = em.Representation().fit(self._propensity_columns(X), random_state)
        logits, Z = self._logits(X), self.e_view_.transform(self._propensity_columns(X))
        e_coef, best, self.history_ = np.zeros(Z.shape[1] + 1), -np.inf, []
        for temperature in TEMPERATURES:
            shift = em.shift_to_prior(logits / temperature, self.prior_)
            y = expit(logits / temperature + shift)
            e_coef = most_likely_propensity(y, Z, s, e_coef, self.ridge)
            reached = float(em.log_likelihood(y, expit(linear(Z, e_coef)), s).mean())
            self.history_.append({"temperature": float(temperature), "log_likelihood": reached})
            if reached > best:
                best, self.temperature_ = reached, float(temperature)
                self.shift_, self.e_coef_ = float(shift), e_coef

    def _logits(self, X):
        """Logits of the estimator's y(x)."""
        y = self.estimator_.predict_proba(X)[:, 1].astype(float)
        return logit(np.clip(y, TINY, 1 - TINY))

    def _y_proba(self, X):
        return expit(self._logits(X) / self.temperature_ + self.shift_)

    def _s_proba(self, X):
        e = expit(linear(self.e_view_.transform(self._propensity_columns(X)), self.e_coef_))
        return rules.label_posterior(self._y_proba(X), e)


def most_likely_propensity(y, Z, s, start, ridge=SETTINGS.ridge):
    """Coefficients of the logistic propensity under which S is most likely, y being known.

    Examples
    --------
    >>> s = np.repeat([0, 1], [70, 30])
    >>> coef = most_likely_propensity(np.full(100, 0.6), np.empty((100, 0)), s, np.zeros(1))
    >>> round(float(expit(coef[0])), 3)
    0.5
    """

    def objective(coef):
        e = expit(linear(Z, coef))
        unlabelled = np.clip(1 - y * e, TINY, 1)
        loss = -em.log_likelihood(y, e, s).sum() + ridge * coef[1:] @ coef[1:] / 2
        slope = np.where(s == 1, 1 - e, -y * e * (1 - e) / unlabelled)  # of the likelihood
        gradient = np.concatenate([[-slope.sum()], ridge * coef[1:] - slope @ Z])
        return loss / len(s), gradient / len(s)

    return minimize(objective, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-6}).x
