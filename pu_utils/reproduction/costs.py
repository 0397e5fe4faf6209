"""What experiments cost, as far as it is recorded."""

import pandas as pd

from pu_utils.reproduction.record import current_experiments, read_experiments
from pu_utils.reproduction.runner import processors

KIND = ["dataset", "family", "schedule"]  # experiments that cost about the same


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
