"""Collected results, and their verification."""

import numpy as np
import pandas as pd
import pytest

from pu_utils.__main__ import main
from pu_utils.experiments import (
    cells,
    cli,
    collect,
    grid,
    read_cells,
    read_estimates,
    read_metrics,
    recorded,
    store,
    verify,
)
from pu_utils.metrics import u_accuracy
from pu_utils.rules import augmented_rule
from tests.experiments.conftest import cheap_science


def record(output, chosen):
    """Write cheap results of cells."""
    for cell in chosen:
        store.write_result(output, cell, cheap_science(cell))


@pytest.fixture
def folders(tmp_path):
    """An output directory with the smoke cells of two seeds, and where to collect them."""
    record(tmp_path / "runs", grid("smoke"))
    return tmp_path / "runs", tmp_path / "results"


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Collected results of reference cells, really computed."""
    folder = tmp_path_factory.mktemp("computed")
    for cell in grid("smoke", families=["reference"]):
        store.write_result(folder / "runs", cell, recorded.compute(cell))
    collect(folder / "runs", folder / "results")
    return folder / "results"


def test_collect_writes_every_cell_once(folders):
    """One row per cell, decision and metric; one per cell with its provenance."""
    assert collect(*folders) == (16, [])
    metrics, found = read_metrics(folders[1]), read_cells(folders[1])
    assert len(metrics) == len(found) == 16 and list(metrics) == recorded.METRIC_COLUMNS
    assert set(metrics["value"]) == {0.5, 0.501}
    hashes = {cell.settings_hash for cell in grid("smoke")}
    assert set(found["settings_hash"]) == hashes and (found["seconds"] == 0).all()


def test_collect_again_changes_nothing(folders):
    """The same cells give the same bytes, whatever was there before."""
    collect(*folders)
    before = {path: path.read_bytes() for path in folders[1].iterdir()}
    collect(*folders)
    assert {path: path.read_bytes() for path in folders[1].iterdir()} == before


def test_collect_keeps_cells_of_other_directories(folders, tmp_path):
    """Cells collected before from elsewhere stay, those of the directory are replaced."""
    collect(*folders)
    record(tmp_path / "more", grid("smoke", seeds=(1, 2)))
    assert collect(tmp_path / "more", folders[1]) == (24, [])
    record(folders[0], grid("smoke", seeds=(0, 1, 2)))
    apart = {path.name: path.read_bytes() for path in folders[1].iterdir()}
    assert collect(folders[0], tmp_path / "together") == (24, [])
    assert {p.name: p.read_bytes() for p in (tmp_path / "together").iterdir()} == apart


def test_collect_leaves_stale_results_out(folders, monkeypatch):
    """After a change of the science neither old files nor old rows are mixed in."""
    collect(*folders)
    monkeypatch.setattr(cells, "SCIENCE_VERSION", dict.fromkeys(cells.FAMILIES, 99))
    fresh = grid("smoke", seeds=(0,))
    record(folders[0], fresh)
    n_cells, stale = collect(*folders)
    assert n_cells == len(fresh) == 8
    assert len(stale) == 8 + 16  # files of the other seed; rows of both
    assert set(read_metrics(folders[1])["seed"]) == {0}


def test_collect_forgets_a_set_whose_cells_are_all_stale(folders, monkeypatch):
    """Neither cells nor metrics of it remain."""
    collect(*folders)
    monkeypatch.setattr(cells, "SCIENCE_VERSION", dict.fromkeys(cells.FAMILIES, 99))
    fresh = grid("smoke", datasets=["synth_1"])
    record(folders[0], fresh)
    assert collect(*folders)[0] == len(fresh)
    assert set(read_metrics(folders[1])["dataset"]) == {"synth_1"}


def test_collect_leaves_cells_out_that_no_longer_exist(folders):
    """A data set that was renamed does not stop the collection of the others."""
    collect(*folders)
    path = folders[1] / "cells.csv"
    path.write_text(path.read_text().replace("cdc_diabetes", "diabetes"))
    n_cells, stale = collect(*folders)
    assert n_cells == 16 and len(stale) == 8 and stale[0].startswith("diabetes released 0.5")


def test_undefined_metrics_are_empty(tmp_path):
    """A null comes back as NaN, also after a second collection."""
    (cell, *_) = grid("smoke")
    result = cheap_science(cell)
    result["metrics"][0]["u_recall"] = None
    store.write_result(tmp_path / "runs", cell, result)
    for output in ("runs", "nothing"):
        collect(tmp_path / output, tmp_path / "results")
        metrics = read_metrics(tmp_path / "results").set_index("metric")["value"]
        assert pd.isna(metrics["u_recall"]) and metrics["u_accuracy"] == 0.5


def test_nothing_recorded(tmp_path):
    """Without files there are no rows, but the columns."""
    assert list(read_metrics(tmp_path)) == recorded.METRIC_COLUMNS
    assert list(read_cells(tmp_path)) == recorded.CELL_COLUMNS


def test_commands(folders, capsys):
    """status counts and lists stale files; collect says how many and what it left out."""
    output, results = map(str, folders)
    store.write_text(folders[0] / "synth_1" / "old.json", "{}")
    assert main(["status", "smoke", "--output", output, "--seeds", "0", "1", "2"]) == 0
    printed = capsys.readouterr().out
    assert "16 done, 0 stale, 0 failed, 8 missing" in printed and "old.json" in printed
    assert main(["collect", "--output", output, "--results", results]) == 0
    printed = capsys.readouterr()
    assert "16 cells" in printed.out and "old.json" in printed.err


def test_verify_holds_for_what_was_computed(computed, capsys):
    """From the CSV files alone, exactly, on the same machine."""
    (verdict,) = verify(computed, 1, families=["reference"], datasets=["synth_1"], seed=0)
    assert verdict["cell"].startswith("synth_1 released 0.5 reference smoke")
    assert verdict["problem"] is None and verdict["largest"] <= verdict["tolerance"] == 5e-7
    assert main(["verify", "--results", str(computed), "--cells", "9"]) == 0
    assert capsys.readouterr().out.count("holds") == 4


def altered(computed, folder, name, change):
    """A copy of the results with one file changed."""
    for path in computed.iterdir():
        text = path.read_text()
        (folder / path.name).write_text(change(text) if path.name == name else text)
    return folder


def test_verify_finds_an_altered_figure(computed, tmp_path, capsys):
    """A figure that is off by its last digit is found, and the exit code says so."""
    one_up = altered(
        computed,
        tmp_path,
        "metrics_synth_1.csv",
        lambda text: "\n".join(
            line[:-1] + ("1" if line.endswith("0") else "0") if "u_accuracy" in line else line
            for line in text.splitlines()
        ),
    )
    assert main(["verify", "--results", str(one_up), "--cells", "4"]) == 1
    assert capsys.readouterr().out.count("differs most in") == 2


def test_verify_finds_a_missing_figure(computed, tmp_path):
    """A row that is gone is a difference too."""
    shorter = altered(
        computed, tmp_path, "metrics_synth_1.csv", lambda text: text.replace("u_auc", "x_auc")
    )
    verdicts = verify(shorter, n_cells=4)
    problems = [verdict["problem"] for verdict in verdicts if verdict["problem"]]
    assert len(problems) == 2 and all("u_auc" in problem for problem in problems)
    empty = altered(
        computed, tmp_path, "metrics_synth_1.csv", lambda text: text.splitlines()[0] + "\n"
    )
    assert sum(verdict["problem"] is not None for verdict in verify(empty, n_cells=4)) == 2


def test_verify_finds_other_data_and_other_settings(computed, tmp_path):
    """Another fingerprint and another hash are problems of their own."""
    fingerprint = read_cells(computed)["data_fingerprint"].iloc[0]
    other = altered(computed, tmp_path, "cells.csv", lambda text: text.replace(fingerprint, "0"))
    problems = [verdict["problem"] for verdict in verify(other, n_cells=4)]
    assert sum("the data are not those of the record" in str(found) for found in problems) == 1
    hash_ = read_cells(computed)["settings_hash"].iloc[1]
    other = altered(computed, tmp_path, "cells.csv", lambda text: text.replace(hash_, "0"))
    problems = [verdict["problem"] for verdict in verify(other, n_cells=4)]
    assert problems.count("stale: recorded with other settings") == 1


def test_verify_tolerates_last_digits_of_another_machine(computed):
    """Trained elsewhere, steady metrics may differ by the family's tolerance, not more."""
    (cell,) = grid("smoke", families=["lbe"], datasets=["synth_1"], seeds=[0])
    result = cheap_science(cell)
    row = {"decision": ["LBE"], "rule": ["naive"], "metric": ["u_accuracy"]}
    key = {name: [getattr(cell, name)] for name in cells.CELL_KEY}
    for shift, holds in ((0.015, True), (0.025, False)):
        result["metrics"] = [{"decision": "LBE", "rule": "naive", "u_accuracy": 0.5, "u_f1": 0.9}]
        metrics = pd.DataFrame(key | row | {"value": [0.5 + shift]})
        found = recorded._compare(cell, result, metrics, same_machine=False)
        assert (found["problem"] is None) == holds and found["tolerance"] == 0.02


def test_verify_is_exact_on_the_same_device_alone(computed, tmp_path, monkeypatch):
    """What a GPU computed need not be a processor's to the last digit."""
    gpu = altered(computed, tmp_path, "cells.csv", lambda text: text.replace(",cpu,", ",cuda,"))
    assert (read_cells(gpu)["device"] == "cuda").all()
    asked = []
    monkeypatch.setattr(recorded, "_compare", lambda *parts: asked.append(parts[-1]) or {})
    for results in (computed, gpu):
        verify(results, 1, seed=0)
    assert asked == [True, False]


def test_verify_without_records(tmp_path, capsys):
    """Nothing to verify is an error that says what to do."""
    assert main(["verify", "--results", str(tmp_path), "--methods", "lbe"]) == 1
    assert "collect some first" in capsys.readouterr().err


def test_recorded_cells_are_left_out(folders, tmp_path, monkeypatch, capsys):
    """Another machine goes on from the collected files: what they hold is not computed again."""
    collect(*folders)
    asked = []
    monkeypatch.setattr(cli, "run", lambda chosen, *_: asked.extend(chosen) or [])
    options = ["smoke", "--output", str(tmp_path / "elsewhere"), "--seeds", "0", "1", "2"]
    options += ["--recorded", str(folders[1])]
    assert main(["run", *options]) == 0
    assert asked and {cell.seed for cell in asked} == {2}
    assert main(["status", *options]) == 0
    printed = capsys.readouterr().out
    assert printed.count("16 of 24 cells are in") == 2 and "0 done" in printed
    assert "8 missing" in printed


def test_estimates_are_recorded_row_by_row(tmp_path, capsys):
    """A row per test row, as the cell decides on them, with its origin beside it."""
    command = ["estimates", "smoke", "--datasets", "synth_1", "--seeds", "0"]
    folders = ["--results", str(tmp_path), "--output", str(tmp_path / "runs")]
    assert main([*command, *folders]) == 0
    assert str(tmp_path) in capsys.readouterr().out
    (cell,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["vae_pu"])
    rows = read_estimates(cell, tmp_path)
    assert list(rows) == ["class", "labelled", "y", "s"]
    assert (rows["s"] <= rows["y"]).all() and rows["class"].isin((0, 1)).all()
    predicted = augmented_rule(rows["y"], rows["s"], rows["labelled"])
    result = store.read_result(store.result_path(tmp_path / "runs", cell))
    (measured,) = [m for m in result["metrics"] if m["decision"] == "VP-B+S"]
    found = u_accuracy(rows["class"], predicted.astype(int), rows["labelled"])
    assert found == pytest.approx(measured["u_accuracy"], abs=0.002)  # six decimals near 1/2


def test_estimates_are_no_results(tmp_path, monkeypatch):
    """Beside the cells, as a rerun chapter puts them, they are not taken for one."""
    cell = cells.FIGURE_2
    rows = {name: np.array([0.0, 1.0]) for name in ("class", "labelled", "y", "s")}
    monkeypatch.setattr(recorded, "estimates", lambda cell, _: (rows, cheap_science(cell)))
    recorded.record_estimates(cell, tmp_path, tmp_path)
    assert len(read_estimates(cell, tmp_path)) == 2
    current, stale = store.split_recorded(tmp_path)
    assert list(current) == [cell] and "metrics" in current[cell] and not stale
    assert collect(tmp_path, tmp_path / "results") == (1, [])
    assert main(["estimates", "smoke", "--methods", "lbe"]) == 1


def test_estimates_of_a_cell_that_is_taken(tmp_path, monkeypatch):
    """Two processes never write the same cell."""
    monkeypatch.setattr(store.Claims, "take", lambda *_: False)
    with pytest.raises(OSError, match="another process"):
        recorded.record_estimates(cells.FIGURE_2, tmp_path, tmp_path)


def test_stale_estimates_are_refused(tmp_path, monkeypatch):
    """Estimates made with other settings are not shown as those of today."""
    (cell,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["reference"])
    recorded.record_estimates(cell, tmp_path / "runs", tmp_path, "S-Prophet")
    assert len(read_estimates(cell, tmp_path)) == 1500
    monkeypatch.setattr(cells, "SCIENCE_VERSION", dict.fromkeys(cells.FAMILIES, 99))
    (changed,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["reference"])
    with pytest.raises(FileNotFoundError, match="missing or stale"):
        read_estimates(changed, tmp_path)
