"""The one interface: every estimator, asked with S and without, cloned, pickled, run twice."""

import pickle
from dataclasses import replace
from inspect import signature

import numpy as np
import pandas as pd
import pytest
import sklearn
import torch
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pu_utils import rules
from pu_utils.models import (
    Augmented,
    ElkanNoto,
    LabelModel,
    Lbe,
    Schedule,
    TrainingDiverged,
    VaePu,
    VaePuBayes,
    VaePuOcc,
)

from .conftest import TINY, every_estimator
from .em_data import TAKES_S

CHECKED = Schedule(  # scikit-learn's checks fit some fifty times
    pretraining_epochs=1,
    phase_epochs=(1, 1, 1, 1, 1),
    fine_tuning_steps=1,
    autoencoder_hidden=(4,),
    discriminator_hidden=(4,),
    target_hidden=(4,),
    label_epochs=1,
)
# an estimate of the prior would be most of the time; ElkanNoto and Augmented are left to make it
GIVEN = {"prior": 0.9, "schedule": CHECKED}
IN_SINGLE_PRECISION = {
    name: "asks for 1e-9; a matrix product in float32 may sum a row in another order when its "
    "neighbours change, which moves a posterior by about 1e-7"
    for name in ("check_methods_sample_order_invariance", "check_methods_subset_invariance")
}


def expected_failures(estimator):
    """scikit-learn checks that cannot apply, with the reason."""
    if isinstance(estimator, VaePu | VaePuBayes | VaePuOcc | LabelModel | Lbe):
        return TAKES_S | IN_SINGLE_PRECISION
    return TAKES_S


@parametrize_with_checks(
    [
        LabelModel(schedule=CHECKED),
        VaePu(**GIVEN),
        VaePuBayes(**GIVEN),
        VaePuOcc(**GIVEN, detector=IsolationForest(n_estimators=2)),
        Lbe(max_rounds=1, max_epochs=1),
        Augmented(),
        ElkanNoto(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn(estimator, check):
    """scikit-learn's own checks pass with S in the role of y."""
    check(estimator)


EVERY = every_estimator(random_state=0, device="cpu")
OF_NETWORKS = [e for e in EVERY if not isinstance(e, Augmented | ElkanNoto)]


def name(estimator):
    return type(estimator).__name__


@pytest.fixture(params=EVERY, ids=name)
def unfitted(request):
    return clone(request.param)


@pytest.fixture(scope="module", params=EVERY, ids=name)
def fitted(request, blobs):
    """One fit of each estimator, which the tests share and must not change."""
    X, _, s = blobs
    return clone(request.param).fit(X, s)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_label_proba"])
def test_unfitted(unfitted, method):
    """An estimator that was not fitted says so."""
    with pytest.raises(NotFittedError):
        getattr(unfitted, method)(np.zeros((1, 3)))


def test_augmented_posterior_is_the_rule(fitted, blobs):
    """With S, column 1 is the augmented posterior of the estimator's own y(x) and s(x)."""
    X, _, s = blobs
    y = fitted.predict_proba(X)[:, 1]
    label_posterior = np.minimum(fitted.predict_label_proba(X), y)
    expected = rules.augmented_posterior(y, label_posterior, s)
    np.testing.assert_array_equal(fitted.predict_proba(X, s=s)[:, 1], expected)


def test_predictions_are_posteriors_above_one_half(fitted, blobs):
    """With S and without, class 1 is predicted where its posterior exceeds 1/2 (Theorem 1)."""
    X, _, s = blobs
    for known in ({}, {"s": s}):
        posterior = fitted.predict_proba(X, **known)
        np.testing.assert_allclose(posterior.sum(1), 1)
        np.testing.assert_array_equal(fitted.predict(X, **known), posterior[:, 1] > 0.5)


def test_labelled_rows_are_positive(fitted, blobs):
    """A row known to be labelled is of class 1, whatever the model thinks of it."""
    X, _, s = blobs
    assert fitted.predict(X, s=s)[s == 1].all()


def test_odds_move_the_threshold_without_a_new_fit(fitted, blobs):
    """Higher odds predict fewer positives, by the rule's own threshold."""
    X, _, s = blobs
    y = fitted.predict_proba(X)[:, 1]
    label_posterior = np.minimum(fitted.predict_label_proba(X), y)
    strict = clone(fitted).set_params(odds=3.0)
    strict.__dict__ |= {k: v for k, v in vars(fitted).items() if k.endswith("_")}
    expected = rules.augmented_rule(y, label_posterior, s, odds=3.0)
    np.testing.assert_array_equal(strict.predict(X, s=s), expected)


def test_diagnostics_count_rows_with_s_above_y(fitted, blobs):
    """``diagnostics_`` counts what the posteriors had to be cut for."""
    X, _, s = blobs
    above = fitted.predict_label_proba(X) > fitted.predict_proba(X)[:, 1]
    assert fitted.diagnostics_ == {
        "rows": 300,
        "labelled_rows": int(s.sum()),
        "rows_with_s_above_y": int(above.sum()),
        "unlabelled_rows_with_s_above_y": int(above[s == 0].sum()),
    }


def test_rows_with_s_above_y_are_negative():
    """Where s(x) > y(x) an unlabelled row has augmented posterior 0."""
    X, s = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    y_model = FrozenEstimator(LogisticRegression().fit(X, [1, 0, 1, 0]))
    model = Augmented(y_model, LogisticRegression()).fit(X, s)
    above = model.predict_label_proba(X) > model.predict_proba(X)[:, 1]
    assert 0 < model.diagnostics_["rows_with_s_above_y"] == above.sum()
    assert (model.predict_proba(X, s=np.zeros(4))[above, 1] == 0).all()


def test_same_seed_same_result(unfitted, blobs):
    """Two fits with one seed agree exactly, and leave the global random states alone."""
    X, _, s = blobs
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    first = clone(unfitted).fit(X, s).predict_proba(X, s=s)
    np.testing.assert_array_equal(first, clone(unfitted).fit(X, s).predict_proba(X, s=s))
    assert torch.equal(torch.get_rng_state(), torch_before)
    assert (np.random.get_state()[1] == numpy_before).all()  # noqa: NPY002


@pytest.mark.parametrize("kind", [VaePu, LabelModel, VaePuBayes])
def test_another_seed_another_result(kind, blobs):
    """The seed matters."""
    X, _, s = blobs
    results = [kind(schedule=TINY, random_state=seed).fit(X, s).predict_proba(X) for seed in (0, 1)]
    assert (results[0] != results[1]).any()


@pytest.mark.parametrize("estimator", OF_NETWORKS, ids=name)
def test_every_tensor_is_made_on_the_estimator_s_device(estimator, blobs):
    """Where torch's default device holds no numbers, a tensor made without a device would fail."""
    X, y, s = blobs
    with torch.device("meta"):
        model = clone(estimator).fit(X, s)
        if isinstance(model, VaePuBayes):
            oracle = clone(estimator).set_params(base=model.base_, stopping="oracle")
            oracle.fit(X, s, validation=(X, s, y))
        assert np.isfinite(model.predict_proba(X, s=s)).all()


def test_pickled(fitted, blobs):
    """A fitted estimator comes back from pickle, and so from joblib, as it was."""
    X, _, s = blobs
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.predict_proba(X, s=s), fitted.predict_proba(X, s=s))


def test_pandas_and_float64_give_what_numpy_gives(blobs):
    """A data frame is its values."""
    X, _, s = blobs
    model = LabelModel(schedule=TINY, random_state=0)
    from_array = model.fit(X, s).predict_proba(X)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    np.testing.assert_array_equal(model.fit(frame, pd.Series(s)).predict_proba(frame), from_array)


def test_s_of_other_values_is_refused(fitted, blobs):
    """A label status that is neither 0 nor 1 is named."""
    X, _, s = blobs
    with pytest.raises(ValueError, match=r"s holds \[0, 2\]; it must hold 1 or True"):
        fitted.predict(X, s=np.where(s == 1, 2, s))


def test_s_of_other_length_is_refused(fitted, blobs):
    """A label status for fewer rows is refused."""
    X, _, s = blobs
    with pytest.raises(ValueError, match="s has 299 values, X has 300 rows"):
        fitted.predict(X, s=s[:-1])


@pytest.mark.parametrize("value", [0, 1])
def test_one_stratum_is_refused(unfitted, blobs, value):
    """No labelled rows, or none unlabelled, is an error that says what is needed."""
    X = blobs[0]
    with pytest.raises(ValueError, match=r"one class only.*labelled and unlabelled"):
        unfitted.fit(X, np.full(len(X), value))


def test_divergence_is_an_error(blobs):
    """Features far from unit scale stop the training with advice, not with NaN predictions."""
    X, _, s = blobs
    with pytest.raises(TrainingDiverged, match="phase 'pretraining', epoch 0; scale the features"):
        VaePu(prior=0.5, schedule=TINY, standardise=False, random_state=0).fit(1e5 * X, s)


@pytest.mark.parametrize(
    "option, message",
    [
        ({"prior": 0.1}, "prior is 0.1; it must be at least the share of labelled rows"),
        ({"prior": 1.0}, "prior is 1.0; .* below 1"),
        ({"label_frequency": 0.0}, r"'label_frequency' .* range \(0.0, 1.0\] or None. Got 0.0"),
        ({"schedule": "slow"}, "schedule is 'slow'; give one of"),
        ({"likelihood": "poisson"}, "'likelihood' .*'gaussian'.* Got 'poisson'"),
        ({"likelihood": "bernoulli"}, "scale the features to"),
        ({"validation_fraction": 1.5}, r"'validation_fraction' .* range \(0.0, 1.0\). Got 1.5"),
        ({"target_weight": -1.0}, "'target_weight' .* Got -1.0"),
        ({"odds": 0.0}, "'odds' .* Got 0.0"),
    ],
)
def test_bad_options(option, message, blobs):
    """A bad option is named with its value and the remedy."""
    X, _, s = blobs
    with pytest.raises(ValueError, match=message):
        VaePu(**{"prior": 0.5, "schedule": TINY} | option).fit(X, s)


@pytest.mark.parametrize("low, high, fits", [(0, 1, True), (-0.01, 1, False), (0, 1.01, False)])
def test_pixels_lie_between_zero_and_one(low, high, fits, blobs):
    """Both ends are pixels; what lies beyond either is refused before any training."""
    X, _, s = blobs
    X = low + (high - low) * (X - X.min()) / (X.max() - X.min())
    X = np.clip(X, low, high)
    model = VaePu(prior=0.5, schedule=TINY, likelihood="bernoulli", random_state=0)
    if fits:
        generated = model.fit(X, s).generate(X, s)
        assert generated.min() >= 0 and generated.max() <= 1
    else:
        with pytest.raises(ValueError, match=r"X runs from .* to .*; scale the features"):
            model.fit(X, s, validation=(X, s))
        assert not hasattr(model, "label_model_")


def test_a_given_label_frequency_sets_the_shares(blobs):
    """Given, it is taken at its word; else it follows from the labelled rows and the prior."""
    X, _, s = blobs
    short = replace(TINY, pretraining_epochs=0, phase_epochs=(0, 0, 0, 0, 0))
    options = {"prior": 0.5, "schedule": short, "random_state": 0}
    model = VaePu(label_frequency=0.4, **options).fit(X, s)
    assert model.label_frequency_ == 0.4
    assert model._shares() == pytest.approx((0.2, 0.3, 0.8))
    model = VaePu(**options).fit(X, s, validation=(X, s))
    assert model.label_frequency_ == pytest.approx(s.mean() / 0.5)


def test_validation_rows_of_another_length_are_refused(unfitted, blobs):
    """Before any training."""
    X, _, s = blobs
    if "validation" in signature(unfitted.fit).parameters:
        with pytest.raises(ValueError, match="one value per row"):
            unfitted.fit(X, s, validation=(X[:40], s[:39]))


def test_generating_needs_both_strata(base, blobs):
    """There is nothing to be nearest to without unlabelled rows."""
    X, _, s = blobs
    with pytest.raises(ValueError, match="labelled and unlabelled rows"):
        base.generate(X[s == 1], s[s == 1])


def test_label_model_keeps_its_best_epoch(blobs):
    """The network kept is that of the lowest validation loss, and patience ends the training."""
    X, _, s = blobs
    schedule = Schedule(
        label_epochs=60, label_patience=2, label_learning_rate=0.1, target_hidden=(32,)
    )
    model = LabelModel(schedule=schedule, random_state=0).fit(X, s, validation=(X[::2], s[::2]))
    losses = [row["validation"] for row in model.history_]
    assert len(losses) == np.argmin(losses) + 1 + 2 < 60
    p = model.predict_label_proba(X[::2])
    kept = -np.mean(np.where(s[::2] == 1, np.log(p), np.log(1 - p)))
    assert kept == pytest.approx(min(losses), rel=1e-4)


def test_looking_inside(base, blobs):
    """Latent means have a row per example, generated rows one per labelled example."""
    X, _, s = blobs
    h_y, h_o = base.latent_means(X, s)
    assert (h_y.shape, h_o.shape) == ((300, 10), (300, 2))
    assert (base.latent_means(X, 1 - s)[1] != h_o).any()
    generated = base.generate(X, s)
    assert generated.shape == (s.sum(), 3)
    np.testing.assert_array_equal(generated, base.generate(X, s))
    assert (generated != base.generate(X, s, random_state=1)).any()


def test_history_has_every_phase(base):
    """``history_`` tells each epoch of each phase, in order, with the phase's losses."""
    phases = pd.DataFrame(base.history_).groupby("phase", sort=False)["epoch"].agg(list)
    assert phases.index.tolist() == [
        "pretraining",
        "autoencoder",
        "target",
        "adversarial autoencoder",
        "autoencoder and target",
        "last target",
    ]
    assert all(epochs == [0, 1] for epochs in phases)
    rows = {row["phase"]: set(row) for row in base.history_}
    assert "target_adversary" in rows["adversarial autoencoder"]
    assert "target_adversary" not in rows["autoencoder"]
    assert {"positive_risk", "label_divergence"} <= rows["autoencoder and target"]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_s_is_routed_to_predict(blobs, routing):
    """A pipeline hands ``s`` on to predict and predict_proba once it is asked to."""
    X, _, s = blobs
    model = LabelModel(schedule=TINY, random_state=0)
    model.set_predict_request(s=True).set_predict_proba_request(s=True)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, s)
    assert pipeline.predict(X, s=s)[s == 1].all()
    assert (pipeline.predict_proba(X, s=s)[s == 1, 1] == 1).all()


def test_grid_search(blobs):
    """Options are searched like those of any classifier; the winner is refitted to all rows."""
    X, _, s = blobs
    odds = [0.2, 1.0, 5.0]
    search = GridSearchCV(ElkanNoto(prior=0.5), {"odds": odds}, cv=2).fit(X, s)
    scores = [cross_val_score(ElkanNoto(prior=0.5, odds=o), X, s, cv=2).mean() for o in odds]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], scores)
    best = ElkanNoto(prior=0.5, odds=odds[np.argmax(scores)]).fit(X, s)
    assert len(set(scores)) == 3
    np.testing.assert_array_equal(search.predict(X), best.predict(X))
