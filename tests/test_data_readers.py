"""Published file formats: idx, the archives of CIFAR-10 and STL-10, the CDC table."""

import gzip
import struct

import numpy as np
import pytest
from data_files import write_archive

from pu_utils.data import readers, store


def idx_bytes(array):
    """A gzipped idx file of unsigned bytes."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes())


def test_idx_round_trip(tmp_path):
    """An idx file gives back the array it was made of."""
    array = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    (tmp_path / "a.gz").write_bytes(idx_bytes(array))
    assert np.array_equal(readers.read_idx(tmp_path / "a.gz"), array)


def test_idx_of_another_kind(tmp_path):
    """A file that is no idx file of bytes is named."""
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"\x00\x00\x0d\x01" + bytes(8)))
    with pytest.raises(ValueError, match=r"a\.gz is not an idx file"):
        readers.read_idx(tmp_path / "a.gz")


def test_idx_cut_short(tmp_path):
    """An idx file with too few bytes for its shape is named."""
    header = struct.pack(">HBBI", 0, 8, 1, 10)
    (tmp_path / "a.gz").write_bytes(gzip.compress(header + bytes(9)))
    with pytest.raises(ValueError, match=r"a\.gz holds 9 bytes for shape \(10,\)"):
        readers.read_idx(tmp_path / "a.gz")


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


def test_archive_without_a_member(tmp_path):
    """A missing member is named with its archive."""
    path = write_archive(tmp_path / "s.tar.gz", {"train_X.bin": np.zeros(3)})
    with pytest.raises(
        ValueError, match=r"s\.tar\.gz does not hold test_X\.bin, test_y\.bin, train_y"
    ):
        readers.stl_images(path)


@pytest.fixture
def uci(tmp_path, monkeypatch):
    """Write a small table as the UCI repository has it: an ID first, the target last."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path))
    monkeypatch.setattr(readers, "CDC_ROWS", 40)
    monkeypatch.setattr(readers, "CDC_POSITIVES", 10)

    def write(answers):
        columns = ["ID", *reversed(readers.CDC_COLUMNS), readers.CDC_TARGET]
        table = np.column_stack([np.arange(len(answers)), answers[:, ::-1]])
        path = tmp_path / "cdc_diabetes_uci_891.csv"
        np.savetxt(path, table, fmt="%d", delimiter=",", header=",".join(columns), comments="")
        return path

    return write


ANSWERS = np.random.default_rng(0).integers(0, 2, (40, 22)).astype(np.uint8)
for k, column in enumerate(readers.CDC_COLUMNS, start=1):
    if column in readers.CDC_RANGES:
        ANSWERS[:, k] += readers.CDC_RANGES[column][0]
ANSWERS[:, 0] = np.arange(40) % 4 == 0


def test_uci_table_is_read_by_column_names(uci):
    """The order of the columns and an ID column make no difference."""
    uci(ANSWERS)
    file = readers.read_cdc()
    assert np.array_equal(file["answers"], ANSWERS)
    assert file["index"].tolist() == list(range(40))


@pytest.mark.parametrize(
    "answers", [ANSWERS[:-1], np.where(np.arange(22) == 0, 0, ANSWERS)], ids=["rows", "positives"]
)
def test_uci_table_with_other_counts(uci, answers):
    """A table with other counts is an error that names it, and it is set aside."""
    path = uci(answers)
    with pytest.raises(store.ChecksumError, match=r"uci_891\.csv is not the published table"):
        readers.read_cdc()
    assert not path.exists()
    assert path.with_name(path.name + ".bad").exists()


@pytest.mark.parametrize("value", [270, -1, 0.5, "", "inf", 99])
def test_uci_table_with_answers_that_cannot_be(uci, value):
    """270 would be 14 as a byte, and an empty answer 0: the value is named, not bent."""
    path = uci(ANSWERS)
    lines = path.read_text().splitlines()
    words = lines[7].split(",")
    words[lines[0].split(",").index("BMI")] = str(value)
    path.write_text("\n".join([*lines[:7], ",".join(words), *lines[8:]]))
    with pytest.raises(store.ChecksumError, match=r"uci_891\.csv is not.*BMI is"):
        readers.read_cdc()


def test_uci_table_without_a_column(uci):
    """A table that lacks a column is named, and so is the column."""
    path = uci(ANSWERS)
    path.write_text(path.read_text().replace("BMI", "Weight"))
    with pytest.raises(store.ChecksumError, match=r"uci_891\.csv is not.*BMI"):
        readers.read_cdc()


def test_uci_table_that_is_no_table(uci):
    """An error page in place of the table is named too."""
    path = uci(ANSWERS)
    path.write_text("<html>Service unavailable</html>")
    with pytest.raises(store.ChecksumError, match=r"uci_891\.csv is not the published table"):
        readers.read_cdc()
