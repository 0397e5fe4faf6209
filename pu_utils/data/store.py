"""Files of the real data sets: where they come from, where they are kept, whether they are whole.

They are kept in the folder that ``PU_DATA_DIR`` names, or else in the user's cache. A file that is
there and whole is only read, so the folder may be read-only. Downloads go through pooch: to a
temporary file, checked, then moved into place at once, so that processes may fetch the same file at
the same time; an interrupted download goes on where it stopped.
"""

import contextlib
import csv
import os
import stat
import time
import uuid
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pooch
import requests
from tqdm.auto import tqdm

TIMEOUT = 30  # seconds without a byte after which a download counts as interrupted
ABANDONED = 2 * TIMEOUT  # seconds without a write after which nobody can be at a partial file
SPARE = 1 << 20  # bytes more than declared that a download may bring: sizes are rounded
SLOWEST = 50_000  # bytes a second; who sends fewer of the whole is given up


class ChecksumError(ValueError):
    """A file is not the one it should be."""


class DownloadError(OSError):
    """A file is neither here nor to be had."""


@dataclass(frozen=True)
class DataFile:
    """A file: its public home (None: none), checksum (None: not known), size and licence.

    One checksum is not known, that of UCI's table, which is checked row by row when it is read.
    """

    name: str
    url: str | None
    checksum: str | None
    megabytes: float
    licence: str


def _registry():
    """The table of the files; a field that is not known is empty in it."""
    with open(Path(__file__).parent / "files.csv", encoding="utf-8", newline="") as table:
        rows = [{key: value or None for key, value in row.items()} for row in csv.DictReader(table)]
    return {row["name"]: DataFile(**row | {"megabytes": float(row["megabytes"])}) for row in rows}


FILES = _registry()


def data_dir():
    """Folder of the data files: ``PU_DATA_DIR``, or the user's cache."""
    return Path(os.environ.get("PU_DATA_DIR") or pooch.os_cache("pu_utils")).expanduser()


def status(name):
    """``"whole"``, ``"altered"``, ``"missing"``, or ``"unchecked"`` where no checksum is known."""
    path, checksum = data_dir() / name, FILES[name].checksum
    if not path.exists():
        return "missing"
    if checksum is None:
        return "unchecked"
    return "whole" if pooch.hashes.hash_matches(path, checksum) else "altered"


def fetch(name):
    """Path of a whole file, downloaded if need be; one that was altered is set aside first."""
    path, file, state = data_dir() / name, FILES[name], status(name)
    if state == "altered":
        done = set_aside(path, f"is not the file it should be (expected {file.checksum})")
        if file.url is None:
            raise ChecksumError(f"{done}: put the right file there, it has no public home")
        warnings.warn(f"{done}; it is downloaded again", stacklevel=2)
    if state in ("altered", "missing"):
        _download(path)
    return path


def fetch_first(*names):
    """Path of the first of these files that is there, or else of the last, downloaded."""
    for name in names:
        if (data_dir() / name).exists():
            return fetch(name)
    return fetch(names[-1])


def set_aside(path, trouble, name=None):
    """Rename a bad file to ``name.bad``, ``name.bad2``...; return what was done, in words."""
    bad = path.with_name(f"{name or path.name}.bad")
    number = 2
    while bad.exists():
        bad = bad.with_suffix(f".bad{number}")
        number += 1
    try:
        path.rename(bad)
    except FileNotFoundError:
        pass  # another process was faster
    except OSError as reason:
        raise ChecksumError(
            f"{path} {trouble} and could not be set aside: {reason}; replace it, or use "
            "another folder (of data files: set PU_DATA_DIR)"
        ) from reason
    return f"{path} {trouble} and was set aside as {bad.name}"


def _download(path):
    file = FILES[path.name]
    by_hand = f"put it at {path}, or set PU_DATA_DIR to a writable folder that holds it"
    if file.url is None:
        raise DownloadError(f"{file.name} is missing and has no public home: {by_hand}")
    cache = pooch.create(
        path=path.parent,
        base_url="",
        registry={file.name: file.checksum},
        urls={file.name: file.url},
        retry_if_failed=1,
    )
    try:
        cache.fetch(file.name, downloader=partial(_resume, path=path))
    except OSError as reason:
        raise DownloadError(
            f"{file.name} is missing and could not be fetched from {file.url}: {reason}; {by_hand}"
        ) from reason


def _resume(url, temporary, _cache, path):
    """Pooch downloader that continues the partial file an interrupted download left."""
    part = _claim_partial(path)
    try:
        _append(url, part, FILES[path.name].megabytes * 1e6 + SPARE)
    except BaseException:  # Ctrl-C too
        if part.exists():
            os.utime(part, (0, 0))  # the next one need not wait to claim it
        raise
    checksum = FILES[path.name].checksum
    if not pooch.hashes.hash_matches(part, checksum):
        done = set_aside(part, f"from {url} does not match {checksum}", path.name)
        raise ChecksumError(f"{done}: try again later, or put the right file at {path}")
    os.replace(part, temporary)


def _claim_partial(path):
    """A partial file of our own: an abandoned one if there is one, else a new one."""
    mine = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    for left in path.parent.glob(f"{path.name}.*.part"):
        with contextlib.suppress(OSError):  # another process was faster
            found = left.lstat()  # a link, planted or not, is not followed
            ours = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if ours and time.time() - found.st_mtime > ABANDONED:
                left.rename(mine)
                os.utime(mine)
                break
    return mine


def _append(url, part, most):
    """Ask for what is missing of a partial file; a server may send the whole again.

    No more than ``most`` bytes are taken, and no more time than a slow connection needs for them.
    """
    have = part.stat().st_size if part.exists() else 0
    deadline = time.monotonic() + ABANDONED + most / SLOWEST
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return  # nothing is missing
        response.raise_for_status()
        resumed = response.status_code == requests.codes.partial_content
        if resumed and not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            part.unlink(missing_ok=True)  # the next attempt begins anew
            raise requests.RequestException("another part came than was asked for")
        total = int(response.headers.get("Content-Length", 0)) + have * resumed
        bar = tqdm(total=total, initial=have * resumed, desc=url.rsplit("/", 1)[-1], unit="B",
                   unit_scale=True, disable=None)  # fmt: skip
        with bar, part.open("ab" if resumed else "wb") as file:
            for block in response.iter_content(1 << 16):
                bar.update(file.write(block))
                if file.tell() > most:
                    part.unlink()
                    raise requests.RequestException(f"it is larger than {most / 1e6:.1f} MB")
                if time.monotonic() > deadline:
                    raise requests.RequestException("it comes too slowly; the rest can wait")
