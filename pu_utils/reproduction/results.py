"""Recorded results: experiments collected into tidy CSV files, and recomputed to verify them.

``decisions_DATASET.csv`` has one row per experiment and decision, with a column per metric, and
nothing else, so that equal results are equal files; ``cells.csv`` has one row per experiment with
its provenance and time.
``estimates/`` holds, for a few experiments, y(x) and s(x) of each test row, which pictures need.
"""

import json
from dataclasses import asdict, astuple
from pathlib import Path

import numpy as np
import pandas as pd

from pu_utils.reproduction.compute import compute, compute_estimates
from pu_utils.reproduction.experiment import KEY, experiment_of
from pu_utils.reproduction.families import EXACT, FAMILIES
from pu_utils.reproduction.output import Locks, collecting, recorded, write_result, write_text

DECISION = [*KEY, "decision", "rule"]  # what a row of the results is about
METRICS = [
    *("accuracy", "u_accuracy", "u_balanced_accuracy", "u_precision", "u_recall", "u_f1", "u_auc"),
    *("u_balanced_accuracy_of_balanced_rule", "u_log_loss", "purity"),
]
PROVENANCE = ["settings_hash", "data_fingerprint", "device", "processor", "versions", "commit"]
EXPERIMENT_COLUMNS = [*KEY, *PROVENANCE, "seconds", "processor_seconds", "seconds_by_phase"]
KIND = ["dataset", "family", "schedule"]  # experiments that cost about the same
# not in early records
LATER_METRICS = ("u_balanced_accuracy_of_balanced_rule", "u_log_loss", "purity")
# Ratios of few rows, such as precision where hardly any is called positive, are compared only
# where nothing may differ
STEADY_METRICS = ("accuracy", "u_accuracy", "u_balanced_accuracy", "u_auc")


def collect(output, results):
    """Put the experiments of an output directory into the CSV files, in place of their old rows.

    Rows of experiments that are not in ``output`` stay, unless their settings are stale.

    Parameters
    ----------
    output, results : path
        Directory of the experiments, and of the CSV files.

    Returns
    -------
    n_experiments : int
        Experiments in the CSV files now.
    stale : list
        Files of experiments, and experiments in the CSV files, left out because their settings
        have changed.
    """
    found, rows, stale = {}, [], []
    for path, experiment, result in recorded(output):
        if experiment is None:
            stale.append(path)
        else:
            found[experiment] = _experiment_row(experiment, result)
            rows += decision_rows(experiment, result)
    with collecting(results):
        old = read_experiments(results)
        current = current_experiments(old)
        kept = old[[one is not None and one not in found for one in current]]
        cells = _joined(kept, found.values(), EXPERIMENT_COLUMNS)
        decisions = read_results(results).merge(kept[KEY], on=KEY) if len(kept) else kept
        _write(Path(results), cells, _joined(decisions, rows, [*DECISION, *METRICS]))
    left_out = old.loc[[one is None for one in current], KEY].astype(str)
    return len(cells), stale + [" ".join(row) for row in left_out.to_numpy()]


def read_experiments(results):
    """Provenance and time of the recorded experiments, as a DataFrame, one row each."""
    path = Path(results) / "cells.csv"
    if not path.exists():
        return pd.DataFrame(columns=EXPERIMENT_COLUMNS)
    return pd.read_csv(path, dtype=dict.fromkeys(PROVENANCE, str))  # hashes may look like numbers


def read_results(results):
    """The recorded results as a DataFrame: one row per experiment and decision.

    ``rule`` says how the decision was taken: "x_only" is ``predict(X)``, "naive" calls labelled
    rows positive besides, and "augmented" is ``predict(X, s=s)``. Each metric has a column of
    shares in [0, 1] (``u_log_loss`` apart); NaN where it is not defined, or says nothing that
    another row does not say.
    """
    paths = sorted(Path(results).glob("decisions_*.csv"))
    parts = [pd.read_csv(path, dtype=dict.fromkeys(METRICS, float)) for path in paths]
    empty = pd.DataFrame(columns=[*DECISION, *METRICS]).astype(dict.fromkeys(METRICS, float))
    return pd.concat(parts, ignore_index=True) if parts else empty


def current_experiments(cells):
    """The experiment of each recorded row, or None where its settings are others now.

    Parameters
    ----------
    cells : pandas.DataFrame
        What :func:`read_experiments` gives.

    Returns
    -------
    list of Experiment or None
    """
    rows = cells.to_dict("records")
    found = [(experiment_of(row), row) for row in rows]
    return [one if one is not None and one.is_current(row) else None for one, row in found]


def _joined(old, rows, columns):
    new = pd.DataFrame(rows, columns=columns)
    return pd.concat([part for part in (old, new) if len(part)] or [new])[columns]


def decision_rows(experiment, result):
    """Rows as :func:`read_results` gives them, one for each decision of a result."""
    return [asdict(experiment) | measured for measured in result["metrics"]]


def _experiment_row(experiment, result):
    seconds = result["seconds"]
    facts = result | {
        "settings_hash": experiment.settings_hash,
        "versions": json.dumps(result["versions"]),
    }
    times = seconds["total"], seconds["processor"], json.dumps(seconds)
    return (*astuple(experiment), *(facts[name] for name in PROVENANCE), *times)


def _write(results, cells, decisions):
    for dataset, rows in decisions.groupby("dataset"):
        rows = rows.sort_values(DECISION)
        digits = {metric: _digits(rows[metric]) for metric in METRICS}
        _write_csv(results / f"decisions_{dataset}.csv", rows.assign(**digits))
    _write_csv(results / "cells.csv", cells.sort_values(KEY))
    for path in results.glob("decisions_*.csv"):
        if path.stem.removeprefix("decisions_") not in set(cells["dataset"]):  # all are stale
            path.unlink()


def _write_csv(path, rows):
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))


def _digits(values):
    """Six decimals, more than any metric on less than a million rows needs; empty if undefined."""
    return ["" if np.isnan(value) else f"{value:.6f}" for value in np.asarray(values, dtype=float)]


# Costs


def recorded_seconds(results):
    """Mean processor seconds of the recorded experiments, by data set, family and schedule.

    Experiments whose settings are others now are left out, and so are those computed on a GPU, of
    which the processor's time says nothing.

    Parameters
    ----------
    results : path
        Directory of the recorded results.

    Returns
    -------
    pandas.DataFrame
        Columns ``seconds`` and ``experiments``, how many there are; indexed by ``dataset``,
        ``family`` and ``schedule``.
    """
    cells = read_experiments(results)
    current = pd.Series(current_experiments(cells), index=cells.index, dtype=object).notna()
    groups = cells[current & (cells["device"] == "cpu")].groupby(KIND)
    return groups.agg(seconds=("processor_seconds", "mean"), experiments=("seed", "size"))


# Estimates row by row


def record_estimates(experiment, output, results, decision="VP-B+S"):
    """Compute an experiment, and write what a decision of it estimates on each test row as well.

    Parameters
    ----------
    experiment : Experiment
    output, results : path
        Directory of the experiments, and of the CSV files; the estimates go to ``estimates`` in it.
    decision : str
        Name of the decision.

    Returns
    -------
    pathlib.Path
        The file of the estimates.
    """
    with Locks(output) as locks:
        if not locks.take(experiment):
            raise OSError(
                f"{experiment.name} is being computed by another process in {output}; wait for "
                "it, or choose another directory"
            )
        result, columns = compute_estimates(experiment, decision)
        write_result(output, experiment, result)
    path = _estimates_path(experiment, results)
    estimates = {name: _digits(columns[name]) for name in ("y", "s")}
    _write_csv(path, pd.DataFrame(columns | estimates).astype({"class": int, "labelled": int}))
    origin = {key: value for key, value in result.items() if key != "metrics"}
    text = json.dumps({"decision": decision, **origin}, indent=1)
    write_text(path.with_suffix(".json"), text + "\n")
    return path


def read_estimates(experiment, results):
    """The recorded estimates of an experiment.

    Parameters
    ----------
    experiment : Experiment
    results : path
        Directory of the CSV files.

    Returns
    -------
    pandas.DataFrame
        ``class``, ``labelled``, ``y`` and ``s``, one row per test row.
    """
    path = _estimates_path(experiment, results)
    origin = path.with_suffix(".json")
    if not path.exists() or not experiment.is_current(json.loads(origin.read_text("utf-8"))):
        raise FileNotFoundError(
            f"{path} is missing or stale; write it with python -m pu_utils estimates"
        )
    return pd.read_csv(path)


def _estimates_path(experiment, results):
    return Path(results) / "estimates" / f"{experiment.name.replace('/', '_')}.csv"


# Verification


def verify(results, n_experiments=2, families=None, datasets=None, seed=None):
    """Recompute a few recorded experiments, chosen at random, and compare.

    On the same processor with the same versions every metric must be the recorded one; elsewhere
    the steady ones must lie within the family's tolerance, and the data must be the same.

    Parameters
    ----------
    results : path
        Directory of the CSV files.
    n_experiments : int
        How many.
    families, datasets : sequence of str, optional
        Choose among these alone: "reference" costs nothing, "lbe" seconds; synthetic sets need
        no files.
    seed : int, optional
        Seed of the random choice.

    Returns
    -------
    list of dict
        For each ``experiment`` its name, ``largest`` (the largest difference), ``tolerance``, and
        ``problem``, which is None where the experiment holds.
    """
    cells = read_experiments(results)
    for column, wanted in (("family", families), ("dataset", datasets)):
        cells = cells[cells[column].isin(wanted)] if wanted else cells
    if cells.empty:
        raise ValueError(f"no such experiment is recorded in {results}; collect some first")
    chosen = cells.sample(min(n_experiments, len(cells)), random_state=seed)
    decisions = read_results(results)
    found = zip(chosen.to_dict("records"), current_experiments(chosen), strict=True)
    return [_verdict(row, experiment, decisions) for row, experiment in found]


def _verdict(row, experiment, decisions):
    name = " ".join(str(row[key]) for key in KEY)
    verdict = {"experiment": name, "largest": None, "tolerance": None}
    if experiment is None:
        return verdict | {"problem": "stale: recorded with other settings"}
    result = compute(experiment)
    if result["data_fingerprint"] != row["data_fingerprint"]:
        return verdict | {
            "problem": "the data are not those of the record (image features that were computed "
            "anew differ a little)"
        }
    now = dict(zip(EXPERIMENT_COLUMNS, _experiment_row(experiment, result), strict=True))
    same_machine = all(now[name] == row[name] for name in ("processor", "device", "versions"))
    return verdict | _compare(experiment, result, decisions, same_machine)


def _compare(experiment, result, decisions, same_machine):
    now = pd.DataFrame(decision_rows(experiment, result), columns=[*DECISION, *METRICS])
    then = decisions.merge(now[KEY].drop_duplicates(), on=KEY)
    known = [name for name in METRICS if name not in LATER_METRICS or then[name].notna().any()]
    compared = known if same_machine else list(STEADY_METRICS)
    tables = (
        table.set_index(["decision", "rule"])[compared].astype(float) for table in (now, then)
    )
    now, then = (table.stack(future_stack=True) for table in tables)
    now, then = now.align(then)
    tolerance = EXACT if same_machine else FAMILIES[experiment.family].tolerance
    difference = (now - then).abs().where(now.notna() | then.notna(), 0)
    agree, worst = bool((difference <= tolerance).all()), difference.fillna(np.inf).idxmax()
    return {
        "largest": float(difference.max()),
        "tolerance": tolerance,
        "problem": None if agree else f"differs most in {' '.join(worst)}",
    }
