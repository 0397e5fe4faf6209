"""What the engine costs: ``python tests/bench/engine.py``.

The time that a cell takes beyond its own computation, as a share of a cell of 30 s; and how long
the commands take on 10,080 cells, Python's start included. A limit that is not kept makes the exit
code 1.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pu_utils.experiments import compute, grid, run
from pu_utils.experiments.store import read_result, result_path

CELL_SECONDS, OVERHEAD_SHARE = 30, 0.02
COMMAND_SECONDS = {"status": 3, "collect": None, "tables": 3}
MANY_SEEDS = range(42)


def overhead(output):
    """Seconds per cell beyond its computation, and seconds until the first worker is ready."""
    few, many = range(5), range(60)
    options = {"datasets": ["synth_1"], "families": ["reference"]}
    times = []
    for name, seeds in (("few", few), ("many", many)):
        start = time.perf_counter()
        run(grid("smoke", seeds=seeds, **options), output / name, workers=1)
        times.append(time.perf_counter() - start)
    per_cell = (times[1] - times[0]) / (len(many) - len(few))
    cells = grid("smoke", seeds=many, **options)
    inside = [read_result(result_path(output / "many", c))["seconds"]["total"] for c in cells]
    own = sum(inside[len(few) :]) / (len(many) - len(few))
    return per_cell - own, times[0] - len(few) * per_cell


def record_many(output):
    """Write results of the size of real ones for 10,080 cells; how many."""
    (example,) = grid("smoke", datasets=["synth_1"], seeds=[0], families=["vae_pu"])
    result = compute(example)
    cells = grid("paper", seeds=MANY_SEEDS)
    for cell in cells:
        path = result_path(output, cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = {"settings": cell.settings, "settings_hash": cell.settings_hash}
        path.write_text(json.dumps(result | own, indent=1))
    return len(cells)


def command_seconds(folder):
    """Seconds of each command on the recorded cells."""
    seeds = ["--seeds", *map(str, MANY_SEEDS)]
    output, results = ["--output", folder / "runs"], ["--results", folder / "results"]
    commands = {
        "status": ["paper", *seeds, *output],
        "collect": [*output, *results],
        "tables": [*results, "--to", folder / "tables"],
    }
    seconds = {}
    for name, arguments in commands.items():
        start = time.perf_counter()
        words = [sys.executable, "-m", "pu_utils", name, *map(str, arguments)]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        seconds[name] = time.perf_counter() - start
    return seconds


def main():
    """Print the figures beside their limits."""
    with tempfile.TemporaryDirectory() as folder:
        beyond, start = overhead(Path(folder))
        limit = OVERHEAD_SHARE * CELL_SECONDS
        print(
            f"overhead of a cell: {beyond:.4f} s, {beyond / CELL_SECONDS:.3%} of {CELL_SECONDS} s"
        )
        print(f"start of the first worker, once per run: {start:.1f} s")
        kept = beyond < limit
        n_cells = record_many(Path(folder) / "runs")
        for name, seconds in command_seconds(Path(folder)).items():
            limit = COMMAND_SECONDS[name]
            print(f"{name} on {n_cells} cells: {seconds:.2f} s (limit {limit or 'none'})")
            kept &= limit is None or seconds < limit
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
