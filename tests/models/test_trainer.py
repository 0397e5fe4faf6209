"""The training of VAE-PU: which networks move, where the mixture lies, how rows are made."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from pu_utils.models import VaePu
from pu_utils.models.vae_pu import PHASES, Latent

TRAINED = {
    "autoencoder": {"encoder_y", "encoder_o", "decoder", "label_head", "discriminator"},
    "target": {"target"},
}


@pytest.fixture
def trainer(base, blobs):
    """A training at its end, on a copy of the model."""
    X, _, s = blobs
    model = copy.deepcopy(base)
    return model._new_trainer(X.astype(np.float32), s, torch.Generator().manual_seed(0))


def test_the_positive_component_is_near_the_labelled_rows(trainer, monkeypatch):
    """Of the two Gaussians of h_y the second is the one that labelled rows come from."""
    noise = torch.Generator().manual_seed(0)

    def two_clouds(x):
        means = torch.where(x[:, :1] > 0, 5.0, -5.0) + torch.randn(len(x), 10, generator=noise)
        return Latent(means, torch.zeros_like(means))

    monkeypatch.setattr(trainer.networks.encoder_y, "forward", two_clouds)
    for sign in (1, -1):  # whichever component the fit finds first
        trainer.labelled = sign * trainer.labelled.abs()
        trainer.unlabelled = (
            trainer.unlabelled.abs()
            * torch.tensor([[-1.0], [1.0]]).repeat(len(trainer.unlabelled) // 2 + 1, 1)[
                : len(trainer.unlabelled)
            ]
        )
        trainer.fix_mixture()
        means = sign * trainer.networks.mixture.means
        assert means[1].min() > 4 and means[0].max() < -4
    assert trainer.networks.mixture.weights.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("phase", PHASES, ids=lambda phase: phase.name)
def test_a_phase_trains_its_networks_and_no_others(phase, trainer):
    """What a phase does not train stays as it was."""
    before = copy.deepcopy(trainer.networks.state_dict())
    trainer.run(phase.name, 1, trainer.step_of(phase))
    after = trainer.networks.state_dict().items()
    moved = {name.split(".")[0] for name, value in after if (value != before[name]).any()}
    assert moved == set().union(*(TRAINED[part] for part in TRAINED if getattr(phase, part)))


def with_schedule(trainer, **changes):
    """The same training by a schedule changed here and there."""
    trainer.schedule = replace(trainer.schedule, **changes)
    return trainer


@pytest.mark.parametrize("last_batch", [None, "kept"])
def test_a_whole_epoch_uses_every_unlabelled_row_once(last_batch, trainer):
    """Whichever way batches are dealt; the labelled rows of a batch are there at every step."""
    batches = list(with_schedule(trainer, last_batch=last_batch).batches())
    rows = torch.cat([unlabelled for _, unlabelled in batches]).tolist()
    assert sorted(rows) == list(range(len(trainer.unlabelled)))
    assert len({len(labelled) for labelled, _ in batches}) == 1


def test_the_paper_s_epoch_ends_with_a_small_batch(trainer):
    """224 unlabelled rows in batches of 74: three full ones, and 2 rows that are a step as well."""
    sizes = [tuple(map(len, rows)) for rows in with_schedule(trainer, last_batch="kept").batches()]
    assert sizes == [(26, 74), (26, 74), (26, 74), (26, 2)]


def test_the_paper_s_labelled_rows_run_on_from_epoch_to_epoch(trainer):
    """Two epochs are eight draws from one cycle: no row comes again before all have come."""
    with_schedule(trainer, last_batch="kept")
    drawn = torch.cat([rows for _ in range(2) for rows, _ in trainer.batches()])
    *passes, rest = drawn.split(len(trainer.labelled))
    assert len(passes) == 2 and len(rest) == 8 * 26 - 2 * 76
    assert all(sorted(rows.tolist()) == list(range(76)) for rows in passes)
    assert len(rest.unique()) == len(rest)


@pytest.mark.parametrize("last_batch, n_steps", [(None, 3), ("kept", 4)])
def test_an_epoch_has_no_more_steps_than_the_schedule_says(last_batch, n_steps, trainer):
    """``epoch_steps`` cuts an epoch short; it adds no step to a shorter one."""
    with_schedule(trainer, last_batch=last_batch)
    for limit, expected in ((None, n_steps), (2, 2), (9, n_steps)):
        assert len(list(with_schedule(trainer, epoch_steps=limit).batches())) == expected


@pytest.mark.parametrize("pool, rows", [("all", None), ("batch", 4)])
def test_the_pool_of_the_target_classifier(pool, rows, trainer, monkeypatch):
    """A step of the target classifier sees all unlabelled rows, or those of its batch."""
    seen = []
    monkeypatch.setattr(
        trainer, "target_step", lambda labelled, pool, encoded: seen.append(pool) or {}
    )
    step = with_schedule(trainer, target_pool=pool).step_of(PHASES[1])
    step(torch.arange(3), torch.arange(4))
    assert len(trainer.unlabelled[seen[0]]) == (rows or len(trainer.unlabelled))


def test_encodings_are_made_anew_while_encoders_learn(trainer, monkeypatch):
    """One encoding serves all steps of a phase of the target alone, and of no other phase."""
    caches = []
    monkeypatch.setattr(
        trainer, "target_step", lambda labelled, pool, encoded: caches.append(encoded) or {}
    )
    for phase in (PHASES[1], PHASES[3]):
        trainer.step_of(phase)(torch.arange(3), torch.arange(4))
    assert caches[0] is not None and caches[1] is None


def test_phases_without_epochs_are_left_out(trainer):
    """A schedule of zeros trains nothing; the prior of h_y is still fixed."""
    before = copy.deepcopy(trainer.networks.state_dict())
    with_schedule(trainer, pretraining_epochs=0, phase_epochs=(0, 0, 1, 0, 0)).train()
    assert [row["phase"] for row in trainer.history] == ["adversarial autoencoder"]
    assert torch.equal(trainer.networks.target.out.weight, before["target.out.weight"])
    assert not torch.equal(trainer.networks.mixture.means, before["mixture.means"])


def test_the_split_of_the_prior_is_known_row_by_row():
    """``near_positives_`` is in the order of the training rows: labelled ones are mostly there."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = rng.normal(size=(400, 3)) + 6 * y[:, None]
    s = y * (rng.random(400) < 0.5)
    model = VaePu(prior=0.5, schedule="small", epoch_scale=0.2, random_state=0).fit(X, s)
    near = model.near_positives_
    assert near[s[model.training_rows_] == 1].mean() > 0.5
    assert (near == y[model.training_rows_]).mean() > 0.95
