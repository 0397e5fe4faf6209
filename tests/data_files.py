"""What tests of data files share: which files they need, and archives."""

import io
import tarfile

import numpy as np
import pytest

from pu_utils.data import DATASETS, at_hand, store


def needs(*names):
    """Skip a test where data sets are not at hand, or files missing: say how to get them."""
    missing = [
        name
        for name in names
        if not (at_hand(name) if name in DATASETS else (store.data_dir() / name).exists())
    ]
    return pytest.mark.skipif(
        bool(missing),
        reason=f"{', '.join(missing)} not in {store.data_dir()}: set PU_DATA_DIR to the folder of "
        "the files, or run `python -m pu_utils data fetch`",
    )


def write_archive(path, members):
    """A gzipped tar archive with these members in a folder."""
    with tarfile.open(path, "w:gz") as archive:
        for name, array in members.items():
            info = tarfile.TarInfo(f"folder/{name}")
            info.size = array.size
            archive.addfile(info, io.BytesIO(array.astype(np.uint8).tobytes()))
    return path
