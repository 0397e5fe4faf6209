"""The record that every data set is given as, and the random streams it is made with."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

DESIGNS = ("text", "released")
PARTS = {"train": (0, 70), "validation": (70, 85), "test": (85, 100)}  # percent of the rows
ARRAYS = ("X", "y", "s", "y_proba", "propensity", "score", "source_rows")


@dataclass(frozen=True, eq=False)
class PUData:
    """A labelled and split positive-unlabelled data set.

    Rows lie in the order of the split, so that ``train``, ``validation`` and ``test`` are views
    and cost no memory; within a part the order is random.

    Parameters
    ----------
    X : float32 array of shape (n, p)
        Features.
    y, s : int8 arrays of shape (n,)
        True class and label status; ``s = 1`` only where ``y = 1``.
    name, label_frequency, seed, design
        What :func:`pu_utils.data.load` was asked for.
    prior : float
        Share of class 1 in the whole set, carried by its parts too.
    feature_names : tuple of str
        One name per column of ``X``.
    y_proba, propensity : float64 arrays of shape (n,), or None where unknown
        The true ``y(x)`` and ``e(x)``; ``s(x)`` is their product. (In the released synth_3,
        ``y_proba`` is what its prophets take for the truth.)
    score : float64 array of shape (n,), or None
        What the labelling looked at: boldness, redness, weight, or the propensity's linear part.
    source_rows : int64 array of shape (n,), or None
        Where each row stands in its source file; None for made data.
    part : str
        ``"all"``, or the name of the part.
    """

    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    s: np.ndarray = field(repr=False)
    name: str
    label_frequency: float
    seed: int
    design: str
    prior: float
    feature_names: tuple = field(repr=False)
    y_proba: np.ndarray | None = field(default=None, repr=False)
    propensity: np.ndarray | None = field(default=None, repr=False)
    score: np.ndarray | None = field(default=None, repr=False)
    source_rows: np.ndarray | None = field(default=None, repr=False)
    part: str = "all"

    def __len__(self):
        return len(self.X)

    @property
    def train(self):
        """The first 70% of the rows."""
        return self._slice("train")

    @property
    def validation(self):
        """The next 15% of the rows."""
        return self._slice("validation")

    @property
    def test(self):
        """The last 15% of the rows."""
        return self._slice("test")

    @cached_property
    def fingerprint(self):
        """SHA-256 of the arrays, the same on every machine."""
        digest = hashlib.sha256()
        for name in ARRAYS:
            array = getattr(self, name)
            if array is not None:
                little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
                digest.update(f"{name} {array.dtype.name} {array.shape}".encode())
                digest.update(np.ascontiguousarray(little_endian))
        return digest.hexdigest()

    def _slice(self, part):
        if self.part != "all":
            raise AttributeError(f"this is the {self.part} part of {self.name}, not split further")
        start, stop = (len(self) * percent // 100 for percent in PARTS[part])
        arrays = {name: getattr(self, name) for name in ARRAYS}
        rows = {name: array[start:stop] for name, array in arrays.items() if array is not None}
        return replace(self, part=part, **rows)


class DataSet(NamedTuple):
    """How a data set is made: an entry of ``pu_utils.data.DATASETS``.

    Parameters
    ----------
    make : callable
        From ``label_frequency``, ``seed``, ``design`` and ``sample``, as :func:`pu_utils.data.load`
        is given them, to a :class:`PUData`.
    like : str
        The set of the paper whose settings the methods use on it; its own name if it is one.
    synthetic : bool
        Whether it is made and not read from files, so that the truth is known.
    ways : tuple of tuples of str
        Files that ``make`` reads, as alternatives; by default none.
    """

    make: Callable
    like: str
    synthetic: bool = False
    ways: tuple = ((),)


def check_choice(argument, value, choices):
    """Raise unless ``value`` is one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{argument} is {value!r}; it must be one of {', '.join(choices)}")


def random_streams(name, seed):
    """Three independent generators for features, labels and split of a data set.

    They depend on nothing but the name and the seed: a set has the same rows and the same split
    at every label frequency and, where the design allows it, in both designs.

    Examples
    --------
    >>> features, labels, split = random_streams("synth_1", seed=0)
    >>> split.permutation(5).tolist()
    [2, 0, 1, 3, 4]
    """
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise ValueError(f"seed is {seed!r}; it must be a whole number, 0 or larger")
    children = np.random.SeedSequence([seed, *name.encode()]).spawn(3)
    return [np.random.Generator(np.random.PCG64(child)) for child in children]


def same_everywhere(probability):
    """``probability`` rounded to float32's precision.

    exp differs in its last place between machines; what is drawn from the rounded value does not.
    """
    return probability.astype(np.float32).astype(np.float64)
