"""Defaults that cannot mislead: codes of labels, the prior, scales, scores, and what fit sees."""

import subprocess
import sys
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from pu_utils import metrics, models
from pu_utils.models import (
    Augmented,
    AugmentedEM,
    ConflictWarning,
    ElkanNoto,
    LabelModel,
    PriorWarning,
    Recalibrated,
    SarEm,
    Upu,
    VaePu,
    VaePuBayes,
    networks,
)

from .conftest import TINY, every_estimator
from .em_data import product_of_logistics

LINEAR = [
    Upu(prior=0.5),
    SarEm(),
    AugmentedEM("logistic", prior=0.5),
    Recalibrated(Upu(prior=0.5), random_state=0),
]
EVERY = every_estimator(random_state=0, device="cpu") + LINEAR


def kind(estimator):
    return type(estimator).__name__


@pytest.fixture(scope="module")
def fitted_once():
    """Fits of every estimator that tests share, so that each is made once: estimator, X, s."""
    fits = {}

    def fit(estimator, X, s):
        key = kind(estimator), X.tobytes()
        if key not in fits:
            fits[key] = clone(estimator).fit(X, s)
        return fits[key]

    return fit


# Codes of the label status


@pytest.mark.parametrize("kind", [int, bool, float, np.int8, object])
def test_the_label_status_is_zero_and_one(kind, blobs):
    """As integers, truth values or floats, in arrays, tables and lists."""
    X, _, s = blobs
    expected = ElkanNoto(prior=0.5).fit(X, s)
    coded = s.astype(kind)
    for values in (coded, pd.Series(coded), coded.tolist()):
        model = ElkanNoto(prior=0.5).fit(X, values)
        np.testing.assert_array_equal(
            model.predict_proba(X, s=values), expected.predict_proba(X, s=s)
        )
        assert model.predict(X).dtype == model.classes_.dtype


def test_a_column_is_taken_for_a_row_with_a_warning(blobs):
    """s of shape (n, 1) is treated alike in fit and predict, as scikit-learn treats y."""
    X, _, s = blobs
    with pytest.warns(DataConversionWarning):
        model = ElkanNoto(prior=0.5).fit(X, s[:, None])
    with pytest.warns(DataConversionWarning):
        decision = model.predict(X, s=s[:, None])
    np.testing.assert_array_equal(decision, model.predict(X, s=s))
    for ask in (model.fit, model.predict):
        with pytest.raises(ValueError, match=r"\(300, 2\)"):
            ask(X, s=np.column_stack([s, s]))


CODES = [("unlabelled", "labelled"), ("U", "P"), (2, 1), (-1, 1), (0, np.nan), ("", "yes")]


@pytest.mark.parametrize("codes", CODES, ids=str)
def test_other_codes_are_refused(codes, blobs):
    """In fit and in predict, with the way out."""
    X, _, s = blobs
    coded = np.array(codes, dtype=object)[s]
    model = ElkanNoto(prior=0.5).fit(X, s)
    for ask in (clone(model).fit, model.predict):
        with pytest.raises(ValueError, match=r'give s == "yes"|contains NaN'):
            ask(X, s=coded)


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (["a", "b", "c"] * 100, "it must hold 1 or True where a row is"),
        ([1] * 300, "one class only, 1"),
        ([0, 1] * 100, r"inconsistent numbers of samples: \[300, 200\]"),
    ],
)
def test_bad_labels_are_named(s, message, blobs):
    """Each error says what is wrong with ``s``."""
    with pytest.raises(ValueError, match=message):
        ElkanNoto(prior=0.5).fit(blobs[0], s)


# The prior


@pytest.mark.parametrize("estimator", [e for e in EVERY if hasattr(e, "prior")], ids=kind)
def test_a_prior_below_the_labelled_share_stops_before_training(estimator, blobs, monkeypatch):
    """Nothing is trained, and the share is that of all rows given, not of a part."""
    X, _, s = blobs
    for trained in ("Trainer.train", "LabelModel._train"):
        module = "vae_pu" if trained.startswith("T") else "networks"
        monkeypatch.setattr(f"pu_utils.models.{module}.{trained}", lambda *_: pytest.fail())
    with pytest.raises(ValueError, match=rf"prior is 0.2; .* rows of X, {s.mean():.4g}, and below"):
        clone(estimator).set_params(prior=0.2).fit(X, s)


def test_a_prior_may_be_a_fraction(blobs):
    """It is a number like any other."""
    X, _, s = blobs
    for estimator in (AugmentedEM("logistic"), ElkanNoto(), Upu(), VaePu(schedule=TINY)):
        exact, rounded = (
            clone(estimator).set_params(prior=prior, random_state=0).fit(X, s)
            for prior in (Fraction(1, 2), 0.5)
        )
        assert type(exact.prior_) is type(exact.label_frequency_) is float
        np.testing.assert_array_equal(exact.predict_proba(X, s=s), rounded.predict_proba(X, s=s))


@pytest.mark.parametrize(
    "estimator",
    [
        ElkanNoto(),
        Augmented(),
        Upu(),
        AugmentedEM("logistic"),
        Recalibrated(SarEm()),
        VaePu(schedule=TINY),
        VaePuBayes(schedule=TINY),
    ],
    ids=kind,
)
def test_a_missing_prior_warns_once(estimator, blobs):
    """An estimated prior is said to be one by every estimator, where it is fitted."""
    X, _, s = blobs
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(estimator).fit(X, s)
    (warning,) = (one for one in caught if issubclass(one.category, PriorWarning))
    assert warning.filename == __file__  # the line of the caller, however deep the estimator


# Ranking


def test_contradictions_are_warned_of_and_do_not_spoil_the_ranking():
    """Where s(x) > y(x) on many rows, ranking_score still orders them, and labelled rows lead."""
    X, _, _, y, s = product_of_logistics(2000, seed=0)  # any seed: 2000 rows are plenty
    too_low = LogisticRegression().fit(X, y)
    too_low.intercept_ -= 3
    with pytest.warns(ConflictWarning, match="of the unlabelled rows.*ranking_score"):
        model = Augmented(FrozenEstimator(too_low)).fit(X, s)
    cut = metrics.u_auc(y, model.predict_proba(X, s=s)[:, 1], s)
    ranked = model.ranking_score(X, s)
    assert metrics.u_auc(y, ranked, s) > cut + 0.01
    assert metrics.u_auc(y, ranked, s) == metrics.u_auc(y, model.predict_proba(X)[:, 1], s)
    assert (ranked[s == 1] == 1).all()


def test_known_labelling_ranks_by_the_augmented_posterior():
    """Told what labelling depends on, S improves the ranking, and ranking_score uses it."""
    X, _, _, y, s = product_of_logistics(4000, seed=1)  # the gain is .02, its error below .01
    model = AugmentedEM("logistic", [1], prior=0.5, residualise=False).fit(X, s)
    ranked = model.ranking_score(X, s)
    np.testing.assert_array_equal(ranked, model.predict_proba(X, s=s)[:, 1])
    assert metrics.u_auc(y, ranked, s) > metrics.u_auc(y, model.predict_proba(X)[:, 1], s)


# Scores


def test_agreement_with_s_chooses_who_calls_nobody(blobs):
    """The default score of scikit-learn rewards it; the likelihood of S looks at s(x) instead."""
    X, y, s = blobs
    few = s * (np.arange(len(s)) % 3 == 0)
    agreement = GridSearchCV(Upu(prior=0.5), {"odds": [1.0, 1e9]}, cv=3).fit(X, few)
    assert agreement.best_params_ == {"odds": 1e9}
    of_y, of_s = LogisticRegression().fit(X, y), LogisticRegression().fit(X, s)
    assert of_y.score(X, s) < of_s.score(X, s)


# Scales


@pytest.mark.parametrize("estimator", EVERY, ids=kind)
@pytest.mark.parametrize("factor", [1e-20, 1e4])
def test_the_unit_of_the_features_does_not_matter(estimator, factor, blobs, fitted_once):
    """Metres or micrometres: the same posteriors, to the digits of single precision.

    The columns are given once standardised and once multiplied, so that both are what the networks
    see; A row at a tie of neighbours may move by more, the mean does not.
    """
    X, _, s = blobs
    X = (X - X.mean(0)) / X.std(0)
    plain = fitted_once(estimator, X, s).predict_proba(X)[:, 1]
    scaled = clone(estimator).fit(factor * X, s).predict_proba(factor * X)[:, 1]
    assert np.abs(scaled - plain).mean() < 1e-3
    assert plain.std() > 0


@pytest.mark.parametrize("given", ["fitted", "unfitted", "pixels"])
def test_a_base_scales_for_the_model_built_on_it(given, blobs):
    """Fine-tuning sees the rows as its base does."""
    X, _, s = blobs
    options = {"prior": 0.5, "schedule": TINY, "random_state": 0}
    if given == "pixels":
        X = 0.05 / (1 + np.exp(-X))  # dark ones: their scale is below what "auto" leaves alone
        base = VaePu(likelihood="bernoulli", **options)
    else:
        X = 1e3 * X
        base = VaePu(**options)
    base = base.fit(X, s) if given == "fitted" else base
    model = VaePuBayes(base, random_state=0).fit(X, s)
    assert (model.centre_ is None) == (given == "pixels")
    assert model.predict_proba(X)[:, 1].std() > 0
    np.testing.assert_array_equal(model.base_._rows(X), model._rows(X))


# Time


def test_steps_do_not_grow_with_the_rows(blobs, monkeypatch):
    """With caps, the label model's epochs and fine-tuning cost the same on ten times the rows."""
    X, _, s = np.tile(blobs[0], (10, 1)), None, np.tile(blobs[2], 10)
    sizes = []
    monkeypatch.setattr(networks, "descend", spy(networks.descend, sizes))
    capped = replace(TINY, label_epochs=2, label_epoch_steps=3, label_batch_size=32)
    LabelModel(schedule=capped, random_state=0).fit(X, s)
    assert len(sizes) == 2 * 3
    capped = replace(TINY, epoch_steps=2, fine_tuning_rows=200)
    model = VaePuBayes(prior=0.5, schedule=capped, random_state=0).fit(X, s)
    assert len(model.unlabelled_rows_) == len(model.selection_scores_) <= 200
    assert (s[model.unlabelled_rows_] == 0).all()
    assert np.isin(model.selected_, model.unlabelled_rows_).all()


def spy(function, calls):
    """``function``, which notes each of its calls."""

    def noted(*arguments):
        calls.append(arguments)
        return function(*arguments)

    return noted


# What a fit sees


@pytest.mark.parametrize("estimator", EVERY, ids=kind)
def test_y_cannot_change_a_prediction(estimator, blobs):
    """Noise in the place of Y, wherever one can be handed over, leaves predictions as they are."""
    X, y, s = blobs
    noise = np.random.default_rng(0).integers(0, 2, len(y))
    given = []
    for truth in (y, noise):
        model = clone(estimator)
        try:
            model.fit(X, s, validation=(X, s, truth))
        except TypeError:  # it takes no validation part, and so no Y at all
            model.fit(X, s)
            with pytest.raises(TypeError):
                clone(estimator).fit(X, s, truth)
        given.append(model.predict_proba(X, s=s))
    np.testing.assert_array_equal(*given)


# Without torch

WITHOUT_TORCH = """
import sys

class NoTorch:
    def find_spec(self, name, *_):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, NoTorch())
from pu_utils.models import AugmentedEM, ElkanNoto, Recalibrated, SarEm, Upu
"""


def test_what_needs_no_torch_imports_none():
    """Without torch the linear estimators are there."""
    subprocess.run([sys.executable, "-c", WITHOUT_TORCH], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'VaePooh'"):
        getattr(models, "VaePooh")  # noqa: B009
