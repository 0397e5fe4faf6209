"""A grid run again from a notebook, at home or on Colab."""

import sys
from pathlib import Path

from pu_utils.experiments.cells import grid
from pu_utils.experiments.costs import (
    duration,
    elapsed_seconds,
    estimated_gpu_seconds,
    expected_seconds,
)
from pu_utils.experiments.engine import processors, run
from pu_utils.experiments.recorded import collect, read_cells, read_metrics
from pu_utils.experiments.store import failure_path, read_result, state

DRIVE = "/content/drive"  # where Colab shows the drive of its user


def output_folder(elsewhere="../runs"):
    """A folder that outlives the machine: on Colab one of the user's drive, else ``elsewhere``."""
    if "google.colab" not in sys.modules:
        return elsewhere
    from google.colab import drive

    drive.mount(DRIVE)
    return f"{DRIVE}/MyDrive/pu-book"


def rerun(grid_name, output, workers=None, *, recorded="../results", retry_failed=False, **changes):
    """Compute the cells of a grid that are not done, and give their metrics.

    It says beforehand how many cells are left and what they are expected to cost. It may be
    stopped at any moment; the same call goes on where it was.

    Parameters
    ----------
    grid_name : {"smoke", "synthetic", "real", "paper"}
        See :func:`grid`.
    output : path
        Directory of the cells, such as one on a mounted drive; the CSV files are put into its
        folder ``results``.
    workers : int, optional
        Processes; where None one on a GPU, and else as many as there are processors.
    recorded : path
        Directory of the recorded results, from which the cost is known.
    retry_failed : bool
        Whether cells that failed are computed again.
    **changes
        Of the grid, as in :func:`grid`.

    Returns
    -------
    pandas.DataFrame
        What :func:`read_metrics` gives of everything in ``output``; cells that failed are
        named, and not in it.
    """
    cells = grid(grid_name, **changes)
    settled = ("done",) if retry_failed else ("done", "failed")
    left = [cell for cell in cells if state(output, cell) not in settled]
    print(f"{len(left)} of {len(cells)} cells are left")
    if left:
        _print_costs(left, recorded, workers)
    default = 1 if _has_gpu() else None
    failed = run(cells, output, default if workers is None else workers, retry_failed=retry_failed)
    for cell in failed:
        print(f"failed: {cell.name}: {_last_line(output, cell)}")
    if failed:
        print("retry_failed=True computes them again once the cause is gone")
    results = Path(output) / "results"
    collect(output, results)
    return read_metrics(results)


def _print_costs(cells, recorded, workers):
    try:
        costs = expected_seconds(cells, read_cells(recorded))
    except ValueError as error:  # no reason not to run
        print(f"how long they take is not known: {error}")
        return
    n_workers = processors() if workers is None else workers
    time, guessed = duration(elapsed_seconds(costs, n_workers)), (~costs["measured"]).sum()
    print(f"about {time} on {n_workers} processor(s); extrapolated for {guessed} cells")
    if _has_gpu():
        estimate = duration(estimated_gpu_seconds(costs))
        print(f"an estimated {estimate} on one GPU, if it is like Colab's T4")


def _has_gpu():
    import torch  # it takes seconds to load

    return torch.cuda.is_available()


def _last_line(output, cell):
    return read_result(failure_path(output, cell))["traceback"].strip().splitlines()[-1]
