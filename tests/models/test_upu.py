"""Linear unbiased PU learning."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils.estimator_checks import parametrize_with_checks

from pu_utils.models.upu import Upu

from .em_data import TAKES_S


@parametrize_with_checks([Upu()], expected_failed_checks=lambda _: TAKES_S)
def test_scikit_learn(estimator, check):
    """scikit-learn's own checks pass with S in the role of y."""
    check(estimator)


@pytest.fixture(scope="module")
def scar():
    """4,000 rows labelled at random: X, y(x), s."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    posterior = expit(2 * X[:, 0] - 1)
    s = ((rng.random(4000) < posterior) & (rng.random(4000) < 0.4)).astype(int)
    return X, posterior, s


def test_it_minimises_the_unbiased_risk(scar):
    """The coefficients are those that minimise pi E_L[l(f) - l(-f)] + E[l(-f)], written out."""
    X, posterior, s = scar
    prior = posterior.mean()
    model = Upu(prior=prior, ridge=1e-6).fit(X, s)
    rows = np.column_stack([np.ones(len(X)), (X - X.mean(0)) / X.std(0)])

    def risk(coef):
        f = rows @ coef
        loss, opposite = np.logaddexp(0, -f), np.logaddexp(0, f)
        return prior * (loss - opposite)[s == 1].mean() + opposite.mean()

    np.testing.assert_allclose(model.y_coef_, minimize(risk, np.zeros(3)).x, atol=1e-3)


def test_it_finds_y_under_scar(scar):
    """Labels at random: y(x) is near the truth and s(x) near c y(x)."""
    X, posterior, s = scar
    model = Upu(prior=posterior.mean()).fit(X, s)
    assert np.abs(model.predict_proba(X)[:, 1] - posterior).mean() < 0.04
    assert np.abs(model.predict_label_proba(X) - 0.4 * posterior).mean() < 0.04
