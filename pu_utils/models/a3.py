"""A3, activation anomaly analysis: does an autoencoder's inside look as it does on known data?

Sperl, Schulze and Böttinger, *Activation anomaly analysis*, ECML PKDD 2020, in the sizes that
VAE-PU+OCC uses.
"""

import itertools

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import nn
from torch.nn import functional as F

from pu_utils.models import networks
from pu_utils.models.base import Seed, estimator
from pu_utils.models.networks import Dense, binary_cross_entropy

DROPOUT = 0.1
NOISE_MEAN = 0.5  # the middle of the features' range after scaling; standard deviation 1


class ActivationAutoencoder(nn.Module):
    """Autoencoder with a sigmoid output that also returns the activations of its hidden layers."""

    def __init__(self, n_features, hidden, generator):
        super().__init__()
        sizes = (n_features, *hidden, *hidden[-2::-1])
        pairs = itertools.pairwise(sizes)
        self.layers = nn.ModuleList(Dense(*pair, generator) for pair in pairs)
        self.out = Dense(sizes[-1], n_features, generator)

    def forward(self, x, generator=None):  # (n, p) -> logits (n, p), activations (n, sum hidden)
        activations = []
        for layer in self.layers:
            x = F.relu(layer(x))
            activations.append(x)
            x = x if generator is None else networks.dropout(x, DROPOUT, generator)
        return self.out(x), torch.cat(activations, dim=1)


class Alarm(nn.Module):
    """x -> logit of the alarm, from the activations in an autoencoder that is done learning."""

    def __init__(self, autoencoder, hidden, generator):
        super().__init__()
        self.autoencoder, layers = autoencoder, []
        sizes = (2 * sum(hidden) - hidden[-1], *hidden)
        for pair in itertools.pairwise(sizes):
            layers += [Dense(*pair, generator), nn.ReLU(inplace=True)]
        self.layers = nn.Sequential(*layers, Dense(sizes[-1], 1, generator))

    def forward(self, x):  # (n, p) -> (n,)
        with torch.no_grad():
            _, activations = self.autoencoder(x)
        return self.layers(activations).squeeze(1)


@estimator
class A3(BaseEstimator):
    """One-class model: an alarm network on the activations of an autoencoder.

    The autoencoder learns the data; the alarm network learns to say 0 on the activations that
    data cause and 1 on those of noise. Features are scaled to [0, 1] by the range of the
    data first, as the sigmoid output and the noise want them.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the autoencoder's first half, mirrored in its second, and of the alarm network.
    epochs, batch_size : int
        Of both networks.
    learning_rate, alarm_learning_rate : float
        Of the two, both by Adam.
    random_state : int, RandomState or None
        Source of all random numbers.
    device : str
        "auto" or a device of torch.

    Attributes
    ----------
    autoencoder_, alarm_ : torch.nn.Module
        The two networks; the second asks the first.
    """

    hidden: tuple = (1000, 500, 200, 75)
    epochs: int = 10
    batch_size: int = 256
    learning_rate: float = 1e-3
    alarm_learning_rate: float = 1e-5
    random_state: Seed = None
    device: str = "auto"

    def fit(self, X, y=None):
        """Fit to rows ``X``; ``y`` is not used.

        Parameters
        ----------
        X : array of shape (n, p)
            Inliers.
        y : None
            There for scikit-learn.

        Returns
        -------
        A3
            Itself.
        """
        X = validate_data(self, X, dtype=np.float32)
        self.minimum_, span = X.min(axis=0), np.ptp(X, axis=0)
        self.span_ = np.where(span > 0, span, 1)
        device = networks.resolve_device(self.device)
        generator = networks.new_generator(check_random_state(self.random_state), device)
        x = networks.to_tensor(self._scaled(X), device)

        def reconstruction_error(x):
            logits, _ = self.autoencoder_(x, generator)
            return F.binary_cross_entropy_with_logits(logits, x)

        def alarm_loss(x):
            noise = torch.randn(x.shape, generator=generator, device=device)
            on_data, on_noise = self.alarm_(torch.cat([x, NOISE_MEAN + noise])).chunk(2)
            return binary_cross_entropy(on_data, 0) + binary_cross_entropy(on_noise, 1)

        def train(network, learning_rate, loss):
            optimizer = networks.adam([network], learning_rate)
            for _ in range(self.epochs):
                for rows in networks.shuffled(len(x), self.batch_size, generator):
                    networks.descend(optimizer, loss(x[rows]))

        self.autoencoder_ = ActivationAutoencoder(self.n_features_in_, self.hidden, generator)
        train(self.autoencoder_, self.learning_rate, reconstruction_error)
        self.alarm_ = Alarm(self.autoencoder_, self.hidden, generator)
        train(self.alarm_.layers, self.alarm_learning_rate, alarm_loss)
        return self

    def score_samples(self, X):
        """One minus the alarm: near 1 for inliers, near 0 for outliers."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float32)
        return 1 - networks.predict_in_batches(self.alarm_, self._scaled(X))

    def _scaled(self, X):
        return (X - self.minimum_) / self.span_
