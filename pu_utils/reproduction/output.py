"""The output directory: one JSON file per experiment, whole or not there at all, and locks."""

import json
import os
from collections import Counter
from contextlib import suppress
from glob import iglob
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows, where everything but the locks works
    fcntl = None

from pu_utils.reproduction.experiment import experiment_of

STATES = ("done", "stale", "failed", "missing")
FAILED = ".failed.json"


def result_path(output, experiment):
    """File of the result of an experiment."""
    return Path(output) / f"{experiment.name}.json"


def failure_path(output, experiment):
    """File of the traceback of an experiment that failed."""
    return Path(output) / f"{experiment.name}{FAILED}"


def write_text(path, text):
    """Write a file so that it is there whole or, after any accident, not there at all."""
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):  # where nothing can be written nothing need be removed
            temporary.unlink(missing_ok=True)
        raise _explained(error, path) from error


def write_result(output, experiment, result):
    """Record what an experiment computed, or its traceback."""
    failed = "traceback" in result
    path = (failure_path if failed else result_path)(output, experiment)
    write_text(path, json.dumps(result, indent=1, allow_nan=False) + "\n")
    if not failed:
        failure_path(output, experiment).unlink(missing_ok=True)


def read_result(path):
    """A recorded result, or None where the file is missing or is not one."""
    try:
        with open(path, "rb") as file:
            result = json.load(file)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    is_result = isinstance(result, dict) and {"settings", "settings_hash"} <= set(result)
    return result if is_result else None


def state(output, experiment):
    """Whether an experiment is "done", "stale", "failed" or "missing".

    Stale: there is a file, but it was computed with other settings, or is unreadable. A failure
    with other settings counts for nothing.
    """
    paths = {"done": result_path(output, experiment), "failed": failure_path(output, experiment)}
    for name, path in paths.items():
        result = read_result(path)
        if result and experiment.is_current(result):
            return name
    return "stale" if paths["done"].exists() else "missing"


def split_recorded(output):
    """Current results by experiment, and the paths of those that are stale.

    What stands elsewhere than the result of its experiment does, such as estimates, is none.
    """
    current, stale = {}, []
    for name in sorted(iglob("**/*.json", root_dir=output, recursive=True)):
        if name.endswith(FAILED):
            continue
        path = os.path.join(output, name)  # Path objects would take half of the time
        result = read_result(path)
        experiment = experiment_of(result["settings"]) if result else None
        if experiment is None:
            stale.append(path)
        elif name.replace(os.sep, "/") == f"{experiment.name}.json":
            if experiment.is_current(result):
                current[experiment] = result
            else:
                stale.append(path)
    return current, stale


def survey(output, experiments):
    """How many experiments are in each state, and the stale files, in the grid or not."""
    current, stale = split_recorded(output)
    counts = Counter("done" if one in current else state(output, one) for one in experiments)
    return {name: counts[name] for name in STATES}, stale


class Locks:
    """Experiments that this process has locked against others that work on the same directory.

    A lock is on one byte of one file, at an offset that stands for the experiment. The kernel
    gives it up when the process ends, however it ends, so that nothing is left to clean up. (POSIX
    record locks: Linux, macOS, network file systems; closing the file gives up all.)
    """

    def __init__(self, output):
        if fcntl is None:
            raise OSError(
                "this system has no POSIX record locks; run experiments on Linux or macOS, or "
                "under WSL (reading what is recorded needs none)"
            )
        path = Path(output) / "claims.lock"  # as older runs call it, which may be at work
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = open(path, "ab")  # noqa: SIM115
        except OSError as error:
            raise _explained(error, path) from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

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
