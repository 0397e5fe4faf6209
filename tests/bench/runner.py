"""What the runner costs: ``python tests/bench/runner.py``.

The time that an experiment takes beyond its own computation, as a share of one of 30 s; and how
long the commands take on 50,100 experiments, in seconds of the processor, Python's start included,
and how much memory. A limit that is not kept makes the exit code 1.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pu_utils.reproduction import compute, grid, run
from pu_utils.reproduction.output import read_result, result_path

EXPERIMENT_SECONDS, OVERHEAD_SHARE = 30, 0.02
COMMAND_LIMITS = {"status": (3, 200), "collect": None, "tables": None}  # seconds, megabytes
MANY_SEEDS = range(167)
# A process of its own starts each command: Linux counts the memory of the process that starts
# another towards the most that the other ever had, and this one has torch in it
MEASURED = """
import os, sys
_, status, used = os.wait4(os.posix_spawn(sys.executable, sys.argv[1:], os.environ), 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def overhead(output):
    """Seconds per experiment beyond its computation, and seconds until the first can start."""
    few, many = range(5), range(60)
    options = {"datasets": ["synth_1"], "families": ["reference"]}
    times = []
    for name, seeds in (("few", few), ("many", many)):
        start = time.perf_counter()
        run(grid("smoke", seeds=seeds, **options), output / name, workers=1)
        times.append(time.perf_counter() - start)
    each = (times[1] - times[0]) / (len(many) - len(few))
    chosen = grid("smoke", seeds=many, **options)
    inside = [read_result(result_path(output / "many", c))["seconds"]["total"] for c in chosen]
    own = sum(inside[len(few) :]) / (len(many) - len(few))
    return each - own, times[0] - len(few) * each


def record_many(output):
    """Write results of the size of real ones for many experiments; how many."""
    (example,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["vae_pu"])
    result = compute(example)
    experiments = grid("paper", seeds=MANY_SEEDS)
    for one in experiments:
        path = result_path(output, one)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = {"settings": one.settings, "settings_hash": one.settings_hash}
        path.write_text(json.dumps(result | own, indent=1))
    return len(experiments)


def command_costs(folder):
    """Seconds of the processor and megabytes of each command on the recorded experiments."""
    seeds = ["--seeds", *map(str, MANY_SEEDS)]
    output, results = ["--output", folder / "runs"], ["--results", folder / "results"]
    commands = {
        "status": ["paper", *seeds, *output],
        "collect": [*output, *results],
        "tables": [*results, "--to", folder / "tables"],
    }
    costs = {}
    for name, arguments in commands.items():
        words = [sys.executable, "-m", "pu_utils", name, *map(str, arguments)]
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, *words], check=True, stderr=subprocess.PIPE, text=True
        )
        costs[name] = [float(number) for number in done.stderr.splitlines()[-1].split()]
    return costs


def main():
    """Print the numbers beside their limits."""
    with tempfile.TemporaryDirectory() as folder:
        beyond, start = overhead(Path(folder))
        limit = OVERHEAD_SHARE * EXPERIMENT_SECONDS
        share = beyond / EXPERIMENT_SECONDS
        print(f"overhead of an experiment: {beyond:.4f} s, {share:.3%} of {EXPERIMENT_SECONDS} s")
        print(f"start, once per run: {start:.1f} s")
        kept = beyond < limit
        n_experiments = record_many(Path(folder) / "runs")
        for name, (seconds, megabytes) in command_costs(Path(folder)).items():
            limit = COMMAND_LIMITS[name]
            print(
                f"{name} on {n_experiments} experiments: {seconds:.2f} s, {megabytes:.0f} MB "
                f"(limit {limit or 'none'})"
            )
            kept &= limit is None or (seconds < limit[0] and megabytes < limit[1])
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
