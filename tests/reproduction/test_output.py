"""Files of results: whole or absent, current or stale, locked or free."""

import errno
import json
import os
import subprocess
import sys

import pytest

from pu_utils.reproduction import Experiment, output
from tests.reproduction.conftest import cheap_science

EXPERIMENT = Experiment("synth_1", "released", 0.5, "reference", "paper", 0)


def test_write_and_read(tmp_path):
    """What is written is read, and the experiment is done."""
    assert output.state(tmp_path, EXPERIMENT) == "missing"
    output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT))
    assert output.state(tmp_path, EXPERIMENT) == "done"
    assert (tmp_path / "synth_1/released/c0.5/reference-paper-seed0.json").is_file()
    assert output.split_recorded(tmp_path) == ({EXPERIMENT: cheap_science(EXPERIMENT)}, [])


def test_success_replaces_failure(tmp_path):
    """A failure is recorded beside the results, and goes when the experiment succeeds."""
    output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT) | {"traceback": "..."})
    assert output.state(tmp_path, EXPERIMENT) == "failed"
    assert output.split_recorded(tmp_path) == ({}, [])
    output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT))
    assert output.state(tmp_path, EXPERIMENT) == "done"
    assert not output.failure_path(tmp_path, EXPERIMENT).exists()


@pytest.mark.parametrize(
    "text", ["", '{"settings_hash": "12', "[]", "{}", '{"settings_hash": "0", "settings": {}}']
)
def test_unreadable_and_other_settings_are_stale(tmp_path, text):
    """Half a file, no result, another hash: stale, never trusted."""
    output.write_text(output.result_path(tmp_path, EXPERIMENT), text)
    assert output.state(tmp_path, EXPERIMENT) == "stale"
    current, stale = output.split_recorded(tmp_path)
    assert current == {} and stale == [str(output.result_path(tmp_path, EXPERIMENT))]


def test_failure_with_other_settings_counts_for_nothing(tmp_path):
    """What failed with other settings may succeed with these."""
    old = cheap_science(EXPERIMENT) | {"traceback": "...", "settings_hash": "0"}
    output.write_result(tmp_path, EXPERIMENT, old)
    assert output.state(tmp_path, EXPERIMENT) == "missing"


def test_nan_is_refused(tmp_path):
    """Strict parsers know no NaN."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        output.write_result(tmp_path, EXPERIMENT, {"value": float("nan")})
    assert output.split_recorded(tmp_path) == ({}, [])


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
        output.Locks(tmp_path / "file" / "output")
    with pytest.raises(OSError, match="choose another directory"):
        output.write_text(tmp_path / "file" / "output", "text")
    assert output.state(tmp_path / "file", EXPERIMENT) == "missing"


HOLD = """
import sys
from pu_utils.reproduction import Experiment, output
locks = output.Locks(sys.argv[1])
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
    output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT) | {"traceback": ""})
    found.add(output.state(tmp_path, EXPERIMENT))
    output.write_result(tmp_path, EXPERIMENT, cheap_science(EXPERIMENT))
    assert found | {output.state(tmp_path, EXPERIMENT)} == set(output.STATES)
