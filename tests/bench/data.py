"""How long ``load`` takes and how much memory: ``python tests/bench/data.py``.

Each set is loaded in a process of its own, once for the peak of its memory over what the process
had before, then three times for the best time. A limit that is not kept makes the exit code 1.
"""

import json
import subprocess
import sys

SECONDS = {  # limits, after the first time; for CIFAR-10 none is set, on memory neither
    "synth_1": 0.1, "synth_2": 0.1, "synth_3": 0.1, "synth_scar": 0.1,
    "mnist_3v5": 1, "mnist_ove": 3, "cdc_diabetes": 2, "cifar_ct": None, "cifar_va": None,
}  # fmt: skip
TIMES_THE_ARRAY = 3

MEASURE = """
import json, resource, sys, time
import scipy.optimize  # labelling loads it on first use, once: a library is no part of the data
from pu_utils.data import load

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

before = peak()
data = load(sys.argv[1], 0.5, seed=0)
memory = (peak() - before) / data.X.nbytes
times = []
for seed in (1, 2, 3):
    start = time.perf_counter()
    load(sys.argv[1], 0.5, seed)
    times.append(time.perf_counter() - start)
print(json.dumps([min(times), memory, data.X.nbytes / 1e6]))
"""


def main():
    """Print a table of the figures beside their limits."""
    kept = True
    print(f"{'set':14}{'seconds':>9}{'limit':>7}{'peak / array':>14}{'limit':>7}{'array, MB':>11}")
    for name, limit in SECONDS.items():
        command = [sys.executable, "-c", MEASURE, name]
        run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        seconds, memory, megabytes = json.loads(run.stdout)
        limits = ("-", "-") if limit is None else (limit, TIMES_THE_ARRAY)
        print(f"{name:14}{seconds:9.3f}{limits[0]:>7}{memory:14.2f}{limits[1]:>7}{megabytes:11.1f}")
        kept &= limit is None or (seconds < limit and memory < TIMES_THE_ARRAY)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
