"""Runs that start at once, and science that costs nothing."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pu_utils.reproduction import runner
from pu_utils.reproduction.provenance import provenance

PATIENCE = 300  # seconds after which something never happens, on a machine that is very busy too


class WarmRuns:
    """Commands of ``python -m pu_utils``, each in a process group of its own."""

    def __init__(self, process):
        self.process = process

    def start(self, *arguments):
        """Start a command; its process id, which is that of its group."""
        return self._ask("start", *arguments)

    def wait(self, pid):
        """The exit code of a command: minus the signal where one ended it."""
        return self._ask("wait", pid)

    def run(self, *arguments):
        """Start a command and wait; its exit code."""
        return self.wait(self.start(*arguments))

    def kill(self, pid):
        """Kill a command and all its workers, as when the power goes."""
        os.killpg(pid, signal.SIGKILL)
        return self.wait(pid)

    def _ask(self, *words):
        print(*words, file=self.process.stdin, flush=True)
        assert select.select([self.process.stdout], [], [], PATIENCE)[0], "waited too long"
        return int(self.process.stdout.readline())


@pytest.fixture(scope="session")
def warm():
    """A process that has imported everything."""
    command = [sys.executable, "-m", "tests.reproduction.warm"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    root = Path(__file__).parents[2]
    with subprocess.Popen(command, cwd=root, **pipes) as process:
        yield WarmRuns(process)
        process.stdin.close()


def results(output):
    """Files of finished experiments."""
    return [path for path in Path(output).rglob("*.json") if "failed" not in path.name]


def wait_until(condition):
    """Wait for something to become true; fail if it does not."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)


def cheap_science(experiment):
    """A result that looks like one; seed 7 breaks, seed 8 takes its process with it."""
    if experiment.seed == 7:
        raise ZeroDivisionError("seed 7")
    if experiment.seed == 8:
        os._exit(5)
    return {
        "settings": experiment.settings,
        "settings_hash": experiment.settings_hash,
        "data_fingerprint": "0" * 64,
        **provenance(),
        "device": "cpu",
        "seconds": {"processor": 0.0, "total": 0.0},
        "metrics": [
            {"decision": "VP", "rule": "naive", "u_accuracy": 0.5 + experiment.seed / 1000}
        ],
    }


@pytest.fixture
def cheap(monkeypatch):
    """The runner with science that costs nothing."""
    monkeypatch.setattr(runner, "compute", cheap_science)
    monkeypatch.setattr(runner, "START_METHOD", "fork")
