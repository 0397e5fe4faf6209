"""What the EM estimators cost: ``python tests/bench/em.py``, or with names of data sets.

First the fit at 70,000 rows: seconds and memory, and their growth from half as many. Then
AugmentedEM against VAE-PU-Bayes with the schedule `fast`, both in processor seconds of one thread
and of this run. A limit that is not kept makes the exit code 1.
"""

import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from pu_utils.data import load
from pu_utils.models import AugmentedEM
from pu_utils.schedules import SCHEDULES, paper_settings

SHAPES = ((70_000, 38), (70_000, 784))
SECONDS_LIMIT, MEMORY_LIMIT_GB, SPEED_LIMIT = 60, 4.0, 20
AGAINST_VAE_PU = ("synth_1", "mnist_3v5", "cdc_diabetes")
SEED, LABEL_FREQUENCY = 100, 0.5


def made_rows(n, n_features):
    """Two classes on a few of the features, half of the positives labelled."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.random((n, n_features), dtype=np.float32)
    X[:, :5] += y[:, None]
    return X, y * (rng.random(n) < 0.5)


def fit_alone(class_model, n, n_features):
    """Fit in this process; print seconds and the memory beyond that of the rows."""
    X, s = made_rows(n, n_features)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, processor = time.perf_counter(), time.process_time()
    AugmentedEM(class_model, prior=0.5, random_state=0).fit(X, s)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e6
    print(time.perf_counter() - start, time.process_time() - processor, grown)


def measured(class_model, n, n_features):
    """Seconds, processor seconds and gigabytes of a fit in a process of its own."""
    command = [sys.executable, Path(__file__), "alone", class_model, str(n), str(n_features)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(value) for value in done.stdout.split()]


def bench_size():
    """Whether the fit to many rows keeps its limits, and how it grows."""
    kept = True
    for n, n_features in SHAPES:
        for class_model in ("auto", "neighbours"):
            seconds, processor, grown = measured(class_model, n, n_features)
            half = measured(class_model, n // 2, n_features)
            kept &= processor < 2 * SECONDS_LIMIT and grown < MEMORY_LIMIT_GB
            print(
                f"{n} x {n_features}, {class_model}: {seconds:.1f} s (limit {SECONDS_LIMIT} on two "
                f"free processors), {processor:.1f} processor seconds, {grown:.2f} GB more (limit "
                f"{MEMORY_LIMIT_GB}); half the rows: {half[1]:.1f} s, {half[2]:.2f} GB",
                flush=True,
            )
    return kept


def processor_seconds(function):
    """Processor seconds of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def bench_against_vae_pu(name):
    """Whether AugmentedEM is fast enough beside VAE-PU-Bayes on a data set."""
    import torch

    from pu_utils.models import VaePu, VaePuBayes

    torch.set_num_threads(1)
    data = load(name, LABEL_FREQUENCY, SEED, "released")
    rows, held = (data.train.X, data.train.s), (data.validation.X, data.validation.s)
    schedule = "fast" if name.startswith("synth") else "fast_real"
    options = {"schedule": SCHEDULES[schedule], **paper_settings(name)}

    def fit_network():
        base = VaePu(prior=data.prior, random_state=SEED, **options)
        base.fit(*rows, validation=held)
        VaePuBayes(base=base, random_state=SEED).fit(*rows, validation=held)

    def fit_em():
        AugmentedEM(prior=data.prior, random_state=SEED).fit(*rows, validation=held)

    with threadpool_limits(1):
        slow, fast = processor_seconds(fit_network), processor_seconds(fit_em)
    print(f"{name}: VP-B fast {slow:.1f} s, AugmentedEM {fast:.1f} s: {slow / fast:.0f} times")
    return slow / fast >= SPEED_LIMIT


if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)
    if sys.argv[1:2] == ["alone"]:
        fit_alone(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        kept = [bench_size()] if len(sys.argv) == 1 else []
        kept += [bench_against_vae_pu(name) for name in sys.argv[1:] or AGAINST_VAE_PU]
        sys.exit(0 if all(kept) else 1)
