"""The data commands of the command line."""

import subprocess
import sys

import pytest

from pu_utils.__main__ import main
from pu_utils.data import cli, load, samples, store


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path))
    return tmp_path


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


def test_verify_finds_altered_files(folder, capsys):
    """Missing files are no failure, an altered one is, and the way out is named."""
    assert main(["data", "verify"]) == 0
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(b"altered")
    assert main(["data", "verify"]) == 1
    out = capsys.readouterr().out
    assert "altered    train-labels-idx1-ubyte.gz" in out
    assert "data fetch" in out


def test_fetch_loads_each_set(monkeypatch, capsys):
    """Fetching a set loads it once, which brings and checks all that it needs."""
    monkeypatch.setattr(cli, "load", lambda name, **kw: load(name, **kw, sample=True))
    assert main(["data", "fetch", "mnist_3v5", "cdc_diabetes"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "mnist_3v5: 2000 rows, 784 features",
        "cdc_diabetes: 4000 rows, 38 features",
    ]


def test_fetch_of_an_unknown_set(monkeypatch, capsys):
    """An unknown name is one line that lists the names, not a traceback; the others are fetched."""
    monkeypatch.setattr(cli, "load", lambda name, **kw: load(name, **kw, sample=True))
    assert main(["data", "fetch", "iris", "mnist_3v5"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("iris: name is 'iris'; it must be one of synth_1")
    assert captured.out == "mnist_3v5: 2000 rows, 784 features\n"


def test_error_is_one_line(monkeypatch, capsys):
    """Samples cannot be drawn without the files: the error says so without a traceback."""
    labels = "train-labels-idx1-ubyte.gz"
    monkeypatch.setitem(
        store.FILES, labels, store.DataFile(labels, None, None, 0, "")
    )  # no network
    assert main(["data", "make-samples", "anywhere"]) == 1
    assert capsys.readouterr().err.startswith(f"error: {labels} is missing")


def test_make_samples(monkeypatch, folder):
    """Samples are written where asked."""
    written = []
    monkeypatch.setattr(samples, "make", written.append)
    assert main(["data", "make-samples", str(folder)]) == 0
    assert written == [str(folder)]


def test_module_runs():
    """``python -m pu_utils data list`` is the command, and imports only what it needs."""
    command = [sys.executable, "-X", "importtime", "-m", "pu_utils", "data", "list"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0
    assert "cifar-10-binary.tar.gz" in run.stdout
    imported = {line.split("|")[-1].strip() for line in run.stderr.splitlines()}
    assert "pu_utils.data.cli" in imported
    assert not imported & {"torch", "sklearn", "scipy.stats", "pu_utils.own_data"}


def test_describe_counts_what_is_here_and_names_what_is_not(monkeypatch, capsys):
    """Sets at hand have their figures; a set whose file is missing is said not to be run."""

    def load_sample(name, **kw):
        if name not in samples.SAMPLES:
            raise store.DownloadError("no file")
        return load(name, **kw, sample=True)

    monkeypatch.setattr(cli, "load", load_sample)
    assert main(["data", "describe"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("mnist_3v5,2000,784,0.5245,")
    assert lines[5] == "stl_va,,,,,not run: the file is not at hand"
