"""The command line: its table of commands, and what the commands on data files print."""

import inspect
import subprocess
import sys

import pytest

import pu_utils
from pu_utils.__main__ import COMMANDS, GRID, OPTIONS, main
from pu_utils.data import load, samples, store


@pytest.mark.parametrize("function", COMMANDS, ids=lambda function: function.__name__)
def test_every_option_is_a_parameter(function):
    """What a command is given, its function takes; no option is left over."""
    given = COMMANDS[function].replace(GRID, "grid --datasets").split()
    parameters = inspect.signature(function).parameters
    if not any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        assert {option.strip("-").replace("-", "_") for option in given} == set(parameters)
    assert function.__doc__.split("\n")[0].endswith(".")


def test_every_kind_of_option_is_used():
    """No row of the table of options is left over."""
    assert set(OPTIONS) <= set(" ".join(COMMANDS.values()).split())


def test_help_and_version_import_nothing_heavy():
    """They answer at once."""
    for option, said in (("--help", "scoreboard"), ("--version", pu_utils.__version__)):
        command = [sys.executable, "-X", "importtime", "-m", "pu_utils", option]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0 and said in done.stdout
        assert not {"numpy", "pandas"} & {line.split("|")[-1].strip() for line in
                                          done.stderr.splitlines()}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty data folder."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path))
    return tmp_path


def test_list_goes_on_past_altered_files(folder, capsys):
    """Every file is listed with its licence and home; missing ones are no failure, altered are."""
    assert main(["data", "list"]) == 0
    for name in ("train-labels-idx1-ubyte.gz", "vgg16_trunk_float16.npz"):
        (folder / name).write_bytes(b"altered")
    capsys.readouterr()
    assert main(["data", "list"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(store.FILES)
    altered = [line for line in lines if line.startswith("altered")]
    assert len(altered) == 2 and str(folder / "train-labels-idx1-ubyte.gz") in altered[0]
    assert "no public home" in altered[1] and "CC BY 4.0" in altered[1]


def test_fetch_goes_on_past_a_set_that_cannot_be_had(folder, monkeypatch, capsys):
    """An altered file is one line; the other sets are fetched and their facts printed."""

    def load_sample(name, **asked):
        return load(name, **asked, sample=name in samples.SAMPLES)

    (folder / "stl10_vgg16_64.npz").write_bytes(b"altered")
    monkeypatch.setattr("pu_utils.data.load", load_sample)
    assert main(["data", "fetch", "stl_va", "mnist_3v5", "cdc_diabetes"]) == 1
    said = capsys.readouterr()
    assert said.err.startswith("stl_va: ") and "stl10_vgg16_64.npz is not what it was" in said.err
    assert [line.rsplit(",", 1)[0] for line in said.out.splitlines()] == [
        "dataset,samples,features,prior",
        "mnist_3v5,2000,784,0.5245",
        "cdc_diabetes,4000,38,0.5000",
    ]


def test_an_error_is_one_line(capsys):
    """No traceback for what a user can mend."""
    assert main(["status", "nothing"]) == 1
    assert capsys.readouterr().err.startswith("error: grid is 'nothing'; it must be one of smoke,")
