"""The training of VAE-PU: which networks move, where the mixture lies, how rows are made."""

import copy

import numpy as np
import pytest
import torch

from pu_utils.models.networks import Latent
from pu_utils.models.vae_pu import PHASES

TRAINED = {
    "autoencoder": {"encoder_y", "encoder_o", "decoder", "label_head", "discriminator"},
    "target": {"target"},
}


@pytest.fixture
def trainer(base, blobs):
    """A training at its end, on a copy of the model."""
    X, _, s = blobs
    model = copy.deepcopy(base)
    return model._trainer(X.astype(np.float32), s, torch.Generator().manual_seed(0))


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
    trainer.run(phase, 1)
    after = trainer.networks.state_dict().items()
    moved = {name.split(".")[0] for name, value in after if (value != before[name]).any()}
    assert moved == set().union(*(TRAINED[part] for part in TRAINED if getattr(phase, part)))


def test_a_generated_row_has_the_h_o_of_the_nearest_unlabelled_row(trainer):
    """Without noise: own h_y, and h_o of the unlabelled row whose h_y is nearest, decoded."""
    labelled, pool, pool_o = trainer.encode_all()
    match = torch.cdist(labelled.mean, pool.mean).argmin(1)
    with torch.no_grad():
        expected = trainer.networks.decoder(labelled.mean, pool_o.mean[match])
    cache = [
        latent._replace(log_variance=torch.full_like(latent.mean, -50.0))
        for latent in (labelled, pool, pool_o)
    ]
    rows = torch.arange(len(trainer.labelled))
    generated = trainer.generate(rows, slice(None), cache)
    torch.testing.assert_close(generated, expected, atol=1e-4, rtol=1e-4)
