"""Files of the real data sets: where they come from, where they are kept, whether they are whole.

They are kept in the folder that ``PU_DATA_DIR`` names, or else in the user's cache. A file that is
there and whole is only read, so the folder may be read-only. Downloads go through pooch: to a
temporary file, checked, then moved into place at once, so that processes may fetch the same file at
the same time; an interrupted download goes on where it stopped.
"""

import contextlib
import os
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


class ChecksumError(ValueError):
    """A file is not the one it should be."""


class DownloadError(OSError):
    """A file is neither here nor to be had."""


@dataclass(frozen=True)
class DataFile:
    """A file, its public home (None: none), its checksum (None: unknown), size and licence."""

    name: str
    url: str | None
    checksum: str | None
    megabytes: float
    licence: str


_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_KRIZHEVSKY = "cite Krizhevsky 2009"
_COATES = "cite Coates, Ng and Lee 2011"
FILES = {
    file.name: file
    for file in (
        DataFile(
            "train-images-idx3-ubyte.gz",
            _MNIST + "train-images-idx3-ubyte.gz",
            "sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            9.9,
            "CC BY-SA 3.0",
        ),
        DataFile(
            "train-labels-idx1-ubyte.gz",
            _MNIST + "train-labels-idx1-ubyte.gz",
            "sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            0.03,
            "CC BY-SA 3.0",
        ),
        DataFile(
            "t10k-images-idx3-ubyte.gz",
            _MNIST + "t10k-images-idx3-ubyte.gz",
            "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            1.6,
            "CC BY-SA 3.0",
        ),
        DataFile(
            "t10k-labels-idx1-ubyte.gz",
            _MNIST + "t10k-labels-idx1-ubyte.gz",
            "sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            0.005,
            "CC BY-SA 3.0",
        ),
        DataFile(
            "cifar10_vgg16_64.npz",
            None,
            "sha256:9527778229c2ac0c7abb39b06277674c4f92bcf35edfbfe020ff39fa0795ab49",
            31.3,
            _KRIZHEVSKY,
        ),
        DataFile(
            "cifar10_sample.npz",
            None,
            "sha256:b9b8a5fd438172977079be07eadfb1fa8c770bb80f8704c38762f4c6054b3e88",
            0.7,
            _KRIZHEVSKY,
        ),
        DataFile(
            "cifar-10-binary.tar.gz",
            "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
            "md5:c32a1d4ab5d03f1284b67883e8d87530",
            170.1,
            _KRIZHEVSKY,
        ),
        DataFile(
            "stl10_binary.tar.gz",
            "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",
            "md5:91f7769df0f17e558f3565bffb0c7dfb",
            2640.4,
            _COATES,
        ),
        DataFile(
            "stl10_vgg16_64.npz",
            None,
            "sha256:17ab162029a79e7a22c46df2894e1038a77de561eab25c2475a36f13742ea8de",
            7.3,
            _COATES,
        ),
        DataFile(
            "stl10_sample.npz",
            None,
            "sha256:2dcc8c02717626849bc836ceba7930ba32447ca35cb22531e26a08898f9ff9f0",
            1.9,
            _COATES,
        ),
        DataFile(
            "cifar10_efflite2_224.npz",
            None,
            "sha256:43f1fbd9cf14c86effca3d30d31843056531fd07757ec8aba4104c93727a931a",
            60.5,
            _KRIZHEVSKY,
        ),
        DataFile(
            "stl10_efflite2_224.npz",
            None,
            "sha256:43a8bfae9ba6a4fac74a917adb26d50aaa7eb3fc453fdf7a77e07b309a097dbe",
            15.2,
            _COATES,
        ),
        DataFile(
            "vgg16_trunk_float16.npz",
            None,
            "sha256:2e0c36f6a928b949bdd1ee263ae0bf7a763ec5f1ea4c80eff651b60567a81057",
            27.2,
            "CC BY 4.0",
        ),
        DataFile(
            "vgg16-397923af.pth",
            "https://download.pytorch.org/models/vgg16-397923af.pth",
            "sha256:397923af8e79cdbb6a7127f12361acd7a2f83e06b05044ddf496e83de57a5bf0",
            553.4,
            "CC BY 4.0",
        ),
        DataFile(
            "diabetes_binary_health_indicators_BRFSS2015.csv.zip",
            None,
            "sha256:a3d3169639d8d8cafee82418742717955100f9b67df9a48ab1958b48056d6cc2",
            2.8,
            "CC0",
        ),
        DataFile(
            "cdc_diabetes_uci_891.csv",
            "https://archive.ics.uci.edu/static/public/891/data.csv",
            None,  # not known; rows, columns and counts are checked when it is read
            12.5,
            "CC BY 4.0",
        ),
    )
}


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
    path, state = data_dir() / name, status(name)
    if state == "altered":
        _replace_altered(path)
    elif state == "missing":
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
            f"{path} {trouble} and could not be set aside: {reason}; replace it, or set "
            "PU_DATA_DIR to another folder"
        ) from reason
    return f"{path} {trouble} and was set aside as {bad.name}"


def _replace_altered(path):
    file = FILES[path.name]
    done = set_aside(path, f"is not the file it should be (expected {file.checksum})")
    if file.url is None:
        raise ChecksumError(f"{done}: put the right file there, it has no public home")
    warnings.warn(f"{done}; it is downloaded again", stacklevel=3)
    _download(path)


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
        _append(url, part)
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
            if time.time() - left.stat().st_mtime > ABANDONED:
                left.rename(mine)
                os.utime(mine)
                break
    return mine


def _append(url, part):
    """Ask for what is missing of a partial file; a server may send the whole again."""
    have = part.stat().st_size if part.exists() else 0
    headers = {"Range": f"bytes={have}-", "Accept-Encoding": "identity"}
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == requests.codes.requested_range_not_satisfiable:
            return  # nothing is missing
        response.raise_for_status()
        resumed = response.status_code == requests.codes.partial_content
        total = int(response.headers.get("Content-Length", 0)) + have * resumed
        bar = tqdm(total=total, initial=have * resumed, desc=url.rsplit("/", 1)[-1], unit="B",
                   unit_scale=True, disable=None)  # fmt: skip
        with bar, part.open("ab" if resumed else "wb") as file:
            for block in response.iter_content(1 << 16):
                bar.update(file.write(block))
