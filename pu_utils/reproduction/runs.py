"""Running experiments: what one computes, and many of them in processes or on a Dask cluster.

:func:`compute` is the science of one experiment. :func:`run` has it done for all that are left, and
writes each result into a file of its own, whole or not at all; so it may be stopped at any moment,
and the same call goes on. Two runs in one folder waste work and lose nothing.
"""

import json
import multiprocessing
import os
import platform
import signal
import subprocess
import threading
import time
import traceback
from concurrent.futures import BrokenExecutor, CancelledError, as_completed
from contextlib import contextmanager
from functools import lru_cache
from importlib import metadata
from multiprocessing import resource_tracker
from pathlib import Path

import numpy as np
import pandas as pd
from pebble import ProcessExpired, ProcessPool, concurrent
from tqdm import tqdm

from pu_utils import __version__, metrics
from pu_utils.data import load
from pu_utils.data.record import check_choice
from pu_utils.reproduction import results as records
from pu_utils.reproduction.experiment import KEY, grid
from pu_utils.reproduction.families import EXACT, FAMILIES
from pu_utils.rules import balanced_rule

U_METRICS = ("u_accuracy", "u_balanced_accuracy", "u_precision", "u_recall", "u_f1")
PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")
PACKAGE_FOLDER = Path(__file__).parents[1]
CONNECT_SECONDS = 6  # how long a Dask scheduler may take to answer
# Ratios of few rows, such as precision where hardly any is called positive, are compared only
# where nothing may differ
STEADY_METRICS = ["accuracy", "u_accuracy", "u_balanced_accuracy", "u_auc"]
LATER_METRICS = ["u_balanced_accuracy_of_balanced_rule", "u_log_loss", "purity"]  # old records lack
QUICK = 40  # processor seconds, up to which `verify` computes one experiment of every family


# One experiment


def compute(experiment):
    """The result of an experiment, in JSON's types: its decisions' metrics, and where from."""
    watch = Stopwatch()
    data, decisions = decide(experiment, watch)
    with watch.phase("metrics"):
        measured = [measure(decision, data.test) for decision in decisions]
        for row in measured:
            if row["rule"] == "x_only":
                row |= watch.diagnostics.get(row["decision"], {})
    return {**origin(experiment, data, watch), "metrics": measured}


def decide(experiment, watch):
    """The data of an experiment, and every decision that its family takes on the test part."""
    which = (experiment.dataset, experiment.label_frequency, experiment.seed, experiment.design)
    with watch.phase("data"):
        data = load(*which, sample=experiment.schedule == "smoke")
    family, parameters = FAMILIES[experiment.family], experiment.settings["parameters"]
    return data, family.decide(data, parameters, experiment.seed, watch)


def measure(decision, test):
    """Metrics of one decision on the test part; None where a metric is not defined.

    On unlabelled rows the naive rule *is* the x-only rule: of the latter only the accuracy on all
    rows says something new.
    """
    predicted = decision.predict(test.s).astype(int)
    values = {"accuracy": metrics.accuracy(test.y, predicted)}
    if decision.rule != "x_only":
        values |= {name: getattr(metrics, name)(test.y, predicted, test.s) for name in U_METRICS}
        values["u_auc"] = metrics.u_auc(test.y, decision.score(), test.s)
    if decision.rule == "augmented":
        balanced = balanced_rule(decision.y_proba, decision.s_proba, test.s)
        values["u_balanced_accuracy_of_balanced_rule"] = metrics.u_balanced_accuracy(
            test.y, balanced, test.s
        )
        values["u_log_loss"] = metrics.u_log_loss(test.y, decision.score(), test.s)
    finite = {name: value if np.isfinite(value) else None for name, value in values.items()}
    return {"decision": decision.name, "rule": decision.rule, **finite}


class Stopwatch:
    """Seconds of named phases, and diagnostics of what was trained, which may need Y.

    ``diagnostics["VP"]["purity"]`` is the share of training rows that the prior of VAE-PU's h_y put
    on the side of their class when it was fitted. Nothing is chosen by it.
    """

    def __init__(self):
        self.start, self.processor_start = time.perf_counter(), time.thread_time()
        self.seconds, self.diagnostics = {}, {}

    @contextmanager
    def phase(self, name):
        """Time what happens inside."""
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)

    def total(self):
        """All phases, the time since this watch was made, and the processor's part of it.

        On a busy machine the latter is what an experiment costs.
        """
        return self.seconds | {
            "processor": round(time.thread_time() - self.processor_start, 3),
            "total": round(time.perf_counter() - self.start, 3),
        }


def origin(experiment, data, watch):
    """What was computed, from which data, by which program and machine, and in which time."""
    return {
        "settings": experiment.settings,
        "settings_hash": experiment.settings_hash,
        "data_fingerprint": data.fingerprint,
        **provenance(),
        "device": _device(FAMILIES[experiment.family]),
        "seconds": watch.total(),
    }


def _device(family):
    if family.device == "cpu":
        return "cpu"
    from pu_utils.models.networks import resolve_device

    return str(resolve_device(family.device))


@lru_cache
def provenance():
    """Versions, processor and commit of this process, as a dictionary."""
    versions = {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}
    return {"versions": versions, "processor": _processor(), "commit": _commit(PACKAGE_FOLDER)}


def _version(package):
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # torch, which only networks need
        return None


def _processor():
    """The processor's name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _commit(folder):
    """Commit of the checkout that ``folder`` belongs to, or None; "-dirty" if it was changed."""

    def git(*words):
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        # an installed package may lie inside a foreign checkout, which does not track it
        git("ls-files", "--error-unmatch", "__init__.py")
        return git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except (OSError, subprocess.CalledProcessError):
        return None


# Many experiments


def run(experiments, output, workers=None, scheduler=None, retry_failed=False, time_limit=None):
    """Compute the experiments that are not done, and record each in a file of its own.

    It may be stopped at any moment and run again.

    Parameters
    ----------
    experiments : list of Experiment
        See :func:`grid`.
    output : path
        Directory of the results.
    workers : int, optional
        Processes on this machine, one thread each; as many as there are processors where None.
        They share a GPU.
    scheduler : str, optional
        Address of a Dask scheduler to compute on instead, such as "tcp://host:8786".
    retry_failed : bool
        Whether experiments that failed are computed again.
    time_limit : float, optional
        Seconds after which an experiment is stopped and has failed; in processes of this machine.

    Returns
    -------
    list of Experiment
        Those that failed.
    """
    if scheduler and time_limit:
        raise ValueError("a time limit needs processes of this machine, not --scheduler")
    left = experiments_left(experiments, output, retry_failed)
    pool = _cluster(scheduler) if scheduler else _processes(workers, time_limit)
    with pool as submit, tqdm(total=len(left), unit="experiment", smoothing=0) as progress:
        futures = {submit(attempt, one, compute, _program()): one for one in left}
        for future in as_completed(futures):
            experiment = futures.pop(future)
            records.write_result(output, experiment, _outcome(experiment, future))
            progress.update()
    return [one for one in experiments if records.state(output, one) == "failed"]


def experiments_left(experiments, output, retry_failed=False):
    """Experiments that are not done, each once."""
    settled = ("done",) if retry_failed else ("done", "failed")
    return [one for one in dict.fromkeys(experiments) if records.state(output, one) not in settled]


def attempt(experiment, function, program):
    """In a worker: the result of an experiment, or what is recorded of its failure."""
    if program != _program():
        raise ConnectionRefusedError(
            f"the worker on {platform.node()} has {_program()} and this machine {program}; install "
            "the same on both"
        )
    try:
        return json.loads(json.dumps(function(experiment), allow_nan=False))
    except Exception:
        return records.failure(experiment, traceback.format_exc())


def _program():
    return f"pu_utils {__version__} (commit {provenance()['commit']})"


def _outcome(experiment, future):
    """What a worker has sent, or what became of the worker."""
    try:
        return future.result()
    except (CancelledError, BrokenExecutor):  # no experiment's fault
        raise ConnectionError("the workers, or Dask's scheduler, are gone; run again") from None
    except ConnectionError:  # refused
        raise
    except ProcessExpired as error:
        text = f"the process ended with exit code {error.exitcode} (minus: signal)"
    except TimeoutError:
        text = "stopped at the time limit"
    except Exception as error:
        text = "".join(traceback.format_exception(error))
    return records.failure(experiment, text)


@contextmanager
def _processes(workers, time_limit):
    """A function that has another one called in a process of this machine, giving a future."""
    workers = processors() if workers is None else workers
    if workers < 1 or (time_limit is not None and time_limit <= 0):
        raise ValueError(f"workers is {workers} and time_limit {time_limit}; both must be positive")
    spawn = multiprocessing.get_context("spawn")  # torch that has computed cannot be forked
    pool = ProcessPool(workers, initializer=_end_with_parent, context=spawn)
    try:
        resource_tracker.ensure_running()  # which would undo the next line if it were started later
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        assert pool.active  # asked, it starts its processes, which Ctrl-C is not to reach
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        yield lambda function, *words: pool.schedule(function, words, timeout=time_limit)
    finally:
        pool.stop()
        pool.join()


def processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _end_with_parent():
    """In a worker: have it end when its parent does, however that ends."""

    def watch():
        multiprocessing.parent_process().join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _cluster(address):
    """A function that has another one called by a worker of Dask, giving a future.

    An experiment whose worker dies moves to another, three times at most.
    """
    try:
        from distributed import Client

        # in a thread, since Dask would wait for ever for, say, its own dashboard to answer
        connecting = concurrent.thread(Client)(address, timeout=CONNECT_SECONDS)
        client = connecting.result(CONNECT_SECONDS + 1)
    except ImportError:
        raise ValueError("--scheduler needs Dask: pip install 'pu_utils[cluster]'") from None
    except Exception as error:
        raise ConnectionError(f"no Dask scheduler answers at {address}: {error!r}") from None
    executor = client.get_executor(pure=False)
    try:
        yield executor.submit
    finally:
        executor.shutdown(wait=False)  # cancels what is left
        client.close()


# A grid again, from a notebook


def rerun(grid_name, output, workers=None, *, recorded=None, retry_failed=False, **changes):
    """Compute the experiments of a grid that are not done, and give their results.

    It says beforehand how many experiments are left and how long they are expected to take, as far
    as some of their kind are recorded. It may be stopped at any moment; the same call goes on.

    Parameters
    ----------
    grid_name : {"smoke", "synthetic", "real", "paper", "confirmation", "questions"}
        See :func:`grid`.
    output : path
        Directory of the experiments, on Colab one of a mounted drive; the CSV files are put into
        its folder ``results``.
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
    left = experiments_left(experiments, output, retry_failed)
    print(f"{len(left)} of {len(experiments)} experiments are left")
    if left:
        print(expected_time(left, recorded or results, workers))
    for one in run(experiments, output, workers, retry_failed=retry_failed):
        failed = records.read_json(records.failure_path(output, one))
        reason = failed["traceback"].strip().splitlines()[-1]
        print(f"failed: {one.name}: {reason} (again with retry_failed=True)")
    records.collect(output, results)
    return records.read_results(results)


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
    known = records.recorded_seconds(results)["seconds"]
    kinds = [tuple(getattr(one, name) for name in records.KIND) for one in experiments]
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


# Recorded experiments again


def record_estimates(experiment, results, decision="VP-B+S"):
    """Compute an experiment, and write what a decision of it estimates on each test row.

    Parameters
    ----------
    experiment : Experiment
    results : path
        Directory of the CSV files; the estimates go to ``estimates`` in it.
    decision : str
        Name of a decision that looks at S.

    Returns
    -------
    pathlib.Path
        The file of the estimates.
    """
    watch = Stopwatch()
    data, decisions = decide(experiment, watch)
    found = {one.name: one for one in decisions if one.rule != "x_only"}
    check_choice("decision", decision, found)
    truth = {"class": data.test.y, "labelled": data.test.s}
    estimates = {"y": found[decision].y_proba, "s": found[decision].s_proba}
    made = {"decision": decision, **origin(experiment, data, watch)}
    return records.write_estimates(experiment, results, pd.DataFrame(truth | estimates), made)


def verify(results, n_experiments=2, families=None, datasets=None, seed=None, every_family=False):
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
    every_family : bool
        Whether to choose as many of each family, of experiments that took at most 40 s.

    Returns
    -------
    list of dict
        For each ``experiment`` its name, ``largest`` (the largest difference), ``tolerance``, and
        ``problem``, which is None where the experiment holds.
    """
    cells = records.read_experiments(results)
    for column, wanted in (("family", families), ("dataset", datasets)):
        cells = cells[cells[column].isin(wanted)] if wanted else cells
    if every_family:
        cells = cells[cells["processor_seconds"] <= QUICK]
    if cells.empty:
        raise ValueError(f"no such experiment is recorded in {results}; collect some first")
    cells = cells.sample(frac=1, random_state=seed)
    chosen = (cells.groupby("family") if every_family else cells).head(n_experiments)
    recorded = records.read_results(results)
    found = zip(chosen.to_dict("records"), records.current_experiments(chosen), strict=True)
    return [_verdict(row, experiment, recorded) for row, experiment in found]


def _verdict(row, experiment, recorded):
    name = " ".join(str(row[key]) for key in KEY)
    verdict = {"experiment": name, "largest": None, "tolerance": None}
    if experiment is None:
        return verdict | {"problem": "stale: recorded with other settings"}
    result = compute(experiment)
    if result["data_fingerprint"] != row["data_fingerprint"]:
        return verdict | {"problem": "other data (image features computed anew differ a little)"}
    now = records.experiment_row(experiment, result)
    same_machine = all(now[name] == row[name] for name in ("processor", "device", "versions"))
    return verdict | _compare(experiment, result, recorded, same_machine)


def _compare(experiment, result, recorded, same_machine):
    now = pd.DataFrame(records.decision_rows(experiment, result), columns=recorded.columns)
    then = recorded.merge(now[KEY].drop_duplicates(), on=KEY)
    known = [n for n in records.METRICS if n not in LATER_METRICS or then[n].notna().any()]
    compared = known if same_machine else STEADY_METRICS
    now, then = (
        table.set_index(["decision", "rule"])[compared].astype(float).stack(future_stack=True)
        for table in (now, then)
    )
    now, then = now.align(then)
    tolerance = EXACT if same_machine else FAMILIES[experiment.family].tolerance
    difference = (now - then).abs().where(now.notna() | then.notna(), 0)
    agree, worst = bool((difference <= tolerance).all()), difference.fillna(np.inf).idxmax()
    return {
        "largest": float(difference.max()),
        "tolerance": tolerance,
        "problem": None if agree else f"differs most in {' '.join(worst)}",
    }
