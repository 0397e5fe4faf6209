"""Experiments that differ in seed alone, computed as one stack."""

import time

import pytest

from pu_utils.reproduction import compute, grid, run, runner
from pu_utils.reproduction.compute import compute_stacked
from pu_utils.reproduction.output import failure_path, read_result, result_path, state
from tests.reproduction.conftest import cheap_science

OPTIONS = {"label_frequencies": [0.5], "seeds": range(3)}


@pytest.mark.parametrize(
    ("dataset", "family"), [("synth_1", "vae_pu_bayes"), ("cdc_diabetes", "vae_pu")]
)
def test_a_stack_gives_the_results_of_its_experiments(dataset, family):
    """But for rounding, which may move a row across a threshold, and for what device says."""
    experiments = grid("smoke", datasets=[dataset], families=[family], **OPTIONS)
    for found, experiment in zip(compute_stacked(experiments), experiments, strict=True):
        alone = compute(experiment)
        assert found["device"] == f"{alone['device']}, 3 seeds stacked"
        assert found["seconds"].keys() == alone["seconds"].keys()
        same = ("settings", "settings_hash", "data_fingerprint", "versions")
        assert all(found[name] == alone[name] for name in same)
        for ours, theirs in zip(found["metrics"], alone["metrics"], strict=True):
            # where s(x) and y(x) are as good as equal, ytilde is 0 and its log loss cut off, or not
            theirs.pop("purity", None)  # a stack keeps none
            cut = ours.pop("u_log_loss", 0), theirs.pop("u_log_loss", 0)
            assert cut[0] == pytest.approx(cut[1], rel=0.01)
            assert ours == pytest.approx(theirs, abs=0.005)


@pytest.fixture
def stacks(cheap, monkeypatch):
    """The seeds of the stacks of a run whose science costs nothing; those with seed 9 break."""
    monkeypatch.setattr(runner, "compute_stacked", stack_science)


def stack_science(experiments):
    """Results of a stack, which breaks as a whole if one of its experiments does."""
    if any(one.seed == 9 for one in experiments):
        raise ZeroDivisionError("seed 9 in a stack")
    results = [cheap_science(one) for one in experiments]
    seeds = [one.seed for one in experiments]
    return [result | {"device": f"stack of {seeds}"} for result in results]


def devices(output, experiments):
    """What computed each experiment."""
    return [read_result(result_path(output, one))["device"] for one in experiments]


def test_seeds_are_grouped(stacks, tmp_path):
    """Those of one cell that are not done; families that do not stack are left alone."""
    cells = {"datasets": ["synth_1", "synth_2"], "label_frequencies": [0.5]}
    first = grid("smoke", families=["vae_pu"], seeds=[1], **cells)
    assert run(first, tmp_path, workers=1, stacked=True) == []
    assert devices(tmp_path, first) == ["cpu", "cpu"]  # one seed is no stack
    experiments = grid("smoke", families=["vae_pu", "lbe"], seeds=range(4), **cells)
    assert run(experiments, tmp_path, workers=2, stacked=True) == []
    expected = {"lbe": "cpu", "vae_pu": "stack of [0, 2, 3]"}
    for one, found in zip(experiments, devices(tmp_path, experiments), strict=True):
        assert found == ("cpu" if one.seed == 1 else expected[one.family])


def test_a_stack_that_fails_is_computed_one_by_one(stacks, tmp_path):
    """An exception, or the end of the process, costs no experiment but the one that caused it."""
    for seeds, broken in (((5, 9), []), ((1, 7), [7]), ((2, 8), [8])):
        experiments = grid("smoke", datasets=["synth_1"], families=["vae_pu"], seeds=seeds)
        assert [one.seed for one in run(experiments, tmp_path, 1, stacked=True)] == broken
        done = [one for one in experiments if one.seed not in broken]
        assert devices(tmp_path, done) == ["cpu"] * len(done)
    assert "exit code 5" in read_result(failure_path(tmp_path, experiments[1]))["traceback"]


@pytest.mark.parametrize(("device", "stacked"), [("cuda", True), ("cpu", False)])
def test_a_gpu_decides(device, stacked, stacks, tmp_path, monkeypatch):
    """Stacks are made where there is one, unless it is said otherwise."""
    monkeypatch.setattr(runner, "device", lambda: device)
    experiments = grid("smoke", datasets=["synth_1"], families=["vae_pu"], seeds=[0, 1])
    run(experiments, tmp_path / "auto", workers=1)
    assert devices(tmp_path / "auto", experiments) == ["stack of [0, 1]" if stacked else "cpu"] * 2
    run(experiments, tmp_path / "single", workers=1, stacked=False)
    assert devices(tmp_path / "single", experiments) == ["cpu"] * 2


def test_a_log_file_gets_few_lines_of_progress(monkeypatch, tmp_path, capsys):
    """Where the bar cannot be drawn over, it is written at the beginning and at the end."""
    monkeypatch.setattr(runner, "START_METHOD", "fork")
    monkeypatch.setattr(runner, "compute", lambda one: time.sleep(0.15) or cheap_science(one))
    experiments = grid("smoke", datasets=["synth_1"], families=["lbe"], seeds=range(6))
    run(experiments, tmp_path, workers=1)
    assert all(state(tmp_path, one) == "done" for one in experiments)
    assert capsys.readouterr().err.count("experiment") <= 3
