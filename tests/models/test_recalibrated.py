"""Temperature and shift by the likelihood of S."""

from dataclasses import field

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import expit, logit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from pu_utils.models import recalibrated
from pu_utils.models.base import PriorWarning, PUClassifier, estimator
from pu_utils.models.em import linear, log_likelihood
from pu_utils.models.recalibrated import Recalibrated, most_likely_propensity
from pu_utils.models.sar_em import SarEm
from pu_utils.models.upu import Upu

from .em_data import TAKES_S, product_of_logistics


@parametrize_with_checks(
    [Recalibrated(Upu(random_state=0))], expected_failed_checks=lambda _: TAKES_S
)
def test_scikit_learn(estimator, check):
    """scikit-learn's own checks pass with S in the role of y."""
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return product_of_logistics(8000, seed=0)


@estimator
class Overconfident(PUClassifier):
    """Knows the truth but for y(x), which has the right order and logits that are too large."""

    sharpness: float = field(kw_only=False)

    def fit(self, X, s):
        """Learn nothing."""
        self._training_rows(X, s)
        return self

    def _y_proba(self, X):
        return expit(3 * self.sharpness * X[:, 0])

    def _s_proba(self, X):
        return self._y_proba(X) * expit(1 + 2 * X[:, 1])


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 4.0])
def test_it_finds_the_temperature(sharpness, rows):
    """A y(x) that is too sure, or not sure enough, by a known factor is brought back.

    The grid has steps of 2^(1/4); the likelihood is flat near its top, hence two steps either way.
    """
    X, posterior, _, _, s = rows
    model = Recalibrated(Overconfident(sharpness), prior=0.5, random_state=0).fit(X, s)
    assert model.temperature_ == pytest.approx(sharpness, rel=2**0.5 - 1 + 1e-9)
    error = np.abs(model.predict_proba(X)[:, 1] - posterior).mean()
    assert error < 0.05
    if sharpness == 4:
        assert error < np.abs(expit(12 * X[:, 0]) - posterior).mean() / 2


def test_the_most_likely_temperature_is_kept(rows):
    """``history_`` tells all temperatures, and the kept one is the best of them."""
    X, _, _, _, s = rows
    held = (X[:2000], s[:2000])
    model = Recalibrated(Overconfident(2), prior=0.5).fit(X, s, validation=held)
    best = max(model.history_, key=lambda row: row["log_likelihood"])
    assert best["temperature"] == model.temperature_
    assert len(model.history_) == len(recalibrated.TEMPERATURES)
    y, e = model.predict_proba(held[0])[:, 1], model.predict_propensity(held[0])
    reached = log_likelihood(y, e, held[1]).mean()
    assert best["log_likelihood"] == pytest.approx(reached, abs=1e-9)


def test_the_propensity_s_gradient():
    """The gradient that finds the propensity vanishes at it, by finite differences of the loss."""
    X, y, _, _, s = product_of_logistics(500, seed=2)
    coef = most_likely_propensity(y, X, s, np.zeros(3), ridge=0.0)

    def loss(coef):
        return -log_likelihood(y, expit(linear(X, coef)), s).mean()

    assert check_grad(loss, lambda _: np.zeros(3), coef) < 1e-4
    # 4 standard deviations, each from 20 sets of this size (seeds 1000 to 1019)
    assert (np.abs(coef - [1, 0, 2]) < 4 * np.array([0.36, 0.30, 0.26])).all()


def test_the_estimator_s_prior_is_used(rows):
    """A prior given to the estimator inside need not be given again; without any it warns."""
    X, _, _, _, s = rows
    assert Recalibrated(Upu(prior=0.55), random_state=0).fit(X, s).prior_ == 0.55
    assert Recalibrated(Upu(prior=0.55), prior=0.5, random_state=0).fit(X, s).prior_ == 0.5
    with pytest.warns(PriorWarning, match="estimate_prior"):
        Recalibrated(SarEm(max_rounds=3), random_state=0).fit(X, s)


def test_a_frozen_estimator_is_not_fitted_again(rows):
    """Recalibration of what was fitted elsewhere leaves it as it is."""
    X, _, _, _, s = rows
    fitted = Overconfident(2).fit(X[:4000], s[:4000])
    before = fitted.predict_proba(X)
    model = Recalibrated(FrozenEstimator(fitted), prior=0.5, random_state=0).fit(X[4000:], s[4000:])
    assert model.estimator_.estimator is fitted
    logits = logit(before[:, 1]) / model.temperature_ + model.shift_
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(logits), atol=1e-9)


def test_estimators_without_s_are_refused(rows):
    """A classifier that knows nothing of s(x) is refused with what to give."""
    X, _, _, _, s = rows
    with pytest.raises(ValueError, match=r"give an estimator of this package.* with ElkanNoto"):
        Recalibrated(LogisticRegression()).fit(X, s)
