"""The output directory: one JSON file per cell, written whole or not at all, and claims."""

import json
import os
from collections import Counter
from glob import iglob
from pathlib import Path

from pu_utils.experiments.cells import cell_of, is_current

STATES = ("done", "stale", "failed", "missing")
FAILED = ".failed.json"
KEYS = {"settings", "settings_hash"}  # of every result
NOTHING = {"settings_hash": None}


def result_path(output, cell):
    """File of the result of a cell."""
    return Path(output) / f"{cell.name}.json"


def failure_path(output, cell):
    """File of the traceback of a cell that failed."""
    return Path(output) / f"{cell.name}{FAILED}"


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
        _remove(temporary)
        raise _explained(error, path) from error


def write_result(output, cell, result):
    """Record what a cell computed, or its traceback."""
    failed = "traceback" in result
    path = (failure_path if failed else result_path)(output, cell)
    write_text(path, json.dumps(result, indent=1, allow_nan=False) + "\n")
    if not failed:
        _remove(failure_path(output, cell))


def read_result(path):
    """A recorded result, or None where the file is missing or is not one."""
    try:
        with open(path, "rb") as file:
            result = json.load(file)
        return result if isinstance(result, dict) and set(result) >= KEYS else None
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def state(output, cell):
    """Whether a cell is "done", "stale", "failed" or "missing".

    Stale: there is a file, but it was computed with other settings, or is unreadable. A failure
    with other settings counts for nothing.
    """
    path = result_path(output, cell)
    if is_current(cell, read_result(path) or NOTHING):
        return "done"
    if is_current(cell, read_result(failure_path(output, cell)) or NOTHING):
        return "failed"
    return "stale" if path.exists() else "missing"


def recorded(output):
    """Every file of a result in the output directory, with its cell and its content.

    What stands elsewhere than the result of its cell does, such as estimates, is none.

    Yields
    ------
    path : str
    cell : Cell, or None where the file is unreadable or of a cell that no longer exists
    result : dict or None
    """
    for name in sorted(iglob("**/*.json", root_dir=output, recursive=True)):
        if not name.endswith(FAILED):
            path = os.path.join(output, name)  # Path objects would take half of the time
            result = read_result(path)
            cell = cell_of(result["settings"]) if result else None
            if cell is None or name.replace(os.sep, "/") == f"{cell.name}.json":
                yield path, cell, result


def split_recorded(output):
    """Current results by cell, and the paths of those that are stale."""
    current, stale = {}, []
    for path, cell, result in recorded(output):
        if is_current(cell, result):
            current[cell] = result
        else:
            stale.append(path)
    return current, stale


def survey(output, cells):
    """How many cells are in each state, and the stale files, in the grid or not."""
    current, stale = split_recorded(output)
    counts = Counter("done" if cell in current else state(output, cell) for cell in cells)
    return {name: counts[name] for name in STATES}, stale


class Claims:
    """Cells that this process has claimed from others that work on the same directory.

    A claim is a lock on one byte of one file, at an offset that stands for the cell. The kernel
    gives it up when the process ends, however it ends, so that nothing is left to clean up. (POSIX
    record locks: Linux, macOS, network file systems; closing the file gives up all.)
    """

    def __init__(self, output):
        path = Path(output) / "claims.lock"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.file = open(path, "ab")  # noqa: SIM115
        except OSError as error:
            raise _explained(error, path) from error

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def take(self, cell):
        """Claim a cell; whether it was free."""
        fcntl = _locks()
        try:
            fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _offset(cell))
        except (BlockingIOError, PermissionError):
            return False
        return True

    def release(self, cell):
        """Give a cell up."""
        fcntl = _locks()
        fcntl.lockf(self.file, fcntl.LOCK_UN, 1, _offset(cell))


def _locks():
    try:
        import fcntl  # not on Windows, where the rest of this module works
    except ImportError as error:
        raise OSError(
            "this system has no POSIX record locks; run experiments on Linux or macOS, or under "
            "WSL (tables and chapters need none)"
        ) from error
    return fcntl


def _offset(cell):
    return int(cell.settings_hash, 16) >> 2  # below 2^62, which file offsets allow


def _remove(path):
    try:
        path.unlink(missing_ok=True)
    except OSError:  # where nothing can be written nothing need be removed
        return


def _explained(error, path):
    """The same error with what to do about it."""
    return type(error)(
        error.errno,
        f"{error.strerror}: cannot write; make room or choose another directory, and run again "
        "(what is recorded is kept)",
        str(path),
    )
