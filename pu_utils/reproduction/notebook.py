"""A grid run again from a notebook, at home or on Colab, and how long that takes."""

import sys
from pathlib import Path

from pu_utils.reproduction.experiment import grid
from pu_utils.reproduction.families import FAMILIES
from pu_utils.reproduction.output import failure_path, read_result, state
from pu_utils.reproduction.results import KIND, collect, read_results, recorded_seconds
from pu_utils.reproduction.runner import device, processors, run

DRIVE = "/content/drive"  # where Colab shows the drive of its user


def output_folder(elsewhere):
    """A folder that outlives the machine: on Colab one of the user's drive, else ``elsewhere``."""
    if "google.colab" not in sys.modules:
        return elsewhere
    from google.colab import drive

    drive.mount(DRIVE)
    return f"{DRIVE}/MyDrive/pu-book"


def rerun(grid_name, output, workers=None, *, recorded=None, retry_failed=False, **changes):
    """Compute the experiments of a grid that are not done, and give their results.

    It says beforehand how many experiments are left, what computes them and how and, of a
    processor, how long they are expected to take where some of their kind are recorded. On a GPU
    the first experiments tell: the bar of progress counts on from them. It may be stopped at any
    moment; the same call goes on where it was.

    Parameters
    ----------
    grid_name : {"smoke", "synthetic", "real", "paper"}
        See :func:`grid`.
    output : path
        Directory of the experiments, such as one on a mounted drive; the CSV files are put into its
        folder ``results``.
    workers : int, optional
        Processes; as many as there are processors where None. They share a GPU.
    recorded : path, optional
        Directory of the recorded results, from which the cost is known.
    retry_failed : bool
        Whether experiments that failed are computed again.
    **changes
        Of the grid, as in :func:`grid`.

    Returns
    -------
    pandas.DataFrame
        What :func:`read_results` gives of everything in ``output``; experiments that failed are
        named, and not in it.
    """
    experiments, results = grid(grid_name, **changes), Path(output) / "results"
    settled = ("done",) if retry_failed else ("done", "failed")
    left = [one for one in experiments if state(output, one) not in settled]
    print(f"{len(left)} of {len(experiments)} experiments are left")
    if left and any(FAMILIES[one.family].device != "cpu" for one in left) and device() != "cpu":
        print(f"on {device()}, which the processes share; the bar tells how long it takes")
    elif left:
        print("on the processor")
        print(expected_time(left, recorded or results, workers))
    failed = run(experiments, output, workers, retry_failed=retry_failed)
    for one in failed:
        reason = read_result(failure_path(output, one))["traceback"].strip().splitlines()[-1]
        print(f"failed: {one.name}: {reason}")
    if failed:
        print("retry_failed=True computes them again once the cause is gone")
    collect(output, results)
    return read_results(results)


def expected_time(experiments, results, workers=None):
    """In words, how long experiments take: as recorded ones of the same kind, on the average.

    Parameters
    ----------
    experiments : list of Experiment
        See :func:`grid`.
    results : path
        Directory of the recorded results.
    workers : int, optional
        Processes; as many as there are processors where None.

    Returns
    -------
    str
    """
    known = recorded_seconds(results)["seconds"]
    kinds = [tuple(getattr(one, name) for name in KIND) for one in experiments]
    seconds = [known[kind] for kind in kinds if kind in known.index]
    unknown = len(experiments) - len(seconds)
    if not seconds:
        return "how long they take is not known: no experiment of their kind is recorded"
    n_workers = processors() if workers is None else workers
    # an equal share of the work for each, but no experiment is split
    time = duration(max(sum(seconds) / n_workers, max(seconds)))
    more = f", and of {unknown} more nothing is recorded" if unknown else ""
    return f"about {time} on {n_workers} processor(s) like the recorded ones{more}"


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
