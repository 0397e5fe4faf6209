"""Stacked training against single training, in double precision.

There the two differ by the order of additions alone, some 1e-16 a step, and agree in nine digits
after all steps. In single precision so do all parameters but the biases before a batch
normalisation: their gradient is 0 but for rounding, of which Adam makes whole steps.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone

from pu_utils.models import A3, LabelModel, Lbe, VaePu, VaePuBayes, VaePuOcc, a3, networks
from pu_utils.models.stacked import Rows, fit_stacked, layout
from pu_utils.models.vae_pu import PHASES

from .conftest import FOREST
from .test_golden import KEPT, QUICK

SEEDS = range(3)
EQUAL = {"rtol": 1e-7, "atol": 1e-8}
EAGER = replace(QUICK, label_epochs=20, label_patience=1, label_learning_rate=0.1)
ALL_KEPT = replace(KEPT, epoch_steps=None, target_pool="all")
CPU = {"device": "cpu"}
PIXELS = {"likelihood": "bernoulli", "generator_weight": 0.3}
ONE_CLASS = A3(hidden=(8, 4), epochs=2, random_state=0, **CPU)
METHODS = {
    "label model": LabelModel(schedule=EAGER, **CPU),
    "VP": VaePu(prior=0.5, schedule=QUICK, **CPU),
    "VP, batches of the paper": VaePu(prior=0.5, schedule=KEPT, **CPU),
    "VP, all rows, of pixels": VaePu(prior=0.5, schedule=ALL_KEPT, **PIXELS, **CPU),
    "VP-B": VaePuBayes(prior=0.5, schedule=replace(QUICK, fine_tuning_rows=100), **CPU),
    "VP-B, by true classes": VaePuBayes(prior=0.5, schedule=QUICK, stopping="oracle", **CPU),
    "VP-IF": VaePuOcc(prior=0.5, schedule=QUICK, detector=FOREST, **CPU),
    "VP-A3": VaePuOcc(prior=0.5, schedule=QUICK, detector=ONE_CLASS, **CPU),
}


def double_tensor(array, device):
    return torch.as_tensor(np.array(array), device=device).double()


@pytest.fixture(autouse=True)
def double_precision(monkeypatch):
    """What differs by more than the order of additions differs visibly."""
    for module in (networks, a3):
        monkeypatch.setattr(module, "to_tensor", double_tensor)
    torch.set_default_dtype(torch.float64)
    layout.cache_clear()
    yield
    torch.set_default_dtype(torch.float32)
    layout.cache_clear()


@pytest.fixture(scope="module")
def parts():
    """Rows (X, s) and validation (X, s, y) of each seed, with 60, 68 and 89 of 200 labelled."""
    rows, validations = [], []
    for seed, c in zip(SEEDS, (0.5, 0.7, 0.9), strict=True):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 260)
        X = 1 / (1 + np.exp(-rng.normal(size=(260, 3)) - 2.0 * y[:, None]))
        s = y * (rng.random(260) < c)
        rows.append((X[:200], s[:200]))
        validations.append((X[200:], s[200:], y[200:]))
    assert [int(s.sum()) for _, s in rows] == [60, 68, 89]
    return rows, validations


def seeded(method):
    """One estimator per seed."""
    return [clone(METHODS[method]).set_params(random_state=seed) for seed in SEEDS]


def one_by_one(estimators, rows, validations):
    """Each estimator after its own fit."""
    return [
        one.fit(*own, validation=held)
        for one, own, held in zip(estimators, rows, validations, strict=True)
    ]


def fitted_facts(model):
    """Every number of a fitted estimator, those of its parts too, and its history."""
    facts = {}
    for name, value in vars(model).items():
        if isinstance(value, torch.nn.Module):
            facts |= {f"{name}.{key}": x.numpy() for key, x in value.state_dict().items()}
        elif isinstance(value, LabelModel | VaePu):
            facts |= {f"{name}.{key}": x for key, x in fitted_facts(value).items()}
        elif name == "history_":
            facts[name] = np.array(
                [[x for x in row.values() if not isinstance(x, str)] for row in value], dtype=object
            )
        elif name.endswith("_") and isinstance(value, np.ndarray | float | int):
            facts[name] = value
    return facts


def assert_equal_fits(stacked, single):
    """They have the same attributes, with the same numbers."""
    for one, other in zip(stacked, single, strict=True):
        assert vars(one).keys() == vars(other).keys()
        found, expected = fitted_facts(one), fitted_facts(other)
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            if name.endswith("history_"):
                assert [len(row) for row in found[name]] == [len(row) for row in value]
                found[name], value = np.concatenate([*found[name]]), np.concatenate([*value])
            np.testing.assert_allclose(
                np.asarray(found[name], float), np.asarray(value, float), **EQUAL, err_msg=name
            )
        assert one.diagnostics_ == other.diagnostics_


@pytest.mark.parametrize("method", METHODS)
def test_stacked_training_is_single_training(method, parts):
    """Every number that each seed's own fit learns, through all phases."""
    stacked, single = fit_stacked(seeded(method), *parts), one_by_one(seeded(method), *parts)
    assert_equal_fits(stacked, single)
    for one, other, (X, _, _) in zip(stacked, single, parts[1], strict=True):
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), **EQUAL)
        np.testing.assert_allclose(
            one.predict_label_proba(X), other.predict_label_proba(X), **EQUAL
        )
    if isinstance(stacked[0], VaePu):  # no phase was left out
        assert {phase.name for phase in PHASES} < {row["phase"] for row in stacked[0].history_}
    if method == "label model":  # each seed stopped when its own time had come
        assert len({len(one.history_) for one in stacked}) > 1


def test_seeds_have_unequal_batches_and_unequal_numbers_of_them(parts):
    """What the test above goes through by the paper's rule of batches."""
    models = seeded("VP, all rows, of pixels")
    dealt = []
    for model, (X, s) in zip(models, parts[0], strict=True):
        model.n_features_in_ = X.shape[1]
        trainer = model._new_trainer((X, s), np.random.RandomState(0))
        dealt.append(
            [(len(labelled), len(unlabelled)) for labelled, unlabelled in trainer.batches()]
        )
    assert len({len(batches) for batches in dealt}) > 1
    assert len({batches[0] for batches in dealt}) == 3


def test_rows_held_out_by_the_estimators_themselves(parts):
    """Without validation parts, and with unequal numbers of training rows."""
    rows = [(X[:n], s[:n]) for n, (X, s) in zip((200, 190, 150), parts[0], strict=True)]
    single = one_by_one(seeded("VP-B"), rows, [None] * 3)
    assert_equal_fits(fit_stacked(seeded("VP-B"), rows), single)


def test_a_fitted_base_is_shared_and_not_changed(parts, tmp_path):
    """Fine-tuning goes on from bases trained in a stack; they can be saved and read again."""
    bases = fit_stacked(seeded("VP"), *parts)
    before = [fitted_facts(base) for base in bases]
    models = [VaePuBayes(base, random_state=seed, **CPU) for seed, base in enumerate(bases)]
    single = one_by_one([clone(one).set_params(base=one.base) for one in models], *parts)
    assert_equal_fits(fit_stacked(models, *parts), single)
    for base, facts, model, (X, _, _) in zip(bases, before, models, parts[1], strict=True):
        assert model.base_ is base
        assert all(np.all(value == facts[name]) for name, value in fitted_facts(base).items())
        model.save(tmp_path / "model")
        restored = VaePuBayes.load(tmp_path / "model")  # in single precision
        restored.target_.double()
        np.testing.assert_allclose(restored.predict_proba(X), model.predict_proba(X), atol=1e-5)
    storages = [base.networks_.target.out.weight.untyped_storage() for base in bases]
    assert {len(one) for one in storages} == {8 * 8}  # 8 weights, and no other seed's


def test_no_device_is_taken_for_granted(parts):
    """Every tensor is created on the device of the estimators: elsewhere lies the default."""
    single = one_by_one(seeded("VP-IF"), *parts)
    with torch.device("meta"):
        stacked = fit_stacked(seeded("VP-IF"), *parts)
    assert_equal_fits(stacked, single)


def test_what_cannot_be_stacked_is_refused(parts):
    """With the remedy."""
    with pytest.raises(ValueError, match=r"\['Lbe'\]; give some of one kind.* one by one"):
        fit_stacked([Lbe()] * 3, *parts)
    with pytest.raises(ValueError, match="'LabelModel', 'VaePu'"):
        fit_stacked([METHODS["label model"], METHODS["VP"]], *parts)
    models = seeded("VP")
    models[1].set_params(target_weight=3.0)
    with pytest.raises(ValueError, match=r"target_weight differs: \[10.0, 3.0, 10.0\]; give one"):
        fit_stacked(models, *parts)


def test_layout_of_padded_parts():
    """Two seeds, one with 2 and 1 rows, the other with none and 3: weights, places, counts."""
    found = layout((Rows((2, 0)).sizes, Rows((1, 3)).sizes), torch.device("cpu"))
    third = 1 / 3
    assert found.weights.tolist() == [[third, third, third, 0, 0], [0, 0, third, third, third]]
    assert (found.padding == (found.weights == 0)).all()
    assert found.places.tolist() == [0, 1, 2, 7, 8, 9]
    assert found.counts == [3, 3]
