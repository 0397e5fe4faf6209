"""Experiments and grids: what is computed, with which settings, under which name."""

import hashlib
import itertools
import json
from dataclasses import asdict, dataclass, fields
from functools import cached_property, lru_cache

from pu_utils.data import CDC_QUESTIONS, DATASETS, DESIGNS, NAMES
from pu_utils.data.record import check_choice
from pu_utils.data.synthetic import SYNTHETIC
from pu_utils.reproduction.families import EXPERIMENT_SCHEDULES, FAMILIES, THREADS

LABEL_FREQUENCIES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True)
class Experiment:
    """One training, or one look at the truth, and all decisions that come of it.

    Parameters
    ----------
    dataset, design, label_frequency, seed
        What :func:`pu_utils.data.load` is asked for.
    family : str
        What is trained: a name of ``FAMILIES``.
    schedule : str
        How the networks are trained: a name in ``EXPERIMENT_SCHEDULES`` such as "paper", "fast",
        "wide" or "batch"; families that are not networks know "paper" and "smoke" alone.

    Examples
    --------
    >>> Experiment("synth_1", "released", 0.5, "vae_pu", "paper", seed=0).name
    'synth_1/released/c0.5/vae_pu-paper-seed0'
    """

    dataset: str
    design: str
    label_frequency: float
    family: str
    schedule: str
    seed: int

    def __post_init__(self):
        # numpy's numbers, or 1 for 1.0, would give the same experiment another name and hash
        object.__setattr__(self, "label_frequency", float(self.label_frequency))
        object.__setattr__(self, "seed", int(self.seed))
        known = (DATASETS, DESIGNS, FAMILIES, EXPERIMENT_SCHEDULES)
        for name, choices in zip(("dataset", "design", "family", "schedule"), known, strict=True):
            check_choice(name, getattr(self, name), choices)
        if not 0 < self.label_frequency <= 1:
            raise ValueError(f"label_frequency is {self.label_frequency}; it must lie in (0, 1]")
        if self.schedule not in FAMILIES[self.family].schedules:
            raise ValueError(f"family {self.family!r} knows no schedule {self.schedule!r}")

    @property
    def name(self):
        """Where the result lies below the output directory, without its suffix."""
        folder = f"{self.dataset}/{self.design}/c{self.label_frequency}"
        return f"{folder}/{self.family}-{self.schedule}-seed{self.seed}"

    @property
    def settings(self):
        """All that the result depends on, but for the machine, in JSON's types."""
        return {
            "science_version": FAMILIES[self.family].version,
            "threads": THREADS,
            **asdict(self),
            "parameters": _parameters(self.family, self.dataset, self.schedule),
        }

    @cached_property
    def settings_hash(self):
        """The first 16 hexadecimal digits of the settings' SHA-256."""
        text = json.dumps(self.settings, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def is_current(self, record):
        """Whether a record was made with the settings that the experiment has now."""
        return record.get("settings_hash") == self.settings_hash


KEY = [field.name for field in fields(Experiment)]
FIGURE_2 = Experiment("cifar_va", "released", 0.9, "vae_pu", "fast", seed=0)  # whose rows it shows


@lru_cache  # of tens of thousands of experiments few differ in these
def _parameters(family, dataset, schedule):
    # to JSON's types, tuples to lists, so that they are equal to what is read
    return json.loads(json.dumps(FAMILIES[family].parameters(dataset, schedule)))


def experiment_of(record):
    """The experiment that a record's fields name, or None where there is no such one (any more)."""
    try:
        return Experiment(**{key: record[key] for key in KEY})
    except (TypeError, KeyError, ValueError, OverflowError):
        return None


def schedule_of(family, schedule):
    """The schedule that a family follows in a grid: some are for networks alone."""
    check_choice("family", family, FAMILIES)
    check_choice("schedule", schedule, EXPERIMENT_SCHEDULES)
    return schedule if schedule in FAMILIES[family].schedules else "paper"


# Grids

WITHOUT_NETWORKS = (
    "reference", "supervised", "elkan_noto", "upu", "sar_em", "augmented_em", "augmented_em_told",
)  # fmt: skip
FRESH = tuple(range(10, 20))  # seeds that no choice of this project has ever looked at
DEFAULTS = {
    "seeds": tuple(range(10)),
    "datasets": NAMES,
    "designs": ("released",),
    "label_frequencies": LABEL_FREQUENCIES,
    "families": ("vae_pu", "lbe", "lbe_released", "elkan_noto", "reference"),
    "schedule": "paper",
}
GRIDS = {
    "smoke": {
        "datasets": ("synth_1", "cdc_diabetes"), "label_frequencies": (0.5,), "seeds": (0, 1),
        "schedule": "smoke",
    },
    "synthetic": {"datasets": SYNTHETIC, "designs": DESIGNS},
    "real": {
        "datasets": ("mnist_3v5", "cifar_ct", "stl_va", "cdc_diabetes", "cifar_va", "mnist_ove"),
        "schedule": "fast",
    },
    "paper": {},
    "confirmation": {
        "seeds": FRESH, "datasets": NAMES, "families": (*WITHOUT_NETWORKS, "lbe", "vae_pu_bayes"),
        "schedule": "fast",
    },
    "questions": {
        "seeds": FRESH, "datasets": tuple(CDC_QUESTIONS), "families": WITHOUT_NETWORKS,
    },
}  # fmt: skip


def grid(name, **changes):
    """The experiments of a named grid.

    Parameters
    ----------
    name : {"smoke", "synthetic", "real", "paper", "confirmation", "questions"}
        ``smoke`` takes seconds; ``real`` is ``fast``; ``paper`` is everything, as the paper
        ran it; ``confirmation`` compares the methods on fresh seeds, ``questions`` those without
        networks on five tables that the paper does not have.
    **changes
        Other ``datasets``, ``designs``, ``label_frequencies``, ``seeds``, ``families`` (each a
        sequence) or ``schedule`` than the grid's own; None changes nothing.

    Returns
    -------
    list of Experiment
        Seed by seed: stopped early, it leaves few seeds of everything, not all of a few sets.

    Examples
    --------
    >>> experiments = grid("synthetic", seeds=[0, 1], designs=["released"], families=["lbe"])
    >>> len(experiments), experiments[0].name
    (48, 'synth_1/released/c0.02/lbe-paper-seed0')
    """
    check_choice("grid", name, GRIDS)
    given = {key: value for key, value in changes.items() if value is not None}
    options = DEFAULTS | GRIDS[name] | given
    schedule = options.pop("schedule")
    return [
        Experiment(dataset, design, c, family, schedule_of(family, schedule), seed)
        for seed, dataset, design, c, family in itertools.product(*options.values())
    ]
