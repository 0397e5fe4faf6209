"""Cells and grids: what is computed, with which settings, under which name."""

import hashlib
import itertools
import json
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache

from pu_utils.data import DESIGNS, NAMES, RECIPES
from pu_utils.data.real import set_and_recipe
from pu_utils.data.record import check_choice
from pu_utils.data.synthetic import SYNTHETIC
from pu_utils.schedules import SCHEDULES, Schedule, paper_settings

# Raise a family's version when a change of the program changes its numbers
SCIENCE_VERSION = {
    "vae_pu": 3,
    "replay": 2,
    "choices": 1,
    "lbe": 1,
    "lbe_released": 1,
    "elkan_noto": 1,
    "reference": 1,
}
THREADS = 1  # of each cell: sums are added up in another order with more, so results would differ

FAMILIES = tuple(SCIENCE_VERSION)
NETWORKS = ("vae_pu", "replay", "choices")  # the families that train VAE-PU
LABEL_FREQUENCIES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9)
SEEDS = tuple(range(10))
SMOKE = Schedule(
    pretraining_epochs=2,
    phase_epochs=(2, 2, 2, 2, 2),
    target_pool="batch",
    fine_tuning_steps=3,
    autoencoder_hidden=(8, 8),
    discriminator_hidden=(8,),
    target_hidden=(8, 8),
    label_epochs=2,
)
# smoke: samples of real sets
EXPERIMENT_SCHEDULES = ("paper", "paper_equal", "paper_equal_narrow", "fast", "smoke")
OF_NETWORKS = ("paper_equal", "paper_equal_narrow", "fast")  # which the others do not know

# The estimators' own defaults, spelt out so that a change of them makes recorded results stale
VAE_PU = {
    "epoch_scale": 1.0,
    "likelihood": "gaussian",
    "generator_weight": 1.0,
    "target_weight": 10.0,
    "label_weight": 1.0,
}
LBE = {
    "max_rounds": 50,
    "max_epochs": 100,
    "patience": 5,
    "learning_rate": 1e-3,
    "batch_size": 64,
}
A3 = {
    "hidden": (1000, 500, 200, 75),
    "epochs": 10,
    "batch_size": 256,
    "learning_rate": 1e-3,
    "alarm_learning_rate": 1e-5,
}
ELKAN_NOTO = {"model": "logistic regression of standardised features", "max_iter": 1000}
SMOKE_LBE = {**LBE, "max_rounds": 1, "max_epochs": 2}
SMOKE_A3 = {**A3, "hidden": (16, 8), "epochs": 1}


@dataclass(frozen=True)
class Cell:
    """One training, or one look at the truth, and all decisions that come of it.

    Parameters
    ----------
    dataset, design, label_frequency, seed
        What :func:`pu_utils.data.load` is asked for.
    family : str
        "vae_pu" (VP, VP-B and, on real sets, VP-IF and VP-A3), "replay" (the same of a VAE-PU
        trained as the authors' program does, and the networks that it hands from method to
        method), "choices" (VP-B with one choice of the program at a time), "lbe", "lbe_released",
        "elkan_noto" (logistic regression of S, and the prior), or "reference" (the prophets where
        the truth is known, and all-negative).
    schedule : str
        "paper", "paper_equal", "paper_equal_narrow", "fast" or "smoke"; families that are not
        networks know the first and the last alone.

    Examples
    --------
    >>> Cell("synth_1", "released", 0.5, "vae_pu", "paper", seed=0).name
    'synth_1/released/c0.5/vae_pu-paper-seed0'
    """

    dataset: str
    design: str
    label_frequency: float
    family: str
    schedule: str
    seed: int

    def __post_init__(self):
        # numpy's numbers, or 1 for 1.0, would give the same cell another name and hash
        object.__setattr__(self, "label_frequency", float(self.label_frequency))
        object.__setattr__(self, "seed", int(self.seed))
        check_choice("dataset", self.dataset, (*NAMES, *RECIPES))
        check_choice("design", self.design, DESIGNS)
        check_choice("family", self.family, FAMILIES)
        check_choice("schedule", self.schedule, EXPERIMENT_SCHEDULES)
        if not 0 < self.label_frequency <= 1:
            raise ValueError(f"label_frequency is {self.label_frequency}; it must lie in (0, 1]")
        if self.schedule != schedule_of(self.family, self.schedule):
            raise ValueError(f"family {self.family!r} knows no schedule {self.schedule!r}")

    @property
    def name(self):
        """Where the result lies below the output directory, without its suffix."""
        return (
            f"{self.dataset}/{self.design}/c{self.label_frequency}/"
            f"{self.family}-{self.schedule}-seed{self.seed}"
        )

    @cached_property
    def settings(self):
        """All that the result depends on, but for the machine, in JSON's types."""
        return {
            "science_version": SCIENCE_VERSION[self.family],
            "threads": THREADS,
            **{key: getattr(self, key) for key in CELL_KEY},
            "parameters": _parameters(self.dataset, self.family, self.schedule),
        }

    @cached_property
    def settings_hash(self):
        """The first 16 hexadecimal digits of the settings' SHA-256."""
        text = json.dumps(self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


CELL_KEY = [field.name for field in fields(Cell)]


def cell_of(record):
    """The cell that a record's fields name, or None where there is no such cell (any more)."""
    try:
        return Cell(**{key: record[key] for key in CELL_KEY})
    except (TypeError, KeyError, ValueError):
        return None


def is_current(cell, record):
    """Whether a record was made with the settings that the cell has now."""
    return cell is not None and record["settings_hash"] == cell.settings_hash


def schedule_of(family, schedule):
    """The schedule that a family follows in a grid: some are for networks alone."""
    return "paper" if family not in NETWORKS and schedule in OF_NETWORKS else schedule


@lru_cache
def _parameters(dataset, family, schedule):
    """Options of the estimators of a family."""
    smoke = schedule == "smoke"
    if family == "reference":
        return {}
    if family == "elkan_noto":
        return ELKAN_NOTO
    if family not in NETWORKS:
        return {"released": family == "lbe_released", **(SMOKE_LBE if smoke else LBE)}
    parameters = {
        "vae_pu": {**VAE_PU, **paper_settings(set_and_recipe(dataset)[0])},
        "schedule": _schedule(dataset, schedule).to_json(),
        "stopping": "pu_risk",
    }
    if dataset not in SYNTHETIC or family == "choices":  # Table 1 has no synthetic set
        parameters["a3"] = SMOKE_A3 if smoke else A3
    return parameters


def _schedule(dataset, name):
    """The schedule that a name stands for on a data set."""
    if name == "fast" and dataset not in SYNTHETIC:
        name = "fast_real"
    return SMOKE if name == "smoke" else SCHEDULES[name]


FIGURE_2 = Cell("cifar_va", "released", 0.9, "vae_pu", "fast", seed=0)  # whose rows it shows

# Grids

REAL_IN_ORDER = ("mnist_3v5", "cifar_ct", "stl_va", "cdc_diabetes", "cifar_va", "mnist_ove")
GRIDS = {
    "smoke": {
        "datasets": ("synth_1", "cdc_diabetes"),
        "label_frequencies": (0.5,),
        "seeds": (0, 1),
        "schedule": "smoke",
    },
    "synthetic": {"datasets": SYNTHETIC, "designs": DESIGNS},
    "real": {"datasets": REAL_IN_ORDER, "schedule": "fast"},
    "paper": {"datasets": NAMES},
}
DEFAULTS = {
    "designs": ("released",),
    "label_frequencies": LABEL_FREQUENCIES,
    "seeds": SEEDS,
    "families": ("vae_pu", "lbe", "lbe_released", "elkan_noto", "reference"),
    "schedule": "paper",
}


def grid(name, **changes):
    """The cells of a named grid.

    Parameters
    ----------
    name : {"smoke", "synthetic", "real", "paper"}
        ``smoke`` takes seconds; ``real`` is ``fast``; ``paper`` is everything, as the paper
        ran it.
    **changes
        Other ``datasets``, ``designs``, ``label_frequencies``, ``seeds``, ``families`` (each a
        sequence) or ``schedule`` than the grid's own; None changes nothing.

    Returns
    -------
    list of Cell
        Seed by seed: stopped early, it leaves few seeds of everything, not all of a few sets.

    Examples
    --------
    >>> cells = grid("synthetic", seeds=[0, 1], designs=["released"], families=["lbe"])
    >>> len(cells), cells[0].name
    (48, 'synth_1/released/c0.02/lbe-paper-seed0')
    """
    check_choice("grid", name, GRIDS)
    given = {key: value for key, value in changes.items() if value is not None}
    options = DEFAULTS | GRIDS[name] | given
    schedule = options.pop("schedule")
    axes = ("seeds", "datasets", "designs", "label_frequencies", "families")
    return [
        Cell(dataset, design, c, family, schedule_of(family, schedule), seed)
        for seed, dataset, design, c, family in itertools.product(*(options[a] for a in axes))
    ]
