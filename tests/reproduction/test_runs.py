"""Running experiments: whatever happens, the collected results are those of an undisturbed run."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from threading import Thread

import pytest
from distributed import LocalCluster

from pu_utils.__main__ import main
from pu_utils.reproduction import collect, compute, grid, run, runs
from pu_utils.reproduction.results import failure_path, read_json, result_path, state, write_result
from tests.reproduction.conftest import PATIENCE, cheap_science, files, wait_until

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("KILLS", 10))
MANY = {"families": ["reference"], "datasets": ["synth_1"], "seeds": range(40 * KILLS)}
LBE = {"families": ["lbe"], "datasets": ["synth_1"]}
# What never ends: two workers compute seed 9 when all others are done
ENDLESS = f"""
import sys
from pu_utils.reproduction import grid, runs
from tests.reproduction.conftest import cheap_science
runs.compute = cheap_science
runs.run(grid("smoke", **{LBE}, seeds=[1, 2, 9]), sys.argv[1], workers=2)
"""


def start(*words):
    """A process in a group of its own, which hears Ctrl-C as in a terminal."""
    return subprocess.Popen(
        [sys.executable, *map(str, words)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def start_many(output):
    """The command that runs ``MANY``."""
    chosen = ["--families", *MANY["families"], "--datasets", *MANY["datasets"]]
    chosen += ["--seeds", *MANY["seeds"], "--workers", 2, "--output", output]
    return start("-m", "pu_utils", "run", "smoke", *chosen)


def group_exists(process):
    """Whether the process or one that it has started is alive."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def collected(output):
    """What is collected from an output directory: names and bytes of the files."""
    collect(output, output / "collected")
    found = sorted((output / "collected").glob("decisions_*.csv"))
    return {path.name: path.read_bytes() for path in found}


def undisturbed(output, experiments, science):
    """The same, where nothing has happened."""
    for one in experiments:
        write_result(output, one, science(one))
    return collected(output)


def test_ten_kills(tmp_path):
    """kill -9 of a run and its workers at random moments; then two runs at once do the rest."""
    rng, output, done = random.Random(), tmp_path / "runs", 0
    for _ in range(KILLS):
        process = start_many(output)
        wait_until(lambda: len(files(output)) > done)  # noqa: B023
        time.sleep(rng.uniform(0, 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert all(read_json(path)["metrics"] for path in files(output))
        assert done < len(files(output)) < len(grid("smoke", **MANY)), "no kill hit a run at work"
        done = len(files(output))
    both = [start_many(output) for _ in range(2)]
    assert [process.wait(PATIENCE) for process in both] == [0, 0]
    whole = undisturbed(tmp_path / "whole", grid("smoke", **MANY), compute)
    assert collected(output) == whole


@pytest.mark.parametrize("early", [True, False])
def test_ctrl_c(early, tmp_path):
    """One line, the shell's exit code, no process left; also while the workers are starting."""
    process = start_many(tmp_path)
    printed = ""
    while "experiment" not in printed:  # the bar of progress
        printed += process.stderr.read(1)
    wait_until(lambda: early or files(tmp_path))
    os.killpg(process.pid, signal.SIGINT)
    printed = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 130
    last = printed.splitlines()[-1]
    assert last == "stopped; what is written is whole, and the same command goes on"
    assert "Traceback" not in printed and "Error" not in printed
    wait_until(lambda: not group_exists(process))
    assert len(files(tmp_path)) < len(grid("smoke", **MANY))
    assert all(read_json(path)["metrics"] for path in files(tmp_path))


def test_no_orphan_computes_on(tmp_path):
    """Where the run alone is killed, a worker in the middle of an experiment ends as well."""
    process = start("-c", ENDLESS, tmp_path)
    wait_until(lambda: len(files(tmp_path)) == 2)
    assert process.poll() is None
    process.kill()
    process.communicate()
    wait_until(lambda: not group_exists(process))


def test_an_experiment_that_fails_costs_no_other(cheap, tmp_path, capsys):
    """No strict JSON, an exception, a process that dies, or never ends: exit code 1, a retry."""
    no_json, raised, died, endless, *fine = grid("smoke", seeds=(6, 7, 8, 9, 1, 2), **LBE)
    command = ["run", "smoke", "--families", "lbe", "--datasets", "synth_1", "--workers", "2"]
    command += ["--seeds", *"678912", "--time-limit", "1", "--output", str(tmp_path)]
    assert main(command) == 1
    assert all(state(tmp_path, one) == "done" for one in fine)
    printed = capsys.readouterr().out
    assert "lbe-smoke-seed7.failed.json" in printed and "--retry-failed" in printed
    for one, reason in {
        no_json: "not JSON compliant",
        raised: "ZeroDivisionError: seed 7",
        died: "the process ended with exit code 5",
        endless: "stopped at the time limit",
    }.items():
        assert reason in read_json(failure_path(tmp_path, one))["traceback"]
    before = failure_path(tmp_path, raised).stat().st_mtime_ns
    assert run([raised], tmp_path, workers=1) == [raised]  # not tried again
    assert failure_path(tmp_path, raised).stat().st_mtime_ns == before
    assert run([raised], tmp_path, workers=1, retry_failed=True) == [raised]
    assert failure_path(tmp_path, raised).stat().st_mtime_ns > before


def test_only_what_is_missing_is_computed(cheap, tmp_path):
    """Done experiments are left alone; those that are stale, or half a file, are computed again."""
    experiments = grid("smoke", seeds=range(3), **LBE)
    assert run(experiments * 2, tmp_path, workers=2) == []
    stale, half, done = (result_path(tmp_path, one) for one in experiments)
    stale.write_text(json.dumps(read_json(stale) | {"settings_hash": "0"}))
    half.write_text(half.read_text()[:99])
    before = done.stat().st_mtime_ns
    states = [state(tmp_path, one) for one in experiments]
    assert states == ["stale", "stale", "done"]
    assert run(experiments, tmp_path, workers=1) == []
    assert [state(tmp_path, one) for one in experiments] == ["done"] * 3
    assert done.stat().st_mtime_ns == before


def test_a_pool_that_breaks_is_no_failure_of_experiments():
    """As where the last process dies before it has an experiment."""
    future = Future()
    future.set_exception(BrokenProcessPool("All workers expired"))
    with pytest.raises(ConnectionError, match="gone; run again"):
        runs._outcome(grid("smoke")[0], future)


@pytest.mark.parametrize("options", [{"workers": 0}, {"time_limit": 0}, {"time_limit": -1}])
def test_numbers_must_be_positive(options, tmp_path):
    """The error has the value."""
    with pytest.raises(ValueError, match=f"{next(iter(options.values()))}.*must be positive"):
        run(grid("smoke"), tmp_path, **options)


# Dask


@pytest.fixture
def cluster():
    """A function that makes a cluster of this machine, workers in processes of their own."""
    made = []

    def make(**options):
        made.append(LocalCluster(threads_per_worker=1, dashboard_address=":0", **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_killed_dask_worker(cheap, cluster, tmp_path):
    """A cluster that loses a worker in the middle gives the results of one process."""
    experiments, output = grid("smoke", seeds=range(100, 200), **LBE), tmp_path / "runs"
    two = cluster(n_workers=2)
    options = {"scheduler": two.scheduler_address}
    running = Thread(target=run, args=(experiments, output), kwargs=options)
    running.start()
    wait_until(lambda: len(files(output)) >= 2)
    os.kill(next(iter(two.workers.values())).pid, signal.SIGKILL)
    assert len(files(output)) < len(experiments)
    running.join(PATIENCE)
    assert collected(output) == undisturbed(tmp_path / "whole", experiments, cheap_science)


def test_a_worker_with_another_version_is_refused(cluster, tmp_path):
    """A real worker that imports a package with another version; both are named."""
    (tmp_path / "pu_utils").mkdir()
    for path in (ROOT / "pu_utils").iterdir():
        (tmp_path / "pu_utils" / path.name).symlink_to(path)
    (tmp_path / "pu_utils" / "__init__.py").unlink()
    (tmp_path / "pu_utils" / "__init__.py").write_text('__version__ = "9.8.7"\n')
    address = cluster(n_workers=0).scheduler_address
    command = ["-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
    with subprocess.Popen(
        [sys.executable, *command, "--no-nanny", "--local-directory", tmp_path],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stderr=subprocess.DEVNULL,
    ) as worker:
        with pytest.raises(ConnectionRefusedError, match=r"9\.8\.7 .*pu_utils 0") as caught:
            run(grid("smoke", families=["reference"]), tmp_path / "runs", scheduler=address)
        worker.terminate()
    assert f"{runs.__version__} (commit" in str(caught.value)
    assert not (tmp_path / "runs").exists()  # no experiment has failed


def test_a_scheduler_that_goes(cheap, cluster, tmp_path):
    """The run ends with an error that says what to do; no experiment has failed."""
    one = cluster(n_workers=1)
    experiments = grid("smoke", seeds=range(100, 900), **LBE)
    Thread(target=lambda: (wait_until(lambda: files(tmp_path)), one.close())).start()
    with pytest.raises(ConnectionError, match="scheduler, are gone; run again"):
        run(experiments, tmp_path, scheduler=one.scheduler_address)
    assert {state(tmp_path, experiment) for experiment in experiments} == {"done", "missing"}


def test_no_scheduler(tmp_path, capsys, monkeypatch):
    """An address at which nobody listens, or somebody who says nothing, is an error, and soon."""
    assert runs.CONNECT_SECONDS <= 6
    monkeypatch.setattr(runs, "CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for port in (1, silent.getsockname()[1]):
            begun, address = time.monotonic(), f"tcp://127.0.0.1:{port}"
            assert main(["run", "smoke", "--scheduler", address, "--output", str(tmp_path)]) == 1
            assert time.monotonic() - begun < 9
            assert f"no Dask scheduler answers at {address}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="time limit needs processes"):
        run([], tmp_path, scheduler=address, time_limit=1)
