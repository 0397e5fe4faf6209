"""Experiments, their names and settings, and the grids."""

from dataclasses import replace

import pytest

from pu_utils.data import NAMES
from pu_utils.models import A3, Lbe, VaePu
from pu_utils.reproduction import FAMILIES, Experiment, experiment, families, grid

EXPERIMENT = Experiment("synth_1", "released", 0.5, "vae_pu", "paper", 0)


def changed(**values):
    """EXPERIMENT with other values."""
    return Experiment(**{key: getattr(EXPERIMENT, key) for key in experiment.KEY} | values)


def test_equal_experiments_have_one_name_and_hash():
    """The type of a number does not make another experiment."""
    assert changed(label_frequency=1).name == changed(label_frequency=1.0).name
    assert changed(label_frequency=1).settings_hash == changed(label_frequency=1.0).settings_hash


def test_hash_depends_on_all_settings(monkeypatch):
    """Another value of any field, and another version of the science, give another hash."""
    others = {"dataset": "synth_2", "design": "text", "label_frequency": 0.7, "seed": 1}
    hashes = {changed().settings_hash}
    hashes |= {changed(**{key: value}).settings_hash for key, value in others.items()}
    hashes |= {changed(schedule="fast").settings_hash, changed(family="lbe").settings_hash}
    monkeypatch.setitem(FAMILIES, "vae_pu", replace(FAMILIES["vae_pu"], version=99))
    hashes.add(changed().settings_hash)
    assert len(hashes) == 8


# Parameters that the runner gives in another way, and those that change no number here
ELSEWHERE = {"prior", "schedule", "released", "random_state", "standardise", "positive"}
ELSEWHERE |= {"device", "verbose", "label_model", "label_frequency", "odds", "validation_fraction"}


@pytest.mark.parametrize(
    ("estimator", "settings"), [(VaePu, families.VAE_PU), (Lbe, families.LBE), (A3, families.A3)]
)
def test_settings_are_the_estimators_defaults(estimator, settings):
    """What is spelt out here, so that its change is noticed, is what the estimators do."""
    defaults = estimator().get_params()
    assert settings == {name: defaults[name] for name in set(defaults) - ELSEWHERE}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("dataset", "mnist"),
        ("design", "both"),
        ("family", "VP"),
        ("schedule", "slow"),
        ("label_frequency", 0),
    ],
)
def test_bad_experiments_are_refused(key, value):
    """The error names the argument and its value."""
    with pytest.raises(ValueError, match=f"{key} is {value!r}"):
        changed(**{key: value})


@pytest.mark.parametrize("name", ["fast", "paper_equal_narrow"])
def test_schedules_of_networks_alone(name):
    """LBE has no such schedule: a grid gives it the paper's, an experiment refuses."""
    with pytest.raises(ValueError, match=f"'lbe' knows no schedule '{name}'"):
        changed(family="lbe", schedule=name)
    schedules = {one.family: one.schedule for one in grid("real", schedule=name)}
    assert schedules["vae_pu"] == name and schedules["lbe"] == schedules["reference"] == "paper"


def test_sizes_of_the_grids():
    """Sets x designs x label frequencies x families x seeds."""
    assert len(grid("paper")) == 10 * 6 * 5 * 10
    assert len(grid("synthetic")) == 4 * 2 * 6 * 5 * 10
    assert len(grid("real")) == 6 * 6 * 5 * 10
    assert {one.dataset for one in grid("paper")} == set(NAMES)
    assert len({one.name for one in grid("paper")}) == len(grid("paper"))


def test_grid_changes():
    """Given axes replace the grid's own; None does not; unknown grids are refused."""
    chosen = grid("paper", seeds=[3], datasets=["synth_2"], label_frequencies=None)
    assert {one.seed for one in chosen} == {3} and len(chosen) == 6 * 5
    with pytest.raises(ValueError, match="grid is 'all'"):
        grid("all")
    with pytest.raises(ValueError, match="schedule is 'fats'"):
        grid("real", schedule="fats", families=["lbe"])
