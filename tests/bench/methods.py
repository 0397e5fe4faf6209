"""Methods against each other: ``python tests/bench/methods.py``.

First VAE-PU-Bayes by the schedule of the paper against the schedule `fast` and against AugmentedEM,
on 7,000 rows of the first synthetic set. A training of the paper's takes long: each of its parts is
run for one unit and for a few more (an epoch, a step), and the difference is multiplied by the
units that the schedule has, the label model without its early stop. AugmentedEM is fitted whole.
Then how the time of each estimator's fit grows with the rows. All in processor seconds of one
thread and of this run.
"""

import time
import warnings
from dataclasses import replace

import numpy as np
import torch
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_limits

from pu_utils.data import load, make_synthetic
from pu_utils.models import (
    Augmented,
    AugmentedEM,
    ElkanNoto,
    LabelModel,
    Lbe,
    Recalibrated,
    SarEm,
    Upu,
    VaePu,
    VaePuBayes,
    VaePuOcc,
)
from pu_utils.schedules import SCHEDULES, paper_settings

MORE = 4  # units of a part beyond the first: enough for the difference to exceed its noise
N_PHASES = len(SCHEDULES["paper"].phase_epochs)
COUNTS = ("pretraining_epochs", "label_epochs", "fine_tuning_steps")
ROWS = (2_000, 4_000, 8_000)
SHORT = {name: 1 for name in COUNTS} | {"phase_epochs": (1,) * N_PHASES}


def processor_seconds(estimator, rows):
    """Of one fit."""
    start = time.process_time()
    clone(estimator).fit(*rows)
    return time.process_time() - start


def whole_training(name, rows):
    """Processor seconds of VAE-PU-Bayes by a schedule, from a few units of each part."""
    full = SCHEDULES[name].scaled(paper_settings("synth_1")["epoch_scale"])
    short = replace(full, **SHORT)
    longer = {name: (replace(short, **{name: 1 + MORE}), getattr(full, name)) for name in COUNTS}
    for k, epochs in enumerate(full.phase_epochs):
        counts = tuple(1 + MORE * (k == other) for other in range(N_PHASES))
        longer[f"phase {k + 1}"] = replace(short, phase_epochs=counts), epochs

    def fitted(schedule):
        return processor_seconds(VaePuBayes(prior=0.5, schedule=schedule, random_state=0), rows)

    fitted(short)  # the first step of an optimiser imports a lot
    once = fitted(short)
    return once + sum((fitted(more) - once) / MORE * (n - 1) for more, n in longer.values())


def bench_schedules():
    """The paper's schedule against `fast`, and against AugmentedEM."""
    train = load("synth_1", 0.5, 0, "released").train
    rows = train.X, train.s
    times = {name: whole_training(name, rows) for name in ("paper", "fast")}
    times["AugmentedEM"] = processor_seconds(AugmentedEM(prior=0.5, random_state=0), rows)
    for name, taken in times.items():
        share = times["paper"] / taken
        print(
            f"{name:12} {taken:8.1f} s on {len(train)} rows: paper takes {share:.0f} times as long"
        )


def estimators():
    """One of each kind; networks have the default schedule with one epoch of each phase."""
    short = replace(SCHEDULES["brisk"], **SHORT)
    network = {"schedule": short, "random_state": 0, "device": "cpu"}
    return [
        *(kind(prior=0.5, **network) for kind in (VaePu, VaePuBayes)),
        VaePuOcc(prior=0.5, detector=IsolationForest(random_state=0), **network),
        LabelModel(**network),
        Lbe(max_rounds=1, max_epochs=1, random_state=0, device="cpu"),
        AugmentedEM("logistic", prior=0.5, random_state=0),
        AugmentedEM("neighbours", prior=0.5, random_state=0),
        SarEm(),
        *(kind(prior=0.5) for kind in (Upu, ElkanNoto)),
        Augmented(),
        Recalibrated(ElkanNoto(prior=0.5), random_state=0),
    ]


def bench_growth():
    """Slope of log time against log n, 1 if linear, 0 where a cap keeps the time constant."""
    data = {n: make_synthetic("synth_1", 0.5, 0, "released", n=n) for n in ROWS}
    for estimator in estimators():
        times = [
            min(processor_seconds(estimator, (one.X, one.s)) for _ in range(2))
            for one in data.values()
        ]
        slope = np.polyfit(np.log(ROWS), np.log(times), 1)[0]
        shown = ", ".join(f"{n}: {t:.3f} s" for n, t in zip(ROWS, times, strict=True))
        name = f"{type(estimator).__name__} {getattr(estimator, 'class_model', '')}"
        print(f"{name:23} {shown}; slope {slope:.2f}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        bench_schedules()
        bench_growth()
