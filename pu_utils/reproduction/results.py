"""What has been recorded: a JSON file of each experiment, and the CSV files collected from them.

``decisions_DATASET.csv`` has one row per experiment and decision, with a column per metric, and
nothing else, so that equal results are equal files; ``cells.csv`` has one row per experiment with
its provenance and time. ``estimates/`` holds, for a few experiments, y(x) and s(x) of each test
row, which pictures need.
"""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from pu_utils.reproduction.experiment import KEY, experiment_of

DECISION = [*KEY, "decision", "rule"]  # what a row of the results is about
METRICS = [
    *("accuracy", "u_accuracy", "u_balanced_accuracy", "u_precision", "u_recall", "u_f1", "u_auc"),
    *("u_balanced_accuracy_of_balanced_rule", "u_log_loss", "purity"),
]
PROVENANCE = ["settings_hash", "data_fingerprint", "device", "processor", "versions", "commit"]
EXPERIMENT_COLUMNS = [*KEY, *PROVENANCE, "seconds", "processor_seconds", "seconds_by_phase"]
KIND = ["dataset", "family", "schedule"]  # experiments that cost about the same
SIX_DECIMALS = "{:.6f}".format  # more than any metric on less than a million rows needs


# The file of one experiment


def result_path(output, experiment):
    """File of the result of an experiment."""
    return Path(output) / f"{experiment.name}.json"


def failure_path(output, experiment):
    """File of the traceback of an experiment that failed."""
    return Path(output) / f"{experiment.name}.failed.json"


def read_json(path):
    """What a JSON file holds: None where there is no file, and {} where it is damaged."""
    try:
        found = json.loads(Path(path).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def write_text(path, text):
    """Write a file so that, whatever happens meanwhile, it is there whole or not at all."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8", newline="\n")
    os.replace(temporary, path)


def failure(experiment, text):
    """What is recorded of an experiment that failed."""
    facts = {"settings": experiment.settings, "settings_hash": experiment.settings_hash}
    return facts | {"traceback": text}


def write_result(output, experiment, result):
    """Record the result of an experiment, or its failure."""
    failed = failure_path(output, experiment)
    path = failed if "traceback" in result else result_path(output, experiment)
    write_text(path, json.dumps(result, indent=1) + "\n")
    if path != failed:
        failed.unlink(missing_ok=True)


def state(output, experiment):
    """Whether an experiment is "done", "failed", "stale" or "missing".

    Stale: there is a file, but it was computed with other settings, or is damaged.
    """
    result = read_json(result_path(output, experiment))
    if result is not None and experiment.is_current(result):
        return "done"
    if experiment.is_current(read_json(failure_path(output, experiment)) or {}):
        return "failed"
    return "missing" if result is None else "stale"


# The CSV files


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
    stale : list of str
        Files of experiments, and experiments in the CSV files, left out because their settings
        have changed or the file is damaged.
    """
    found, stale = {}, []
    for path in sorted(Path(output).rglob("*.json")):
        record = read_json(path)
        if record and "metrics" not in record:
            continue  # a failure, or what belongs to estimates
        experiment = experiment_of(record.get("settings"))
        if experiment is not None and experiment.is_current(record):
            found[experiment] = record
        else:
            stale.append(str(path))
    old = read_experiments(results)
    current = current_experiments(old)
    kept = old[[one is not None and one not in found for one in current]]
    cells = _joined(kept, [experiment_row(*item) for item in found.items()], EXPERIMENT_COLUMNS)
    rows = [row for item in found.items() for row in decision_rows(*item)]
    decisions = read_results(results).merge(kept[KEY], on=KEY) if len(kept) else kept
    _write(Path(results), cells, _joined(decisions, rows, [*DECISION, *METRICS]))
    gone = old.loc[[one is None for one in current], KEY].astype(str)
    return len(cells), stale + [" ".join(row) for row in gone.to_numpy()]


def decision_rows(experiment, result):
    """Rows as :func:`read_results` gives them, one for each decision of a result."""
    return [asdict(experiment) | measured for measured in result["metrics"]]


def experiment_row(experiment, result):
    """The row as :func:`read_experiments` gives it."""
    seconds = result["seconds"]
    return {
        **asdict(experiment),
        **{name: result[name] for name in PROVENANCE},
        "versions": json.dumps(result["versions"]),
        "seconds": seconds["total"],
        "processor_seconds": seconds["processor"],
        "seconds_by_phase": json.dumps(seconds),
    }


def _joined(old, rows, columns):
    new = pd.DataFrame(rows, columns=columns)
    return pd.concat([part for part in (old, new) if len(part)] or [new])[columns]


def _write(results, cells, decisions):
    for dataset, rows in decisions.sort_values(DECISION).groupby("dataset"):
        digits = rows[METRICS].astype(float).map(SIX_DECIMALS, na_action="ignore")
        write_csv(results / f"decisions_{dataset}.csv", rows.assign(**digits))
    write_csv(results / "cells.csv", cells.sort_values(KEY))
    for path in results.glob("decisions_*.csv"):
        if path.stem.removeprefix("decisions_") not in set(cells["dataset"]):  # all are stale
            path.unlink()


def write_csv(path, rows):
    """Write a table, whole or not at all."""
    write_text(path, rows.to_csv(index=False, lineterminator="\n"))


def read_results(results):
    """The recorded results as a DataFrame: one row per experiment and decision.

    ``rule`` says how the decision was taken: "x_only" is ``predict(X)``, "naive" calls labelled
    rows positive besides, and "augmented" is ``predict(X, s=s)``. Each metric has a column of
    shares in [0, 1] (``u_log_loss`` apart); NaN where it is not defined, or says nothing that
    another row does not say.
    """
    columns, floats = [*DECISION, *METRICS], dict.fromkeys(METRICS, float)
    paths = sorted(Path(results).glob("decisions_*.csv"))
    parts = [_read_csv(path, columns, floats) for path in paths]
    empty = pd.DataFrame(columns=columns).astype(floats)
    return pd.concat(parts, ignore_index=True) if parts else empty


def read_experiments(results):
    """Provenance and time of the recorded experiments, as a DataFrame, one row each."""
    path = Path(results) / "cells.csv"
    if not path.exists():
        return pd.DataFrame(columns=EXPERIMENT_COLUMNS)
    texts = dict.fromkeys(PROVENANCE, str)  # hashes may look like numbers
    return _read_csv(path, EXPERIMENT_COLUMNS, texts)


def _read_csv(path, columns, types):
    try:
        return pd.read_csv(path, dtype=types)[columns]
    except (ValueError, KeyError) as error:  # empty, binary, or another table
        raise ValueError(f"{path} is not as it was recorded, restore it: {error}") from error


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
    found = [(experiment_of(row), row) for row in cells.to_dict("records")]
    return [one if one is not None and one.is_current(row) else None for one, row in found]


def not_recorded(experiments, results):
    """Those experiments that the CSV files do not hold, so that another machine can go on."""
    recorded = set(current_experiments(read_experiments(results)))
    return [one for one in experiments if one not in recorded]


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


def estimates_path(experiment, results):
    """File of the estimates of an experiment."""
    return Path(results) / "estimates" / f"{experiment.name.replace('/', '_')}.csv"


def write_estimates(experiment, results, rows, origin):
    """Write what :func:`read_estimates` gives, and beside it where it comes from; the file."""
    path = estimates_path(experiment, results)
    digits = {name: rows[name].map(SIX_DECIMALS) for name in ("y", "s")}
    write_csv(path, rows.assign(**digits))
    write_text(path.with_suffix(".json"), json.dumps(origin, indent=1) + "\n")
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
    path = estimates_path(experiment, results)
    if not experiment.is_current(read_json(path.with_suffix(".json")) or {}):
        raise FileNotFoundError(
            f"{path} is missing or stale; write it with python -m pu_utils estimates"
        )
    return pd.read_csv(path)
