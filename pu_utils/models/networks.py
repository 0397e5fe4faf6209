"""The networks of VAE-PU and the label model, from the smallest layer up.

Every random number is drawn from a generator that the caller hands over, so that building and
training a network leaves the global state of torch alone.
"""

import itertools
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

SLOPE = 0.2  # of LeakyReLU left of zero
DROPOUT = 0.3  # of the discriminator's hidden units
CLASS_DIMENSION = 10  # of h_y, the latent that carries the class
LABEL_DIMENSION = 2  # of h_o, the latent that carries the label status


class Dense(nn.Linear):
    """Linear map with Xavier-uniform weights and zero bias."""

    def __init__(self, inputs, outputs, generator):
        nn.Module.__init__(self)  # not Linear's own, which draws from torch's global generator
        self.in_features, self.out_features = inputs, outputs
        weight = torch.empty(outputs, inputs, device=generator.device)
        self.weight = nn.Parameter(nn.init.xavier_uniform_(weight, generator=generator))
        self.bias = nn.Parameter(torch.zeros(outputs, device=generator.device))


class ScaledDense(Dense):
    """Linear map followed by a learned scale and shift of each unit.

    This is what the paper's program trains: its batch-norm layers stand in evaluation mode from
    the start, so that their running mean stays 0 and their running variance 1. Scaling the
    weights instead of the outputs is the same map, and cheaper: there are fewer of them.
    """

    def __init__(self, inputs, outputs, generator):
        super().__init__(inputs, outputs, generator)
        self.scale = nn.Parameter(torch.ones(outputs, device=generator.device))
        self.shift = nn.Parameter(torch.zeros(outputs, device=generator.device))

    def forward(self, x):  # (n, inputs) -> (n, outputs)
        weight = self.weight * self.scale[:, None]
        return F.linear(x, weight, torch.addcmul(self.shift, self.bias, self.scale))


class NormalisedDense(nn.Sequential):
    """Linear map followed by batch normalisation (torch's momentum is one minus Keras')."""

    def __init__(self, inputs, outputs, generator):
        dense = Dense(inputs, outputs, generator)
        super().__init__(dense, nn.BatchNorm1d(outputs, momentum=0.01, device=generator.device))


def hidden_layers(sizes, generator, layer=ScaledDense):
    """Layers from ``sizes[0]`` to ``sizes[-1]`` units, each followed by LeakyReLU."""
    layers = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [layer(inputs, outputs, generator), nn.LeakyReLU(SLOPE, inplace=True)]
    return nn.Sequential(*layers)


def dropout(x, rate, generator):
    """``x`` with a random part of its entries set to 0 and the rest scaled up."""
    kept = torch.rand(x.shape, generator=generator, device=x.device) >= rate
    return x * (kept / (1 - rate))


class Latent(NamedTuple):
    """Mean and log-variance of a diagonal Gaussian, one row per example."""

    mean: torch.Tensor  # (n, d)
    log_variance: torch.Tensor  # (n, d)

    def sample(self, generator):
        noise = torch.randn(self.mean.shape, generator=generator, device=self.mean.device)
        return torch.addcmul(self.mean, noise, torch.exp(0.5 * self.log_variance))

    def rows(self, index):
        return Latent(self.mean[index], self.log_variance[index])


class Encoder(nn.Module):
    """x -> mean and log-variance of a latent."""

    def __init__(self, inputs, hidden, dimension, generator):
        super().__init__()
        self.hidden = hidden_layers((inputs, *hidden), generator)
        self.out = Dense(hidden[-1], 2 * dimension, generator)

    def forward(self, x):  # (n, p) -> (n, d), (n, d)
        return Latent(*self.out(self.hidden(x)).chunk(2, dim=1))


class LabelEncoder(Encoder):
    """(x, labelled) -> mean and log-variance of h_o; ``labelled`` enters as a one-hot pair."""

    def __init__(self, inputs, hidden, dimension, generator):
        super().__init__(inputs + 2, hidden, dimension, generator)

    def forward(self, x, labelled):  # (n, p), (n,) -> (n, d), (n, d)
        return super().forward(torch.cat([x, 1 - labelled[:, None], labelled[:, None]], dim=1))


class Decoder(nn.Module):
    """(h_y, h_o) -> x, or the logits of x where x is made of pixels in [0, 1]."""

    def __init__(self, outputs, hidden, generator):
        super().__init__()
        self.hidden = hidden_layers((CLASS_DIMENSION + LABEL_DIMENSION, *hidden), generator)
        self.out = Dense(hidden[-1], outputs, generator)

    def forward(self, h_y, h_o):  # (n, 10), (n, 2) -> (n, p)
        return self.out(self.hidden(torch.cat([h_y, h_o], dim=1)))


class Classifier(nn.Module):
    """x -> logit."""

    def __init__(self, inputs, hidden, generator, layer=ScaledDense):
        super().__init__()
        self.hidden = hidden_layers((inputs, *hidden), generator, layer)
        self.out = Dense(hidden[-1], 1, generator)

    def forward(self, x):  # (n, p) -> (n,)
        return self.out(self.hidden(x)).squeeze(1)


class Discriminator(Classifier):
    """x -> logit of being real, with dropout of the hidden units."""

    def forward(self, x, generator):  # (n, p) -> (n,)
        return self.out(dropout(self.hidden(x), DROPOUT, generator)).squeeze(1)


class Mixture(nn.Module):
    """Prior of h_y: a fixed diagonal Gaussian for each class, negative first."""

    def __init__(self, device):
        super().__init__()
        self.register_buffer("weights", torch.full((2,), 0.5, device=device))
        self.register_buffer("means", torch.zeros(2, CLASS_DIMENSION, device=device))
        self.register_buffer("variances", torch.ones(2, CLASS_DIMENSION, device=device))

    def log_joint(self, h):  # (n, 10) -> (n, 2): log weight + log density, up to a constant
        squares = (h[:, None, :] - self.means) ** 2 / self.variances
        return self.weights.log() - 0.5 * (squares + self.variances.log()).sum(2)


class VaePuNetworks(nn.Module):
    """All that VAE-PU trains, and the prior of h_y that it fixes on the way."""

    def __init__(self, n_features, schedule, generator):
        super().__init__()
        hidden = schedule.autoencoder_hidden
        self.encoder_y = Encoder(n_features, hidden, CLASS_DIMENSION, generator)
        self.encoder_o = LabelEncoder(n_features, hidden, LABEL_DIMENSION, generator)
        self.decoder = Decoder(n_features, hidden, generator)
        self.label_head = Dense(LABEL_DIMENSION, 1, generator)
        self.discriminator = Discriminator(n_features, schedule.discriminator_hidden, generator)
        self.target = Classifier(n_features, schedule.target_hidden, generator)
        self.mixture = Mixture(generator.device)


def binary_cross_entropy(logit, label):
    """Mean cross-entropy of logits against one label, 0 or 1, shared by all rows."""
    return F.softplus(logit if label == 0 else -logit).mean()
