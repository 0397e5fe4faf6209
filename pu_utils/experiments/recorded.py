"""Recorded results: cells collected into tidy CSV files, and recomputed to verify them.

``metrics_DATASET.csv`` has one row per cell, decision and metric, nothing else, so that equal
results are equal files; ``cells.csv`` has one row per cell with its provenance and wall time.
``estimates/`` holds, for a few cells, y(x) and s(x) of each test row, which figures need.
"""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd

from pu_utils.experiments.cells import CELL_KEY, NETWORKS, cell_of, is_current
from pu_utils.experiments.science import compute, estimates
from pu_utils.experiments.store import Claims, split_recorded, write_result, write_text

METRIC_COLUMNS = [*CELL_KEY, "decision", "rule", "metric", "value"]
CELL_COLUMNS = [
    *CELL_KEY,
    "settings_hash",
    "data_fingerprint",
    "device",
    "processor",
    "versions",
    "commit",
    "seconds",
    "processor_seconds",
    "seconds_by_phase",
]
TEXT_COLUMNS = ("settings_hash", "data_fingerprint", "commit")  # may look like numbers
NOT_METRICS = ("decision", "rule")

# Training differs in the last digits between processors and versions, and what it learns drifts
# apart from there: a few rows near the threshold are decided otherwise after LBE's convex steps,
# more after VAE-PU's thousands. The prophets decide by numbers that are the same everywhere.
EXACT = 5e-7  # half a unit of the last recorded digit
TOLERANCE = {"reference": EXACT, "elkan_noto": 0.01, "lbe": 0.02, "lbe_released": 0.02}
TOLERANCE |= dict.fromkeys(NETWORKS, 0.1)
# ratios of few rows, such as precision where hardly any is called positive, are compared only
# where nothing may differ
STEADY_METRICS = ("accuracy", "u_accuracy", "u_balanced_accuracy", "u_auc")


def collect(output, results):
    """Put the cells of an output directory into the CSV files, in place of their old rows.

    Rows of cells that are not in ``output`` stay, unless their settings are stale.

    Parameters
    ----------
    output, results : path
        Directory of the cells, and of the CSV files.

    Returns
    -------
    n_cells : int
        Cells in the CSV files now.
    stale : list
        Files of cells, and cells in the CSV files, left out because their settings have changed.
    """
    current, stale = split_recorded(output)
    fresh, stale_rows = split_rows(read_cells(results))
    kept = [row for row in fresh if cell_of(row) not in current]
    metrics = _kept_metrics(results, kept) + [
        row for cell, result in current.items() for row in _metric_rows(cell, result)
    ]
    cells = kept + [_cell_row(cell, result) for cell, result in current.items()]
    _write(Path(results), cells, metrics)
    return len(cells), stale + [" ".join(map(str, _key(row))) for row in stale_rows]


def read_cells(results):
    """Provenance and wall time of the recorded cells, as a DataFrame."""
    path = Path(results) / "cells.csv"
    if not path.exists():
        return pd.DataFrame(columns=CELL_COLUMNS)
    return pd.read_csv(path, dtype=dict.fromkeys(TEXT_COLUMNS, str))


def read_metrics(results):
    """The recorded metrics as a DataFrame, one row per cell, decision and metric.

    Values are shares in [0, 1]; NaN where a metric is not defined.
    """
    paths = sorted(Path(results).glob("metrics_*.csv"))
    parts = [pd.read_csv(path) for path in paths]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=METRIC_COLUMNS)


def split_rows(cells):
    """Rows of ``read_cells`` whose settings are those of today, and the others."""
    rows = cells.astype(object).where(cells.notna(), None).to_dict("records")
    current = [is_current(cell_of(row), row) for row in rows]
    fresh = [row for row, is_fresh in zip(rows, current, strict=True) if is_fresh]
    return fresh, [row for row, is_fresh in zip(rows, current, strict=True) if not is_fresh]


def _kept_metrics(results, kept):
    names = {_key(row) for row in kept}
    rows = read_metrics(results).astype(object).to_dict("records") if names else []
    return [
        [row[column] for column in METRIC_COLUMNS[:-1]] + [_digits(row["value"])]
        for row in rows
        if _key(row) in names
    ]


def _key(row):
    return tuple(row[key] for key in CELL_KEY)


def _metric_rows(cell, result):
    key = [getattr(cell, name) for name in CELL_KEY]
    return [
        [*key, measured["decision"], measured["rule"], metric, _digits(value)]
        for measured in result["metrics"]
        for metric, value in measured.items()
        if metric not in NOT_METRICS
    ]


def _cell_row(cell, result):
    row = {name: getattr(cell, name) for name in CELL_KEY}
    row |= {name: result[name] for name in CELL_COLUMNS if name in result}
    row["versions"] = json.dumps(result["versions"])
    row["seconds"] = result["seconds"]["total"]
    row["processor_seconds"] = result["seconds"]["processor"]
    row["seconds_by_phase"] = json.dumps(result["seconds"])
    return row


def _digits(value):
    """Six decimals, more than any metric on less than a million rows needs; empty if undefined."""
    return "" if value is None or np.isnan(value) else f"{value:.6f}"


def _write(results, cells, metrics):
    for dataset in sorted({row["dataset"] for row in cells}):
        rows = sorted(row for row in metrics if row[0] == dataset)
        write_text(results / f"metrics_{dataset}.csv", _csv(METRIC_COLUMNS, rows))
    rows = sorted([row[column] for column in CELL_COLUMNS] for row in cells)
    write_text(results / "cells.csv", _csv(CELL_COLUMNS, rows))
    kept = {f"metrics_{row['dataset']}.csv" for row in cells}
    for path in results.glob("metrics_*.csv"):
        if path.name not in kept:  # all cells of the set are stale
            path.unlink()


def _csv(columns, rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


# Estimates row by row


def record_estimates(cell, output, results, decision="VP-B+S"):
    """Compute a cell, and write what a decision of it estimates on each test row as well.

    Parameters
    ----------
    cell : Cell
    output, results : path
        Directory of the cells, and of the CSV files; the estimates go to ``estimates`` in it.
    decision : str
        Name of the decision.

    Returns
    -------
    pathlib.Path
        The file of the estimates.
    """
    with Claims(output) as claims:
        if not claims.take(cell):
            raise OSError(
                f"{cell.name} is being computed by another process in {output}; wait for it, or "
                "choose another directory"
            )
        columns, result = estimates(cell, decision)
        write_result(output, cell, result)
    path = _estimates_path(cell, results)
    rows = zip(
        *(columns[name].astype(int) for name in ("class", "labelled")),
        *(map(_digits, columns[name]) for name in ("y", "s")),
        strict=True,
    )
    write_text(path, _csv(list(columns), rows))
    origin = {key: value for key, value in result.items() if key != "metrics"}
    text = json.dumps({"decision": decision, **origin}, indent=1)
    write_text(path.with_suffix(".json"), text + "\n")
    return path


def read_estimates(cell, results):
    """The recorded estimates of a cell: ``class``, ``labelled``, ``y``, ``s``, a row per test row.

    They are refused if the cell's settings have changed since.
    """
    path = _estimates_path(cell, results)
    origin = path.with_suffix(".json")
    if not path.exists() or not is_current(cell, json.loads(origin.read_text(encoding="utf-8"))):
        raise FileNotFoundError(
            f"{path} is missing or stale; write it with python -m pu_utils estimates"
        )
    return pd.read_csv(path)


def _estimates_path(cell, results):
    return Path(results) / "estimates" / f"{cell.name.replace('/', '_')}.csv"


# Verification


def verify(results, n_cells=2, families=None, datasets=None, seed=None):
    """Recompute a few recorded cells, chosen at random, and compare.

    On the same processor with the same versions every metric must be the recorded one; elsewhere
    the steady ones must lie within the family's ``TOLERANCE``, and the data must be the same.

    Parameters
    ----------
    results : path
        Directory of the CSV files.
    n_cells : int
        How many cells.
    families, datasets : sequence of str, optional
        Choose among these alone: "reference" costs nothing, "lbe" seconds; synthetic sets need
        no files.
    seed : int, optional
        Of the choice.

    Returns
    -------
    list of dict
        For each cell its name, ``largest`` (the largest difference), ``tolerance``, and
        ``problem``, which is None where the cell holds.
    """
    cells = read_cells(results)
    for column, wanted in (("family", families), ("dataset", datasets)):
        cells = cells[cells[column].isin(wanted)] if wanted else cells
    if cells.empty:
        raise ValueError(f"no such cell is recorded in {results}; collect some first")
    chosen = cells.sample(min(n_cells, len(cells)), random_state=seed)
    metrics = read_metrics(results)
    return [_verdict(row, metrics) for row in chosen.to_dict("records")]


def _verdict(row, metrics):
    cell = cell_of(row)
    verdict = {"cell": " ".join(map(str, _key(row))), "largest": None, "tolerance": None}
    if not is_current(cell, row):
        return verdict | {"problem": "stale: recorded with other settings"}
    result = compute(cell)
    if result["data_fingerprint"] != row["data_fingerprint"]:
        return verdict | {
            "problem": "the data are not those of the record (image features that were computed "
            "anew differ a little)"
        }
    place = ("processor", "device", "versions")
    same_machine = all(_cell_row(cell, result)[k] == row[k] for k in place)
    return verdict | _compare(cell, result, metrics, same_machine)


def _compare(cell, result, metrics, same_machine):
    index = ["decision", "rule", "metric"]
    key = np.logical_and.reduce([metrics[name] == getattr(cell, name) for name in CELL_KEY])
    rows = pd.DataFrame(_metric_rows(cell, result), columns=METRIC_COLUMNS)
    now = pd.to_numeric(rows.set_index(index)["value"])
    then = metrics[key].set_index(index)["value"].reindex(now.index)
    if not same_machine:
        steady = now.index.get_level_values("metric").isin(STEADY_METRICS)
        now, then = now[steady], then[steady]
    tolerance = EXACT if same_machine else TOLERANCE[cell.family]
    difference = (now - then).abs().where(now.notna() | then.notna(), 0)
    agree, worst = bool((difference <= tolerance).all()), difference.fillna(np.inf).idxmax()
    return {
        "largest": float(difference.max()),
        "tolerance": tolerance,
        "problem": None if agree else f"differs most in {' '.join(worst)}",
    }
