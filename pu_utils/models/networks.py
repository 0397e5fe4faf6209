"""Networks, how they are trained, and estimators made of them; the label model is the smallest.

Every random number comes from a generator that the caller hands over: to build and to train a
network leaves torch's global random state alone.
"""

import copy
import itertools
import math
from functools import partial
from typing import Annotated, ClassVar

import numpy as np
import torch
from sklearn.utils import check_random_state
from torch import nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from pu_utils.models.base import Auto, Flag, PUClassifier, Seed, Share, estimator
from pu_utils.schedules import Schedule, resolve_schedule

SLOPE = 0.2  # of LeakyReLU left of zero
PREDICTION_BATCH = 2048  # rows; activations of this size stay in the processor's cache
GRADIENT_BATCH = 1024  # rows; the same where gradients need the activations: a quarter faster
UNIT_SCALE = (0.1, 10.0)  # ours: of the largest root mean square of a column


class TrainingDiverged(ValueError):
    """A loss became infinite or NaN: features or learning rates are of the wrong size."""


# Layers


class Dense(nn.Linear):
    """Linear map with Xavier-uniform weights and zero bias."""

    def __init__(self, inputs, outputs, generator):
        nn.Module.__init__(self)  # Linear's own would draw from torch's global generator
        self.in_features, self.out_features = inputs, outputs
        weight = torch.empty(outputs, inputs, device=generator.device)
        self.weight = nn.Parameter(nn.init.xavier_uniform_(weight, generator=generator))
        self.bias = nn.Parameter(torch.zeros(outputs, device=generator.device))


class ScaledDense(Dense):
    """Linear map followed by a learned scale and shift of each unit.

    This is what the paper's program trains: its batch-norm layers stand in evaluation mode from
    the start, so that their running mean stays 0 and their running variance 1. Here the scale is
    applied to the weights. That is the same map and cheaper, for there are fewer weights than
    outputs.
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
        norm = nn.BatchNorm1d(outputs, momentum=0.01, device=generator.device)
        super().__init__(Dense(inputs, outputs, generator), norm)


class DenseNetwork(nn.Module):
    """Layers of the given sizes: hidden ones followed by LeakyReLU, and a linear map at the end."""

    def __init__(self, sizes, generator, layer=ScaledDense):
        super().__init__()
        layers = []
        for pair in itertools.pairwise(sizes[:-1]):
            layers += [layer(*pair, generator), nn.LeakyReLU(SLOPE, inplace=True)]
        self.hidden = nn.Sequential(*layers)
        self.out = Dense(*sizes[-2:], generator)

    def forward(self, x):  # (n, sizes[0]) -> (n, sizes[-1])
        return self.out(self.hidden(x))


class Classifier(DenseNetwork):
    """x -> logit, where the last size is 1."""

    def forward(self, x):  # (n, p) -> (n,)
        return super().forward(x).squeeze(1)


def dropout(x, rate, generator):
    """``x`` with a random part of its entries set to 0 and the rest scaled up."""
    kept = torch.rand(x.shape, generator=generator, device=generator.device) >= rate
    return x * (kept / (1 - rate))


def binary_cross_entropy(logit, label):
    """Mean cross-entropy of logits against one label, 0 or 1, shared by all rows."""
    return F.softplus(logit if label == 0 else -logit).mean()


# Devices and rows


def resolve_device(device):
    """The ``torch.device`` that a name stands for; "auto" takes the fastest present."""
    if device != "auto":
        return torch.device(device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def new_generator(random_state, device):
    """A generator on ``device``, seeded from a numpy ``RandomState``."""
    return torch.Generator(device).manual_seed(int(random_state.randint(2**31 - 1)))


def to_tensor(array, device):
    """A numpy array as a float32 tensor on ``device``."""
    return torch.as_tensor(np.ascontiguousarray(array), dtype=torch.float32, device=device)


def permutation(n_rows, generator):
    """Indices of all rows in random order."""
    return torch.randperm(n_rows, generator=generator, device=generator.device)


def shuffled(n_rows, batch_size, generator):
    """Indices of the rows of each batch of an epoch, the batches as equal as can be."""
    return permutation(n_rows, generator).tensor_split(max(1, round(n_rows / batch_size)))


def in_parts(network, x):
    """``network(x)``, on a processor computed on a part of the rows at a time."""
    if x.device.type != "cpu":
        return network(x)
    return torch.cat([network(part) for part in x.split(GRADIENT_BATCH)])


@torch.inference_mode()
def predict_in_batches(network, X):
    """Sigmoid of the network's logits for all rows of ``X``, as float64, in bounded memory."""
    x = to_tensor(X, next(network.parameters()).device)
    posteriors = [torch.sigmoid(network(part)) for part in x.split(PREDICTION_BATCH)]
    return torch.cat(posteriors).cpu().double().numpy()


# Steps and epochs


def adam(modules, learning_rate, weight_decay=0.0):
    """Adam as the paper's program sets it; the weight decay is one of all modules, or of each."""
    groups = [
        {"params": list(module.parameters()), "weight_decay": float(decay)}
        for module, decay in zip(modules, np.broadcast_to(weight_decay, len(modules)), strict=True)
    ]
    return torch.optim.Adam(groups, learning_rate, eps=1e-7, fused=True)


def descend(optimizer, loss):
    """One step; gradients are computed for the optimiser's own parameters and no others.

    Returns the loss before the step, cut off from its graph.
    """
    optimizer.zero_grad()
    loss.backward(inputs=[p for group in optimizer.param_groups for p in group["params"]])
    optimizer.step()
    return loss.detach()


class Epochs:
    """The epochs of a phase of training, behind a progress bar if ``verbose``.

    ``history`` is a list that grows by one dictionary an epoch, with keys "phase", "epoch" and one
    per loss.
    """

    def __init__(self, phase, n_epochs, history, verbose=False):
        self.phase, self.history = phase, history
        self.bar = tqdm(range(n_epochs), desc=phase, disable=not verbose)

    def __iter__(self):
        return iter(self.bar)

    def record(self, epoch, losses):
        """Keep the losses of an epoch; stop if one is not finite."""
        row = {"phase": self.phase, "epoch": epoch}
        for name, loss in losses.items():
            row[name] = loss.item()
            if not math.isfinite(row[name]):
                raise TrainingDiverged(
                    f"{name} became {row[name]} in phase {self.phase!r}, epoch {epoch}; scale the "
                    "features to about unit variance (standardise=True; [0, 1] for "
                    "likelihood='bernoulli') or lower the learning rates in Schedule(...)"
                )
        self.history.append(row)
        return row


def train_with_early_stopping(network, one_epoch, validation_loss, epochs, patience):
    """Train until the validation loss has not improved for ``patience`` epochs; keep the best.

    ``one_epoch()`` makes the steps of an epoch and returns their losses, ``validation_loss()``
    returns the loss on the validation part.
    """
    lowest, best_epoch, best_state = math.inf, 0, network.state_dict()
    for epoch in epochs:
        network.train()
        losses = {"loss": torch.stack(one_epoch()).mean()}
        network.eval()
        with torch.no_grad():
            losses["validation"] = validation_loss()
        loss = epochs.record(epoch, losses)["validation"]
        if loss < lowest:
            lowest, best_epoch, best_state = loss, epoch, copy.deepcopy(network.state_dict())
        elif epoch - best_epoch >= patience:
            break
    network.load_state_dict(best_state)


# Estimators


@estimator
class NetworkClassifier(PUClassifier):
    """Estimator made of torch networks, whose training is stopped by rows held out of it.

    All such estimators have the parameters below. A subclass says how it is trained:
    ``_train(training, held, random_state)``, where the two parts are (X, s) as the networks see
    them.

    Parameters
    ----------
    standardise : bool or "auto"
        Whether the networks see standardised columns. "auto": where the largest root mean square of
        a column is not between 0.1 and 10. (On the sets of the paper it is.)
    device : str
        "auto", which takes a GPU if there is one, or a device of torch.
    verbose : bool
        Whether to show progress.
    validation_fraction, random_state, odds
        As in ``PUClassifier``. The rows held out say when to stop.
    """

    validation_fraction: Share = 0.15
    standardise: Flag | Auto = "auto"
    random_state: Seed = None
    device: Annotated[str, str, torch.device] = "auto"
    verbose: Annotated[bool, "verbose"] = False

    _input_dtype: ClassVar = np.float32

    def fit(self, X, s, *, validation=None):
        """Fit to rows ``X`` and their label status ``s``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.
        validation : tuple (X, s), optional
            Rows to stop by; held out of ``X`` where not given. Stopping that looks at the true
            classes, where an estimator offers it, wants a tuple (X, s, y).

        Returns
        -------
        self
            The fitted estimator.
        """
        X, s = self._training_rows(X, s)
        self._learn_scale(X)
        X, random_state = self._scaled(X), check_random_state(self.random_state)
        self._train(*self._parts(X, s, validation, random_state), random_state)
        self._diagnose(X, s)
        return self

    def _learn_scale(self, X):
        """Set ``centre_`` and ``scale_`` of the columns; None where they stay as they are."""
        mean, deviation = X.mean(0, dtype=float), X.std(0, dtype=float)
        wanted = self.standardise
        if wanted == "auto":
            wanted = not UNIT_SCALE[0] <= np.hypot(mean, deviation).max() <= UNIT_SCALE[1]
        self.centre_ = mean if wanted else None
        self.scale_ = np.where(deviation > 0, deviation, 1) if wanted else None

    def _scaled(self, X):
        return X if self.centre_ is None else ((X - self.centre_) / self.scale_).astype(X.dtype)

    def _rows(self, X):
        return self._scaled(super()._rows(X))

    @property
    def _device(self):
        return resolve_device(self.device)

    def _tensors(self, *arrays):
        return [to_tensor(array, self._device) for array in arrays]


@estimator
class LabelModel(NetworkClassifier):
    """Network that estimates ``s(x) = P(S=1 | x)``, which the paper trains beside VAE-PU.

    A dense network with batch normalisation learns S by cross-entropy, until the cross-entropy of
    the validation part has not improved for ``label_patience`` epochs; the best epoch is kept.

    As a classifier of Y it is the non-traditional one: it takes every unlabelled row for a
    negative, ``y(x) = s(x)``.

    Parameters
    ----------
    schedule : str or Schedule
        Size of the network and of its training: a name in
        ``pu_utils.schedules.SCHEDULES`` ("brisk", "fast", "paper"...) or a schedule of your own.
    standardise, device, verbose, validation_fraction, random_state, odds
        As in ``NetworkClassifier``.

    Attributes
    ----------
    network_ : torch.nn.Module
        The trained network; it gives logits.
    history_ : list of dict
        Cross-entropy per epoch, on the training and the validation part.
    training_rows_ : array of int
        Which rows of ``X`` it was trained on; the others were held out.
    diagnostics_ : dict
        Counts of rows.
    """

    schedule: str | Schedule = "brisk"

    def _train(self, training, held, random_state):
        schedule, self.history_ = resolve_schedule(self.schedule), []
        generator = new_generator(random_state, self._device)
        self.network_ = network = self._new_network(generator)
        optimizer = adam([network], schedule.label_learning_rate)
        x, s, x_held, s_held = self._tensors(*training, *held[:2])

        def cross_entropy(x, s):
            return F.binary_cross_entropy_with_logits(network(x), s)

        def one_epoch():
            batches = shuffled(len(x), schedule.label_batch_size, generator)
            batches = batches[: schedule.label_epoch_steps]
            return [descend(optimizer, cross_entropy(x[rows], s[rows])) for rows in batches]

        held_loss = partial(cross_entropy, x_held, s_held)
        epochs = Epochs("label model", schedule.label_epochs, self.history_, self.verbose)
        train_with_early_stopping(network, one_epoch, held_loss, epochs, schedule.label_patience)

    def _new_network(self, generator):
        hidden = resolve_schedule(self.schedule).target_hidden
        return Classifier((self.n_features_in_, *hidden, 1), generator, NormalisedDense)

    def _s_proba(self, X):
        return predict_in_batches(self.network_, X)

    _y_proba = _s_proba
