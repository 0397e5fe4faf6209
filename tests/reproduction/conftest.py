"""Science that costs nothing, and what tests of runs share."""

import os
import time
from pathlib import Path

import pytest

from pu_utils.reproduction import runs

PATIENCE = 120  # seconds after which something never happens, on a machine that is very busy too


def cheap_science(experiment):
    """A result; of seed 6 no JSON; 7 breaks, 8 takes its process with it, 9 never ends."""
    if experiment.seed == 7:
        raise ZeroDivisionError("seed 7")
    if experiment.seed == 8:
        os._exit(5)
    accuracy = float("nan") if experiment.seed == 6 else 0.5 + experiment.seed / 1000
    time.sleep(600 if experiment.seed == 9 else 0.05 if experiment.seed >= 100 else 0)
    return {
        "settings": experiment.settings,
        "settings_hash": experiment.settings_hash,
        "data_fingerprint": "0" * 64,
        **runs.provenance(),
        "device": "cpu",
        "seconds": {"processor": 0.0, "total": 0.0},
        "metrics": [{"decision": "VP", "rule": "naive", "u_accuracy": accuracy}],
    }


@pytest.fixture
def cheap(monkeypatch):
    """Runs with science that costs nothing."""
    monkeypatch.setattr(runs, "compute", cheap_science)


def files(output):
    """Files of finished experiments."""
    return [path for path in Path(output).rglob("*.json") if "failed" not in path.name]


def wait_until(condition):
    """Wait for something to become true; fail if it does not."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)
