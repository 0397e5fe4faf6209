"""Linear unbiased PU learning."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.utils.estimator_checks import parametrize_with_checks

from pu_utils.models.prior import PriorWarning
from pu_utils.models.upu import NnPu, Upu

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


def test_estimated_prior_warns(scar):
    """Without a prior it says how it got one."""
    X, _, s = scar
    with pytest.warns(PriorWarning, match="Elkan and Noto"):
        assert s.mean() < Upu(random_state=0).fit(X, s).prior_ < 1


# The non-negative risk


def parts_of_the_risk(coef, rows, s, prior):
    """What the positives and what the negatives cost, with logistic loss, written out."""
    f = coef[0] + rows @ coef[1:]
    loss, opposite = np.logaddexp(0, -f), np.logaddexp(0, f)
    return prior * loss[s == 1].mean(), opposite.mean() - prior * opposite[s == 1].mean()


def non_negative_risk(coef, rows, s, prior, ridge):
    """The cost of the negatives counts as 0 where it is estimated below; and the penalty."""
    positive, negative = parts_of_the_risk(coef, rows, s, prior)
    return positive + max(negative, 0) + ridge * coef[1:] @ coef[1:] / (2 * len(s))


@pytest.mark.parametrize("ridge", [1.0, 400.0])
def test_the_non_negative_risk_is_minimised(scar, ridge):
    """Where the risk of the negatives stays positive, the minimum is that of a plain search."""
    X, posterior, s = scar
    prior, rows = posterior.mean(), (X - X.mean(0)) / X.std(0)
    model = NnPu(prior=prior, ridge=ridge).fit(X, s)
    found = minimize(non_negative_risk, np.zeros(3), (rows, s, prior, ridge), "Nelder-Mead",
                     options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 2000})  # fmt: skip
    np.testing.assert_allclose(model.y_coef_, found.x, atol=2e-4)


def test_the_risk_of_negatives_does_not_run_below_zero():
    """Sixty rows and thirty columns: unbiased learning drives it far below, this hardly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 30))
    s = (np.arange(60) < 20).astype(int)
    rows, facts = (X - X.mean(0)) / X.std(0), {"prior": 0.6, "ridge": 1e-3}
    unbiased, non_negative = (kind(**facts).fit(X, s).y_coef_ for kind in (Upu, NnPu))
    below = [parts_of_the_risk(coef, rows, s, 0.6)[1] for coef in (unbiased, non_negative)]
    assert below[0] < -1 < -0.01 < below[1]
    assert non_negative_risk(non_negative, rows, s, **facts) < 0.01  # 0.69 where nothing is learnt
