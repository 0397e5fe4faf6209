"""Running experiments: in processes of this machine, or on a Dask cluster."""

import contextlib
import ctypes
import json
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, wait
from multiprocessing import connection

from tqdm import tqdm

from pu_utils.reproduction.compute import compute
from pu_utils.reproduction.output import Locks, is_result, state, write_result

POLL_SECONDS = 0.5  # between looks at experiments that another run has locked
CONNECT_SECONDS = 10  # how long a scheduler may take to answer
JOIN_SECONDS = 10  # how long a killed process may take to go
START_METHOD = "spawn"  # torch that has computed and fork do not go together
PR_SET_PDEATHSIG = 1  # of Linux's prctl
LOG_SECONDS = 30  # between lines of progress in a file, where none can be written over


def run(
    experiments,
    output,
    workers=None,
    scheduler=None,
    retry_failed=False,
    time_limit=math.inf,
):
    """Compute the experiments that are not done, and record each in a file of its own.

    It may be stopped at any moment and run again; several may run on the same directory. It ends
    when every experiment is done or failed, whoever computed it.

    Parameters
    ----------
    experiments : list of Experiment
        See :func:`grid`.
    output : path
        Directory of the results.
    workers : int, optional
        Processes on this machine, one thread each; as many as there are processors where None.
    scheduler : str, optional
        Address of a Dask scheduler to compute on instead, such as "tcp://host:8786".
    retry_failed : bool
        Whether experiments that failed are computed again.
    time_limit : float
        Seconds after which an experiment is stopped and has failed; in processes of this machine.

    Returns
    -------
    list of Experiment
        Those that failed.
    """
    settled = ("done",) if retry_failed else ("done", "failed")
    experiments = list(dict.fromkeys(experiments))
    todo = deque(one for one in experiments if state(output, one) not in settled)
    if scheduler and time_limit < math.inf:
        raise ValueError("a time limit needs processes of this machine, not --scheduler")
    if todo:
        seconds = 0.1 if sys.stderr.isatty() else LOG_SECONDS
        pace = {"smoothing": 0, "mininterval": seconds, "maxinterval": max(seconds, 10)}
        with (
            Locks(output) as locks,
            Cluster(scheduler) if scheduler else Processes(workers, time_limit) as pool,
            tqdm(total=len(todo), unit="experiment", **pace) as progress,
        ):
            while todo or pool.running:
                progress.update(_start(todo, settled, output, locks, pool))
                if not pool.running:
                    time.sleep(POLL_SECONDS)
                for experiment, result in pool.finished():
                    write_result(output, experiment, result)
                    locks.release(experiment)
                    progress.update(1)
    return [one for one in experiments if state(output, one) == "failed"]


def device():
    """Where networks are trained that may be trained anywhere: "cuda", "mps" or "cpu"."""
    from pu_utils.models.networks import resolve_device

    return resolve_device("auto").type


def _start(todo, settled, output, locks, pool):
    """Hand free experiments to the pool until it is full; how many others have settled."""
    settled_by_others = 0
    for _ in range(len(todo)):
        if not todo or len(pool.running) >= pool.capacity():
            break
        experiment = todo.popleft()
        if not locks.take(experiment):
            todo.append(experiment)
        elif state(output, experiment) in settled:
            locks.release(experiment)
            settled_by_others += 1
        else:
            pool.submit(experiment)
    return settled_by_others


def processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def attempt(experiment):
    """The result of an experiment, or what is recorded of its failure."""
    try:
        result = json.loads(json.dumps(compute(experiment), allow_nan=False))
        if not is_result(result):
            raise ValueError(f"a part is missing, or a metric is no share in [0, 1]: {result}")
        return result
    except Exception:
        return failure(experiment, traceback.format_exc())


def failure(experiment, text):
    """What is recorded of an experiment that failed."""
    facts = {"settings": experiment.settings, "settings_hash": experiment.settings_hash}
    return facts | {"traceback": text}


class Processes:
    """Processes of this machine, one experiment at a time each.

    Unlike in a ``ProcessPoolExecutor`` it is known which experiment was the end of a process, none
    but that one is lost, and all can be stopped on their way.
    """

    def __init__(self, workers=None, time_limit=math.inf):
        self.n_workers = processors() if workers is None else workers
        if self.n_workers < 1:
            raise ValueError(f"workers is {workers}; give at least 1")
        if not time_limit > 0:
            raise ValueError(f"time_limit is {time_limit}; give a positive number of seconds")
        self.time_limit, self.deadlines = time_limit, {}  # the latter by pipes too
        self.processes, self.idle = {}, []  # processes by the pipes to them; pipes to idle ones
        self.running = {}  # experiments by the pipes through which their results come

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes.values():
            process.kill()  # all, before a second Ctrl-C can end the waiting
        for process in self.processes.values():
            process.join(JOIN_SECONDS)

    def capacity(self):
        """Experiments in work at a time."""
        return self.n_workers

    def submit(self, experiment):
        """Hand an experiment to a process that is idle, or to a new one."""
        pipe = self.idle.pop() if self.idle else self._start()
        with contextlib.suppress(BrokenPipeError):  # of a process that was killed: see finished
            pipe.send(experiment)
        self.running[pipe] = experiment
        self.deadlines[pipe] = time.monotonic() + self.time_limit

    def finished(self):
        """Experiments that have come to an end, and their results; it waits a moment for one."""
        ready = connection.wait(list(self.running), POLL_SECONDS)
        now = time.monotonic()
        for pipe in [one for one in self.running if one in ready or self.deadlines[one] < now]:
            experiment = self.running.pop(pipe)
            try:
                if pipe not in ready:
                    raise EOFError(f"stopped at the time limit of {self.time_limit} s")
                result = pipe.recv()
                self.idle.append(pipe)
            except (EOFError, OSError) as reason:
                process = self.processes.pop(pipe)
                process.kill()
                process.join(JOIN_SECONDS)
                ended = f"the process ended with exit code {process.exitcode} (minus: signal)"
                result = failure(experiment, f"{reason}\n{ended}".strip())
            yield experiment, result

    def _start(self):
        context = multiprocessing.get_context(START_METHOD)
        ours, theirs = context.Pipe()
        self.processes[ours] = context.Process(target=_work, args=(theirs,), daemon=True)
        self.processes[ours].start()
        theirs.close()  # or the end of the process would go unnoticed
        return ours


def _work(pipe):
    """Compute what comes through the pipe, until its other end closes or the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    if sys.platform == "linux":  # elsewhere the thread must do, which long C code can keep waiting
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(attempt(pipe.recv()))


def _die_with_parent():
    """No orphan goes on computing what nobody will record."""
    connection.wait([multiprocessing.parent_process().sentinel])
    os._exit(1)


class Cluster:
    """A Dask cluster. An experiment whose worker dies moves to another, three times at most."""

    def __init__(self, address):
        try:
            from distributed import Client
        except ImportError:
            raise ValueError(
                "--scheduler needs Dask; install it with: pip install 'pu_utils[cluster]'"
            ) from None
        self.client = Client(address, timeout=CONNECT_SECONDS)
        self.executor = self.client.get_executor(pure=False)
        self.running = {}  # experiments by the futures of their results

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.executor.shutdown(wait=False)  # cancels what is left
        self.client.close()

    def capacity(self):
        """Experiments in work or at hand at a time: no worker waits for the next."""
        return 2 * max(1, sum(self.client.nthreads().values()))

    def submit(self, experiment):
        """Hand an experiment to the scheduler."""
        self.running[self.executor.submit(attempt, experiment)] = experiment

    def finished(self):
        """Experiments that have come to an end, and their results; it waits a moment for one."""
        for future in wait(self.running, POLL_SECONDS, FIRST_COMPLETED).done:
            experiment = self.running.pop(future)
            try:
                result = future.result()
            except CancelledError:
                lost = "the Dask scheduler is gone; bring it up, and run again"
                raise ConnectionError(lost) from None
            except Exception as error:  # of workers; what went wrong in science came as a result
                result = failure(experiment, "".join(traceback.format_exception(error)))
            yield experiment, result
