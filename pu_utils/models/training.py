"""What every training loop shares: device, random numbers, batches, steps, progress, divergence."""

import copy
import math

import numpy as np
import torch
from tqdm.auto import tqdm

from pu_utils.models.base import PUClassifier

PREDICTION_BATCH = 2048  # rows; activations of this size stay in the processor's cache
PART = 1024  # rows; likewise where activations are kept for the gradient, a quarter faster


class TrainingDiverged(ArithmeticError):
    """A loss became infinite or NaN."""


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


def epoch_batches(n_labelled, n_unlabelled, n_steps, generator):
    """Indices of the labelled and of the unlabelled rows of each step of an epoch.

    The unlabelled rows are shuffled and dealt out once; the labelled ones in the proportion of
    the data, at least one a step, beginning again when they run out.
    """
    device = generator.device
    unlabelled = torch.randperm(n_unlabelled, generator=generator, device=device)
    labelled = torch.randperm(n_labelled, generator=generator, device=device)
    share = math.ceil(n_labelled / n_steps)
    cycle = torch.arange(n_steps * share, device=device) % n_labelled
    yield from zip(labelled[cycle].chunk(n_steps), unlabelled.tensor_split(n_steps), strict=True)


def exact_batches(n_unlabelled, size, generator):
    """Indices of the unlabelled rows of each step: ``size`` of them, and what is left over."""
    order = torch.randperm(n_unlabelled, generator=generator, device=generator.device)
    return order.split(size)


def endless_cycle(n_rows, size, generator):
    """Indices of the next ``size`` rows of a shuffled cycle, shuffled anew when it is used up."""
    order = torch.empty(0, dtype=torch.long, device=generator.device)
    while True:
        while len(order) < size:
            again = torch.randperm(n_rows, generator=generator, device=generator.device)
            order = torch.cat([order, again])
        yield order[:size]
        order = order[size:]


def count_steps(n_unlabelled, n, batch_size):
    """Steps of an epoch: batches of ``batch_size`` rows, but never an empty one."""
    return max(1, min(round(n / batch_size), n_unlabelled))


def adam(modules, learning_rate, weight_decay=0.0):
    """Adam as the paper's program sets it, one group of parameters per module."""
    groups = [{"params": list(module.parameters())} for module in modules]
    return torch.optim.Adam(groups, learning_rate, eps=1e-7, weight_decay=weight_decay, fused=True)


def descend(optimizer, loss):
    """One step; gradients are computed for the optimiser's own parameters and no others.

    Returns the loss before the step, cut off from its graph.
    """
    optimizer.zero_grad()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    loss.backward(inputs=parameters)
    optimizer.step()
    return loss.detach()


def in_parts(network, x):
    """``network(x)``, computed on a part of the rows at a time."""
    return torch.cat([network(part) for part in x.split(PART)])


def shuffled(n_rows, batch_size, generator):
    """Indices of the rows of each batch of an epoch, the batches as equal as can be."""
    order = torch.randperm(n_rows, generator=generator, device=generator.device)
    return order.tensor_split(max(1, round(n_rows / batch_size)))


def train_while_improving(network, optimizer, batches, loss, validation_loss, history, settings):
    """Epochs of steps until the validation loss stops improving; keeps the best of them.

    ``batches()`` gives the rows of each step of an epoch, ``loss(rows)`` and ``validation_loss()``
    what to descend and what to watch; ``settings`` are (phase, most epochs, patience).
    """
    phase, n_epochs, patience = settings
    best, best_epoch, state = math.inf, 0, network.state_dict()
    for epoch in history.epochs(phase, n_epochs):
        network.train()
        losses = [descend(optimizer, loss(rows)) for rows in batches()]
        network.eval()
        with torch.no_grad():
            held = validation_loss()
        history.record(phase, epoch, [{"loss": torch.stack(losses).mean(), "validation": held}])
        if held < best:
            best, best_epoch, state = held, epoch, copy.deepcopy(network.state_dict())
        elif epoch - best_epoch >= patience:
            break
    network.load_state_dict(state)


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
        """Keep the mean of an epoch's losses (one dictionary per step); stop if not finite."""
        means = {
            name: torch.stack([step[name] for step in losses]).mean().item() for name in losses[0]
        }
        broken = [name for name, value in means.items() if not math.isfinite(value)]
        if broken:
            raise TrainingDiverged(
                f"{broken[0]} became {means[broken[0]]} in phase {phase!r}, epoch {epoch}; "
                "scale the features to about unit variance (or [0, 1] for likelihood="
                "'bernoulli') or lower the learning rates in Schedule(...)"
            )
        self.rows.append({"phase": phase, "epoch": epoch, **means})


class NetworkClassifier(PUClassifier):
    """Estimator with torch networks among its fitted attributes.

    A subclass says how to build one: ``_new_network(name, generator)``.
    """

    _input_dtype = np.float32

    def _restored_network(self, name, arrays):
        device = resolve_device(self.device)
        network = self._new_network(name, torch.Generator(device))
        network.load_state_dict({k: torch.as_tensor(v) for k, v in arrays.items()})
        return network.eval()
