"""What stacked training saves: ``python tests/bench/stacked.py``.

For the shape of the synthetic data and the schedule "fast", the kernels of a step of each phase, by
torch's profiler, of one training and of stacks of 3 and of 10; and how long an epoch takes on one
thread of the processor, of so many trainings one after another and of the stack. The first is what
a GPU waits for; the second tells whether stacks pay on a processor, where kernels cost little. A
limit that is not kept makes the exit code 1.
"""

import sys
import time

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from pu_utils.models import LabelModel, VaePu
from pu_utils.models.networks import descend
from pu_utils.models.stacked import StackedLabelTraining, StackedTrainer
from pu_utils.models.vae_pu import PHASES

ROWS, FEATURES, STACKS = 7_000, 20, (3, 10)
KERNEL_LIMIT = 2.0  # of a stack of ten, against one training
# What launches nothing: other views of a tensor, and memory
NONE = "view|_unsafe_view|reshape|expand|as_strided|slice|select|transpose|t|permute|detach|detach_"
NONE += "|alias|unsqueeze|squeeze|split|split_with_sizes|chunk|unbind|narrow|numpy_T|lift_fresh"
NONE += "|empty|empty_like|empty_strided|resize_|result_type|is_nonzero|item|_local_scalar_dense"
FREE = {f"aten::{name}" for name in NONE.split("|")}


def made_trainings(n_seeds):
    """Trainings of label models and of VAE-PU about to begin, with unequal numbers of labels."""
    labels, trainers = [], []
    for seed in range(n_seeds):
        random_state = np.random.RandomState(seed)
        X = random_state.rand(ROWS, FEATURES).astype(np.float32)
        s = (random_state.rand(ROWS) < 0.25).astype(int)
        label_model = LabelModel(schedule="fast", device="cpu")
        model = VaePu(prior=0.5, schedule="fast", device="cpu")
        label_model.n_features_in_ = model.n_features_in_ = FEATURES
        labels.append(label_model._label_training((X, s), (X[:9], s[:9]), random_state))
        trainers.append(model._new_trainer((X, s), random_state))
    return labels, trainers


def epochs_of(label_training, trainer):
    """Functions by the names of the phases; each trains one epoch and returns its steps."""

    def run(step, batches):
        return len([step(rows) for rows in batches()])

    def phase_epoch(phase):
        step = trainer.step_of(phase)
        return lambda: run(lambda rows: step(*rows), trainer.batches)

    def pretraining():
        return run(lambda rows: trainer.pretraining_step(*rows), trainer.batches)

    def label_model():
        label_training.network.train()
        optimizer, loss = label_training.optimizer, label_training.loss
        return run(lambda rows: descend(optimizer, loss(rows)), label_training.batches)

    phases = {phase.name: phase_epoch(phase) for phase in PHASES[:4]}  # the fifth is the second
    return {"label model": label_model, "pretraining": pretraining} | phases


def kernels_per_step(epoch):
    """Operations of torch that call no other and compute something, per step."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        n_steps = epoch()
    leaves = [event for event in profiled.events() if not event.cpu_children]
    names = [event.name for event in leaves if event.name.startswith("aten::")]
    return sum(name not in FREE for name in names) / n_steps


def seconds(epoch, repeats=3):
    """Shortest of a few runs, in seconds of the processor, which a busy machine does not change."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        epoch()
        times.append(time.process_time() - start)
    return min(times)


def main():
    """Print kernels and seconds, and whether the limit was kept."""
    torch.set_num_threads(1)
    (label_training,), (trainer,) = made_trainings(1)
    single = {}
    for name, epoch in epochs_of(label_training, trainer).items():
        single[name] = kernels_per_step(epoch), seconds(epoch)
    worst = 0.0
    for n_seeds in STACKS:
        labels, trainers = made_trainings(n_seeds)
        stack = epochs_of(StackedLabelTraining(labels), StackedTrainer(trainers))
        for name, epoch in stack.items():
            (kernels, alone), stacked, joint = single[name], kernels_per_step(epoch), seconds(epoch)
            many = f"{n_seeds} x {kernels:4.0f} kernels a step, stacked {stacked:5.0f}"
            times = f"{n_seeds * alone:6.3f} s an epoch, stacked {joint:6.3f} s"
            print(f"{name:24} {many}; {times}: ratio {joint / (n_seeds * alone):.2f}")
            worst = max(worst, stacked / kernels)
    print(f"kernels of a stack over those of one training: {worst:.2f} (limit {KERNEL_LIMIT})")
    return 0 if worst < KERNEL_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
