"""Running cells: on processes of this machine, or on a Dask cluster."""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from concurrent.futures import FIRST_COMPLETED, CancelledError, ThreadPoolExecutor, wait
from multiprocessing.connection import wait as wait_for_process

from tqdm import tqdm

from pu_utils.experiments.science import compute
from pu_utils.experiments.store import Claims, state, write_result

POLL_SECONDS = 0.5  # between looks at cells that another run has claimed
CONNECT_SECONDS = 10  # how long a scheduler may take to answer
START_METHOD = "spawn"  # torch that has computed and fork do not go together


class WorkerDied(RuntimeError):
    """A worker process ended in the middle of a cell."""


def run(cells, output, workers=None, scheduler=None, retry_failed=False):
    """Compute the cells that are not done, and record each in a file of its own.

    It may be stopped at any moment and run again; several may run on the same directory. It ends
    when every cell is done or failed, whoever computed it.

    Parameters
    ----------
    cells : list of Cell
        See :func:`grid`.
    output : path
        Directory of the results.
    workers : int, optional
        Processes on this machine, one thread each; as many as there are processors where None.
    scheduler : str, optional
        Address of a Dask scheduler to compute on instead, such as "tcp://host:8786".
    retry_failed : bool
        Whether cells that failed are computed again.

    Returns
    -------
    list of Cell
        Those that failed.
    """
    settled = ("done",) if retry_failed else ("done", "failed")
    todo = deque(cell for cell in cells if state(output, cell) not in settled)
    if todo:
        with (
            Claims(output) as claims,
            Cluster(scheduler) if scheduler else Workers(workers) as pool,
            tqdm(total=len(todo), unit="cell", smoothing=0) as progress,
        ):
            _compute_all(todo, settled, output, claims, pool, progress)
    return [cell for cell in cells if state(output, cell) == "failed"]


def processors():
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def attempt(cell):
    """The result of a cell, or its settings and the traceback of what went wrong."""
    try:
        return compute(cell)
    except Exception:
        return failure(cell, traceback.format_exc())


def failure(cell, text):
    """What is recorded of a cell that failed."""
    return {"settings": cell.settings, "settings_hash": cell.settings_hash, "traceback": text}


def _compute_all(todo, settled, output, claims, pool, progress):
    running = {}
    while todo or running:
        if settled_by_others := _start(todo, running, settled, output, claims, pool):
            progress.update(settled_by_others)
        if not running:
            time.sleep(POLL_SECONDS)
        for future in wait(running, POLL_SECONDS, FIRST_COMPLETED).done:
            cell = running.pop(future)
            write_result(output, cell, _result(cell, future))
            claims.release(cell)
            progress.update()


def _start(todo, running, settled, output, claims, pool):
    """Hand free cells to the pool until it is full; how many others have settled."""
    settled_by_others = 0
    for _ in range(len(todo)):
        if len(running) >= pool.capacity():
            break
        cell = todo.popleft()
        if not claims.take(cell):
            todo.append(cell)
        elif state(output, cell) in settled:
            claims.release(cell)
            settled_by_others += 1
        else:
            running[pool.submit(cell)] = cell
    return settled_by_others


def _result(cell, future):
    try:
        return future.result()
    except CancelledError:
        raise ConnectionError("the Dask scheduler is gone; bring it up, and run again") from None
    except Exception as error:  # of the worker; what went wrong in the cell came as a result
        return failure(cell, "".join(traceback.format_exception(error)))


class Workers:
    """Processes of this machine, each with a thread here that waits for its answers.

    Unlike ``ProcessPoolExecutor`` it knows which cell was the end of a worker, loses none but that
    one, and can be stopped in the middle of a cell.
    """

    def __init__(self, workers=None):
        self.n_workers = processors() if workers is None else workers
        if self.n_workers < 1:
            raise ValueError(f"workers is {workers}; give at least 1")
        self.threads = ThreadPoolExecutor(self.n_workers)
        self.own = threading.local()
        self.starting = threading.Lock()
        self.processes = []
        self.closed = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with self.starting:
            self.closed = True
        for process in self.processes:
            process.terminate()
        self.threads.shutdown(cancel_futures=True)
        for process in self.processes:
            process.join()

    def capacity(self):
        """Cells in work at a time."""
        return self.n_workers

    def submit(self, cell):
        """A future of the result of a cell."""
        return self.threads.submit(self._ask, cell)

    def _ask(self, cell):
        if not hasattr(self.own, "pipe"):
            self._start()
        try:
            self.own.pipe.send(cell)
            return self.own.pipe.recv()
        except (EOFError, OSError):
            self.own.process.join()
            code = self.own.process.exitcode
            del self.own.pipe
            raise WorkerDied(f"the worker ended with exit code {code} (minus: signal)") from None

    def _start(self):
        context = multiprocessing.get_context(START_METHOD)
        with self.starting:
            if self.closed:
                raise WorkerDied("stopped before the worker was started")
            self.own.pipe, theirs = context.Pipe()
            self.own.process = context.Process(target=_work, args=(theirs,), daemon=True)
            self.own.process.start()
            self.processes.append(self.own.process)
            theirs.close()  # or the end of the worker would go unnoticed


def _work(pipe):
    """Compute what comes through the pipe, until its other end closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # leave in order, even in mid-cell
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            pipe.send(attempt(pipe.recv()))
        except (EOFError, OSError):
            return


def _die_with_parent():
    """No orphan goes on computing what nobody will record."""
    wait_for_process([multiprocessing.parent_process().sentinel])
    os._exit(1)


class Cluster:
    """A Dask cluster. A cell whose worker dies is computed on another, three times at most."""

    def __init__(self, address):
        try:
            from distributed import Client
        except ImportError:
            raise ValueError(
                "--scheduler needs Dask; install it with: pip install 'pu_utils[cluster]'"
            ) from None
        self.client = Client(address, timeout=CONNECT_SECONDS)
        self.executor = self.client.get_executor(pure=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.executor.shutdown(wait=False)  # cancels what is left
        self.client.close()

    def capacity(self):
        """Cells in work or at hand at a time: no worker waits for the next."""
        return 2 * max(1, sum(self.client.nthreads().values()))

    def submit(self, cell):
        """A future of the result of a cell."""
        return self.executor.submit(attempt, cell)
