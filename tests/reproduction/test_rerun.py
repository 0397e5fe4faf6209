"""What experiments cost, as recorded, and a grid run again from a notebook."""

import pandas as pd
import pytest

from pu_utils.__main__ import main
from pu_utils.reproduction import Experiment, collect, compute, recorded_seconds, rerun
from pu_utils.reproduction.results import write_result
from pu_utils.reproduction.runs import expected_time
from tests.reproduction.conftest import cheap_science


def experiment(dataset="synth_1", family="vae_pu", schedule="paper", label_frequency=0.5, seed=0):
    """An experiment of the released design."""
    return Experiment(dataset, "released", label_frequency, family, schedule, seed)


@pytest.fixture
def recorded(tmp_path):
    """A function from processor seconds of experiments to a directory that records them."""

    def record(seconds, **changes):
        for one, processor in seconds.items():
            times = {"seconds": {"processor": processor, "total": 2 * processor}}
            write_result(tmp_path / "runs", one, cheap_science(one) | times | changes)
        collect(tmp_path / "runs", tmp_path / "results")
        return tmp_path / "results"

    return record


def test_recorded_seconds(recorded, capsys):
    """Means over seeds and label frequencies; not of a GPU, nor of settings of the past."""
    recorded({experiment(seed=5): 1.0}, device="cuda")
    seconds = {experiment(seed=1): 10.0, experiment(label_frequency=0.1): 20.0}
    results = recorded(seconds | {experiment("synth_2"): 5.0, experiment(seed=4): 100.0})
    path = results / "cells.csv"
    path.write_text(path.read_text().replace(experiment(seed=4).settings_hash, "0" * 16))
    found = recorded_seconds(results)
    assert found.loc[("synth_1", "vae_pu", "paper")].tolist() == [15, 2]
    assert found.loc[("synth_2", "vae_pu", "paper")].tolist() == [5, 1]
    assert main(["costs", "--results", str(results)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split() == ["synth_2", "vae_pu", "paper", "5.0", "1"]


def test_expected_time(recorded):
    """An equal share for each worker, but never less than the longest; unknown kinds are said."""
    results = recorded({experiment(): 90.0, experiment("synth_2"): 30.0})
    two = [experiment(seed=7), experiment("synth_2", seed=7)]
    assert "about 2.0 minutes on 1 processor" in expected_time(two, results, 1)
    assert "about 1.5 minutes on 2 processor" in expected_time(two, results, 2)
    assert "and of 1 more nothing" in expected_time([*two, experiment("synth_3")], results, 2)
    assert "is not known" in expected_time([experiment(family="lbe")], results)


def test_rerun_computes_once(tmp_path, capsys):
    """The results are those of the experiments; the second call finds nothing left to do."""
    options = {"datasets": ["synth_1"], "families": ["reference"], "seeds": range(2)}
    results = rerun("smoke", tmp_path, 2, **options)
    first = compute(experiment(family="reference", schedule="smoke"))["metrics"][0]
    ours = results.query("seed == 0 and decision == @first['decision'] and rule == @first['rule']")
    assert ours["u_auc"].item() == pytest.approx(first["u_auc"], abs=1e-6)
    printed = capsys.readouterr().out
    assert "2 of 2 experiments are left" in printed and "is not known" in printed
    pd.testing.assert_frame_equal(rerun("smoke", tmp_path, 1, **options), results)
    assert capsys.readouterr().out == "0 of 2 experiments are left\n"


def test_rerun_names_failures_and_returns_the_rest(cheap, tmp_path, capsys):
    """An experiment that breaks costs no other; it is tried again when that is asked for."""
    options = {"datasets": ["synth_1"], "families": ["lbe"], "seeds": (5, 7)}
    assert set(rerun("smoke", tmp_path, 1, **options)["seed"]) == {5}
    printed = capsys.readouterr().out
    assert "failed: synth_1/released/c0.5/lbe-smoke-seed7: ZeroDivisionError: seed 7" in printed
    rerun("smoke", tmp_path, 1, **options)
    printed = capsys.readouterr().out
    assert "0 of 2 experiments are left" in printed and "failed: synth_1" in printed
    rerun("smoke", tmp_path, 1, retry_failed=True, **options)
    assert "1 of 2 experiments are left" in capsys.readouterr().out
