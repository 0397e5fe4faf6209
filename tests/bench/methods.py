"""What the schedules cost: ``python tests/bench/methods.py``.

VAE-PU-Bayes by the schedules `paper` and `fast`, and AugmentedEM, on 7,000 rows of the first
synthetic set, in processor seconds of one thread. The last two are fitted whole. The paper's
schedule takes long: each of its phases is run for one epoch and for a few more, and the difference
is multiplied by the epochs that it has; its label model, which stops early, is fitted whole. A
limit that is not kept makes the exit code 1.
"""

import sys
import time
import warnings
from dataclasses import replace

import torch
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from pu_utils.data import load
from pu_utils.models import AugmentedEM, LabelModel, VaePuBayes
from pu_utils.schedules import SCHEDULES, paper_settings

MORE = 4  # epochs of a phase beyond the first: enough for the difference to exceed its noise
COUNTS = ("pretraining_epochs", "fine_tuning_steps")
PAPER, HALF = SCHEDULES["paper"], paper_settings("synth_1")["epoch_scale"]


def processor_seconds(estimator, data):
    """Of one fit to the training part."""
    train, held_out = ((part.X, part.s) for part in (data.train, data.validation))
    start = time.process_time()
    clone(estimator).fit(*train, validation=held_out)
    return time.process_time() - start


def papers_training(data):
    """Processor seconds of VAE-PU-Bayes by the paper's schedule."""
    full, once = PAPER.scaled(HALF), (1,) * len(PAPER.phase_epochs)
    short = replace(full, label_epochs=1, phase_epochs=once, **dict.fromkeys(COUNTS, 1))
    longer = [(replace(short, **{count: 1 + MORE}), getattr(full, count)) for count in COUNTS]
    for k, n_epochs in enumerate(full.phase_epochs):
        more = (*once[:k], 1 + MORE, *once[k + 1 :])
        longer.append((replace(short, phase_epochs=more), n_epochs))

    def fitted(estimator, schedule):
        return processor_seconds(estimator.set_params(schedule=schedule, random_state=0), data)

    vae_pu_bayes, label_model = VaePuBayes(prior=0.5), LabelModel()
    fitted(vae_pu_bayes, short)  # the first step of an optimiser imports a lot
    least = fitted(vae_pu_bayes, short)
    phases = sum((fitted(vae_pu_bayes, more) - least) / MORE * (n - 1) for more, n in longer)
    return least + phases + fitted(label_model, full) - fitted(label_model, short)


def main():
    """Print the seconds beside the limits."""
    data = load("synth_1", 0.5, 0, "released")
    paper, kept = papers_training(data), True
    print(f"paper {paper:.0f} s on {len(data.train)} rows")
    fast = SCHEDULES["fast"].scaled(HALF)
    others = {"fast": (VaePuBayes(schedule=fast), 10), "AugmentedEM": (AugmentedEM(), 200)}
    for name, (model, limit) in others.items():
        seconds = processor_seconds(model.set_params(prior=0.5, random_state=0), data)
        ratio = paper / seconds
        print(f"{name} {seconds:.1f} s: paper takes {ratio:.0f} times as long (limit {limit})")
        kept &= ratio >= limit
    return 0 if kept else 1


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    with threadpool_limits(1):
        sys.exit(main())
