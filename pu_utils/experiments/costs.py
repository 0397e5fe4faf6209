"""What cells cost: processor seconds as recorded or extrapolated, and an estimate for a GPU."""

import pandas as pd

from pu_utils.experiments.cells import CELL_KEY, cell_of
from pu_utils.experiments.counting import operations, parts, rows_of
from pu_utils.experiments.recorded import split_rows

KIND = ["dataset", "family", "schedule"]  # cells that cost about the same

# Assumptions, nothing that was measured on a GPU. NVIDIA's data sheet gives the T4, Colab's usual
# GPU, 8.1e12 operations a second in single precision; small matrices keep a part of it busy. A
# step costs at least its calls from Python: 3 to 6 ms on a processor with networks of 8 units.
T4_PEAK_OPERATIONS = 8.1e12  # a second
GPU_SHARE = 0.15
GPU_STEP_SECONDS = 0.005


def recorded_seconds(recorded):
    """Mean processor seconds of the recorded cells, by data set, family and schedule.

    Cells with settings that are no longer current are left out, and so are those computed on a
    GPU, of which the processor's time says nothing.

    Parameters
    ----------
    recorded : pandas.DataFrame
        What :func:`read_cells` gives.

    Returns
    -------
    pandas.DataFrame
        Columns ``seconds``; ``operations``, the mean of their :func:`operations`; and ``cells``,
        how many there are; indexed by ``dataset``, ``family`` and ``schedule``.
    """
    known = _known(recorded)
    counted = [operations(cell_of(row)) for row in known.to_dict("records")]
    groups = known.assign(operations=counted).groupby(KIND)
    return groups.agg(
        seconds=("processor_seconds", "mean"),
        operations=("operations", "mean"),
        cells=("seed", "size"),
    )


def expected_seconds(cells, recorded):
    """Processor seconds of cells, on one processor like that of the recorded ones.

    They are the mean of the recorded cells of the same data set, family and schedule. Where there
    are none they are extrapolated from the other cells of the family, those of the same schedule
    if there are any: VAE-PU in proportion to its operations, the other families, which do little
    but go through the rows, to the number of training rows.

    Parameters
    ----------
    cells : list of Cell
        See :func:`grid`.
    recorded : pandas.DataFrame
        What :func:`read_cells` gives.

    Returns
    -------
    pandas.DataFrame
        One row per cell, in their order: its six fields, ``seconds``, and ``measured``, False
        where they are extrapolated.

    Raises
    ------
    ValueError
        If no cell of a family is recorded.
    """
    known, rates = _known(recorded), {}
    means = recorded_seconds(recorded)["seconds"].to_dict()

    def seconds(cell, kind):
        if kind in means:
            return means[kind]
        if kind[1:] not in rates:
            rates[kind[1:]] = _seconds_per_unit(known, cell)
        return rates[kind[1:]] * _units(cell)

    rows = []
    for cell in cells:
        kind = tuple(getattr(cell, name) for name in KIND)
        key = [getattr(cell, name) for name in CELL_KEY]
        rows.append([*key, seconds(cell, kind), kind in means])
    return pd.DataFrame(rows, columns=[*CELL_KEY, "seconds", "measured"])


def elapsed_seconds(costs, workers):
    """How long cells take on several workers: an equal share each, or the longest cell.

    No order of the cells is faster, and none takes more than the sum of the two.

    Parameters
    ----------
    costs : pandas.DataFrame
        What :func:`expected_seconds` gives.
    workers : int
        Processes with a processor each.

    Returns
    -------
    float

    Examples
    --------
    >>> costs = pd.DataFrame({"seconds": [10, 10, 40]})
    >>> elapsed_seconds(costs, 1), elapsed_seconds(costs, 100)
    (60.0, 40.0)
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}; give at least 1")
    return float(max(costs["seconds"].sum() / workers, costs["seconds"].max()))


def estimated_gpu_seconds(costs):
    """How long cells take on one Colab T4, one after another: an estimate, not a measurement.

    A part of VAE-PU's training takes as long as its operations at ``GPU_SHARE`` of the T4's peak,
    or ``GPU_STEP_SECONDS`` a step, whichever is longer. The other families have steps too small
    for a GPU and take what they take on a processor.

    Parameters
    ----------
    costs : pandas.DataFrame
        What :func:`expected_seconds` gives.

    Returns
    -------
    float
    """
    return float(sum(map(_gpu_seconds, costs.to_dict("records"))))


def _gpu_seconds(row):
    if row["family"] != "vae_pu":
        return row["seconds"]
    rate = GPU_SHARE * T4_PEAK_OPERATIONS
    found = parts(cell_of(row)).values()
    return sum(max(part.operations / rate, part.steps * GPU_STEP_SECONDS) for part in found)


def duration(seconds):
    """A time in words.

    Examples
    --------
    >>> [duration(t) for t in (0.3, 90, 5400, 200_000)]
    ['under a second', '1.5 minutes', '1.5 hours', '2.3 days']
    """
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60), ("seconds", 1)):
        if seconds >= size:
            return f"{seconds / size:.{1 if seconds < 10 * size else 0}f} {unit}"
    return "under a second"


def _known(recorded):
    """Rows of current cells that were computed on a processor."""
    fresh, _ = split_rows(recorded)
    known = pd.DataFrame(fresh, columns=recorded.columns)
    return known[known["device"] == "cpu"].astype({"processor_seconds": float})


def _units(cell):
    """What the seconds of a cell are in proportion to."""
    return operations(cell) if cell.family == "vae_pu" else rows_of(cell).train


def _seconds_per_unit(known, cell):
    family = known[known["family"] == cell.family]
    if family.empty:
        raise ValueError(
            f"no cell of family {cell.family!r} is recorded, so what it costs is not known; run "
            "and collect one first"
        )
    same = family[family["schedule"] == cell.schedule]
    used = family if same.empty else same
    units = sum(_units(cell_of(row)) for row in used.to_dict("records"))
    return used["processor_seconds"].sum() / units
