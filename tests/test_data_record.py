"""The record: parts, fingerprint, order of the rows."""

from dataclasses import replace

import numpy as np
import pytest

from pu_utils.data import DATASETS, NAMES, SYNTHETIC, PUData, load
from pu_utils.data.record import ARRAYS


@pytest.fixture(scope="module")
def data():
    """A synthetic set, which has all optional arrays but one."""
    return load("synth_1", 0.5, seed=0)


def small(n):
    """A record of ``n`` rows that are told apart by their number."""
    zeros = np.zeros(n, dtype=np.int8)
    X = np.arange(n, dtype=np.float32)[:, None]
    return PUData(X, zeros, zeros, "mine", 0.5, 0, "text", 0.5, ("x",))


def test_parts_are_records_of_the_same_kind(data):
    """Each part is a PUData with the whole's prior, name, seed and design."""
    for name in ("train", "validation", "test"):
        part = getattr(data, name)
        assert isinstance(part, PUData)
        assert part.part == name
        assert part.prior == data.prior == data.y.mean()
        assert (part.name, part.seed, part.design) == (data.name, data.seed, data.design)
        assert {
            len(getattr(part, array)) for array in ARRAYS if getattr(part, array) is not None
        } == {len(part)}


@pytest.mark.parametrize("n", [1, 7, 20, 13_454, 70_692])
def test_parts_hold_every_row_once_and_are_70_15_15(n):
    """The parts together are the whole, and their sizes are 70, 15 and 15 per cent."""
    data = small(n)
    parts = [data.train, data.validation, data.test]
    assert np.array_equal(np.concatenate([part.X for part in parts]), data.X)
    assert [
        abs(len(part) - n * share) < 1 for part, share in zip(parts, (0.7, 0.15, 0.15), strict=True)
    ] == [True] * 3


def test_a_part_is_not_split_again(data):
    """Asking a part for its own parts says what it is."""
    with pytest.raises(AttributeError, match="test part of synth_1"):
        data.test.train  # noqa: B018


@pytest.mark.parametrize("name", ["X", "y", "s", "y_proba", "propensity", "score"])
def test_fingerprint_sees_every_array(data, name):
    """One changed entry of any array changes the fingerprint."""
    array = getattr(data, name).copy()
    array[3] = array[3] + 1
    assert replace(data, **{name: array}).fingerprint != data.fingerprint


def test_fingerprint_does_not_depend_on_byte_order_or_layout(data):
    """The same numbers, stored big-endian or by column, have the same fingerprint."""
    swapped = replace(data, X=data.X.astype(">f4"), y_proba=data.y_proba.astype(">f8"))
    assert swapped.fingerprint == data.fingerprint
    assert replace(data, X=np.asfortranarray(data.X)).fingerprint == data.fingerprint


def test_every_registered_set_is_like_one_of_the_paper():
    """Methods find their settings there; ten are the paper's own, four of them synthetic."""
    assert len(NAMES) == 10 and list(DATASETS)[:10] == list(NAMES)
    assert all(entry.like in NAMES for entry in DATASETS.values())
    assert tuple(name for name in DATASETS if DATASETS[name].synthetic) == SYNTHETIC
