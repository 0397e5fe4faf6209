"""Files of results: whole or absent, current or stale, locked or free."""

import errno
import json
import os
import subprocess
import sys

import pytest

from pu_utils.reproduction import Experiment, collect, output
from pu_utils.reproduction.runner import failure
from tests.reproduction.conftest import cheap_science

EXPERIMENT = Experiment("synth_1", "released", 0.5, "reference", "paper", 0)


def test_write_and_read(tmp_path):
    """What is written is read, and the experiment is done."""
    assert output.state(tmp_path, EXPERIMENT) == "missing"
    output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT))
    assert output.state(tmp_path, EXPERIMENT) == "done"
    assert (tmp_path / "synth_1/released/c0.5/reference-paper-seed0.json").is_file()
    ((_, *found),) = output.recorded(tmp_path)
    assert found == [EXPERIMENT, cheap_science(EXPERIMENT)]


def test_success_replaces_failure(tmp_path):
    """A failure is recorded beside the results, and goes when the experiment succeeds."""
    output.write_result(tmp_path, EXPERIMENT, failure(EXPERIMENT, "..."))
    assert output.state(tmp_path, EXPERIMENT) == "failed"
    assert list(output.recorded(tmp_path)) == []
    output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT))
    assert output.state(tmp_path, EXPERIMENT) == "done"
    assert not output.failure_path(tmp_path, EXPERIMENT).exists()


GOOD = cheap_science(EXPERIMENT)
MEASURED = {"decision": "VP", "rule": "naive", "u_accuracy": 0.5}
BAD = {  # right hash, wrong body
    "a key less": {key: value for key, value in GOOD.items() if key != "metrics"},
    "a key more": GOOD | {"traceback": "..."},
    "other settings": GOOD | {"settings": GOOD["settings"] | {"threads": 2}},
    "no settings": GOOD | {"settings": None},
    "settings of no experiment": GOOD | {"settings": GOOD["settings"] | {"seed": 1e400}},
    "no metrics": GOOD | {"metrics": None},
    "metrics of a string": GOOD | {"metrics": "u_accuracy"},
    "a number for a decision": GOOD | {"metrics": [7]},
    "no rule": GOOD | {"metrics": [{"decision": "VP", "u_accuracy": 0.5}]},
    "a decision without name": GOOD | {"metrics": [MEASURED | {"decision": None}]},
    "a word for a share": GOOD | {"metrics": [MEASURED | {"u_accuracy": "0.5"}]},
    "more than all": GOOD | {"metrics": [MEASURED | {"u_accuracy": 1.5}]},
    "nan": GOOD | {"metrics": [MEASURED | {"u_accuracy": float("nan")}]},
    "no seconds": GOOD | {"seconds": {}},
    "words for seconds": GOOD | {"seconds": {"total": "long", "processor": 1}},
    "endless": GOOD | {"seconds": {"total": float("inf"), "processor": 1}},
    "a list of versions": GOOD | {"versions": []},
    "a number for the device": GOOD | {"device": 0},
}
TEXTS = ["", '{"settings_hash": "12', "[]", "{}", '{"settings_hash": "0", "settings": {}}', "null"]
TEXTS += ["[" * 100_000, "\x00", "9" * 5000]
TEXTS += [pytest.param(json.dumps(value), id=name) for name, value in BAD.items()]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_no_result_is_stale_and_set_aside(tmp_path, text):
    """Half a file, no result, a wrong body: never trusted, named, and kept when it is replaced."""
    path = output.result_path(tmp_path, EXPERIMENT)
    output.write_text(path, text)
    assert output.state(tmp_path, EXPERIMENT) == "stale"
    assert list(output.recorded(tmp_path)) == [(str(path), None, None)]
    assert collect(tmp_path, tmp_path / "results") == (0, [str(path)])
    with pytest.warns(UserWarning, match="set aside as reference-paper-seed0.json.bad"):
        output.write_result(tmp_path, EXPERIMENT, GOOD)
    assert output.state(tmp_path, EXPERIMENT) == "done"
    assert path.with_name(f"{path.name}.bad").read_text() == text


def test_results_of_other_settings_are_stale_and_replaced(tmp_path):
    """As after a change of the science; they are not kept."""
    path = output.result_path(tmp_path, EXPERIMENT)
    old = {"settings": GOOD["settings"] | {"science_version": 0}, "settings_hash": "0"}
    output.write_text(path, json.dumps(GOOD | old))
    assert output.state(tmp_path, EXPERIMENT) == "stale"
    output.write_result(tmp_path, EXPERIMENT, GOOD)
    assert output.state(tmp_path, EXPERIMENT) == "done"
    assert [found.name for found in path.parent.iterdir()] == [path.name]


def test_failure_with_other_settings_counts_for_nothing(tmp_path):
    """What failed with other settings may succeed with these."""
    old = failure(EXPERIMENT, "...") | {"settings": {}}
    output.write_result(tmp_path, EXPERIMENT, old)
    assert output.state(tmp_path, EXPERIMENT) == "missing"


def test_nan_is_refused(tmp_path):
    """Strict parsers know no NaN."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        output.write_result(tmp_path, EXPERIMENT, {"value": float("nan")})
    assert list(output.recorded(tmp_path)) == []


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """The old content stays, the temporary file goes, the error says what to do."""
    path = tmp_path / "file.json"
    output.write_text(path, "old")

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*make room or choose another") as caught:
        output.write_text(path, "new")
    assert caught.value.errno == errno.ENOSPC
    assert [p.name for p in tmp_path.iterdir()] == ["file.json"] and path.read_text() == "old"


def test_output_below_a_file_is_a_clear_error(tmp_path):
    """A directory that cannot be made is named with the remedy."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="choose another directory"):
        output.Locks(tmp_path / "file" / "output").__enter__()
    with pytest.raises(OSError, match="choose another directory"):
        output.write_text(tmp_path / "file" / "output", "text")
    assert output.state(tmp_path / "file", EXPERIMENT) == "missing"


HOLD = """
import sys
from pu_utils.reproduction import Experiment, output
locks = output.Locks(sys.argv[1]).__enter__()
print(locks.take(Experiment("synth_1", "released", 0.5, "reference", "paper", 0)), flush=True)
sys.stdin.read()
"""


def test_locks_exclude_other_processes_and_end_with_them(tmp_path):
    """A locked experiment is free again the moment its holder is killed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, **pipes) as holder, output.Locks(tmp_path) as locks:
        assert holder.stdout.readline() == "True\n"
        other = Experiment("synth_1", "released", 0.5, "reference", "paper", 1)
        assert not locks.take(EXPERIMENT) and locks.take(other)
        locks.release(other)
        holder.kill()
        holder.wait()
        assert locks.take(EXPERIMENT)


def test_without_locks_the_error_names_a_way_out(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.setattr(output, "fcntl", None)
    with pytest.raises(OSError, match="WSL"):
        output.Locks(tmp_path)


def test_every_state_has_a_name(tmp_path):
    """The states that ``state`` tells apart are those that ``status`` counts."""
    found = {output.state(tmp_path, EXPERIMENT)}
    output.write_text(output.result_path(tmp_path, EXPERIMENT), json.dumps({"settings_hash": "0"}))
    found.add(output.state(tmp_path, EXPERIMENT))
    output.write_result(tmp_path, EXPERIMENT, failure(EXPERIMENT, ""))
    found.add(output.state(tmp_path, EXPERIMENT))
    with pytest.warns(UserWarning, match="set aside"):
        output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT))
    assert found | {output.state(tmp_path, EXPERIMENT)} == set(output.STATES)
