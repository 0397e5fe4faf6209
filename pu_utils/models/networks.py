"""Networks, how they are trained, and estimators made of them; the label model is the smallest.

Every random number is drawn from a generator that the caller hands over, so that building and
training a network leaves the global state of torch alone.
"""

import itertools
import math
from typing import ClassVar

import numpy as np
import torch
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from torch import nn
from torch.nn import functional as F
from tqdm.auto import tqdm

from pu_utils.models.base import PUClassifier, estimator
from pu_utils.schedules import Schedule, resolve_schedule

SLOPE = 0.2  # of LeakyReLU left of zero
PREDICTION_BATCH = 2048  # rows; activations of this size stay in the processor's cache
UNIT_SCALE = (0.1, 10.0)  # ours: of the largest root mean square of a column
PART = 1024  # rows; likewise where activations are kept for the gradient, a quarter faster


class TrainingDiverged(ValueError):
    """A loss became infinite or NaN: features or learning rates are of the wrong size."""


class Unallocated(torch.Generator):
    """Generator for networks that are to be loaded: they have shapes, and take no memory."""

    device = torch.device("meta")


# Layers


class Dense(nn.Linear):
    """Linear map with Xavier-uniform weights and zero bias."""

    def __init__(self, inputs, outputs, generator):
        nn.Module.__init__(self)  # not Linear's own, which draws from torch's global generator
        self.in_features, self.out_features = inputs, outputs
        weight = torch.empty(outputs, inputs, device=generator.device)
        self.weight = nn.Parameter(nn.init.xavier_uniform_(weight, generator=generator))
        self.bias = nn.Parameter(torch.zeros(outputs, device=generator.device))

    def forward(self, x):  # (n, inputs) -> (n, outputs)
        return linear(x, self.weight, self.bias)


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
        weight = self.weight * self.scale[..., None]
        return linear(x, weight, torch.addcmul(self.shift, self.bias, self.scale))


class NormalisedDense(nn.Sequential):
    """Linear map followed by batch normalisation (torch's momentum is one minus Keras')."""

    def __init__(self, inputs, outputs, generator):
        dense = Dense(inputs, outputs, generator)
        super().__init__(dense, nn.BatchNorm1d(outputs, momentum=0.01, device=generator.device))

    def forward(self, x):  # (n, inputs) -> (n, outputs)
        if x.dim() == 2:
            return super().forward(x)
        dense, norm = self
        norm.num_batches_tracked += norm.training
        units = dense(x).transpose(0, 1)  # (n, networks, outputs): each unit of each network is one
        buffers = norm.running_mean.view(-1), norm.running_var.view(-1)
        learned = norm.weight.reshape(-1), norm.bias.reshape(-1)
        options = norm.training, norm.momentum, norm.eps
        normalised = F.batch_norm(units.flatten(1), *buffers, *learned, *options)
        return normalised.view(units.shape).transpose(0, 1)


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
        return super().forward(x).squeeze(-1)


def linear(x, weight, bias):
    """The linear map of a layer; of stacked networks, of each on its own rows."""
    if weight.dim() == 2:
        return F.linear(x, weight, bias)
    return torch.baddbmm(bias[:, None], x, weight.mT)


def draw(distribution, shape, generator):
    """Numbers of ``torch.randn`` or ``torch.rand``, of a stack from each seed's own generator."""
    if isinstance(generator, torch.Generator):
        return distribution(shape, generator=generator, device=generator.device)
    return generator.draw(distribution, shape)


def dropout(x, rate, generator):
    """``x`` with a random part of its entries set to 0 and the rest scaled up."""
    kept = draw(torch.rand, x.shape, generator) >= rate
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


def shuffled(n_rows, batch_size, generator):
    """Indices of the rows of each batch of an epoch, the batches as equal as can be."""
    order = torch.randperm(n_rows, generator=generator, device=generator.device)
    return order.tensor_split(max(1, round(n_rows / batch_size)))


def in_parts(network, x):
    """``network(x)``, on a processor computed on a part of the rows at a time."""
    if x.device.type != "cpu":
        return network(x)
    rows = x.dim() - 2  # after the seeds of a stack, if any
    return torch.cat([network(part) for part in x.split(PART, dim=rows)], dim=rows)


@torch.inference_mode()
def predict_in_batches(network, X, device):
    """Sigmoid of the network's logits for all rows of ``X``, as float64, in bounded memory."""

    def posterior(rows):
        return torch.sigmoid(network(to_tensor(rows, device))).cpu().numpy()

    # one array made beforehand: results kept one by one would lie between the freed activations
    posteriors = np.empty((len(X), *posterior(X[:1]).shape[1:]))
    for start in range(0, len(X), PREDICTION_BATCH):
        rows = slice(start, start + PREDICTION_BATCH)
        posteriors[rows] = posterior(X[rows])
    return posteriors


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

    Returns the loss before the step, cut off from its graph; of a stack, that of each seed.
    """
    optimizer.zero_grad()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    loss.backward(torch.ones_like(loss), inputs=parameters)
    optimizer.step()
    return loss.detach()


class History:
    """Mean losses per phase and epoch, shown while they come if ``verbose``.

    ``rows`` is a list of dictionaries with keys "phase", "epoch" and one per loss.
    """

    def __init__(self, verbose):
        self.rows = []
        self.verbose = verbose

    def epochs(self, phase, n_epochs):
        """Count the epochs of a phase behind a progress bar."""
        return tqdm(range(n_epochs), desc=phase, disable=not self.verbose)

    def record(self, phase, epoch, losses):
        """Keep the means of an epoch's losses, one dictionary per step."""
        names = losses[0]
        means = {name: torch.stack([step[name] for step in losses]).mean() for name in names}
        self.keep(phase, epoch, {name: mean.item() for name, mean in means.items()})

    def keep(self, phase, epoch, means):
        """Keep the means of an epoch's losses; stop if one is not finite."""
        for name, value in means.items():
            if not math.isfinite(value):
                raise TrainingDiverged(
                    f"{name} became {value} in phase {phase!r}, epoch {epoch}; scale the features "
                    "to about unit variance (standardise=True; [0, 1] for likelihood='bernoulli') "
                    "or lower the learning rates in Schedule(...)"
                )
        self.rows.append({"phase": phase, "epoch": epoch, **means})


class Best:
    """The best epoch of a network, by its validation loss, and whether a better one may come."""

    def __init__(self, network, history, phase, patience):
        self.network, self.history, self.phase, self.patience = network, history, phase, patience
        self.loss, self.epoch, self.state = math.inf, 0, network.state_dict()
        self.waits = True

    def look(self, epoch, loss, held):
        """Record the losses of an epoch, on the training and the validation part."""
        self.history.keep(self.phase, epoch, {"loss": loss, "validation": held})
        if held < self.loss:
            self.loss, self.epoch = held, epoch
            self.state = {name: x.clone() for name, x in self.network.state_dict().items()}
        else:
            self.waits = epoch - self.epoch < self.patience


class Training:
    """The state of one training, and what it does with its rows, which are indices or a slice.

    A stack of trainings (``pu_utils.models.stacked``) does the same with rows of each seed.

    One that ends when a validation loss no longer improves has a ``network``, an ``optimizer`` and
    a ``history``, and says what to descend and what to watch: ``batches()`` gives the rows of each
    step of an epoch, ``loss(rows)`` and ``validation_loss()`` the losses; of a stack, one per seed.
    """

    def improve(self, phase, n_epochs, patience, seeds=None):
        """Epochs of steps until the validation loss stops improving; keeps the best of them.

        Of a stack, ``seeds`` are the network and the history of each.
        """
        bests = [Best(*one, phase, patience) for one in seeds or [(self.network, self.history)]]
        for epoch in self.history.epochs(phase, n_epochs):
            self.network.train()
            losses = [descend(self.optimizer, self.loss(rows)) for rows in self.batches()]
            self.network.eval()
            with torch.no_grad():
                both = torch.stack(losses).mean(0), self.validation_loss()
            of_seeds = zip(*(values.reshape(-1).tolist() for values in both), strict=True)
            for best, (loss, held) in zip(bests, of_seeds, strict=True):
                if best.waits:
                    best.look(epoch, loss, held)
            if not any(best.waits for best in bests):
                break
        for best in bests:
            best.network.load_state_dict(best.state)

    def take(self, x, rows):
        """Rows of ``x``."""
        return x[rows]

    def weigh(self, values, *rows):
        """One value per row, ready for a mean over the rows, which lie one part after another."""
        return values

    def noise(self, *rows):
        """The source of random numbers, one or several of each row."""
        return self.generator

    def padding(self, rows):
        """Which rows are there for equal length alone."""
        return None


# Estimators


@estimator
class NetworkClassifier(PUClassifier):
    """Estimator made of torch networks, whose training is stopped by rows held out of it.

    A subclass says how to train, ``_train(training, held, random_state)`` with parts (X, s), and
    how to build a network anew, ``_new_network(name, generator)``.

    ``standardise`` says whether the networks see the columns of X standardised; "auto" means where
    their largest root mean square is not between 0.1 and 10. (On the sets of the paper it is.)
    """

    validation_fraction: float = 0.15
    standardise: bool | str = "auto"
    random_state: int | np.random.RandomState | None = None
    device: str = "auto"
    verbose: bool = False

    _parameter_constraints: ClassVar = PUClassifier._parameter_constraints | {
        "standardise": ["boolean", StrOptions({"auto"})],
        "device": [str, torch.device],
        "verbose": ["verbose"],
    }
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
        rows, *parts = self._begin(X, s, validation)
        self._train(*parts)
        self._diagnose(*rows)
        return self

    def _begin(self, X, s, validation=None):
        """All rows, the two parts of them as the networks see them, and the random numbers."""
        X, s = self._training_rows(X, s)
        self._learn_scale(X)
        X = self._scaled(X)
        random_state = check_random_state(self.random_state)
        return (X, s), *self._parts(X, s, validation, random_state), random_state

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

    def _sigmoid(self, network, X):
        return predict_in_batches(network, X, self._device)

    def _restored_network(self, name, state):
        network = self._new_network(name, Unallocated())
        network.load_state_dict({k: torch.as_tensor(v) for k, v in state.items()}, assign=True)
        return network.to(self._device).float().eval()


class LabelTraining(Training):
    """The state of the training of a label model; parts are x and s, held-out ones second."""

    all_held = slice(None)

    def __init__(self, network, schedule, parts, generator, history):
        self.network, self.schedule, self.parts = network, schedule, parts
        self.generator, self.history = generator, history
        self.optimizer = adam([network], schedule.label_learning_rate)

    def train(self, seeds=None):
        """Epochs until the cross-entropy of the held-out rows has not improved for long."""
        schedule = self.schedule
        self.improve("label model", schedule.label_epochs, schedule.label_patience, seeds)

    def batches(self):
        """Rows of each step of an epoch."""
        dealt = shuffled(len(self.parts[0][0]), self.schedule.label_batch_size, self.generator)
        return dealt[: self.schedule.label_epoch_steps]

    def loss(self, rows):
        """Mean cross-entropy of S on rows of the training part."""
        return self._cross_entropy(0, rows)

    def validation_loss(self):
        """The same on the validation part."""
        return self._cross_entropy(1, self.all_held)

    def _cross_entropy(self, part, rows):
        x, s = (self.take(values, rows) for values in self.parts[part])
        return F.binary_cross_entropy_with_logits(self.weigh(self.network(x), rows), s)


@estimator
class LabelModel(NetworkClassifier):
    """Network that estimates ``s(x) = P(S=1 | x)``, which the paper trains beside VAE-PU.

    A dense network with batch normalisation, trained on the cross-entropy of S, and stopped when
    the cross-entropy on the validation part has not improved for ``label_patience`` epochs; the
    best epoch is kept.

    As a classifier of Y it is the non-traditional one: it takes every unlabelled row for a
    negative, ``y(x) = s(x)``.

    Parameters
    ----------
    schedule : str or Schedule
        Size of the network and of its training: a name in
        ``pu_utils.schedules.SCHEDULES`` ("brisk", "fast", "paper"...) or a schedule of your own.
    validation_fraction : float
        Part of the rows held out for stopping where ``fit`` is not given a validation part.
    standardise : bool or "auto"
        Whether the networks see standardised columns; "auto": where X is far from unit scale.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.
    positive : object, optional
        The value of ``s`` that means labelled, where it is not plain: see ``PUClassifier``.
    random_state : int, RandomState or None
        Source of the initial weights and of the order of the rows.
    device : str
        "auto" or a device of torch.
    verbose : bool
        Whether to show progress.

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
        self._label_training(training, held, random_state).train()

    def _label_training(self, training, held, random_state):
        generator = new_generator(random_state, self._device)
        self.network_, history = self._new_network("network_", generator), History(self.verbose)
        self.history_ = history.rows
        parts = self._tensors(*training), self._tensors(*held[:2])
        schedule = resolve_schedule(self.schedule)
        return LabelTraining(self.network_, schedule, parts, generator, history)

    def _s_proba(self, X):
        return self._sigmoid(self.network_, X)

    _y_proba = _s_proba

    def _new_network(self, name, generator):
        hidden = resolve_schedule(self.schedule).target_hidden
        return Classifier((self.n_features_in_, *hidden, 1), generator, NormalisedDense)
