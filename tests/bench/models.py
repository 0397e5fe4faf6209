"""Time and memory of the estimators against what they cannot do without.

``python tests/bench/models.py`` prints, for the shape of the synthetic data and of MNIST, how long
an epoch of each phase takes and how long the plain matrix products of that phase take in the same
run: forward and backward, once, of the layers that the phase must differentiate, and forward of
those that it must only ask. Then the growth of an epoch with n, the prediction of a million rows,
and the memory of a training of MNIST's size. Each figure is printed beside its limit.
"""

import resource
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch

from pu_utils.models import Schedule, VaePu
from pu_utils.models.networks import new_generator
from pu_utils.models.vae_pu import PHASES, VaePuNetworks

SHAPES = {"synthetic": (7_000, 20), "mnist_3v5": (9_418, 784)}
LABELLED_SHARE = 0.25  # c = 0.5, pi = 0.5
RATIO_LIMIT, SECONDS_LIMIT, MEMORY_LIMIT_GB = 2.0, 10.0, 3.0


def made_rows(n, n_features):
    """Rows in [0, 1] and a label status with the share of c = 0.5."""
    rng = np.random.default_rng(0)
    X = rng.random((n, n_features), dtype=np.float32)
    return X, (np.arange(n) < LABELLED_SHARE * n).astype(int)


def made_trainer(n, n_features, schedule=None):
    """A training about to begin its main loop."""
    X, s = made_rows(n, n_features)
    model = VaePu(prior=0.5, device="cpu")
    model.prior_, model.label_frequency_ = 0.5, 0.5
    model.schedule_ = Schedule() if schedule is None else schedule
    generator = new_generator(np.random.RandomState(0), "cpu")
    model.networks_ = VaePuNetworks(n_features, model.schedule_, generator)
    return model._new_trainer(X, s, generator)


def seconds(function, repeats=3):
    """Shortest of a few runs, after one that is not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
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


def unavoidable(trainer, phase):
    """The matrix products of one step of a phase, as functions that make them."""
    schedule, p = trainer.schedule, trainer.labelled.shape[1]
    hidden, target = schedule.autoencoder_hidden, (p, *schedule.target_hidden, 1)
    n_labelled, n_unlabelled = len(trainer.labelled), len(trainer.unlabelled)
    labelled, unlabelled = n_labelled // trainer.n_steps, n_unlabelled // trainer.n_steps
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


def epoch_of(trainer, phase):
    """A function that runs one epoch of a phase."""
    step = trainer.step_of(phase)
    return lambda: [step(*rows) for rows in trainer.batches()]


def bench_phases():
    """Seconds of an epoch of each phase, over those of its matrix products."""
    worst = 0.0
    for shape, (n, p) in SHAPES.items():
        trainer = made_trainer(n, p)
        for phase in PHASES[:4]:  # the fifth is the second again
            epoch = seconds(epoch_of(trainer, phase))
            made = unavoidable(trainer, phase)
            floor = trainer.n_steps * seconds(lambda made=made: [run() for run in made])
            worst = max(worst, epoch / floor)
            times = f"{epoch:7.3f} s, products {floor:7.3f} s"
            print(f"{shape:10} {phase.name:24} {times}: ratio {epoch / floor:.2f}")
    print(f"worst ratio {worst:.2f} (limit {RATIO_LIMIT})")


def bench_growth():
    """Growth of an epoch with n: slope of log time against log n, 1 if linear.

    By its specification the paper's schedule looks at all of U in every step of the target
    classifier, so that there the cost of an epoch grows with n squared, and the slope is 2.
    """
    sizes = (3_500, 7_000, 14_000)
    cases = (PHASES[0], "all", 1), (PHASES[1], "batch", 1), (PHASES[1], "all", 2)
    for phase, pool, expected in cases:
        trainers = [made_trainer(n, 20, Schedule(target_pool=pool)) for n in sizes]
        times = [seconds(epoch_of(trainer, phase), repeats=2) for trainer in trainers]
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        shown = ", ".join(f"{n}: {t:.3f} s" for n, t in zip(sizes, times, strict=True))
        print(f"epoch of {phase.name}, pool {pool}: {shown}; slope {slope:.2f} ({expected})")


def bench_prediction():
    """A million rows of 20 features."""
    X, s = made_rows(500, 20)
    tiny = Schedule(pretraining_epochs=0, phase_epochs=(0,) * 5, label_epochs=1)
    model = VaePu(prior=0.5, schedule=tiny, random_state=0, device="cpu").fit(X, s)
    rows = np.random.default_rng(0).random((1_000_000, 20), dtype=np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    model.predict(rows)
    taken = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e6
    print(f"prediction of 10^6 x 20: {taken:.1f} s (limit {SECONDS_LIMIT}), {grown:.2f} GB more")


def bench_memory():
    """Peak memory of a training of MNIST OvE's size, one epoch of each phase, on its own."""
    subprocess.run([sys.executable, Path(__file__), "memory"], check=True)


def train_at_mnist_size():
    """One step of each phase at 49,000 x 784, and the peak memory of this process."""
    trainer = made_trainer(49_000, 784)
    for phase in PHASES:
        trainer.step_of(phase)(*next(trainer.batches()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"peak memory at 49,000 x 784: {peak:.2f} GB (limit {MEMORY_LIMIT_GB})")


if __name__ == "__main__" and sys.argv[1:] == ["memory"]:
    train_at_mnist_size()
elif __name__ == "__main__":
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    bench_phases()
    bench_growth()
    bench_prediction()
    sys.stdout.flush()
    bench_memory()
