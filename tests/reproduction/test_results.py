"""Recorded results: files of experiments, the CSV files collected from them, their verification."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from pu_utils.__main__ import main
from pu_utils.metrics import u_accuracy
from pu_utils.reproduction import (
    FAMILIES,
    collect,
    compute,
    grid,
    read_estimates,
    read_experiments,
    read_results,
    record_estimates,
    results,
    runs,
    verify,
)
from pu_utils.reproduction.experiment import KEY
from pu_utils.reproduction.results import (
    DECISION,
    METRICS,
    decision_rows,
    failure,
    failure_path,
    read_json,
    result_path,
    state,
    write_result,
    write_text,
)
from pu_utils.rules import augmented_rule
from tests.reproduction.conftest import cheap_science

RESULTS = Path(__file__).parents[2] / "results"


def write_cheap(output, chosen):
    """Write cheap results of experiments."""
    for one in chosen:
        write_result(output, one, cheap_science(one))


def contents(folder):
    """Names and bytes of the files of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def raise_versions(monkeypatch):
    """Another version of every family: what was computed before is stale."""
    for name, family in FAMILIES.items():
        monkeypatch.setitem(FAMILIES, name, replace(family, version=99))


@pytest.fixture
def folders(tmp_path):
    """An output directory with the smoke experiments of two seeds, and where to collect them."""
    write_cheap(tmp_path / "runs", grid("smoke"))
    return tmp_path / "runs", tmp_path / "results"


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """Collected results of reference experiments, really computed."""
    folder = tmp_path_factory.mktemp("computed")
    for one in grid("smoke", families=["reference"]):
        write_result(folder / "runs", one, compute(one))
    collect(folder / "runs", folder / "results")
    return folder / "results"


def test_states(tmp_path):
    """What is written is read; a failure goes when the experiment succeeds; old settings differ."""
    (one, other, *_) = grid("smoke")
    assert state(tmp_path, one) == "missing"
    write_result(tmp_path, one, failure(one, "..."))
    assert state(tmp_path, one) == "failed"
    write_result(tmp_path, one, cheap_science(one))
    assert state(tmp_path, one) == "done"
    assert read_json(result_path(tmp_path, one)) == cheap_science(one)
    assert not failure_path(tmp_path, one).exists()
    for text in ("", "[]", '{"settings', "\x00", json.dumps(cheap_science(one))):
        write_text(result_path(tmp_path, other), text)
        assert state(tmp_path, other) == "stale"
    write_result(tmp_path, other, failure(other, "...") | {"settings_hash": "0"})
    assert state(tmp_path, other) == "stale"  # what failed with other settings may succeed now


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    """As where the disk is full."""
    write_text(tmp_path / "file", "old")
    monkeypatch.setattr(results.os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"


def test_collect_writes_every_experiment_once(folders):
    """A row per experiment and decision, one per experiment with its provenance; again the same."""
    assert collect(*folders) == (20, [])
    rows, found = read_results(folders[1]), read_experiments(folders[1])
    assert len(rows) == len(found) == 20 and list(rows) == [*DECISION, *METRICS]
    assert set(rows["u_accuracy"]) == {0.5, 0.501} and rows["u_recall"].isna().all()
    hashes = {one.settings_hash for one in grid("smoke")}
    assert set(found["settings_hash"]) == hashes and (found["seconds"] == 0).all()
    before = contents(folders[1])
    assert collect(*folders) == collect(folders[0] / "none", folders[1]) == (20, [])
    assert contents(folders[1]) == before


def test_collect_keeps_experiments_of_other_directories(folders, tmp_path):
    """Experiments collected before from elsewhere stay, those of the directory are replaced."""
    collect(*folders)
    write_cheap(tmp_path / "more", grid("smoke", seeds=(1, 2)))
    assert collect(tmp_path / "more", folders[1]) == (30, [])
    write_cheap(folders[0], grid("smoke", seeds=(0, 1, 2)))
    assert collect(folders[0], tmp_path / "together") == (30, [])
    assert contents(tmp_path / "together") == contents(folders[1])


def test_collect_leaves_stale_results_out(folders, monkeypatch):
    """After a change of the science neither old files nor old rows are mixed in; nor lost sets."""
    collect(*folders)
    raise_versions(monkeypatch)
    fresh = grid("smoke", seeds=(0,), datasets=["synth_1"])
    write_cheap(folders[0], fresh)
    n_experiments, stale = collect(*folders)
    assert n_experiments == len(fresh) == 5
    assert len(stale) == 15 + 20  # files of the other seed and set; rows of all
    assert set(contents(folders[1])) == {"cells.csv", "decisions_synth_1.csv"}
    path = folders[1] / "cells.csv"
    path.write_text(path.read_text().replace("synth_1", "synth_one"))
    n_experiments, stale = collect(folders[0] / "none", folders[1])
    assert n_experiments == 0 and stale[0].startswith("synth_one released 0.5")


def test_committed_results_come_back_byte_for_byte(tmp_path):
    """Collecting nothing changes no file."""
    copied = shutil.copytree(RESULTS, tmp_path / "results")
    assert collect(tmp_path / "nothing", copied) == (len(read_experiments(RESULTS)), [])
    assert contents(copied) == contents(RESULTS)


@pytest.mark.parametrize("folder", [RESULTS, RESULTS / "confirmation", RESULTS / "questions"])
def test_committed_results_are_whole(folder):
    """Every experiment has its decisions and they have it, none twice, six decimals or nothing."""
    rows, cells = read_results(folder), read_experiments(folder)
    assert not rows.duplicated(DECISION).any() and not cells.duplicated(KEY).any()
    assert set(map(tuple, rows[KEY].to_numpy())) == set(map(tuple, cells[KEY].to_numpy()))
    for path in folder.glob("decisions_*.csv"):
        texts = pd.read_csv(path, dtype=str, keep_default_na=False)
        assert list(texts) == [*DECISION, *METRICS]
        assert "decisions_" + texts["dataset"].unique().item() == path.stem
        assert texts[METRICS].stack().str.fullmatch(r"(\d\.\d{6})?").all()
    x_only = rows["rule"] == "x_only"
    assert rows["accuracy"].notna().all() and (rows["u_accuracy"].isna() == x_only).all()
    assert (rows["u_log_loss"].isna() | (rows["rule"] == "augmented")).all()


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 99, b"a,b\n1,2\n"])
def test_files_that_are_no_tables_are_named(content, folders):
    """Empty, binary, or another table."""
    collect(*folders)
    for name, read in {"cells": read_experiments, "decisions_synth_1": read_results}.items():
        (folders[1] / f"{name}.csv").write_bytes(content)
        with pytest.raises(ValueError, match=f"{name}.csv is not as it was recorded"):
            read(folders[1])


def test_commands(folders, capsys):
    """status counts; collect tells what it left out; what it put in is not missing elsewhere."""
    output, collected = map(str, folders)
    write_text(folders[0] / "synth_1" / "old.json", "half a fi")
    status = ["status", "smoke", "--seeds", "0", "1", "2", "--output"]
    assert main([*status, output]) == 0
    assert "20 done, 0 stale, 0 failed, 10 missing" in capsys.readouterr().out
    assert main(["collect", "--output", output, "--results", collected]) == 0
    printed = capsys.readouterr().out
    assert "20 experiments" in printed and "left out, stale: " in printed and "old.json" in printed
    assert main([*status, collected, "--recorded", collected]) == 0
    assert "0 done, 0 stale, 0 failed, 10 missing" in capsys.readouterr().out


# Verification


def test_verify_holds_for_what_was_computed(computed, capsys):
    """From the CSV files alone, exactly, on the same machine."""
    (verdict,) = verify(computed, 1, families=["reference"], datasets=["synth_1"], seed=0)
    assert verdict["experiment"].startswith("synth_1 released 0.5 reference smoke")
    assert verdict["problem"] is None and verdict["largest"] <= verdict["tolerance"] == 5e-7
    command = ["verify", "--results", str(computed)]
    assert main([*command, "--experiments", "9"]) == 0
    assert main([*command, "--experiments", "1", "--every-family"]) == 0
    assert capsys.readouterr().out.count("holds") == 4 + 1
    assert main([*command, "--families", "lbe"]) == 1
    assert "collect some first" in capsys.readouterr().err


def test_verify_finds_what_was_altered(computed, tmp_path, capsys):
    """A number off by its last digit, or gone; other data, other settings."""
    folder = shutil.copytree(computed, tmp_path / "altered")
    cells, path = read_experiments(folder), folder / "decisions_synth_1.csv"
    command = ["verify", "--results", str(folder), "--experiments", "4"]
    rows = pd.read_csv(path)
    one_up = rows.assign(u_accuracy=rows["u_accuracy"] + 1e-6)
    for table in (one_up, rows.query("decision != 'S-Prophet'")):
        table.to_csv(path, index=False)
        assert main(command) == 1 and capsys.readouterr().out.count("differs most in") == 2
    shutil.copy(computed / path.name, path)
    problems = {"data_fingerprint": "other data", "settings_hash": "stale"}
    for column, problem in problems.items():
        wrong = cells[column].where(cells.index > 0, "0")
        cells.assign(**{column: wrong}).to_csv(folder / "cells.csv", index=False)
        assert main(command) == 1 and capsys.readouterr().out.count(problem) == 1


def test_verify_tolerates_last_digits_of_another_machine():
    """Trained elsewhere, steady metrics may differ by the family's tolerance, not more."""
    (one,) = grid("smoke", families=["lbe"], datasets=["synth_1"], seeds=[0])
    result = {"metrics": [{"decision": "LBE", "rule": "naive", "u_accuracy": 0.5, "u_f1": 0.9}]}
    (row,) = decision_rows(one, result)
    for shift, holds in ((0.015, True), (0.025, False)):
        changed = row | {"u_accuracy": 0.5 + shift, "u_f1": 0.1}
        recorded = pd.DataFrame([changed], columns=[*DECISION, *METRICS])
        found = runs._compare(one, result, recorded, same_machine=False)
        assert (found["problem"] is None) == holds and found["tolerance"] == 0.02
        assert "u_f1" in runs._compare(one, result, recorded, same_machine=True)["problem"]


# Estimates row by row


def test_estimates_are_recorded_row_by_row(tmp_path, capsys):
    """A row per test row, as the experiment decides on them, with its origin beside it."""
    command = ["estimates", "smoke", "--datasets", "synth_1", "--seeds", "0"]
    assert main([*command, "--results", str(tmp_path)]) == 0
    assert str(tmp_path) in capsys.readouterr().out
    (one,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["vae_pu"])
    rows = read_estimates(one, tmp_path)
    assert list(rows) == ["class", "labelled", "y", "s"] and (rows["s"] <= rows["y"]).all()
    predicted = augmented_rule(rows["y"], rows["s"], rows["labelled"])
    (measured,) = [m for m in compute(one)["metrics"] if m["decision"] == "VP-B+S"]
    found = u_accuracy(rows["class"], predicted.astype(int), rows["labelled"])
    assert found == pytest.approx(measured["u_accuracy"], abs=0.002)  # six decimals near 1/2
    assert collect(tmp_path, tmp_path / "results") == (0, [])  # they are no results


def test_estimates_that_are_stale_or_of_no_decision(tmp_path, monkeypatch):
    """Those made with other settings are not shown as today's; the error lists the decisions."""
    (one,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["reference"])
    with pytest.raises(ValueError, match="decision is 'VP-B\\+S'; it must be one of S-Prophet"):
        record_estimates(one, tmp_path)
    record_estimates(one, tmp_path, "S-Prophet")
    assert len(read_estimates(one, tmp_path)) == 1500
    raise_versions(monkeypatch)
    (changed,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["reference"])
    with pytest.raises(FileNotFoundError, match="missing or stale"):
        read_estimates(changed, tmp_path)
