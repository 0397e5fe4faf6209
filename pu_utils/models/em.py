r"""What the estimators fitted by expectation and maximisation (EM) share.

All of them write the probability of a label as a product of two models, s(x) = y(x) e(x), and
maximise what data say about it, the likelihood of S:

.. math::

    \ell = \sum_{S_i = 1} \log\{y(x_i)\, e(x_i)\} + \sum_{S_i = 0} \log\{1 - y(x_i)\, e(x_i)\}

The true class is used nowhere. Here are the pieces: the settings and where they come from, the
representation of the features, one ridge logistic regression for soft targets, and the prior.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.decomposition import PCA
from sklearn.utils._indexing import _get_column_indices as column_indices
from threadpoolctl import threadpool_limits

from pu_utils import rules
from pu_utils.models.base import NotNegative, PUClassifier, Seed, estimator, warn_caller

TINY = 1e-12  # keeps logarithms and ratios finite
# Newton's method ends when a step would lower the mean loss of a row by less than NEWTON_TOL. It
# computes the curvature anew when a step has left more than the share STALE of the slope along it
NEWTON_TOL, NEWTON_STEPS, STALE = 1e-9, 500, 0.25

# A decorator: fits use one thread for linear algebra. Their matrices are so small that two threads
# lose more time waiting for each other than they save: on CDC, one is three times as fast.
one_thread = threadpool_limits.wrap(limits=1, user_api="blas")


class ExchangeWarning(UserWarning):
    """Class and propensity could change places: the likelihood of S does not tell them apart."""


@dataclass(frozen=True)
class Settings:
    """Every setting of the EM estimators.

    *study*: the value of the prototypes that were studied before this was written. *scikit-learn*:
    its default. *ours*: chosen by reasoning and not compared with other values, except for two.
    Where it is known what labelling depends on, the likelihood of S tells class and propensity
    apart, and EM can run until it converges. ``told_rounds`` and ``tol`` allow that, because 30
    rounds stopped the logistic class half way (on CIFAR CT, c = 0.1, seeds 0 to 2, at a U-accuracy
    of 0.64 instead of 0.85). All values were frozen before the confirmation on seeds 10 to 19.
    """

    n_neighbours: int = 20  # study
    sharpness: float = 2.0  # study; below it the neighbours' estimate collapses at low c
    clip: float = 0.02  # study: neighbours' means are kept within .02 and .98
    flow: float = 0.99  # study: what part of its weight a row passes on to its neighbours
    start_slope: float = 4.0  # study: from the standardised flow to the logit of the start
    max_rounds: int = 30  # study: 8 do as well as 30
    told_rounds: int = 1000  # ours, see above: where it is known what labelling depends on
    boosted_rounds: int = 6  # study: for classifiers of scikit-learn
    folds: int = 2  # study: for the cross-fitting of classifiers of scikit-learn
    wide: int = 100  # study: tables with more columns are condensed
    components: int = 50  # study: to so many principal components
    ridge: float = 1.0  # scikit-learn: LogisticRegression's C = 1
    validation_fraction: float = 0.15  # that of the other estimators here
    choice_rows: int = 10_000  # ours: most rows that candidates are fitted to for the choice
    furthest: float = 10.0  # ours: d^2 / (sigma_i sigma_j) is cut here, so that no row is alone
    tol: float = 1e-5  # ours, see above: mean change of a responsibility that ends the rounds
    sar_rounds: int = 200  # ours: SAR-EM's paper iterates until convergence
    sar_tol: float = 1e-6  # ours: gain in mean log-likelihood that ends SAR-EM
    exchange_rounds: int = 8  # study: 8 do as well as 30; for the exchanged solution
    exchange_errors: float = 2.0  # ours: standard errors that tell two likelihoods apart
    exchange_share: float = 0.05  # ours: share of decisions that makes two solutions two
    dominant_share: float = 0.5  # ours: of the variance in one column of a wide table


SETTINGS = Settings()


# The two factors, the score, and the likelihood


def responsibilities(y, e, s):
    """The E-step: P(Y=1 | x, S), the augmented posterior of Theorem 1.

    Examples
    --------
    >>> responsibilities(np.array([0.8, 0.8]), np.array([0.5, 0.5]), np.array([0, 1])).round(4)
    array([0.6667, 1.    ])
    """
    return rules.augmented_posterior(y, rules.label_posterior(y, e), s)


def log_likelihood(y, e, s):
    """What each row adds to the likelihood of S: log(y e) if labelled, log(1 - y e) if not.

    Examples
    --------
    >>> log_likelihood(np.array([0.5, 0.5]), np.array([1.0, 0.5]), np.array([1, 0])).round(3)
    array([-0.693, -0.288])
    """
    labelled = np.clip(rules.label_posterior(y, e), TINY, 1 - TINY)
    return np.where(s == 1, np.log(labelled), np.log1p(-labelled))


def shift_to_prior(logits, prior):
    """The number b for which the mean of sigmoid(logits + b) is ``prior``.

    Examples
    --------
    >>> logits = np.array([-3.0, 0.0, 1.0])
    >>> round(float(expit(logits + shift_to_prior(logits, 0.4)).mean()), 6)
    0.4
    """
    low, high = logit(prior) - logits.max() - 1, logit(prior) - logits.min() + 1
    return brentq(lambda b: expit(logits + b).mean() - prior, low, high, xtol=1e-10)


# Ridge logistic regression


class RidgeLogistic:
    r"""A logistic regression of soft targets, fitted to the same rows again and again.

    Its coefficients, the intercept first, minimise
    :math:`\sum_i w_i \{\log(1 + e^{f_i}) - t_i f_i\} + \lambda |b|^2 / 2` with
    :math:`f_i = b_0 + b'x_i`. With targets :math:`t` the responsibilities it is the M-step of the
    class; with S and the responsibilities as weights :math:`w`, that of the propensity; with S
    divided by the label frequency, the unbiased PU risk with logistic loss.

    The fit is Newton's method. From round to round of EM the targets change little, and the
    curvature less: it is computed anew only where a step leaves much of the slope along it.

    Parameters
    ----------
    X : array of shape (n, p)
        Features, of about unit scale.
    ridge : float
        Weight :math:`\lambda` of the penalty.

    Examples
    --------
    >>> model = RidgeLogistic(np.array([[-1.0], [0.0], [1.0]]), ridge=0.0)
    >>> model.fit(np.array([0.2, 0.5, 0.8])).round(3) + 0.0
    array([0.   , 1.386])
    """

    def __init__(self, X, ridge=SETTINGS.ridge):
        self._rows = np.asfortranarray(np.column_stack([np.ones(len(X)), X]))
        self._penalty = np.r_[0.0, np.full(X.shape[1], float(ridge))]
        self.coef, self.logits, self._curvature = np.zeros(X.shape[1] + 1), np.zeros(len(X)), None

    @property
    def proba(self):
        """The fitted probabilities of the rows."""
        return expit(self.logits)

    def shift(self, shift):
        """Add a number to the intercept."""
        self.coef = np.r_[self.coef[0] + shift, self.coef[1:]]
        self.logits = self.logits + shift

    def fit(self, target, weights=1.0):
        """Coefficients for new targets, from the old ones.

        Targets in [0, 1] are probabilities, but they need not be.
        """
        slope = self._slope(target, weights)
        for _ in range(NEWTON_STEPS):
            if self._curvature is None:
                self._curvature = self._factors(weights)
            step = cho_solve(self._curvature, slope)
            along, promised, before = self._rows @ step, slope @ step, (self.coef, self.logits)
            self._move(step, along)
            if promised / 2 < NEWTON_TOL * len(self._rows):
                break
            slope = self._slope(target, weights)
            if abs(slope @ step) > STALE * promised:  # the loss curves otherwise: shorten the step
                self._curvature, limit = None, self._loss(*before, target, weights)
                while self._loss(self.coef, self.logits, target, weights) > limit:
                    step, along = step / 2, along / 2
                    self._move(-step, -along)
                slope = self._slope(target, weights)
        return self.coef

    def _move(self, step, along):
        self.coef, self.logits = self.coef - step, self.logits - along

    def _loss(self, coef, logits, target, weights):
        rows = weights * (np.logaddexp(0, logits) - target * logits)
        return rows.sum() + self._penalty @ coef**2 / 2

    def _slope(self, target, weights):
        """The gradient of the loss."""
        return (weights * (self.proba - target)) @ self._rows + self._penalty * self.coef

    def _factors(self, weights):
        """Cholesky factors of the second derivative, which a small diagonal keeps invertible."""
        second = (self._rows.T * (weights * self.proba * (1 - self.proba))) @ self._rows
        second.flat[:: len(second) + 1] += self._penalty + NEWTON_TOL * len(self._rows)
        return cho_factor(second)


def ridge_logistic(X, target, weights=1.0, ridge=SETTINGS.ridge):
    """Coefficients of one such regression, the intercept first.

    Examples
    --------
    >>> ridge_logistic(np.array([[-1.0], [0.0], [1.0]]), np.array([0, 0, 1])).round(2) + 0.0
    array([-0.75,  0.7 ])
    """
    return RidgeLogistic(X, ridge).fit(target, weights)


def linear(X, coef):
    """The logits of a logistic regression with the intercept first."""
    return X @ coef[1:] + coef[0]


# Features


class Representation:
    """What a model sees of the rows: a linear map of them, fitted once.

    Up to ``wide`` columns are standardised. More (pixels, features of a network, counts of words)
    are condensed to ``components`` principal components, since neighbours in many dimensions mean
    little; their common scale is taken to be meaningful and left alone.

    Parameters
    ----------
    unit_rows : bool
        Whether rows of wide tables are first brought to length 1.
    whiten : bool
        Whether principal components are standardised.
    components : int
        How many there are.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(5, 3, size=(200, 2))
    >>> rows = Representation().fit(X).transform(X)
    >>> rows.mean(0).round(6) + 0.0, rows.std(0).round(6)
    (array([0., 0.]), array([1., 1.]))
    """

    def __init__(self, *, unit_rows=False, whiten=True, components=SETTINGS.components):
        self.unit_rows, self.whiten, self.components = unit_rows, whiten, components

    def fit(self, X, random_state=None):
        """Learn the map from rows ``X``."""
        self.wide = X.shape[1] > SETTINGS.wide
        if self.wide:
            self._condense(X, random_state)
        else:
            self.centre = X.mean(0, dtype=float)
            self.map = np.diag(_inverse_scale(X.std(0, dtype=float), np.abs(X).max(0)))
        return self

    def _condense(self, X, random_state):
        rows = X / _lengths(X) if self.unit_rows else X
        _warn_if_one_column_dominates(rows)
        pca = PCA(min(self.components, *X.shape), random_state=random_state).fit(rows)
        self.centre, self.map = pca.mean_.astype(float), pca.components_.T.astype(float)
        if self.whiten:
            deviation = np.sqrt(pca.explained_variance_.astype(float))
            self.map = self.map * _inverse_scale(deviation, deviation.max())

    def transform(self, X):
        """The representation of rows ``X``, in double precision."""
        lengths = _lengths(X) if self.wide and self.unit_rows else 1
        # (X / lengths - centre) @ map without a copy of X; sums over columns of X.T are faster
        return (self.map.T @ X.T).T / lengths - self.centre @ self.map


def _lengths(X):
    return np.maximum(np.linalg.norm(X, axis=1, keepdims=True), TINY)


def _inverse_scale(deviation, size):
    """1 / deviation, or 0 for what varies by rounding alone."""
    varies = deviation > 1e-9 * size
    return varies / np.where(varies, deviation, 1)


def _warn_if_one_column_dominates(rows):
    variance = rows.var(0, dtype=float)
    share = variance.max() / max(variance.sum(), TINY)
    if share > SETTINGS.dominant_share:
        warn_caller(
            f"column {variance.argmax()} carries {share:.0%} of the variance of X, which has more "
            f"than {SETTINGS.wide} columns and is therefore not standardised; scale its columns "
            "(StandardScaler) unless they share a unit"
        )


def choose_columns(X, features, names=None):
    """The columns of ``X`` that ``features`` asks for, as an array of shape (n, q).

    Parameters
    ----------
    X : array of shape (n, p)
        Rows.
    features : None, int, str, list of them, array of bool, or function
        All columns; columns by number, name or mask; or a function of ``X`` (an array) that gives
        one or several values a row.
    names : array of str, or None
        The names of the columns, where ``fit`` was given a data frame.

    Examples
    --------
    >>> choose_columns(np.array([[1.0, 2.0, 3.0]]), ["c"], ["a", "b", "c"])
    array([[3.]])
    """
    if features is None:
        return X
    if not callable(features):
        if not np.size(features):
            return X[:, :0]
        return X[:, column_indices(pd.DataFrame(X[:0], columns=names), np.atleast_1d(features))]
    columns = np.asarray(features(X), dtype=float)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if columns.ndim != 2 or len(columns) != len(X) or not np.isfinite(columns).all():
        raise ValueError(
            f"the function {features!r} gave an array of shape {columns.shape} for {len(X)} rows; "
            "it must give finite numbers, one row of them per row of X"
        )
    return columns


# Estimators


@estimator
class RidgeEstimator(PUClassifier):
    """Estimator whose models are ridge logistic regressions of a representation of the features."""

    ridge: NotNegative = SETTINGS.ridge
    random_state: Seed = None

    def _columns(self, X, features):
        """The columns of ``X`` that ``features`` asks for."""
        return choose_columns(X, features, getattr(self, "feature_names_in_", None))

    def _propensity_columns(self, X):
        return self._columns(X, self.propensity_features)
