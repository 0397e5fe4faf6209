"""Cells, their names and settings, and the grids."""

import pytest

from pu_utils.data import NAMES
from pu_utils.experiments import Cell, cells, grid
from pu_utils.models import A3, Lbe, VaePu

CELL = Cell("synth_1", "released", 0.5, "vae_pu", "paper", 0)


def changed(**values):
    """CELL with other values."""
    return Cell(**{key: getattr(CELL, key) for key in cells.CELL_KEY} | values)


def test_equal_cells_have_one_name_and_hash():
    """The type of a number does not make another cell."""
    assert changed(label_frequency=1).name == changed(label_frequency=1.0).name
    assert changed(label_frequency=1).settings_hash == changed(label_frequency=1.0).settings_hash


def test_hash_depends_on_all_settings(monkeypatch):
    """Another value of any field, and another version of the science, give another hash."""
    others = {"dataset": "synth_2", "design": "text", "label_frequency": 0.7, "seed": 1}
    hashes = {changed().settings_hash}
    hashes |= {changed(**{key: value}).settings_hash for key, value in others.items()}
    hashes |= {changed(schedule="fast").settings_hash, changed(family="lbe").settings_hash}
    monkeypatch.setattr(cells, "SCIENCE_VERSION", dict.fromkeys(cells.FAMILIES, 99))
    hashes.add(changed().settings_hash)
    assert len(hashes) == 8


# Parameters that the engine gives in another way, and those that change no number here
ELSEWHERE = {"prior", "schedule", "released", "random_state"}
ELSEWHERE |= {"device", "verbose", "label_model", "odds", "validation_fraction"}


@pytest.mark.parametrize(
    ("estimator", "settings"), [(VaePu, cells.VAE_PU), (Lbe, cells.LBE), (A3, cells.A3)]
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
def test_bad_cells_are_refused(key, value):
    """The error names the argument and its value."""
    with pytest.raises(ValueError, match=f"{key} is {value!r}"):
        changed(**{key: value})


@pytest.mark.parametrize("name", ["fast", "paper_narrow"])
def test_schedules_of_networks_alone(name):
    """LBE has no such schedule: a grid gives it the paper's, a cell refuses."""
    with pytest.raises(ValueError, match=f"'lbe' knows no schedule '{name}'"):
        changed(family="lbe", schedule=name)
    schedules = {cell.family: cell.schedule for cell in grid("real", schedule=name)}
    assert schedules["vae_pu"] == name and schedules["lbe"] == schedules["reference"] == "paper"


def test_grids_refuse_an_unknown_schedule():
    """Of families without networks as well."""
    with pytest.raises(ValueError, match="schedule is 'fats'"):
        grid("real", schedule="fats", families=["lbe"])


def test_the_narrow_schedule_differs_in_one_thing():
    """From the paper's: the width of the autoencoder, which is that of the fast one."""
    paper, narrow, fast = (
        changed(schedule=name).settings["parameters"]["schedule"]
        for name in ("paper", "paper_narrow", "fast")
    )
    assert {key for key in paper if paper[key] != narrow[key]} == {"autoencoder_hidden"}
    assert narrow["autoencoder_hidden"] == fast["autoencoder_hidden"]


def test_sizes_of_the_grids():
    """Sets x designs x label frequencies x families x seeds."""
    assert len(grid("paper")) == 10 * 6 * 4 * 10
    assert len(grid("synthetic")) == 4 * 2 * 6 * 4 * 10
    assert len(grid("real")) == 5 * 6 * 4 * 10
    assert {cell.dataset for cell in grid("paper")} == set(NAMES)
    assert len({cell.name for cell in grid("paper")}) == len(grid("paper"))


def test_grid_changes():
    """Given axes replace the grid's own; None does not; unknown grids are refused."""
    chosen = grid("paper", seeds=[3], datasets=["synth_2"], label_frequencies=None)
    assert {cell.seed for cell in chosen} == {3} and len(chosen) == 6 * 4
    with pytest.raises(ValueError, match="grid is 'all'"):
        grid("all")
