"""The confirmation: what was frozen before it ran, and that no class is seen but by the metrics.

So are ``questions``, five tables that the paper does not have.
"""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pu_utils.data import load
from pu_utils.models.augmented_em import RIDGES
from pu_utils.reproduction.experiment import GRIDS, LABEL_FREQUENCIES
from pu_utils.reproduction.families import EM_CHANGES, FAMILIES
from pu_utils.reproduction.results import current_experiments, read_experiments
from pu_utils.reproduction.runs import Stopwatch

RESULTS = Path(__file__).parents[2] / "results"
BOTH = pytest.mark.parametrize("name", ["confirmation", "questions"])
FAST = ("reference", "elkan_noto", "upu", "sar_em", "augmented_em", "augmented_em_told")
FAST += ("em_told_gaussian", "em_ridge")


def frozen(grid):
    """A grid and every parameter of its methods, in JSON's types."""
    names = {name: "fast" if name == "vae_pu_bayes" else "paper" for name in grid["families"]}
    parameters = {
        name: {data: FAMILIES[name].parameters(data, schedule) for data in grid["datasets"]}
        for name, schedule in names.items()
    }
    for sets in parameters.values():  # since then SAR-EM and uPU have a seed on wide sets
        for one in sets.values():
            one.pop("seeded", None)
    return json.loads(
        json.dumps(
            {
                "seeds": grid["seeds"],
                "datasets": grid["datasets"],
                "label_frequencies": LABEL_FREQUENCIES,
                "design": "released",
                "versions": {name: FAMILIES[name].version for name in names},
                "parameters": {name: _once(sets) for name, sets in parameters.items()},
            }
        )
    )


def _once(sets):
    first = next(iter(sets.values()))
    return {"all": first} if all(value == first for value in sets.values()) else sets


@BOTH
def test_settings_are_those_that_were_frozen(name):
    """The file was committed before the first result; nothing may have changed since."""
    settings = json.loads((RESULTS / name / "frozen.json").read_text("utf-8"))["settings"]
    assert settings.pop("sensitivity", EM_CHANGES) == EM_CHANGES
    assert settings == frozen(GRIDS[name])


@pytest.mark.parametrize("file", ["confirmation/frozen_two_gaussians", "questions/frozen_ridge"])
def test_what_was_frozen_later(file):
    """Two Gaussians and the ridge: files of their own, committed before their first results."""
    settings = json.loads((RESULTS / f"{file}.json").read_text("utf-8"))["settings"]
    family = FAMILIES[settings.pop("family")]
    parameters = json.loads(json.dumps(family.parameters("cifar_ct", "paper")))
    assert settings.pop("parameters") == parameters
    assert settings.pop("version") == family.version
    assert settings.pop("ridges", list(RIDGES)) == list(RIDGES)
    known = [*GRIDS["confirmation"]["datasets"], *GRIDS["questions"]["datasets"]]
    assert set(settings.pop("datasets")) <= set(known)
    whole = frozen(GRIDS["confirmation"])
    assert settings == {name: whole[name] for name in settings}


@BOTH
def test_recorded_results_are_of_the_frozen_settings(name):
    """Each is current, and of a seed that had not been used before."""
    recorded = read_experiments(RESULTS / name)
    assert len(recorded) and None not in current_experiments(recorded)
    assert set(recorded["seed"]) <= set(GRIDS[name]["seeds"])


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
