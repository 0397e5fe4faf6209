"""Running experiments: whatever happens, the collected results are those of an undisturbed run."""

import json
import multiprocessing
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import dask
import pytest
from distributed import LocalCluster

from pu_utils.__main__ import main
from pu_utils.reproduction import collect, grid, read_experiments, read_results, run, runner
from pu_utils.reproduction.output import (
    Locks,
    failure_path,
    read_result,
    result_path,
    state,
    survey,
    write_result,
)
from tests.reproduction.conftest import PATIENCE, cheap_science, results, wait_until

SMOKE = ("run", "smoke", "--seeds", 0)
N_EXPERIMENTS = len(grid("smoke", seeds=[0]))
ROUNDS = int(os.environ.get("ROUNDS", 1))  # `make fuzz` has ten
# Not done before a busy machine gets round to stopping it, and nothing is trained
LONG = {"families": ["reference"], "seeds": range(5000)}


def collected(output):
    """The metrics of an output directory as collected: names and bytes of the files."""
    folder = Path(output) / "collected"
    collect(output, folder)
    return {path.name: path.read_bytes() for path in sorted(folder.glob("decisions_*.csv"))}


@pytest.fixture(scope="module")
def undisturbed(warm, tmp_path_factory):
    """What a run with one worker gives."""
    output = tmp_path_factory.mktemp("undisturbed")
    assert warm.run(*SMOKE, "--output", output, "--workers", 1) == 0
    assert len(results(output)) == N_EXPERIMENTS
    return collected(output)


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_killed_four_times(seed, warm, undisturbed, tmp_path):
    """kill -9 of the run and its workers at four random moments, then a run to the end."""
    rng = random.Random(seed)
    remaining = []
    for _ in range(4):
        remaining.append(N_EXPERIMENTS - len(results(tmp_path)))
        pid = warm.start(*SMOKE, "--output", tmp_path, "--workers", 2)
        time.sleep(rng.uniform(0, 0.25))
        assert warm.kill(pid) in (-signal.SIGKILL, 0)
    assert remaining[2] > 0, "the first kills must hit a run at work"
    assert warm.run(*SMOKE, "--output", tmp_path, "--workers", 2) == 0
    assert collected(tmp_path) == undisturbed
    assert not list(tmp_path.rglob("*.tmp"))


def test_four_runs_at_once(warm, undisturbed, tmp_path):
    """Four commands on one directory share the experiments; all end when all are done."""
    pids = [warm.start(*SMOKE, "--output", tmp_path, "--workers", 1) for _ in range(4)]
    assert [warm.wait(pid) for pid in pids] == [0, 0, 0, 0]
    assert collected(tmp_path) == undisturbed


@pytest.mark.parametrize("pair", range(2 * ROUNDS))
def test_two_collects_at_once(pair, warm, tmp_path):
    """Of two commands that collect into one folder neither loses what the other wrote."""
    parts = [grid("smoke", seeds=range(start, start + 20)) for start in (10, 30)]
    for name, part in zip("ab", parts, strict=True):
        for one in part:
            write_result(tmp_path / name, one, cheap_science(one))
    command = ("collect", "--results", tmp_path / "results", "--output")
    pids = [warm.start(*command, tmp_path / name) for name in "ab"]
    assert [warm.wait(pid) for pid in pids] == [0, 0]
    for rows in (read_experiments(tmp_path / "results"), read_results(tmp_path / "results")):
        assert len(rows) == sum(map(len, parts))
    assert not list((tmp_path / "results").glob("*.tmp"))


def test_a_run_takes_over_from_one_that_was_killed(warm, undisturbed, tmp_path):
    """The experiment that the other had locked is not lost."""
    first = warm.start(*SMOKE, "--output", tmp_path, "--workers", 1)
    wait_until(lambda: results(tmp_path))
    second = warm.start(*SMOKE, "--output", tmp_path, "--workers", 1)
    time.sleep(0.3)
    warm.kill(first)
    assert warm.wait(second) == 0
    assert collected(tmp_path) == undisturbed


def long_run(output):
    """A command in a process group of its own, started from nothing, that is at work."""
    words = [sys.executable, "-m", "pu_utils", "run", "smoke", "--output", output, "--workers", 2]
    words += ["--families", *LONG["families"], "--seeds", *LONG["seeds"]]
    process = subprocess.Popen(
        map(str, words),
        start_new_session=True,
        stderr=subprocess.DEVNULL,
        # as in a terminal: a shell that starts the tests in the background has Ctrl-C ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    wait_until(lambda: results(output))
    return process


def test_ctrl_c_stops_in_order(tmp_path):
    """Ctrl-C ends a run and its processes with the shell's exit code; what is done is kept."""
    process = long_run(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == 130
    wait_until(lambda: not group_exists(process.pid))
    assert 0 < len(results(tmp_path)) < len(grid("smoke", **LONG))
    assert all(read_result(path) for path in results(tmp_path))


def test_processes_do_not_outlive_the_run(tmp_path):
    """Where the run alone is killed, its processes notice and end."""
    process = long_run(tmp_path)
    process.kill()
    process.wait()
    wait_until(lambda: not group_exists(process.pid))


@pytest.mark.parametrize("how", ["stopped", "in_c_code"])
@pytest.mark.parametrize("signals", [[signal.SIGINT], [signal.SIGINT] * 2, [signal.SIGKILL]])
def test_processes_that_are_stuck_end_with_the_run(signals, how, warm, tmp_path):
    """Stopped, or in C code that gives no thread a turn: Ctrl-C, twice too, and kill -9 end all."""
    pid = warm.start(how, "run", "smoke", "--output", tmp_path, "--workers", 2)
    wait_until(lambda: len(list(tmp_path.glob("*.stuck"))) == 2)
    try:
        for number in signals:
            os.kill(pid, number)
            time.sleep(0.05)
        warm.wait(pid)
        wait_until(lambda: not group_exists(pid))
    finally:
        if group_exists(pid):
            os.killpg(pid, signal.SIGKILL)


def test_time_limit(cheap, tmp_path, monkeypatch):
    """An experiment that takes too long has failed, and the others are computed."""

    def slow(experiment):
        if experiment.seed == 5:
            time.sleep(600)
        return cheap_science(experiment)

    monkeypatch.setattr(runner, "compute", slow)
    experiments = grid("smoke", seeds=(5, 6), families=["lbe"], datasets=["synth_1"])
    assert run(experiments, tmp_path, workers=1, time_limit=4) == experiments[:1]
    assert "time limit of 4 s" in read_result(failure_path(tmp_path, experiments[0]))["traceback"]
    assert state(tmp_path, experiments[1]) == "done"
    assert multiprocessing.active_children() == []


def test_time_limits_that_cannot_be(tmp_path):
    """On a cluster, and where no time is left."""
    with pytest.raises(ValueError, match="processes of this machine"):
        run(grid("smoke"), tmp_path, scheduler="tcp://127.0.0.1:1", time_limit=1)
    with pytest.raises(ValueError, match="time_limit is 0"):
        run(grid("smoke"), tmp_path, time_limit=0)


def test_an_idle_process_that_was_killed(cheap):
    """The next experiment that it is given has failed, and the run goes on."""
    first, second = grid("smoke", families=["lbe"], datasets=["synth_1"])
    with runner.Processes(1) as pool:
        pool.submit(first)
        wait_until(lambda: list(pool.finished()))
        (process,) = pool.processes.values()
        process.kill()
        process.join()
        pool.submit(second)
        ((_, result),) = pool.finished()
    assert "exit code -9" in result["traceback"]


STRANGE = {
    "nan": lambda result: result["metrics"][0].update(u_accuracy=float("nan")),
    "a type that JSON lacks": lambda result: result["metrics"][0].update(u_accuracy={1, 2}),
    "what no pipe takes": lambda result: result.update(device=lambda: None),
    "no share": lambda result: result["metrics"][0].update(u_accuracy=2),
    "no metrics": lambda result: result.pop("metrics"),
}


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
def test_a_result_that_cannot_be_recorded_fails_its_own_experiment(
    change, cheap, tmp_path, monkeypatch
):
    """The others are computed, and the reason is in the traceback."""

    def strange(experiment):
        result = cheap_science(experiment)
        if experiment.seed == 0:
            change(result)
        return result

    monkeypatch.setattr(runner, "compute", strange)
    experiments = grid("smoke", families=["lbe"], datasets=["synth_1"])
    assert run(experiments, tmp_path, workers=1) == experiments[:1]
    assert "Error: " in read_result(failure_path(tmp_path, experiments[0]))["traceback"]
    assert state(tmp_path, experiments[1]) == "done"


def group_exists(pid):
    """Whether a process of the group is alive."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_dask_with_a_worker_killed(undisturbed, tmp_path):
    """A cluster that loses a worker in the middle gives the results of one process."""
    experiments = grid("smoke", seeds=[0])
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    # both workers, and the one that comes in the place of the dead, import torch once
    multiprocessing.set_forkserver_preload(["pu_utils.models", "torch._dynamo"])
    method = {"distributed.worker.multiprocessing-method": "forkserver"}
    with dask.config.set(method), LocalCluster(**options) as cluster:
        nanny = next(iter(cluster.workers.values()))
        options = {"scheduler": cluster.scheduler_address}
        running = threading.Thread(target=run, args=(experiments, tmp_path), kwargs=options)
        running.start()
        wait_until(lambda: len(results(tmp_path)) >= 2)
        os.kill(nanny.pid, signal.SIGKILL)
        assert len(results(tmp_path)) < N_EXPERIMENTS
        running.join(timeout=PATIENCE)
    assert collected(tmp_path) == undisturbed


def test_scheduler_out_of_reach(tmp_path, capsys, monkeypatch):
    """An address where nobody answers is an error, not a failure of experiments."""
    monkeypatch.setattr(runner, "CONNECT_SECONDS", 1)
    arguments = ["--scheduler", "tcp://127.0.0.1:1", "--output", str(tmp_path)]
    assert main(["run", "smoke", *arguments]) == 1
    assert "127.0.0.1:1" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.json"))


def test_scheduler_lost_on_the_way():
    """Dask cancels what a lost scheduler had: no experiment has failed, the run has."""
    future = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    cluster = runner.Cluster.__new__(runner.Cluster)
    cluster.running = {future: grid("smoke")[:1]}
    with pytest.raises(ConnectionError, match="scheduler is gone"):
        next(cluster.finished())


def test_dask_is_optional(tmp_path, monkeypatch):
    """Without Dask the error says how to install it."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match="pip install"):
        run(grid("smoke"), tmp_path, scheduler="tcp://127.0.0.1:1")


def test_processes_of_the_command_line(tmp_path):
    """They start from nothing."""
    experiments = grid("smoke", families=["reference"])
    assert run(experiments, tmp_path, workers=2) == []
    assert len(results(tmp_path)) == len(experiments)


def test_two_runs_in_threads_of_one_process(cheap, tmp_path):
    """They take turns, as runs of two processes do, and nothing is computed twice or lost."""
    experiments = grid("smoke", seeds=range(4))
    with ThreadPoolExecutor() as pool:
        futures = [pool.submit(run, experiments, tmp_path, workers=1) for _ in range(2)]
        before = {path: path.stat().st_mtime_ns for path in results(tmp_path)}
        assert [future.result() for future in futures] == [[], []]
    assert all(path.stat().st_mtime_ns == at for path, at in before.items())
    assert survey(tmp_path, experiments) == (
        {"done": len(experiments), "stale": 0, "failed": 0, "missing": 0},
        [],
    )
    assert not list(tmp_path.rglob("*.tmp"))


def test_only_what_is_missing_is_computed(cheap, tmp_path):
    """Done experiments are left alone, stale ones are computed again."""
    experiments = grid("smoke")
    run(experiments, tmp_path, workers=2)
    stale, done = (result_path(tmp_path, experiment) for experiment in experiments[:2])
    old = {"settings": experiments[0].settings | {"threads": 0}, "settings_hash": "0" * 16}
    stale.write_text(json.dumps(read_result(stale) | old))
    before = done.stat().st_mtime_ns
    assert survey(tmp_path, experiments)[0]["stale"] == 1
    assert run(experiments, tmp_path, workers=1) == []
    assert survey(tmp_path, experiments)[0]["done"] == len(experiments)
    assert done.stat().st_mtime_ns == before


def test_what_is_asked_for_twice_is_computed_once(cheap, tmp_path, monkeypatch):
    """An experiment that stands in the list twice is handed out once."""
    submitted, submit = [], runner.Processes.submit

    def count(pool, experiment):
        submitted.append(experiment)
        submit(pool, experiment)

    monkeypatch.setattr(runner.Processes, "submit", count)
    experiments = grid("smoke", families=["lbe"])
    assert run(experiments * 2, tmp_path, workers=2) == []
    assert sorted(submitted, key=experiments.index) == experiments


def test_failures_are_recorded_and_the_rest_goes_on(cheap, tmp_path, capsys):
    """A experiment that raises and one that takes its worker down; exit code 1, a list, a retry."""
    arguments = ["run", "smoke", "--seeds", "7", "8", "9", "--families", "lbe"]
    arguments += ["--datasets", "synth_1", "--workers", "1", "--output", str(tmp_path)]
    assert main(arguments) == 1
    errors = capsys.readouterr().err
    assert "lbe-smoke-seed7.failed.json" in errors and "--retry-failed" in errors
    broken, died, fine = grid("smoke", seeds=(7, 8, 9), families=["lbe"], datasets=["synth_1"])
    raised = read_result(failure_path(tmp_path, broken))["traceback"]
    assert "ZeroDivisionError: seed 7" in raised and "cheap_science" in raised
    assert "exit code 5" in read_result(failure_path(tmp_path, died))["traceback"]
    assert state(tmp_path, fine) == "done"
    before = failure_path(tmp_path, broken).stat().st_mtime_ns
    assert main(arguments) == 1
    assert failure_path(tmp_path, broken).stat().st_mtime_ns == before
    assert main([*arguments, "--retry-failed"]) == 1
    assert failure_path(tmp_path, broken).stat().st_mtime_ns > before


def test_experiments_settled_by_another_run_meanwhile(cheap, tmp_path, monkeypatch):
    """A experiment that another run finishes before it is locked here is not computed again."""
    experiments = grid("smoke")
    take = Locks.take

    def take_late(locks, experiment):
        write_result(tmp_path, experiment, runner.attempt(experiment))
        return take(locks, experiment)

    monkeypatch.setattr(Locks, "take", take_late)
    monkeypatch.setattr(runner.Processes, "submit", lambda *_: pytest.fail("computed again"))
    assert run(experiments, tmp_path) == []


@pytest.mark.parametrize("workers", [0, -1])
def test_workers_must_be_positive(workers, tmp_path):
    """The error names the argument."""
    with pytest.raises(ValueError, match=f"workers is {workers}"):
        run(grid("smoke"), tmp_path, workers=workers)


def test_processors(monkeypatch):
    """As many as the process may use, by either way of asking."""
    assert 1 <= runner.processors() <= os.cpu_count()
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert runner.processors() == os.cpu_count()


# No room, no right to write


@pytest.fixture
def small_disk(tmp_path):
    """A file system with room for a few results; skipped where mounting is not allowed."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", folder]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a tmpfs needs root; the test with a limit of sizes covers the rest")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_full_disk(cheap, small_disk, capsys):
    """A clear error; every file that is there is whole; with room again the rest is computed."""
    arguments = ["run", "smoke", "--workers", "1", "--output", str(small_disk)]
    assert main(arguments) == 1
    assert "No space left on device: cannot write; make room" in capsys.readouterr().err
    done = results(small_disk)
    assert 0 < len(done) < len(grid("smoke")) and all(read_result(path) for path in done)
    assert not list(small_disk.rglob("*.tmp"))
    subprocess.run(["mount", "-o", "remount,size=1m", small_disk], check=True)
    assert main(arguments) == 0
    assert len(results(small_disk)) == len(grid("smoke"))


def test_quota(cheap, tmp_path, capsys):
    """The same where the system limits what may be written (here the size of a file)."""
    arguments = ["run", "smoke", "--workers", "1", "--output", str(tmp_path)]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    try:
        assert main(arguments) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "cannot write; make room" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["claims.lock"]
    assert main(arguments) == 0


def test_unwritable_directory(cheap, tmp_path, capsys):
    """Said before anything is computed."""
    (tmp_path / "file").write_text("")
    assert main(["run", "smoke", "--output", str(tmp_path / "file")]) == 1
    assert "choose another directory" in capsys.readouterr().err
