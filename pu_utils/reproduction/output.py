"""The output directory: one JSON file per experiment, whole or not there at all, and locks."""

import json
import os
import threading
import uuid
import warnings
from collections import Counter, defaultdict
from contextlib import contextmanager, nullcontext, suppress
from glob import escape, iglob
from pathlib import Path

import orjson  # `status` reads tens of thousands of files

try:
    import fcntl
except ImportError:  # on Windows, where everything but the locks works
    fcntl = None

from pu_utils.data.store import set_aside
from pu_utils.reproduction.experiment import experiment_of

STATES = ("done", "stale", "failed", "missing")
FAILED = ".failed.json"
# Keys and types of what is recorded; the commit may be unknown
_RESULT = dict.fromkeys(("settings_hash", "data_fingerprint", "processor", "device", "commit"), str)
_RESULT |= dict.fromkeys(("settings", "versions", "seconds"), dict) | {"metrics": list}
RESULTS = [_RESULT, _RESULT | {"commit": type(None)}]
FAILURES = [{"settings": dict, "settings_hash": str, "traceback": str}]
COLLECTING = 1 << 62  # an offset in the lock file, above those of experiments
_THREADS = defaultdict(threading.RLock)  # by lock file: the kernel does not tell threads apart


def result_path(output, experiment):
    """File of the result of an experiment."""
    return Path(output) / f"{experiment.name}.json"


def failure_path(output, experiment):
    """File of the traceback of an experiment that failed."""
    return Path(output) / f"{experiment.name}{FAILED}"


def write_text(path, text):
    """Write a file so that it is there whole or, after any accident, not there at all.

    Who shares a file holds a lock: what others have left half written is removed.
    """
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        for left in path.parent.glob(f"{escape(path.name)}.*.tmp"):
            left.unlink(missing_ok=True)
    except OSError as error:
        with suppress(OSError):  # where nothing can be written nothing need be removed
            temporary.unlink(missing_ok=True)
        raise _explained(error, path) from error


def write_result(output, experiment, result):
    """Record what an experiment computed, or its traceback.

    What stands in the place of the result and is none, or poses as this one, is set aside.
    """
    text = json.dumps(result, indent=1, allow_nan=False) + "\n"
    if "traceback" in result:
        write_text(failure_path(output, experiment), text)
        return
    path = result_path(output, experiment)
    found = read_result(path)
    is_other = found is not None and not experiment.is_current(found)
    if path.exists() and not is_other and not _holds(found, experiment):
        warnings.warn(set_aside(path, "is no result of its experiment"), stacklevel=2)
    write_text(path, text)
    failure_path(output, experiment).unlink(missing_ok=True)


def is_result(record, kinds=RESULTS):
    """Whether a record has all parts of a result, or (``FAILURES``) of the record of a failure."""
    try:
        if {key: type(value) for key, value in record.items()} not in kinds:
            return False
        if "traceback" in record:
            return True
        numbers = [record["seconds"][name] / 1e9 for name in ("processor", "total")]
        for one in record["metrics"]:
            shares = {**one}
            if not type(shares.pop("decision")) is type(shares.pop("rule")) is str:
                return False
            numbers.append((shares.pop("u_log_loss", None) or 0) / 1e9)  # not bounded by 1
            numbers += shares.values()
    except (AttributeError, KeyError, TypeError, OverflowError):
        return False
    numbers = [value for value in numbers if value is not None]
    return {*map(type, numbers)} <= {int, float} and 0 <= min(numbers) <= max(numbers) <= 1


def read_result(path):
    """A recorded result or failure, or None where the file is missing or is not one."""
    record = _document(path)
    kinds = FAILURES if str(path).endswith(FAILED) else RESULTS
    return record if is_result(record, kinds) else None


def _document(path):
    """What a JSON file holds; None where it is missing or damaged."""
    try:
        with open(path, "rb", buffering=0) as file:
            return orjson.loads(file.read())  # which refuses NaN and infinities
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError, ValueError, RecursionError):
        return None


def _holds(result, experiment):
    """Whether a record of settings, if any, is one of those that the experiment has now."""
    return result is not None and result["settings"] == experiment.settings


def state(output, experiment):
    """Whether an experiment is "done", "stale", "failed" or "missing".

    Stale: there is a file, but it was computed with other settings, or is damaged. A failure with
    other settings counts for nothing.
    """
    paths = {"done": result_path(output, experiment), "failed": failure_path(output, experiment)}
    for name, path in paths.items():
        if _holds(read_result(path), experiment):
            return name
    return "stale" if paths["done"].exists() else "missing"


def recorded(output):
    """Path, experiment and result of each file of a result, one by one; those stale have None.

    What stands elsewhere than the result of its experiment does, such as estimates, is none.
    """
    for name in sorted(iglob("**/*.json", root_dir=output, recursive=True)):
        if name.endswith(FAILED):
            continue
        path = os.path.join(output, name)  # Path objects would take half of the time
        record = _document(path)
        experiment = experiment_of(record.get("settings")) if isinstance(record, dict) else None
        if experiment is None:
            yield path, None, None
        elif name.replace(os.sep, "/") == f"{experiment.name}.json":
            current = is_result(record) and _holds(record, experiment)
            yield path, *((experiment, record) if current else (None, None))


def survey(output, experiments):
    """How many experiments are in each state, and the stale files, in the grid or not."""
    done = {experiment or path for path, experiment, _ in recorded(output)}
    stale = sorted(path for path in done if isinstance(path, str))
    counts = Counter("done" if one in done else state(output, one) for one in experiments)
    return {name: counts[name] for name in STATES}, stale


class Locks:
    """Experiments that this thread has locked against others that work on the same directory.

    A lock is on one byte of one file, at an offset that stands for the experiment. The kernel
    gives it up when the process ends, however it ends, so that nothing is left to clean up. (POSIX
    record locks: Linux, macOS, network file systems; closing the file gives up all.) Threads of one
    process take turns at having any.
    """

    def __init__(self, output):
        if fcntl is None:
            raise OSError(
                "this system has no POSIX record locks; run experiments on Linux or macOS, or "
                "under WSL (reading what is recorded needs none)"
            )
        self.path = Path(output) / "claims.lock"  # as older runs call it, which may be at work
        self.thread = _THREADS[os.path.realpath(self.path)]

    def __enter__(self):
        self.thread.acquire()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.file = open(self.path, "ab")
        except OSError as error:
            self.thread.release()
            raise _explained(error, self.path) from error
        return self

    def __exit__(self, *_):
        self.file.close()
        self.thread.release()

    def take(self, experiment):
        """Lock an experiment; whether it was free."""
        try:
            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(experiment))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, experiment):
        """Give an experiment up."""
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1, _offset(experiment))


@contextmanager
def collecting(results):
    """Wait until nobody else is between reading and writing a directory of results."""
    with Locks(results) if fcntl else nullcontext() as locks:
        if locks:
            fcntl.lockf(locks.file, fcntl.LOCK_EX, 1, COLLECTING)
        yield


def _offset(experiment):
    return int(experiment.settings_hash, 16) >> 2  # below 2^62, which file offsets allow


def _explained(error, path):
    """The same error with what to do about it."""
    return type(error)(
        error.errno,
        f"{error.strerror}: cannot write; make room or choose another directory, and run again "
        "(what is recorded is kept)",
        str(path),
    )
