"""The data commands of the command line."""

import pytest

from pu_utils.__main__ import main
from pu_utils.data import cli, load, samples, store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def samples_alone(monkeypatch):
    """Sets that have no sample are not to be had."""

    def load_sample(name, **asked):
        if name not in samples.SAMPLES:
            raise OSError("no network")
        return load(name, **asked, sample=True)

    monkeypatch.setattr(cli, "load", load_sample)


def test_list_says_what_is_here(folder, capsys):
    """Every file is listed, with its licence and home, as here or missing."""
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(b"")
    assert main(["data", "list"]) == 0
    out = capsys.readouterr().out
    assert str(folder) in out
    lines = {line.split()[1]: line for line in out.splitlines()[1:]}
    assert set(lines) == set(store.FILES)
    assert lines["train-labels-idx1-ubyte.gz"].startswith("here")
    assert lines["stl10_binary.tar.gz"].startswith("missing")
    assert "CC BY-SA 3.0" in lines["t10k-images-idx3-ubyte.gz"]
    assert "no public home" in lines["vgg16_trunk_float16.npz"]


def test_verify_goes_on_past_an_altered_file(folder, capsys):
    """Missing files are no failure, altered ones are, and each is told."""
    assert main(["data", "verify"]) == 0
    for name in ("train-labels-idx1-ubyte.gz", "vgg16_trunk_float16.npz"):
        (folder / name).write_bytes(b"altered")
    capsys.readouterr()
    assert main(["data", "verify"]) == 1
    out = capsys.readouterr().out
    assert "altered  train-labels-idx1-ubyte.gz" in out
    assert "altered  vgg16_trunk_float16.npz" in out
    assert len(out.splitlines()) == len(store.FILES)


def test_fetch_goes_on_past_a_set_that_cannot_be_had(samples_alone, capsys):
    """An altered or missing file and an unknown name are one line each; the others are fetched."""
    assert main(["data", "fetch", "stl_va", "mnist_3v5", "cdc_diabetes"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "stl_va: no network\n"
    assert captured.out.splitlines() == [
        "mnist_3v5: 2000 rows, 784 features",
        "cdc_diabetes: 4000 rows, 38 features",
    ]


def test_describe_counts_what_is_here_and_names_what_is_not(samples_alone, capsys):
    """Sets at hand have their figures; a set that is not to be had says why."""
    assert main(["data", "describe"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("mnist_3v5,2000,784,0.5245,")
    assert lines[5] == "stl_va,,,,,not run: no network"
