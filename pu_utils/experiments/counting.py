"""The operations that the trainings of a cell need, counted from its settings.

Matrix products alone are counted, a multiplication with its addition as two operations: per weight
and row, a dense layer needs two forward, two for the gradient of its weights and two for that of
its inputs. Predictions after a training, the isolation forest, and all that is done element by
element are left out.
"""

import math
from itertools import pairwise
from typing import NamedTuple

from pu_utils.data.record import PARTS
from pu_utils.data.synthetic import N_FEATURES, SYNTHETIC
from pu_utils.experiments.cells import NETWORKS
from pu_utils.schedules import Schedule

# Rows, features and P(Y=1) as in results/datasets.csv; of STL-10 as the paper gives them
SIZES = dict.fromkeys(SYNTHETIC, (10_000, N_FEATURES, 0.5)) | {
    "mnist_3v5": (13_454, 784, 0.5308),
    "mnist_ove": (70_000, 784, 0.5083),
    "cifar_ct": (12_000, 512, 0.5),
    "cifar_va": (60_000, 512, 0.4),
    "stl_va": (13_000, 512, 0.4),
    "cdc_diabetes": (70_692, 38, 0.5),
}
SAMPLE_ROWS = {"mnist_3v5": 2_000, "cifar_ct": 2_000, "cdc_diabetes": 4_000}  # of smoke cells
LABEL_EPOCHS = 25  # until the label model stops; 15 to 50 were seen, fewer where rows are many


class Work(NamedTuple):
    """Steps of a part of the training, and the operations of all of them together."""

    steps: float
    operations: float


class Rows(NamedTuple):
    """Rows of the training part, labelled and not, and of the validation part; their features."""

    labelled: int
    unlabelled: int
    held: int
    features: int

    @property
    def train(self):
        """All rows of the training part."""
        return self.labelled + self.unlabelled


def rows_of(cell):
    """How large the data of a cell are, with as many labels as are to be expected."""
    n, features, prior = SIZES[cell.dataset]
    if cell.schedule == "smoke":
        n = SAMPLE_ROWS.get(cell.dataset, n)
    ends = [n * PARTS[part][1] // 100 for part in ("train", "validation")]
    labelled = max(1, round(prior * cell.label_frequency * ends[0]))
    return Rows(labelled, ends[0] - labelled, ends[1] - ends[0], features)


def operations(cell):
    """Operations of all trainings of a cell.

    Trainings that stop early cannot be foreseen: the label model is counted with
    ``LABEL_EPOCHS`` epochs, fine-tuning and LBE with as many as they may have at most.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    float
        0 for "reference", which trains nothing, and "elkan_noto", whose solver is not counted.

    Examples
    --------
    >>> from pu_utils.experiments import Cell
    >>> paper, fast = (Cell("synth_1", "text", 0.5, "vae_pu", k, 0) for k in ("paper", "fast"))
    >>> operations(paper) > 10 * operations(fast)
    True
    """
    return sum(part.operations for part in parts(cell).values())


def parts(cell):
    """Steps and operations of each part of a cell's training, by its name.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    dict of str to Work
        Empty for "reference" and "elkan_noto".

    Examples
    --------
    >>> from pu_utils.experiments import Cell
    >>> list(parts(Cell("synth_1", "text", 0.5, "vae_pu", "paper", 0)))
    ['label model', 'autoencoder', 'target classifier', 'fine-tuning']
    """
    parameters, rows = cell.settings["parameters"], rows_of(cell)
    if cell.family in ("reference", "elkan_noto"):
        return {}
    if cell.family not in NETWORKS:
        return {"EM": _lbe(parameters, rows)}
    work = VaePuWork(parameters, rows)
    found = {
        "label model": work.label_model(),
        "autoencoder": work.autoencoder(),
        "target classifier": work.target_classifier(),
        "fine-tuning": work.fine_tuning(),
    }
    return found | ({"one-class models": work.one_class_models()} if work.a3 else {})


# A network is given by the widths of its layers, its inputs first


def _forward(widths):
    return 2 * sum(inputs * outputs for inputs, outputs in pairwise(widths))


def _trained(widths):
    """Forward and backward where the inputs are data, which need no gradient."""
    return 3 * _forward(widths) - 2 * widths[0] * widths[1]


def _lbe(parameters, rows):
    rounds = 1 if parameters["released"] else parameters["max_rounds"]
    epochs, model = parameters["max_epochs"], (rows.features, 2)
    steps = rounds * epochs * max(1, round(rows.train / parameters["batch_size"]))
    epoch = _trained(model) * rows.train + _forward(model) * rows.held
    expectation = _forward(model) * (rows.train + 2 * rows.held)
    return Work(steps, rounds * (epochs * epoch + expectation))


class VaePuWork:
    """What a cell of VAE-PU does, one method a part; the names are those of the estimators."""

    def __init__(self, parameters, rows):
        # they load torch
        from pu_utils.models.vae_pu import CLASS_DIMENSION, LABEL_DIMENSION, count_steps

        schedule = Schedule.from_json(parameters["schedule"])
        self.schedule = schedule.scaled(parameters["vae_pu"]["epoch_scale"])
        self.rows, self.a3 = rows, parameters.get("a3")
        hidden = schedule.autoencoder_hidden
        self.encoder_y = (rows.features, *hidden, 2 * CLASS_DIMENSION)
        self.encoder_o = (rows.features + 2, *hidden, 2 * LABEL_DIMENSION)
        self.decoder = (CLASS_DIMENSION + LABEL_DIMENSION, *hidden, rows.features)
        self.discriminator = (rows.features, *schedule.discriminator_hidden, 1)
        self.target = (rows.features, *schedule.target_hidden, 1)
        self.distance = 2 * CLASS_DIMENSION  # operations for the distance of two rows
        steps = count_steps(rows.unlabelled, rows.train, schedule.batch_size)
        self.epoch_steps = min(steps, schedule.epoch_steps or steps)
        self.labelled = math.ceil(rows.labelled / steps)  # in a batch
        self.unlabelled = rows.unlabelled / steps

    def label_model(self):
        epochs = min(LABEL_EPOCHS, self.schedule.label_epochs)
        steps = epochs * max(1, round(self.rows.train / self.schedule.label_batch_size))
        return Work(steps, epochs * self._epoch_of_target())

    def fine_tuning(self):
        """Full batches, for VP-B and, on real sets, for VP-IF and VP-A3."""
        steps = self.schedule.fine_tuning_steps * (3 if self.a3 else 1)
        return Work(steps, steps * self._epoch_of_target())

    def _epoch_of_target(self):
        """All training rows forward and backward, and a look at the validation part."""
        return _trained(self.target) * self.rows.train + _forward(self.target) * self.rows.held

    def autoencoder(self):
        first, _, second, third, _ = self.schedule.phase_epochs
        batch, pretraining = self.labelled + self.unlabelled, self.schedule.pretraining_epochs
        encoders = batch * (_trained(self.encoder_y) + _trained(self.encoder_o))
        decoder = 3 * _forward(self.decoder)
        # the discriminator learns, then hands the generated rows' gradient back, as the target does
        discriminator = batch * _trained(self.discriminator)
        step = encoders + (batch + self.labelled) * decoder + discriminator
        step += self.labelled * (2 * _forward(self.discriminator) + self.unlabelled * self.distance)
        total = pretraining * (encoders + batch * decoder) + (first + second + third) * step
        total += (second + third) * self.labelled * 2 * _forward(self.target)
        steps = (pretraining + first + second + third) * self.epoch_steps
        mixture = self.rows.train * _forward(self.encoder_y)  # is fitted to all rows, once
        return Work(steps, total * self.epoch_steps + mixture)

    def target_classifier(self):
        _, alone, _, together, last = self.schedule.phase_epochs
        pool = self.rows.unlabelled if self.schedule.target_pool == "all" else self.unlabelled
        steps = (alone + together + last) * self.epoch_steps
        step = (2 * self.labelled + pool) * _trained(self.target)
        step += self._generated(self.labelled, pool)
        # the encoders rest in the phases of the target alone: one encoding serves all steps
        encoded = (self.labelled + pool) * _forward(self.encoder_y)
        encoded += self.labelled * _forward(self.encoder_o)
        total = steps * step + together * self.epoch_steps * encoded
        return Work(steps, total + (min(alone, 1) + min(last, 1)) * self._encoded())

    def one_class_models(self):
        """Rows generated for VP-IF, and again for VP-A3; the two networks of A3."""
        wanted = min(self.rows.train, self.schedule.generated_rows or self.rows.train)
        times = math.ceil(wanted / self.rows.labelled)
        generation = self._encoded() + self._generated(self.rows.labelled, self.rows.unlabelled)
        generated = times * self.rows.labelled
        a3 = self._a3(min(generated, self.schedule.generated_rows or generated) // 2)
        return Work(a3.steps, a3.operations + 2 * times * generation)

    def _a3(self, n):
        hidden, epochs = tuple(self.a3["hidden"]), self.a3["epochs"]
        there_and_back = (self.rows.features, *hidden, *hidden[-2::-1])
        autoencoder = (*there_and_back, self.rows.features)
        alarm = (sum(there_and_back[1:]), *hidden, 1)  # sees each row, and as many rows of noise
        row = _trained(autoencoder) + 2 * (_forward(there_and_back) + _trained(alarm))
        steps = 2 * epochs * max(1, round(n / self.a3["batch_size"]))
        return Work(steps, epochs * n * row)

    def _encoded(self):
        """The class latents of all rows, and the label latents of the unlabelled."""
        of_all, of_unlabelled = _forward(self.encoder_y), _forward(self.encoder_o)
        return self.rows.train * of_all + self.rows.unlabelled * of_unlabelled

    def _generated(self, labelled, pool):
        """A row decoded for each labelled one, after a search in the pool."""
        return labelled * (_forward(self.decoder) + pool * self.distance)
