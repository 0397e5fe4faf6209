"""SAR-EM: the EM of Bekker, Robberechts and Davis, and the pieces that all EM estimators share."""

import numpy as np
import pytest
from scipy.linalg import cho_solve
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from pu_utils import rules
from pu_utils.models import AugmentedEM, Upu
from pu_utils.models.em import (
    Representation,
    RidgeLogistic,
    choose_columns,
    responsibilities,
    ridge_logistic,
    shift_to_prior,
)
from pu_utils.models.sar_em import SarEm

from .em_data import TAKES_S, product_of_logistics


@parametrize_with_checks([SarEm(max_rounds=5)], expected_failed_checks=lambda _: TAKES_S)
def test_scikit_learn(estimator, check):
    """scikit-learn's own checks pass with S in the role of y."""
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return product_of_logistics(4000, seed=0)


def test_recovers_both_models_where_labelling_is_known(rows):
    """Told what labelling depends on, it finds the coefficients of y and e to 5 standard errors.

    In 20 sets of this size (seeds 1000 to 1019) the coefficients' standard deviations were 0.11,
    0.12 and 0.10 for y, 0.14 and 0.13 for e.
    """
    X, y, e, _, s = rows
    model = SarEm(propensity_features=[1], ridge=1e-3, tol=1e-7).fit(X, s)
    assert (np.abs(model.y_coef_ - [0, 3, 0]) < 5 * np.array([0.11, 0.12, 0.10])).all()
    assert (np.abs(model.e_coef_ - [1, 2]) < 5 * np.array([0.14, 0.13])).all()
    assert np.abs(model.predict_proba(X)[:, 1] - y).mean() < 0.03
    assert np.abs(model.predict_propensity(X) - e).mean() < 0.06


def test_likelihood_never_falls(rows):
    """Every round of EM makes S more likely (without a penalty to speak of)."""
    X, _, _, _, s = rows
    history = SarEm(ridge=1e-9, max_rounds=25, tol=0.0).fit(X, s).history_
    gains = np.diff([row["log_likelihood"] for row in history])
    assert len(gains) > 10 and (gains > -1e-9).all()


# The shared pieces


def test_responsibilities_are_the_rule():
    """The E-step above 1/2 is the augmented rule of Theorem 1."""
    rng = np.random.default_rng(0)
    y, e, s = rng.random(1000), rng.random(1000), rng.integers(0, 2, 1000)
    expected = rules.augmented_rule(y, y * e, s)
    np.testing.assert_array_equal(responsibilities(y, e, s) > 0.5, expected)


def test_ridge_logistic_is_scikit_learn_s():
    """With hard targets and weights it agrees with LogisticRegression at C = 1 / ridge."""
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(300, 4)), rng.random(300)
    target = (rng.random(300) < expit(X[:, 0])).astype(int)
    model = LogisticRegression(C=0.5, tol=1e-8).fit(X, target, sample_weight=weights)
    expected = np.concatenate([model.intercept_, model.coef_[0]])
    np.testing.assert_allclose(ridge_logistic(X, target, weights, ridge=2.0), expected, atol=1e-4)


def threads_of_linear_algebra():
    """How many threads each library of linear algebra may use now."""
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


@pytest.mark.parametrize("model", [SarEm(), Upu(prior=0.5), AugmentedEM(prior=0.5)])
def test_a_fit_keeps_to_one_thread_and_gives_the_others_back(model, rows, monkeypatch):
    """Two threads wait for each other longer than they work: EM took ten times as long."""
    during = []

    def watched(*arguments, **options):
        during.append(threads_of_linear_algebra())
        return cho_solve(*arguments, **options)

    monkeypatch.setattr("pu_utils.models.em.cho_solve", watched)
    with threadpool_limits(2, user_api="blas"):
        before = threads_of_linear_algebra()
        model.fit(rows[0], rows[-1])
        assert threads_of_linear_algebra() == before
    assert during and all(threads == {1} for threads in during)


def test_earlier_fits_leave_no_trace():
    """The curvature that is kept from fit to fit changes the way to the optimum, not its place."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3))
    model = RidgeLogistic(X)
    for scale in (0.01, 1, 5, 1):
        target, weights = expit(scale * X @ rng.normal(size=3)), rng.random(500)
        expected = ridge_logistic(X, target, weights)
        np.testing.assert_allclose(model.fit(target, weights), expected, atol=1e-4)


@pytest.mark.parametrize("ridge, each_label_counts", [(0, 1), (1e-3, 50), (1, 50), (100, 50)])
def test_newton_finds_no_higher_a_loss_than_another_optimiser(ridge, each_label_counts):
    """With few labels that count much, columns that do not vary, labels that a line separates."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(400, 3)), np.zeros(400), np.full(400, 1e-8)])
    target = each_label_counts * (X[:, 0] > 2)
    X[:, 1] += 10 * (X[:, 0] > 2)
    reached, other = both_optima(X, target, ridge, np.zeros(6))
    assert reached <= other + 1e-6 * len(X)


@pytest.mark.parametrize("seed", range(5))
def test_newton_arrives_where_the_loss_is_all_but_piecewise_linear(seed):
    """Outliers, large coefficients, labels that count much: full steps go much too far."""
    rng = np.random.default_rng(seed)
    X = rng.standard_t(1.5, size=(500, 20))
    X = (X - X.mean(0)) / X.std(0)
    score = X @ rng.normal(size=20)
    target = 10 * (score > np.quantile(score, 0.95)) * (rng.random(500) < 0.8)
    reached, nearby = both_optima(X, target, 0.01, ridge_logistic(X, target, ridge=0.01))
    assert reached <= nearby + 1e-6 * len(X)


def both_optima(X, target, ridge, start):
    """The loss that Newton's method reaches, and that of L-BFGS from ``start``."""

    def loss(coef):
        f = coef[0] + X @ coef[1:]
        return (np.logaddexp(0, f) - target * f).sum() + ridge * coef[1:] @ coef[1:] / 2

    return loss(ridge_logistic(X, target, ridge=ridge)), minimize(loss, start, tol=1e-12).fun


@pytest.mark.parametrize("prior", [0.01, 0.5, 0.99])
def test_shift_to_prior(prior):
    """The shifted probabilities have the prior as their mean, whatever the logits."""
    logits = np.random.default_rng(0).normal(3, 20, size=500)
    for values in (logits, np.zeros(500)):
        assert expit(values + shift_to_prior(values, prior)).mean() == pytest.approx(prior)


def test_wide_tables_are_condensed():
    """More than 100 columns become 50 components, of rows of length 1 if so asked."""
    X = np.random.default_rng(0).normal(1, 1, size=(300, 120))
    view = Representation(unit_rows=True, whiten=False).fit(X, 0)
    rows = view.transform(X)
    assert rows.shape == (300, 50)
    lengths = np.random.default_rng(1).uniform(0.1, 10, size=(300, 1))
    np.testing.assert_allclose(view.transform(lengths * X), rows, atol=1e-10)
    again = Representation(unit_rows=True, whiten=False).fit(lengths * X, 0)
    np.testing.assert_allclose(again.map, view.map, atol=1e-6)  # nor do they change what is learnt
    whitened = Representation().fit(X, 0).transform(X)
    np.testing.assert_allclose(np.cov(whitened.T), np.eye(50), atol=1e-8)


def test_a_wide_table_of_mixed_units_warns():
    """One column that drowns the others is named, with the remedy."""
    X = np.random.default_rng(0).normal(size=(50, 120))
    X[:, 7] *= 1000
    with pytest.warns(UserWarning, match=r"column 7 carries 100% .*\(StandardScaler\)"):
        Representation().fit(X, 0)


def test_columns_by_number_name_mask_and_function():
    """Four ways to ask for the same columns."""
    X = np.arange(12.0).reshape(4, 3)
    names = np.array(["a", "b", "c"], dtype=object)
    for features in ([2], "c", ["c"], 2, -1, [False, False, True], lambda X: X[:, 2]):
        np.testing.assert_array_equal(choose_columns(X, features, names), X[:, [2]])


@pytest.mark.parametrize(
    "features, message",
    [
        ([3], r"must be in \[0, 2\]"),
        ([0.5], "No valid specification"),
        ([True, False], "must be in"),
        (np.zeros((4, 2)), "No valid specification"),
        (["z"], "not columns of the dataframe"),
        (lambda X: X[:2], r"shape \(2, 3\) for 4 rows"),
        (lambda X: X[:, 0] * np.nan, "finite"),
    ],
)
def test_columns_that_are_not_there(features, message):
    """What cannot be a choice of columns is refused."""
    names = np.array(["a", "b", "c"], dtype=object)
    with pytest.raises(ValueError, match=message):
        choose_columns(np.ones((4, 3)), features, names)
