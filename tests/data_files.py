"""What tests of data files share: which files they need, archives, read-only folders."""

import errno
import io
import os
import sys
import tarfile

import numpy as np
import pytest

from pu_utils.data import store
from pu_utils.data.features import recipe_hash

MNIST = tuple(
    f"{part}-{kind}-ubyte.gz"
    for part in ("train", "t10k")
    for kind in ("images-idx3", "labels-idx1")
)
# Of a tuple of files one is enough: what the data folder may hold, or what a download leaves.
_COMPUTED = recipe_hash(store.FILES["cifar-10-binary.tar.gz"].checksum)
CIFAR = (("cifar10_vgg16_64.npz", f"cifar10_vgg16_64-{_COMPUTED}.npz"),)
CDC = (("diabetes_binary_health_indicators_BRFSS2015.csv.zip", "cdc_diabetes_uci_891.csv"),)
WEIGHTS = (("vgg16_trunk_float16.npz", "vgg16-397923af.pth"),)


def needs(*files):
    """Skip a test where a file, or each of several that would do, is missing: say how to get it."""
    choices = [(file,) if isinstance(file, str) else file for file in files]
    missing = [c for c in choices if not any((store.data_dir() / name).exists() for name in c)]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"{', '.join(' or '.join(c) for c in missing)} not in {store.data_dir()}: set "
        "PU_DATA_DIR to the folder of the files, or run `python -m pu_utils data fetch`",
    )


def write_archive(path, members):
    """A gzipped tar archive with these members in a folder."""
    with tarfile.open(path, "w:gz") as archive:
        for name, array in members.items():
            info = tarfile.TarInfo(f"folder/{name}")
            info.size = array.size
            archive.addfile(info, io.BytesIO(array.astype(np.uint8).tobytes()))
    return path


READ_ONLY = []  # folders that behave as read-only, for root too


def _refuse_writing(event, arguments):
    """Audit hook: an error where something under a read-only folder would change."""
    if not READ_ONLY or event not in {"open", "os.rename", "os.mkdir", "os.remove"}:
        return
    writes = event != "open" or (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if writes and any(str(arguments[0]).startswith(str(folder)) for folder in READ_ONLY):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(arguments[0]))


sys.addaudithook(_refuse_writing)
