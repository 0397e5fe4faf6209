"""VAE-PU-Bayes and VAE-PU+OCC: what they select, what they share, when they stop."""

import copy
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

import pu_utils
from pu_utils import rules
from pu_utils.models import A3, VaePu, VaePuBayes, VaePuOcc
from pu_utils.models.fine_tuning import Strata, conformal_p_values, highest, selected_risks

from .conftest import TINY


def weights(network):
    return torch.cat([p.detach().flatten() for p in network.parameters()])


@pytest.mark.parametrize("kind", [VaePuBayes, VaePuOcc])
def test_a_fitted_base_is_shared_and_not_changed(kind, base, blobs):
    """The base is taken as it is: the same object, no weight moved, no history added."""
    X, _, s = blobs
    before, history = weights(base.networks_).clone(), copy.deepcopy(base.history_)
    model = kind(base=base, random_state=0).fit(X, s)
    assert model.base_ is base
    assert torch.equal(weights(base.networks_), before)
    assert base.history_ == history
    assert not torch.equal(weights(model.target_), weights(base.networks_.target))


def test_an_unfitted_base_is_trained_as_a_copy(blobs):
    """An unfitted base lends its settings; it stays unfitted itself."""
    X, _, s = blobs
    unfitted = VaePu(prior=0.4, schedule=TINY, random_state=3)
    model = VaePuBayes(base=unfitted, random_state=0).fit(X, s)
    assert model.prior_ == 0.4
    assert not hasattr(unfitted, "networks_")


def test_a_frozen_base_survives_cloning(base, blobs):
    """A fitted base in a FrozenEstimator is still fitted in a clone."""
    X, _, s = blobs
    model = clone(VaePuBayes(base=FrozenEstimator(base))).fit(X, s)
    assert model.base_ is base


def test_a_base_for_other_features_is_refused(base, blobs):
    """Rows with other features than the base's are refused."""
    X, _, s = blobs
    with pytest.raises(ValueError, match="X has 2 features, but VaePu is expecting 3"):
        VaePuBayes(base=base).fit(X[:, :2], s)


def test_bayes_selects_by_augmented_odds(base, blobs):
    """The selected rows are the n_U pi_PU / pi_U unlabelled rows of highest (y - s) / (1 - y)."""
    X, _, s = blobs
    model = VaePuBayes(base=base).fit(X, s, validation=(X, s))
    unlabelled = X[s == 0].astype(np.float32)
    y = base.predict_proba(unlabelled)[:, 1]
    odds = rules.augmented_odds(y, np.minimum(base.predict_label_proba(unlabelled), y))
    np.testing.assert_array_equal(model.selection_scores_, odds)
    share = s.mean()
    prior_training = base.label_frequency_ * base.prior_  # of the rows the base was trained on
    assert prior_training == pytest.approx(share, abs=0.01)
    n_chosen = round(len(unlabelled) * (0.5 - prior_training) / (1 - prior_training))
    assert len(model.selected_) == n_chosen
    np.testing.assert_array_equal(model.unlabelled_rows_, np.flatnonzero(s == 0))
    chosen = np.isin(model.unlabelled_rows_, model.selected_)
    assert odds[chosen].min() >= odds[~chosen].max()


def test_selected_rows_are_rows_of_x(base, blobs):
    """Where rows are held out, ``selected_`` still counts in the X given to fit."""
    X, _, s = blobs
    model = VaePuBayes(base=base, random_state=0).fit(X, s)
    assert 0 < len(model.training_rows_) < len(X)
    assert set(model.selected_) <= set(model.training_rows_)
    assert not s[model.selected_].any()


def test_a_base_of_another_kind_is_refused(blobs):
    """Only a VaePu can be fine-tuned."""
    X, _, s = blobs
    with pytest.raises(ValueError, match="it must be a VaePu"):
        VaePuBayes(base=OneClassSVM()).fit(X, s)


def test_highest():
    """Ties go to the earlier row, and indices come in the order of the rows."""
    assert highest(np.array([1.0, 3.0, 2.0, 3.0, 3.0]), 2).tolist() == [1, 3]


def test_conformal_p_values_by_counting():
    """A p-value is the share of calibration scores not above the score, itself counted in."""
    calibration, scores = np.random.default_rng(0).normal(size=(2, 20))
    loops = [(1 + sum(c <= score for c in calibration)) / 21 for score in scores]
    np.testing.assert_allclose(conformal_p_values(calibration, scores), loops)


@pytest.mark.parametrize(
    "detector",
    ["isolation_forest", A3(hidden=(8, 4), epochs=1, random_state=0), OneClassSVM()],
    ids=["isolation_forest", "a3", "svm"],
)
def test_occ_selects_by_p_value(detector, base, blobs):
    """Whatever the one-class model, the rows of highest p-value are selected."""
    X, _, s = blobs
    model = VaePuOcc(base=base, detector=detector, random_state=0).fit(X, s, validation=(X, s))
    assert ((model.selection_scores_ > 0) & (model.selection_scores_ <= 1)).all()
    chosen = np.isin(model.unlabelled_rows_, model.selected_)
    assert model.selection_scores_[chosen].min() >= model.selection_scores_[~chosen].max()


def test_a_detector_without_a_seed_is_given_one(base, blobs):
    """The same random_state, the same selection, though a forest is random by itself."""
    X, _, s = blobs
    fits = [
        VaePuOcc(base, detector=IsolationForest(n_estimators=3), random_state=0) for _ in range(2)
    ]
    first, second = (model.fit(X, s, validation=(X, s)).selected_ for model in fits)
    np.testing.assert_array_equal(first, second)


class Counting(OneClassSVM):
    """A detector that remembers how many rows it was given."""

    def fit(self, X):
        self.rows_ = [len(X)]
        return super().fit(X)

    def score_samples(self, X):
        self.rows_.append(len(X))
        return super().score_samples(X)


@pytest.mark.parametrize("limit, generated", [(None, 4 * 76), (150, 150), (31, 31)])
def test_occ_generates_as_many_rows_as_the_schedule_says(limit, generated, base, blobs):
    """At least as many as there are training rows, or the schedule's; half fit, half calibrate."""
    X, _, s = blobs
    other = copy.copy(base)
    other.schedule_ = replace(base.schedule_, generated_rows=limit)
    model = VaePuOcc(other, detector=Counting(), random_state=0).fit(X, s, validation=(X, s))
    fitted, calibrated, *unlabelled = model.detector_.rows_
    assert (fitted, fitted + calibrated) == (generated // 2, generated)
    assert unlabelled == [224, 224]  # training and validation part


def test_occ_by_name_builds_the_paper_s_a3(base, monkeypatch, blobs):
    """``detector="a3"`` is A3 in the sizes of the specification."""
    X, _, s = blobs
    monkeypatch.setattr(A3, "fit", lambda self, X, y=None: self)
    monkeypatch.setattr(A3, "score_samples", lambda self, X: X[:, 0])
    model = VaePuOcc(base=base, detector="a3", random_state=0).fit(X, s)
    assert isinstance(model.detector_, A3)
    assert model.detector_.hidden == (1000, 500, 200, 75)


@pytest.mark.parametrize("detector", ["forest", 3, LocalOutlierFactor()])
def test_unknown_detectors_are_refused(detector, base, blobs):
    """A detector that cannot score new rows is named, with what could be used instead."""
    X, _, s = blobs
    with pytest.raises(ValueError, match=r"detector is .*; give 'isolation_forest'"):
        VaePuOcc(base=base, detector=detector).fit(X, s)


def fine_tuning_losses(model):
    return [row["validation"] for row in model.history_ if row["phase"] == "fine-tuning"]


def test_the_best_step_is_kept(base, blobs):
    """The target classifier kept has the lowest PU risk on the validation part of all steps."""
    X, _, s = blobs
    model = VaePuBayes(base=base).fit(X, s, validation=(X, s))
    losses = fine_tuning_losses(model)
    assert len(losses) == TINY.fine_tuning_steps
    chosen = torch.as_tensor(np.flatnonzero(np.isin(model.unlabelled_rows_, model.selected_)))
    rows = [torch.as_tensor(X[s == k], dtype=torch.float32) for k in (1, 0)]
    positive, negative = selected_risks(model.target_, Strata(*rows, chosen), base._shares())
    assert (positive + negative.clamp(min=0)).item() == pytest.approx(min(losses), rel=1e-6)


def f1(decision, y):
    return 2 * (decision & y).sum() / (decision.sum() + y.sum())


def test_oracle_stopping_uses_y(base, blobs):
    """Oracle stopping keeps the step of highest F1 against the true classes."""
    X, y, s = blobs
    model = VaePuBayes(base=base, stopping="oracle").fit(X, s, validation=(X, s, y))
    best = 1 - min(fine_tuning_losses(model))
    assert f1(model.predict(X), y) == pytest.approx(best, abs=1e-6)


def test_oracle_stopping_needs_y(base, blobs):
    """Without true classes oracle stopping is refused, with the way out."""
    X, _, s = blobs
    with pytest.raises(ValueError, match=r"validation=\(X, s, y\)"):
        VaePuBayes(base=base, stopping="oracle").fit(X, s)


@pytest.mark.parametrize("status", [0, 1])
def test_validation_rows_of_one_stratum_are_refused(status, base, blobs):
    """The PU risk needs both; the error says so, and not that the training diverged."""
    X, _, s = blobs
    held = (X[s == status], s[s == status])
    with pytest.raises(ValueError, match="validation holds one label status only"):
        VaePuBayes(base=base).fit(X, s, validation=held)


def test_unknown_stopping_is_refused(base, blobs):
    """A stopping criterion that does not exist is named."""
    X, _, s = blobs
    with pytest.raises(ValueError, match=r"'stopping' .*'pu_risk'.* Got 'f1'"):
        VaePuBayes(base=base, stopping="f1").fit(X, s)


def test_a3_tells_data_from_noise():
    """Trained long enough on a narrow set, A3 scores its rows above rows far away."""
    rng = np.random.default_rng(0)
    X = rng.normal(0, 1, size=(400, 4))
    model = A3(hidden=(32, 8), epochs=30, alarm_learning_rate=1e-2, random_state=0).fit(X)
    assert model.score_samples(X).mean() > model.score_samples(X + 12).mean() + 0.5


def test_a3_takes_constant_features():
    """A feature without range is left as it is."""
    X = np.ones((50, 2))
    assert np.isfinite(A3(hidden=(4, 2), epochs=1, random_state=0).fit(X).score_samples(X)).all()


def test_a_fit_is_read_in_six_files(blobs):
    """Who follows a fit of VAE-PU-Bayes with a given prior need not read more of the package."""
    X, _, s = blobs
    entered = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: entered.add(frame.f_code))
    try:
        VaePuBayes(prior=0.5, schedule=TINY, random_state=0).fit(X, s)
    finally:
        sys.setprofile(before)
    package = Path(pu_utils.__file__).parent
    entered = {code for code in entered if package in Path(code.co_filename).parents}
    assert len({code.co_filename for code in entered}) <= 6
    comprehensions = {"<listcomp>", "<dictcomp>"}  # functions of their own before Python 3.12
    assert len([code for code in entered if code.co_name not in comprehensions]) <= 130
