"""Files of the real data sets: where they come from, where they are kept, whether they are whole.

``files.csv`` names them with their addresses and checksums. They are kept in the folder that
``PU_DATA_DIR`` names, or else in the user's cache, and only read there, so that the folder may be
read-only. Pooch downloads what is missing.
"""

import os
from collections import namedtuple
from pathlib import Path

import pandas as pd
import pooch

# A file: its public home (empty if it has none), checksum and licence
DataFile = namedtuple("DataFile", "name address sha256 licence")


def read_files(path):
    """The files that a table names, by their names."""
    rows = pd.read_csv(path, keep_default_na=False)[[*DataFile._fields]]
    files = {name: DataFile(name, *facts) for name, *facts in rows.itertuples(index=False)}
    for file in files.values():
        if len(file.sha256) != 64:
            raise ValueError(f"{path} lacks the sha256 of {file.name}: add it")
    return files


FILES = read_files(Path(__file__).with_name("files.csv"))


def data_dir():
    """Folder of the data files: ``PU_DATA_DIR``, or the user's cache."""
    return Path(os.environ.get("PU_DATA_DIR") or pooch.os_cache("pu_utils")).expanduser()


def status(name):
    """``"whole"``, ``"altered"`` or ``"missing"``."""
    path = data_dir() / name
    if not path.exists():
        return "missing"
    return "whole" if pooch.file_hash(path) == FILES[name].sha256 else "altered"


def fetch(*names):
    """Path of the first of these files that is here, or else of the last, downloaded.

    A file that was altered is left as it is: the error says what to do.
    """
    name = next((name for name in names if (data_dir() / name).exists()), names[-1])
    path, file, state = data_dir() / name, FILES[name], status(name)
    if state == "altered":
        then = "load again to download it" if file.address else "put the right one there"
        raise ValueError(f"{path} is not what it was (its checksum differs): move it and {then}")
    if state == "missing":
        _download(file, path)
    return path


def _download(file, path):
    by_hand = f"put it at {path}, or set PU_DATA_DIR to a folder that holds it"
    if not file.address:
        raise FileNotFoundError(f"{file.name} is missing and has no public home yet: {by_hand}")
    known, home = {file.name: f"sha256:{file.sha256}"}, {file.name: file.address}
    downloads = pooch.create(path.parent, "", registry=known, urls=home, retry_if_failed=2)
    try:
        downloads.fetch(file.name, progressbar=True)
    except (OSError, ValueError) as reason:  # no network, no room, other bytes
        raise OSError(
            f"{file.name} could not be fetched from {file.address} ({reason}): try again, {by_hand}"
        ) from reason
