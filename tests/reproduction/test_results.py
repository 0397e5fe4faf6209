"""Collected results, and their verification."""

import json
import re
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
    assert state(tmp_path / one.name / "below a file.json", one) == "missing"


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    """As where the disk is full."""
    write_text(tmp_path / "file", "old")
    monkeypatch.setattr(results.os, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_text(tmp_path / "file", "new")
    assert (tmp_path / "file").read_text() == "old"


def test_collect_writes_every_experiment_once(folders):
    """One row per experiment, decision and metric; one per experiment with its provenance."""
    assert collect(*folders) == (20, [])
    rows, found = read_results(folders[1]), read_experiments(folders[1])
    assert len(rows) == len(found) == 20 and list(rows) == [*DECISION, *METRICS]
    assert set(rows["u_accuracy"]) == {0.5, 0.501}
    hashes = {one.settings_hash for one in grid("smoke")}
    assert set(found["settings_hash"]) == hashes and (found["seconds"] == 0).all()


def test_collect_again_changes_nothing(folders):
    """The same experiments give the same bytes, whatever was there before."""
    collect(*folders)
    before = {path: path.read_bytes() for path in folders[1].iterdir()}
    collect(*folders)
    assert {path: path.read_bytes() for path in folders[1].iterdir()} == before


def test_collect_keeps_experiments_of_other_directories(folders, tmp_path):
    """Experiments collected before from elsewhere stay, those of the directory are replaced."""
    collect(*folders)
    write_cheap(tmp_path / "more", grid("smoke", seeds=(1, 2)))
    assert collect(tmp_path / "more", folders[1]) == (30, [])
    write_cheap(folders[0], grid("smoke", seeds=(0, 1, 2)))
    apart = {path.name: path.read_bytes() for path in folders[1].iterdir()}
    assert collect(folders[0], tmp_path / "together") == (30, [])
    assert {p.name: p.read_bytes() for p in (tmp_path / "together").iterdir()} == apart


def test_collect_leaves_stale_results_out(folders, monkeypatch):
    """After a change of the science neither old files nor old rows are mixed in."""
    collect(*folders)
    raise_versions(monkeypatch)
    fresh = grid("smoke", seeds=(0,))
    write_cheap(folders[0], fresh)
    n_experiments, stale = collect(*folders)
    assert n_experiments == len(fresh) == 10
    assert len(stale) == 10 + 20  # files of the other seed; rows of both
    assert set(read_results(folders[1])["seed"]) == {0}


def test_collect_forgets_a_set_whose_experiments_are_all_stale(folders, monkeypatch):
    """Neither experiments nor metrics of it remain."""
    collect(*folders)
    raise_versions(monkeypatch)
    fresh = grid("smoke", datasets=["synth_1"])
    write_cheap(folders[0], fresh)
    assert collect(*folders)[0] == len(fresh)
    assert set(read_results(folders[1])["dataset"]) == {"synth_1"}


def test_collect_leaves_experiments_out_that_no_longer_exist(folders):
    """A data set that was renamed does not stop the collection of the others."""
    collect(*folders)
    path = folders[1] / "cells.csv"
    path.write_text(path.read_text().replace("cdc_diabetes", "diabetes"))
    n_experiments, stale = collect(*folders)
    assert n_experiments == 20 and len(stale) == 10 and stale[0].startswith("diabetes released 0.5")


def test_committed_results_are_current_and_come_back_byte_for_byte(tmp_path):
    """Nothing that was recorded has become stale, and collecting nothing changes no file."""
    copied = shutil.copytree(RESULTS, tmp_path / "results")
    recorded = read_experiments(RESULTS)
    assert results.current_experiments(recorded).count(None) == 0
    assert collect(tmp_path / "nothing", copied) == (len(recorded), [])
    for path in [RESULTS / "cells.csv", *RESULTS.glob("decisions_*.csv")]:
        assert (copied / path.name).read_bytes() == path.read_bytes(), path.name


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


def test_undefined_metrics_are_empty(tmp_path):
    """A null comes back as NaN, also after a second collection."""
    (one, *_) = grid("smoke")
    result = cheap_science(one)
    result["metrics"][0]["u_recall"] = None
    write_result(tmp_path / "runs", one, result)
    for output in ("runs", "nothing"):
        collect(tmp_path / output, tmp_path / "results")
        (row,) = read_results(tmp_path / "results").to_dict("records")
        assert pd.isna(row["u_recall"]) and row["u_accuracy"] == 0.5


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe" * 99, b"a,b\n1,2\n"])
def test_files_that_are_no_tables_are_named(content, folders):
    """Empty, binary, or another table."""
    collect(*folders)
    for name, read in {"cells": read_experiments, "decisions_synth_1": read_results}.items():
        (folders[1] / f"{name}.csv").write_bytes(content)
        with pytest.raises(ValueError, match=f"{name}.csv is not as it was recorded"):
            read(folders[1])


def test_nothing_recorded(tmp_path):
    """Without files there are no rows, but the columns."""
    assert list(read_results(tmp_path)) == [*DECISION, *METRICS]
    assert list(read_experiments(tmp_path)) == results.EXPERIMENT_COLUMNS


def test_commands(folders, capsys):
    """status counts; collect says how many and what it left out."""
    output, results = map(str, folders)
    write_text(folders[0] / "synth_1" / "old.json", "half a fi")
    assert main(["status", "smoke", "--output", output, "--seeds", "0", "1", "2"]) == 0
    assert "20 done, 0 stale, 0 failed, 10 missing" in capsys.readouterr().out
    assert main(["collect", "--output", output, "--results", results]) == 0
    printed = capsys.readouterr().out
    assert "20 experiments" in printed and re.search("left out, stale: .*old.json", printed)


def test_verify_holds_for_what_was_computed(computed, capsys):
    """From the CSV files alone, exactly, on the same machine."""
    (verdict,) = verify(computed, 1, families=["reference"], datasets=["synth_1"], seed=0)
    assert verdict["experiment"].startswith("synth_1 released 0.5 reference smoke")
    assert verdict["problem"] is None and verdict["largest"] <= verdict["tolerance"] == 5e-7
    assert main(["verify", "--results", str(computed), "--experiments", "9"]) == 0
    assert capsys.readouterr().out.count("holds") == 4


def altered(computed, folder, name, change):
    """A copy of the results with one file changed."""
    for path in computed.iterdir():
        text = path.read_text()
        (folder / path.name).write_text(change(text) if path.name == name else text)
    return folder


def test_verify_finds_an_altered_number(computed, tmp_path, capsys):
    """A number that is off by its last digit is found, and the exit code says so."""
    path = altered(computed, tmp_path, "nothing", str) / "decisions_synth_1.csv"
    rows = pd.read_csv(path)
    rows.assign(u_accuracy=rows["u_accuracy"] + 1e-6).to_csv(path, index=False)
    assert main(["verify", "--results", str(tmp_path), "--experiments", "4"]) == 1
    assert capsys.readouterr().out.count("differs most in") == 2


def test_verify_finds_a_missing_number(computed, tmp_path):
    """A row that is gone is a difference too."""
    shorter = altered(
        computed, tmp_path, "decisions_synth_1.csv", lambda text: text.replace("u_auc", "x_auc")
    )
    with pytest.raises(ValueError, match=r"decisions_synth_1.csv is not .*u_auc"):
        verify(shorter)
    empty = altered(
        computed, tmp_path, "decisions_synth_1.csv", lambda text: text.splitlines()[0] + "\n"
    )
    assert sum(verdict["problem"] is not None for verdict in verify(empty, n_experiments=4)) == 2


def test_verify_finds_other_data_and_other_settings(computed, tmp_path):
    """Another fingerprint and another hash are problems of their own."""
    fingerprint = read_experiments(computed)["data_fingerprint"].iloc[0]
    other = altered(computed, tmp_path, "cells.csv", lambda text: text.replace(fingerprint, "0"))
    problems = [verdict["problem"] for verdict in verify(other, n_experiments=4)]
    assert sum("the data are not those of the record" in str(found) for found in problems) == 1
    hash_ = read_experiments(computed)["settings_hash"].iloc[1]
    other = altered(computed, tmp_path, "cells.csv", lambda text: text.replace(hash_, "0"))
    problems = [verdict["problem"] for verdict in verify(other, n_experiments=4)]
    assert problems.count("stale: recorded with other settings") == 1


def test_verify_tolerates_last_digits_of_another_machine(computed):
    """Trained elsewhere, steady metrics may differ by the family's tolerance, not more."""
    (one,) = grid("smoke", families=["lbe"], datasets=["synth_1"], seeds=[0])
    result = cheap_science(one)
    row = {name: getattr(one, name) for name in KEY} | {"decision": "LBE", "rule": "naive"}
    for shift, holds in ((0.015, True), (0.025, False)):
        result["metrics"] = [{"decision": "LBE", "rule": "naive", "u_accuracy": 0.5, "u_f1": 0.9}]
        recorded = pd.DataFrame([row | {"u_accuracy": 0.5 + shift}], columns=[*DECISION, *METRICS])
        found = runs._compare(one, result, recorded, same_machine=False)
        assert (found["problem"] is None) == holds and found["tolerance"] == 0.02


def test_verify_is_exact_on_the_same_device_alone(computed, tmp_path, monkeypatch):
    """What a GPU computed need not be a processor's to the last digit."""
    gpu = altered(computed, tmp_path, "cells.csv", lambda text: text.replace(",cpu,", ",cuda,"))
    assert (read_experiments(gpu)["device"] == "cuda").all()
    asked = []
    monkeypatch.setattr(runs, "_compare", lambda *parts: asked.append(parts[-1]) or {})
    for folder in (computed, gpu):
        verify(folder, 1, seed=0)
    assert asked == [True, False]


def test_verify_without_records(tmp_path, capsys):
    """Nothing to verify is an error that says what to do."""
    assert main(["verify", "--results", str(tmp_path), "--families", "lbe"]) == 1
    assert "collect some first" in capsys.readouterr().err


def test_recorded_experiments_are_left_out(folders, tmp_path, monkeypatch, capsys):
    """Another machine goes on from the collected files: what they hold is not computed again."""
    collect(*folders)
    asked = []
    monkeypatch.setattr(runs, "run", lambda chosen, *_, **__: asked.extend(chosen) or [])
    options = ["smoke", "--output", str(tmp_path / "elsewhere"), "--seeds", "0", "1", "2"]
    options += ["--recorded", str(folders[1])]
    assert main(["run", *options]) == 0
    assert asked and {one.seed for one in asked} == {2}
    assert main(["status", *options]) == 0
    assert "0 done, 0 stale, 0 failed, 10 missing" in capsys.readouterr().out


def test_estimates_are_recorded_row_by_row(tmp_path, capsys):
    """A row per test row, as the experiment decides on them, with its origin beside it."""
    command = ["estimates", "smoke", "--datasets", "synth_1", "--seeds", "0"]
    assert main([*command, "--results", str(tmp_path)]) == 0
    assert str(tmp_path) in capsys.readouterr().out
    (one,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["vae_pu"])
    rows = read_estimates(one, tmp_path)
    assert list(rows) == ["class", "labelled", "y", "s"]
    assert (rows["s"] <= rows["y"]).all() and rows["class"].isin((0, 1)).all()
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
