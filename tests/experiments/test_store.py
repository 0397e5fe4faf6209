"""Files of results: whole or absent, current or stale, claimed or free."""

import errno
import json
import os
import subprocess
import sys

import pytest

from pu_utils.experiments import Cell, store
from tests.experiments.conftest import cheap_science

CELL = Cell("synth_1", "released", 0.5, "reference", "paper", 0)


def test_write_and_read(tmp_path):
    """What is written is read, and the cell is done."""
    assert store.state(tmp_path, CELL) == "missing"
    store.write_result(tmp_path, CELL, cheap_science(CELL))
    assert store.state(tmp_path, CELL) == "done"
    ((path, cell, result),) = store.recorded(tmp_path)
    assert path == str(tmp_path / "synth_1/released/c0.5/reference-paper-seed0.json")
    assert cell == CELL and result == cheap_science(CELL)


def test_success_replaces_failure(tmp_path):
    """A failure is recorded beside the results, and goes when the cell succeeds."""
    store.write_result(tmp_path, CELL, cheap_science(CELL) | {"traceback": "..."})
    assert store.state(tmp_path, CELL) == "failed" and list(store.recorded(tmp_path)) == []
    store.write_result(tmp_path, CELL, cheap_science(CELL))
    assert store.state(tmp_path, CELL) == "done"
    assert not store.failure_path(tmp_path, CELL).exists()


@pytest.mark.parametrize(
    "text", ["", '{"settings_hash": "12', "[]", "{}", '{"settings_hash": "0", "settings": {}}']
)
def test_unreadable_and_other_settings_are_stale(tmp_path, text):
    """Half a file, no result, another hash: stale, never trusted."""
    store.write_text(store.result_path(tmp_path, CELL), text)
    assert store.state(tmp_path, CELL) == "stale"
    current, stale = store.split_recorded(tmp_path)
    assert current == {} and stale == [str(store.result_path(tmp_path, CELL))]


def test_failure_with_other_settings_counts_for_nothing(tmp_path):
    """What failed with other settings may succeed with these."""
    old = cheap_science(CELL) | {"traceback": "...", "settings_hash": "0"}
    store.write_result(tmp_path, CELL, old)
    assert store.state(tmp_path, CELL) == "missing"


def test_nan_is_refused(tmp_path):
    """Strict parsers know no NaN."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        store.write_result(tmp_path, CELL, {"value": float("nan")})
    assert list(store.recorded(tmp_path)) == []


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """The old content stays, the temporary file goes, the error says what to do."""
    path = tmp_path / "file.json"
    store.write_text(path, "old")

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left.*make room or choose another") as caught:
        store.write_text(path, "new")
    assert caught.value.errno == errno.ENOSPC
    assert [p.name for p in tmp_path.iterdir()] == ["file.json"] and path.read_text() == "old"


def test_output_below_a_file_is_a_clear_error(tmp_path):
    """A directory that cannot be made is named with the remedy."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="choose another directory"):
        store.Claims(tmp_path / "file" / "output")
    with pytest.raises(OSError, match="choose another directory"):
        store.write_text(tmp_path / "file" / "output", "text")
    assert store.state(tmp_path / "file", CELL) == "missing"


HOLD = """
import sys
from pu_utils.experiments import Cell, store
claims = store.Claims(sys.argv[1])
print(claims.take(Cell("synth_1", "released", 0.5, "reference", "paper", 0)), flush=True)
sys.stdin.read()
"""


def test_claims_exclude_other_processes_and_end_with_them(tmp_path):
    """A claimed cell is free again the moment its holder is killed."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, **pipes) as holder, store.Claims(tmp_path) as claims:
        assert holder.stdout.readline() == "True\n"
        other = Cell("synth_1", "released", 0.5, "reference", "paper", 1)
        assert not claims.take(CELL) and claims.take(other)
        claims.release(other)
        holder.kill()
        holder.wait()
        assert claims.take(CELL)


def test_without_locks_the_error_names_a_way_out(tmp_path, monkeypatch):
    """As on Windows."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with store.Claims(tmp_path) as claims, pytest.raises(OSError, match="WSL"):
        claims.take(CELL)


def test_every_state_has_a_name(tmp_path):
    """The states that ``state`` tells apart are those that ``status`` counts."""
    found = {store.state(tmp_path, CELL)}
    store.write_text(store.result_path(tmp_path, CELL), json.dumps({"settings_hash": "0"}))
    found.add(store.state(tmp_path, CELL))
    store.write_result(tmp_path, CELL, cheap_science(CELL) | {"traceback": ""})
    found.add(store.state(tmp_path, CELL))
    store.write_result(tmp_path, CELL, cheap_science(CELL))
    assert found | {store.state(tmp_path, CELL)} == set(store.STATES)
