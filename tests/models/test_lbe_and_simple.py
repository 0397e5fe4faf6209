"""LBE, Elkan and Noto's classifier, the joined pair, the class prior and the schedules."""

from math import log

import numpy as np
import pytest
import torch
from scipy.special import expit
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from pu_utils.models import Augmented, ElkanNoto, Lbe, Schedule, estimate_prior, paper_settings
from pu_utils.models.lbe import expected_loss, observed_loss, released_loss
from pu_utils.schedules import SCHEDULES


@pytest.fixture(scope="module")
def logistic():
    """2,000 rows that follow LBE's own model: X, y(x), e(x), y, s."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    posterior, propensity = expit(3 * X[:, 0]), expit(1 + 2 * X[:, 1])
    y = (rng.random(2000) < posterior).astype(int)
    return X, posterior, propensity, y, y * (rng.random(2000) < propensity)


@pytest.fixture(scope="module")
def lbe(logistic):
    """LBE, and its released variant, fitted to rows of LBE's own model."""
    X, _, _, _, s = logistic
    options = {"random_state": 0, "learning_rate": 1e-2, "device": "cpu"}
    return [Lbe(released=released, **options).fit(X, s) for released in (False, True)]


def test_lbe_learns_its_own_model(logistic, lbe):
    """On rows of its own model LBE ranks y(x) and e(x) apart, each by its own feature."""
    X, posterior, propensity, _, _ = logistic
    assert np.corrcoef(lbe[0].predict_proba(X)[:, 1], posterior)[0, 1] > 0.95
    assert np.corrcoef(lbe[0].predict_propensity(X), propensity)[0, 1] > 0.9


def test_released_lbe_s_propensity_estimates_s(logistic, lbe):
    """The released variant's e(x) is near the logistic regression of S, not near e(x)."""
    X, _, propensity, _, s = logistic
    found = lbe[1].predict_propensity(X)
    of_s = LogisticRegression().fit(X, s).predict_proba(X)[:, 1]
    assert np.abs(found - of_s).mean() < 0.03
    assert np.abs(found - propensity).mean() > 0.2


def test_lbe_losses():
    """LBE's two M-step objectives are (2) and (3), row by row, and EM's own that of S."""
    logits, weight = torch.randn(2, 5, 2, generator=torch.Generator().manual_seed(0)).double()
    s = torch.tensor([1.0, 0, 0, 1, 0], dtype=torch.float64)
    weight = torch.where(s == 1, 1.0, torch.sigmoid(weight[:, 0]))  # a labelled row is positive
    text = released = observed = 0.0
    rows = zip(*expit(logits.numpy()).T, s.tolist(), weight.tolist(), strict=True)
    for y, e, t, w in rows:
        row = w * (log(y) + t * log(e) + (1 - t) * log(1 - e)) + (1 - w) * log(1 - y)
        text -= row / 5
        released -= (row + (1 - w) * (1 - t) * log(1 - e)) / 5
        observed -= log(y * e if t else 1 - y * e) / 5
    assert expected_loss(logits, s, weight).item() == pytest.approx(text)
    assert released_loss(logits, s, weight).item() == pytest.approx(released)
    assert observed_loss(logits, s).item() == pytest.approx(observed)


def test_released_lbe_makes_one_round(lbe):
    """The released variant runs one EM round, the other goes on while it improves."""
    rounds = [len({row["phase"] for row in model.history_}) for model in lbe]
    assert rounds[1] == 1 < rounds[0] < 50


def test_lbe_keeps_the_best_round(logistic, lbe):
    """EM ends with a round that the observed likelihood of the validation part rejects."""
    X, _, _, _, s = logistic
    model, n_rounds = lbe[0], len({row["phase"] for row in lbe[0].history_})
    shorter = clone(model).set_params(max_rounds=n_rounds - 1).fit(X, s)
    np.testing.assert_array_equal(model.predict_proba(X), shorter.predict_proba(X))


def test_lbe_responsibilities_are_the_augmented_posterior(logistic):
    """The E-step computes the quantity of Theorem 1."""
    X, _, _, _, s = logistic
    model = Lbe(max_rounds=1, max_epochs=1, random_state=0).fit(X, s)
    y, e = model.predict_proba(X)[:, 1], model.predict_propensity(X)
    expected = np.where(s == 1, 1, y * (1 - e) / (1 - y * e))
    np.testing.assert_allclose(model.predict_proba(X, s=s)[:, 1], expected, atol=1e-6)


def test_augmented_joins_two_classifiers(logistic):
    """The pair's y(x) and s(x) are those of its members."""
    X, _, _, y, s = logistic
    y_model = FrozenEstimator(LogisticRegression().fit(X, y))
    model = Augmented(y_model, LogisticRegression()).fit(X, s)
    np.testing.assert_allclose(model.predict_proba(X), y_model.predict_proba(X))
    expected = LogisticRegression().fit(X, s).predict_proba(X)[:, 1]
    np.testing.assert_allclose(model.predict_label_proba(X), expected)


def test_elkan_noto_scales_s(logistic):
    """y(x) is s(x) over the label frequency, P(S=1) over the prior, and at most 1."""
    X, _, _, _, s = logistic
    model = ElkanNoto(LogisticRegression(), prior=0.4).fit(X, s)
    s_proba = LogisticRegression().fit(X, s).predict_proba(X)[:, 1]
    np.testing.assert_allclose(model.predict_label_proba(X), s_proba)
    scaled = s_proba / (s.mean() / 0.4)
    assert (scaled > 1).any()
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], np.minimum(scaled, 1))


def test_elkan_noto_s_prior_is_estimated_where_it_is_not_given(logistic):
    """By ``estimate_prior``, from the estimator's own random state."""
    X, _, _, _, s = logistic
    model = ElkanNoto(random_state=3).fit(X, s)
    assert model.prior_ == estimate_prior(X, s, np.random.RandomState(3))
    assert model.label_frequency_ == pytest.approx(s.mean() / model.prior_)


def test_prior_of_separated_classes():
    """Under SCAR without overlap the estimate is the prior, to 4 standard errors of the labels."""
    rng = np.random.default_rng(0)
    y = (rng.random(20_000) < 0.4).astype(int)
    X = rng.normal(size=(20_000, 2)) + 8 * y[:, None]
    s = y * (rng.random(20_000) < 0.5)
    # P(S=1) / c with c a mean over about 4,000 labelled and 4,000 unlabelled positives
    assert estimate_prior(X, s, 0) == pytest.approx(0.4, abs=4 * 0.4 * (0.5 / 4000) ** 0.5)


@pytest.mark.parametrize("values", [(-1, 1), (0,), (1,), (0, 1, 2)])
def test_prior_needs_zeros_and_ones(values):
    """Another coding, or one stratum, is refused with what to give."""
    s = np.resize(values, 20)
    with pytest.raises(ValueError, match=r"must hold 1 or True|contains only one class"):
        estimate_prior(np.zeros((20, 2)), s)


@pytest.mark.parametrize("n_labelled", [1, 2])
def test_prior_from_very_few_labels(n_labelled):
    """One or two labelled rows still give a prior between their share and 0.99."""
    X, s = np.random.default_rng(0).normal(size=(50, 2)), np.zeros(50, dtype=int)
    s[:n_labelled] = 1
    assert s.mean() <= estimate_prior(X, s, 0) <= 0.99


def test_paper_schedule():
    """The paper's schedule has the specification's epochs, and half of them for synthetic data."""
    schedule = SCHEDULES["paper"]
    assert (schedule.pretraining_epochs, sum(schedule.phase_epochs)) == (100, 800)
    half = schedule.scaled(paper_settings("synth_1")["epoch_scale"])
    assert (half.pretraining_epochs, half.phase_epochs) == (50, (200, 50, 50, 50, 50))


def test_paper_settings_of_unknown_data():
    """A dataset that the paper does not have is named."""
    with pytest.raises(ValueError, match="dataset is 'iris'"):
        paper_settings("iris")


@pytest.mark.parametrize(
    "option", [{"target_pool": "some"}, {"phase_epochs": (1, 2)}, {"last_batch": "dropped"}]
)
def test_schedules_that_make_no_sense(option):
    """A schedule with an unknown pool or batch rule or too few phases is refused at once."""
    with pytest.raises(ValueError, match=f"{next(iter(option))} is"):
        Schedule(**option)


def test_schedule_round_trip():
    """A schedule comes back from JSON as it was, its tuples tuples."""
    schedule = Schedule(phase_epochs=(1, 2, 3, 4, 5))
    assert Schedule.from_json(schedule.to_json()) == schedule
