"""Published file formats: idx, the archives of CIFAR-10 and STL-10, the CDC table."""

import gzip
import struct

import numpy as np
import pandas as pd
from data_files import write_archive

from pu_utils.data import readers, store


def test_idx_round_trip(tmp_path):
    """An idx file gives back the array it was made of."""
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    header = struct.pack(">HBB3I", 0, 8, 3, *array.shape)
    (tmp_path / "a.gz").write_bytes(gzip.compress(header + array.tobytes()))
    assert np.array_equal(readers.read_idx(tmp_path / "a.gz"), array)


def test_cifar_archive(tmp_path):
    """Files are put in order, the label comes first, channels are planes stored row by row."""
    record = np.zeros((7, 3073), dtype=np.uint8)
    record[:, 0] = [0, 1, 2, 3, 4, 5, 6]
    record[1, 1 + 0 * 1024 + 2 * 32 + 5] = 200  # red, row 2, column 5
    record[1, 1 + 2 * 1024 + 9 * 32 + 1] = 100  # blue, row 9, column 1
    names = [f"data_batch_{k}.bin" for k in (5, 4, 3, 2)]
    members = {"test_batch.bin": record[5:], "readme.html": np.zeros(3)}
    members |= dict(zip(names, record[[4, 3, 2, 1]], strict=True)) | {"data_batch_1.bin": record[0]}
    images, labels = readers.cifar_images(write_archive(tmp_path / "c.tar.gz", members))
    assert images.shape == (7, 32, 32, 3)
    assert labels.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert images[1, 2, 5].tolist() == [200, 0, 0]
    assert images[1, 9, 1].tolist() == [0, 0, 100]
    assert images.sum(dtype=int) == 300


def test_stl_archive(tmp_path):
    """Labels count from 0, training comes first, channels are planes stored column by column."""
    train, test = np.zeros((2, 3, 96, 96)), np.zeros((1, 3, 96, 96))
    train[1, 0, 5, 2] = 200  # red, column 5, row 2
    test[0, 1, 1, 9] = 100  # green, column 1, row 9
    members = {
        "class_names.txt": np.zeros(4),
        "test_X.bin": test,
        "test_y.bin": np.array([3]),
        "train_X.bin": train,
        "train_y.bin": np.array([1, 10]),
    }
    images, labels = readers.stl_images(write_archive(tmp_path / "s.tar.gz", members))
    assert images.shape == (3, 96, 96, 3)
    assert labels.tolist() == [0, 9, 2]
    assert images[1, 2, 5].tolist() == [200, 0, 0]
    assert images[2, 9, 1].tolist() == [0, 100, 0]
    assert images.sum(dtype=int) == 300


def test_survey_is_read_by_column_names(tmp_path, monkeypatch):
    """The order of the columns makes no difference, nor do decimals as the file has them."""
    answers = np.random.default_rng(0).integers(0, 9, (40, 22)).astype(np.uint8)
    columns = [readers.CDC_TARGET, *readers.CDC_COLUMNS]
    shuffled = np.random.default_rng(1).permutation(22)
    table = pd.DataFrame(answers.astype(float), columns=columns).iloc[:, shuffled]
    table.to_csv(tmp_path / "survey.csv", index=False)
    monkeypatch.setattr(store, "fetch", lambda *names: tmp_path / "survey.csv")
    file = readers.read_cdc()
    assert np.array_equal(file["answers"], answers) and file["answers"].dtype == np.uint8
    assert file["index"].tolist() == list(range(40))
