"""What cells cost: counted operations, recorded seconds, and a grid run again."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from pu_utils.data import NAMES
from pu_utils.data.samples import SAMPLES
from pu_utils.experiments import (
    Cell,
    cells,
    compute,
    costs,
    counting,
    elapsed_seconds,
    engine,
    estimated_gpu_seconds,
    expected_seconds,
    grid,
    operations,
    output_folder,
    parts,
    read_cells,
    recorded_seconds,
    rerun,
    rerunning,
)
from pu_utils.experiments.recorded import _cell_row
from pu_utils.models import a3, lbe, networks
from pu_utils.tables import published_datasets
from tests.experiments.conftest import cheap_science

RESULTS = Path(__file__).parents[2] / "results"


def cell(dataset="synth_1", family="vae_pu", schedule="paper", label_frequency=0.5, seed=0):
    """A cell of the released design."""
    return Cell(dataset, "released", label_frequency, family, schedule, seed)


def recorded(seconds, device="cpu"):
    """Rows as of ``read_cells``, from cells and their processor seconds."""
    rows = []
    for one, processor in seconds.items():
        times = {"seconds": {"processor": processor, "total": 2 * processor}, "device": device}
        rows.append(_cell_row(one, cheap_science(one) | times))
    return pd.DataFrame(rows)


# Operations


@pytest.fixture
def no_predictions(monkeypatch):
    """Trainings without the predictions that follow them, which are not counted."""

    def undecided(network, X, device):
        return np.full((len(X), 2) if isinstance(network, lbe.Dense) else len(X), 0.5)

    for module in (a3, networks):
        monkeypatch.setattr(module, "predict_in_batches", undecided)


@pytest.mark.parametrize(
    ("dataset", "family"),
    [
        ("synth_1", "vae_pu"),
        ("cdc_diabetes", "vae_pu"),
        ("synth_1", "lbe"),
        ("synth_1", "lbe_released"),
    ],
)
def test_operations_are_those_of_the_training(dataset, family, no_predictions):
    """Torch's own counter, on the real training, finds the same to 2 %."""
    smoke = cell(dataset, family, "smoke")
    with FlopCounterMode(display=False) as counter:
        compute(smoke)
    assert operations(smoke) == pytest.approx(counter.get_total_flops(), rel=0.02)


@pytest.fixture
def schedules(monkeypatch):
    """A function from changes of the paper's schedule to the parts of a cell that follows it."""

    def changed(dataset="cdc_diabetes", **settings):
        schedule = replace(cells.SCHEDULES["paper"], **settings)
        monkeypatch.setattr(cells, "_schedule", lambda *_: schedule)
        cells._parameters.cache_clear()
        return parts(cell(dataset))

    yield changed
    cells._parameters.cache_clear()


def test_all_of_u_is_quadratic_in_rows(monkeypatch, schedules):
    """Ten times the rows: a hundred times the operations with all of U, ten times on batches."""
    for pool, power in (("all", 2), ("batch", 1)):
        few = schedules("cifar_ct", target_pool=pool)["target classifier"]
        with monkeypatch.context() as patch:
            patch.setitem(counting.SIZES, "cifar_ct", (120_000, 512, 0.5))
            many = schedules("cifar_ct", target_pool=pool)["target classifier"]
        assert many.operations / few.operations == pytest.approx(10**power, rel=0.05)


@pytest.mark.parametrize(
    ("part", "settings"),
    [
        ("label model", {"label_epochs": 12}),
        ("fine-tuning", {"fine_tuning_steps": 17}),
        ("autoencoder", {"epoch_steps": 7}),
        ("target classifier", {"epoch_steps": 7}),
        ("one-class models", {"generated_rows": 5_000}),
        ("autoencoder", {"pretraining_epochs": 0}),
        ("target classifier", {"phase_epochs": (400, 0, 100, 100, 0)}),
    ],
)
def test_a_shorter_schedule_is_less_work(part, settings, schedules):
    """Each limit of a schedule lowers steps and operations of its part, and of no other."""
    full, short = schedules(), schedules(**settings)
    assert short[part].operations < full[part].operations
    if part != "one-class models":  # their rows are fewer, in as many epochs
        assert short[part].steps < full[part].steps
    if "epoch_steps" not in settings:
        assert {name for name in full if short[name] != full[name]} == {part}


def test_label_model_is_counted_as_it_usually_stops(monkeypatch):
    """Not with all the epochs that it may have."""
    usual = parts(cell())["label model"]
    monkeypatch.setattr(counting, "LABEL_EPOCHS", 2 * counting.LABEL_EPOCHS)
    assert parts(cell())["label model"] == tuple(2 * value for value in usual)


def test_epochs_of_synthetic_sets_are_halved(monkeypatch):
    """The factor of the epochs is counted."""
    halved = parts(cell())["autoencoder"].steps
    monkeypatch.setattr(cells, "paper_settings", lambda dataset: {})
    cells._parameters.cache_clear()
    assert parts(cell(seed=1))["autoencoder"].steps == 2 * halved
    cells._parameters.cache_clear()


def test_families_and_their_operations():
    """Looking at the truth costs none; one round of EM is a fiftieth of fifty."""
    assert operations(cell(family="reference")) == 0
    full, released = (operations(cell(family=name)) for name in ("lbe", "lbe_released"))
    assert 0 < 50 * released == full < operations(cell()) / 100


def test_sizes_are_those_of_the_data():
    """What is spelt out for counting is what the data chapter reports, and STL-10's published."""
    ours = pd.read_csv(RESULTS / "datasets.csv").set_index("dataset")
    ours = ours.fillna(published_datasets().set_index("dataset"))
    for name, size in ours[["samples", "features", "prior"]].iterrows():
        assert counting.SIZES[name] == tuple(size)
    assert set(counting.SIZES) == set(NAMES) and set(counting.SAMPLE_ROWS) == set(SAMPLES)


# Seconds


def test_recorded_cells_of_the_same_kind_are_averaged():
    """Seeds and label frequencies are one kind; the cell itself need not be recorded."""
    known = recorded({cell(seed=0): 10.0, cell(label_frequency=0.1): 20.0, cell("synth_2"): 5.0})
    row = recorded_seconds(known).loc[("synth_1", "vae_pu", "paper")]
    assert (row["seconds"], row["cells"]) == (15, 2)
    assert operations(cell()) < row["operations"] < operations(cell(label_frequency=0.1))
    found = expected_seconds([cell(seed=7), cell("synth_2", seed=7)], known)
    assert list(found["seconds"]) == [15, 5] and found["measured"].all()
    assert list(found["dataset"]) == ["synth_1", "synth_2"] and set(found["seed"]) == {7}


def test_other_sets_are_extrapolated():
    """VAE-PU by its operations, the others by their rows; not measured."""
    known = recorded({cell(family=name): 10.0 for name in cells.FAMILIES})
    found = expected_seconds([cell("cifar_va", name) for name in cells.FAMILIES], known)
    assert not found["measured"].any()
    vae_pu_, *others = found["seconds"]
    assert vae_pu_ == pytest.approx(10 * operations(cell("cifar_va")) / operations(cell()))
    assert others == pytest.approx([10 * 60_000 / 10_000] * 3)


def test_the_same_schedule_is_preferred():
    """Other schedules of the family serve only where there is no cell of the same one."""
    paper, fast = cell(), cell(schedule="fast")
    wanted = [cell("synth_2", schedule="fast")]
    (found,) = expected_seconds(wanted, recorded({paper: 100.0}))["seconds"]
    assert found == pytest.approx(100 * operations(fast) / operations(paper))
    (found,) = expected_seconds(wanted, recorded({paper: 100.0, fast: 40.0}))["seconds"]
    assert found == pytest.approx(40)


def test_cells_that_say_nothing_are_left_out(monkeypatch):
    """Those of a GPU, and those with settings of the past."""
    known = pd.concat([recorded({cell(): 1.0}, device="cuda"), recorded({cell(seed=1): 9.0})])
    assert recorded_seconds(known)["seconds"].tolist() == [9]
    monkeypatch.setattr(cells, "SCIENCE_VERSION", dict.fromkeys(cells.FAMILIES, 99))
    with pytest.raises(ValueError, match="no cell of family 'vae_pu' is recorded"):
        expected_seconds([cell(seed=2)], known)


def test_nothing_recorded(tmp_path):
    """The error names the family and what to do."""
    with pytest.raises(ValueError, match=r"no cell of family 'lbe' is recorded.* collect one"):
        expected_seconds([cell(family="lbe")], read_cells(tmp_path))


def test_committed_results_cost_every_grid():
    """Whatever is recorded, it is enough to say what each grid costs."""
    known = read_cells(RESULTS)
    for name in cells.GRIDS:
        found = expected_seconds(grid(name, seeds=[0]), known)
        assert (found["seconds"] > 0).all() and np.isfinite(found["seconds"]).all()


def test_elapsed_seconds():
    """An equal share, but never less than the longest cell; no worker, no time."""
    found = pd.DataFrame({"seconds": [1.0, 2.0, 3.0]})
    assert [elapsed_seconds(found, n) for n in (1, 2, 9)] == [6, 3, 3]
    with pytest.raises(ValueError, match="workers is 0"):
        elapsed_seconds(found, 0)


def test_gpu_estimate(monkeypatch):
    """Operations or steps, whichever take longer; the other families as on a processor."""
    known = recorded({cell(): 100.0, cell(family="lbe"): 7.0})
    trained, other = (expected_seconds([one], known) for one in (cell(), cell(family="lbe")))
    assert estimated_gpu_seconds(other) == 7
    monkeypatch.setattr(costs, "GPU_STEP_SECONDS", 0)
    by_operations = operations(cell()) / (costs.GPU_SHARE * costs.T4_PEAK_OPERATIONS)
    assert estimated_gpu_seconds(trained) == pytest.approx(by_operations)
    monkeypatch.setattr(costs, "GPU_STEP_SECONDS", 1e3)
    by_steps = 1e3 * sum(part.steps for part in parts(cell()).values())
    assert estimated_gpu_seconds(pd.concat([trained, other])) == pytest.approx(by_steps + 7)


# A grid run again

SMOKE = {"datasets": ["synth_1"], "recorded": RESULTS}


def test_rerun_computes_once(monkeypatch, tmp_path, capsys):
    """The metrics are those of the cells; the second call finds nothing left to do."""
    monkeypatch.setattr(engine, "START_METHOD", "fork")
    options = SMOKE | {"families": ["reference"], "seeds": range(2)}
    metrics = rerun("smoke", tmp_path, 1, **options)
    first = compute(cell(family="reference", schedule="smoke"))["metrics"][0]
    ours = metrics.query("seed == 0 and decision == @first['decision'] and rule == @first['rule']")
    assert ours.set_index("metric")["value"]["accuracy"] == pytest.approx(first["accuracy"])
    printed = capsys.readouterr().out
    assert "2 of 2 cells are left" in printed and "on 1 processor" in printed
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*seed*.json")}
    pd.testing.assert_frame_equal(rerun("smoke", tmp_path, 1, **options), metrics)
    assert {path: path.stat().st_mtime_ns for path in before} == before and len(before) == 2
    assert capsys.readouterr().out == "0 of 2 cells are left\n"


def test_rerun_names_failures_and_returns_the_rest(cheap, tmp_path, capsys):
    """A cell that breaks costs no other; it is tried again when that is asked for."""
    options = SMOKE | {"families": ["lbe"], "seeds": (6, 7)}
    assert set(rerun("smoke", tmp_path, 1, **options)["seed"]) == {6}
    printed = capsys.readouterr().out
    assert "failed: synth_1/released/c0.5/lbe-smoke-seed7: ZeroDivisionError: seed 7" in printed
    rerun("smoke", tmp_path, 1, **options)
    printed = capsys.readouterr().out
    assert "0 of 2 cells are left" in printed and "failed: synth_1" in printed
    rerun("smoke", tmp_path, 1, retry_failed=True, **options)
    assert "1 of 2 cells are left" in capsys.readouterr().out


def test_rerun_without_recorded_costs(cheap, tmp_path, capsys):
    """Not knowing the time is no reason not to run."""
    options = SMOKE | {"families": ["lbe"], "recorded": tmp_path / "nothing"}
    assert len(rerun("smoke", tmp_path, 1, **options)) == 2
    assert "is not known: no cell of family 'lbe'" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("gpu", "asked", "given"), [(True, None, 1), (False, None, None), (True, 3, 3)]
)
def test_rerun_on_a_gpu(gpu, asked, given, monkeypatch, tmp_path, capsys):
    """One worker where none is asked for, and the estimate is called one."""
    workers = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setattr(rerunning, "run", lambda *a, **k: workers.append(a[2]) or [])
    assert rerun("smoke", tmp_path, asked, **SMOKE).empty
    assert workers == [given]
    assert ("an estimated" in capsys.readouterr().out) == gpu


def test_output_folder_is_on_the_drive_of_colab_users(monkeypatch):
    """It is mounted first; elsewhere nothing is."""
    assert output_folder("here") == "here"
    mounted = []
    colab = SimpleNamespace(drive=SimpleNamespace(mount=mounted.append))
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    assert output_folder().startswith(mounted[0])
