"""The confirmation: what was frozen before it ran, and that no class is seen but by the metrics."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pu_utils.data import load
from pu_utils.reproduction.compute import Stopwatch
from pu_utils.reproduction.experiment import GRIDS, LABEL_FREQUENCIES
from pu_utils.reproduction.families import EM_CHANGES, FAMILIES
from pu_utils.reproduction.record import current_experiments, read_experiments

RESULTS = Path(__file__).parents[2] / "results" / "confirmation"
GRID = GRIDS["confirmation"]
FAST = ("reference", "elkan_noto", "upu", "sar_em", "augmented_em", "augmented_em_told")
FAST += ("em_told_gaussian",)


def frozen():
    """The grid and every parameter of the methods, in JSON's types."""
    names = {name: "fast" if name == "vae_pu_bayes" else "paper" for name in GRID["families"]}
    parameters = {
        name: {data: FAMILIES[name].parameters(data, schedule) for data in GRID["datasets"]}
        for name, schedule in names.items()
    }
    return json.loads(
        json.dumps(
            {
                "seeds": GRID["seeds"],
                "datasets": GRID["datasets"],
                "label_frequencies": LABEL_FREQUENCIES,
                "design": "released",
                "versions": {name: FAMILIES[name].version for name in names},
                "parameters": {name: _once(sets) for name, sets in parameters.items()},
                "sensitivity": EM_CHANGES,
            }
        )
    )


def _once(sets):
    first = next(iter(sets.values()))
    return {"all": first} if all(value == first for value in sets.values()) else sets


def test_settings_are_those_that_were_frozen():
    """The file was committed before the first result; nothing may have changed since."""
    assert json.loads((RESULTS / "frozen.json").read_text("utf-8"))["settings"] == frozen()


def test_what_was_frozen_later():
    """Two Gaussians: a file of their own, committed before the first of their results."""
    file = RESULTS / "frozen_two_gaussians.json"
    settings = json.loads(file.read_text("utf-8"))["settings"]
    family = FAMILIES[settings.pop("family")]
    parameters = json.loads(json.dumps(family.parameters("cifar_ct", "paper")))
    assert settings.pop("parameters") == parameters
    assert settings.pop("version") == family.version
    assert settings == {name: frozen()[name] for name in settings}


def test_recorded_results_are_of_the_frozen_settings():
    """Each is current, and of a seed that had not been used before."""
    recorded = read_experiments(RESULTS)
    assert None not in current_experiments(recorded)
    assert set(recorded["seed"]) <= set(GRID["seeds"])


@pytest.mark.parametrize("family", [*FAST, "lbe", "vae_pu_bayes"])
def test_true_classes_are_seen_by_the_metrics_alone(family):
    """With noise for Y the estimates are the same, number by number."""
    data = load("synth_1", 0.5, 0, "released")
    few = slice(0, 2000)
    arrays = ("X", "y", "s", "y_proba", "propensity", "score")
    data = replace(data, **{name: getattr(data, name)[few] for name in arrays})
    noise = np.random.default_rng(0).integers(0, 2, len(data)).astype(np.int8)
    parameters = FAMILIES[family].parameters("synth_1", "smoke")
    truth, noisy = (
        FAMILIES[family].decide(rows, parameters, 0, Stopwatch())
        for rows in (data, replace(data, y=noise))
    )
    for one, other in zip(truth, noisy, strict=True):
        assert np.array_equal(one.predict(data.test.s), other.predict(data.test.s))
        assert np.array_equal(one.y_proba, other.y_proba)
        assert np.array_equal(one.s_proba, other.s_proba)
