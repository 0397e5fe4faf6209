"""The networks: shapes, the folded batch norm, random numbers of their own."""

import pytest
import torch
from torch import nn

from pu_utils.models import Schedule
from pu_utils.models.networks import (
    Dense,
    NormalisedDense,
    ScaledDense,
    binary_cross_entropy,
    dropout,
)
from pu_utils.models.vae_pu import Latent, VaePuNetworks


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_paper_sizes():
    """The default schedule builds the networks of the specification."""
    networks = VaePuNetworks(20, Schedule(), generator())

    def widths(network):
        return [m.out_features for m in network.modules() if isinstance(m, nn.Linear)]

    assert widths(networks.encoder_y) == [500, 500, 20]  # mean and log-variance of 10
    assert widths(networks.encoder_o) == [500, 500, 4]
    assert widths(networks.decoder) == [500, 500, 20]
    assert widths(networks.discriminator) == [256, 1]
    assert widths(networks.target) == [300, 300, 300, 300, 1]
    assert networks.encoder_o.hidden[0].in_features == 22


def test_shapes():
    """Rows go in, latents, rows and logits come out."""
    networks = VaePuNetworks(5, Schedule(), generator())
    x, o = torch.zeros(7, 5), torch.zeros(7)
    h_y, h_o = networks.encoder_y(x).mean, networks.encoder_o(x, o).mean
    assert h_y.shape == (7, 10)
    assert h_o.shape == (7, 2)
    assert networks.decoder(h_y, h_o).shape == (7, 5)
    assert networks.discriminator(x, generator()).shape == (7,)
    assert networks.target(x).shape == (7,)


def test_scaled_dense_is_batch_norm_at_rest():
    """Scaling the weights equals batch norm in evaluation mode after the linear map."""
    layer = ScaledDense(4, 6, generator())
    with torch.no_grad():
        for parameter in (layer.bias, layer.scale, layer.shift):
            parameter.normal_(generator=generator(1))
    norm = nn.BatchNorm1d(6, eps=0).eval()
    norm.load_state_dict(
        {"weight": layer.scale, "bias": layer.shift}
        | {k: v for k, v in norm.state_dict().items() if k.startswith("running")},
        strict=False,
    )
    x = torch.randn(9, 4, generator=generator(2))
    expected = norm(nn.functional.linear(x, layer.weight, layer.bias))
    torch.testing.assert_close(layer(x), expected)


def test_normalised_dense_remembers_slowly():
    """A batch is normalised by its own moments and moves the running ones by a hundredth."""
    layer = NormalisedDense(4, 6, generator()).train()
    x = torch.randn(50, 4, generator=generator(1))
    linear = x @ layer[0].weight.T + layer[0].bias
    expected = (linear - linear.mean(0)) / (linear.var(0, correction=0) + 1e-5).sqrt()
    torch.testing.assert_close(layer(x), expected)
    torch.testing.assert_close(layer[1].running_mean, 0.01 * linear.mean(0))


def test_dense_starts_as_the_specification_says():
    """Weights are Xavier-uniform, biases zero, and torch's own random state is untouched."""
    before = torch.get_rng_state()
    layer = Dense(30, 50, generator())
    assert torch.equal(torch.get_rng_state(), before)
    bound = (6 / 80) ** 0.5
    assert 0.99 * bound < layer.weight.abs().max() <= bound
    assert torch.count_nonzero(layer.bias) == 0


def test_sample_moments():
    """Samples have the latent's mean and variance (4 standard errors of 100,000 draws)."""
    latent = Latent(torch.full((100_000, 1), 2.0), torch.full((100_000, 1), 1.0))
    sample = latent.sample(generator())
    assert sample.mean().item() == pytest.approx(2.0, abs=4 * (2.718 / 1e5) ** 0.5)
    assert sample.var().item() == pytest.approx(2.718, abs=4 * 2.718 * (2 / 1e5) ** 0.5)


def test_dropout_keeps_the_mean():
    """Dropout silences its share of units and scales up the rest (4 standard errors)."""
    dropped = dropout(torch.ones(100_000), 0.3, generator())
    share = (dropped == 0).double().mean().item()
    assert share == pytest.approx(0.3, abs=4 * (0.21 / 1e5) ** 0.5)
    assert dropped.max().item() == pytest.approx(1 / 0.7)


def test_binary_cross_entropy():
    """Cross-entropy against one shared label is softplus of the signed logit."""
    assert binary_cross_entropy(torch.tensor([0.0, 0.0]), 1).item() == pytest.approx(0.6931472)
    assert binary_cross_entropy(torch.tensor([50.0]), 0).item() == pytest.approx(50.0)
