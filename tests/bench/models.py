"""Time and memory of VAE-PU against what it cannot do without: ``python tests/bench/models.py``.

For the shapes of the synthetic data and of MNIST, how long an epoch of each phase takes, and how
long the plain matrix products of that phase take in the same run: forward and backward, once, of
the layers that the phase must differentiate, and forward of those that it must only ask. Then the
prediction of a million rows, and the memory of a training of MNIST's size. All in processor seconds
of one thread. A limit that is not kept makes the exit code 1.
"""

import resource
import subprocess
import sys
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from pu_utils.models import Schedule, VaePu
from pu_utils.models.networks import predict_in_batches
from pu_utils.models.vae_pu import PHASES, VaePuNetworks

SHAPES = {"synthetic": (7_000, 20), "mnist_3v5": (9_418, 784)}
LABELLED_SHARE = 0.25  # c = 0.5, pi = 0.5
RATIO_LIMIT, SECONDS_LIMIT, MEMORY_LIMIT_GB = 2.0, 15.0, 3.0


def made_trainer(n, n_features):
    """A training by the paper's sizes, on rows in [0, 1], about to begin its main loop."""
    X = np.random.default_rng(0).random((n, n_features), dtype=np.float32)
    model = VaePu(prior=0.5, device="cpu")
    model.prior_, model.label_frequency_, model.schedule_ = 0.5, 0.5, Schedule()
    generator = torch.Generator().manual_seed(0)
    model.networks_ = VaePuNetworks(n_features, model.schedule_, generator)
    return model._new_trainer(X, np.arange(n) < LABELLED_SHARE * n, generator)


def seconds(function, repeats=3):
    """Processor seconds of the shortest of a few runs, after one that is not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def products(sizes, rows, backward):
    """A function that makes the matrix products of a dense network and nothing else.

    Backward means the gradient of every weight, and of every input but the first.
    """
    x = [torch.rand(rows, size) for size in sizes]
    weights = [torch.rand(a, b) for a, b in pairwise(sizes)]

    def run():
        for k, weight in enumerate(weights):
            torch.mm(x[k], weight)
            if backward:
                torch.mm(x[k].T, x[k + 1])
                if k > 0:
                    torch.mm(x[k + 1], weight.T)

    return run


def unavoidable(trainer, phase, n_steps):
    """The matrix products of one step of a phase, as functions that make them."""
    schedule, p = trainer.schedule, trainer.labelled.shape[1]
    hidden, target = schedule.autoencoder_hidden, (p, *schedule.target_hidden, 1)
    n_labelled, n_unlabelled = len(trainer.labelled), len(trainer.unlabelled)
    labelled, unlabelled = n_labelled // n_steps, n_unlabelled // n_steps
    encoder_y, encoder_o, decoder = (p, *hidden, 20), (p + 2, *hidden, 4), (12, *hidden, p)
    discriminator = (p, *schedule.discriminator_hidden, 1)
    made = []
    if phase.autoencoder:
        batch = labelled + unlabelled
        made += [products(encoder_y, batch, True), products(encoder_o, batch, True)]
        made += [products(decoder, batch + labelled, True)]
        made += [products(discriminator, batch, True)]  # its own step
        made += [products(discriminator, labelled, False)] * 2  # forward, and back to its input
    if phase.adversarial:
        made += [products(target, labelled, False)] * 2  # forward, and back to its input
    if phase.target:
        made += [products(target, 2 * labelled + n_unlabelled, True)]
        made += [products(decoder, labelled, False)]
    if phase.autoencoder and phase.target:  # the encoder has moved: all of U is encoded again
        made += [products(encoder_y, n_unlabelled + labelled, False)]
        made += [products(encoder_o, labelled, False)]
    return made


def one_epoch(trainer, step):
    """The steps of an epoch."""
    for rows in trainer.batches():
        step(*rows)


def worst_ratio():
    """Seconds of an epoch of each phase, over those of its matrix products; the largest."""
    ratios = []
    for shape, (n, p) in SHAPES.items():
        trainer = made_trainer(n, p)
        n_steps = len(list(trainer.batches()))
        for phase in PHASES[:4]:  # the fifth is the second again
            epoch = seconds(partial(one_epoch, trainer, trainer.step_of(phase)))
            made = unavoidable(trainer, phase, n_steps)
            least = n_steps * seconds(lambda made=made: [run() for run in made])
            ratios.append(epoch / least)
            times = f"{epoch:7.3f} s, products {least:7.3f} s"
            print(f"{shape:10} {phase.name:24} {times}: ratio {ratios[-1]:.2f}")
    return max(ratios)


def prediction_seconds():
    """Of a million rows of 20 features."""
    target = made_trainer(500, 20).networks.target
    rows = np.random.default_rng(0).random((1_000_000, 20), dtype=np.float32)
    return seconds(lambda: predict_in_batches(target, rows), repeats=1)


def peak_memory():
    """Gigabytes of a process that makes one step of each phase at 49,000 x 784."""
    alone = [sys.executable, Path(__file__), "memory"]
    return float(subprocess.run(alone, check=True, capture_output=True, text=True).stdout)


def train_at_mnist_size():
    """One step of each phase at the size of MNIST OvE; prints the peak memory of this process."""
    trainer = made_trainer(49_000, 784)
    for phase in PHASES:
        trainer.step_of(phase)(*next(trainer.batches()))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def main():
    """Print the numbers beside their limits."""
    ratio, prediction, memory = worst_ratio(), prediction_seconds(), peak_memory()
    print(f"worst ratio {ratio:.2f} (limit {RATIO_LIMIT})")
    print(f"prediction of 10^6 x 20: {prediction:.1f} s (limit {SECONDS_LIMIT})")
    print(f"peak memory at 49,000 x 784: {memory:.2f} GB (limit {MEMORY_LIMIT_GB})")
    kept = ratio < RATIO_LIMIT and prediction < SECONDS_LIMIT and memory < MEMORY_LIMIT_GB
    return 0 if kept else 1


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(train_at_mnist_size() if sys.argv[1:] == ["memory"] else main())
