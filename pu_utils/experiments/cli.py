"""The commands ``python -m pu_utils run|status|collect|estimates|verify``."""

import sys

from pu_utils.data import DESIGNS, NAMES, RECIPES
from pu_utils.experiments.cells import EXPERIMENT_SCHEDULES, FAMILIES, GRIDS, cell_of, grid
from pu_utils.experiments.engine import run
from pu_utils.experiments.recorded import (
    collect,
    read_cells,
    record_estimates,
    split_rows,
    verify,
)
from pu_utils.experiments.store import failure_path, survey

OUTPUT, RESULTS = "runs", "results"
DATASETS = (*NAMES, *RECIPES)
INTERRUPTED = 130  # as shells have it


def add_parsers(commands):
    """Add the commands of the experiments to the subparsers of the command line."""
    running = commands.add_parser("run", help="compute the cells of a grid that are not done")
    _add_grid(running)
    _add_recorded(running)
    running.add_argument("--workers", type=int, help="processes; one per processor")
    running.add_argument("--scheduler", metavar="ADDRESS", help="of Dask, instead of processes")
    running.add_argument("--retry-failed", action="store_true", help="compute failed cells again")
    running.set_defaults(run=run_grid)
    status = commands.add_parser("status", help="which cells of a grid are done")
    _add_grid(status)
    _add_recorded(status)
    status.set_defaults(run=show_status)
    collecting = commands.add_parser("collect", help="put finished cells into CSV files")
    _add_folders(collecting, output=True)
    collecting.set_defaults(run=collect_cells)
    estimating = commands.add_parser(
        "estimates", help="run, and record y(x), s(x) of each test row"
    )
    _add_grid(estimating)
    estimating.add_argument("--results", default=RESULTS, help=f"of the CSV files ({RESULTS})")
    estimating.set_defaults(run=write_estimates)
    verifying = commands.add_parser("verify", help="recompute a few recorded cells and compare")
    _add_folders(verifying)
    verifying.add_argument("--cells", type=int, default=2, help="how many")
    verifying.add_argument("--methods", nargs="+", choices=FAMILIES, help="of these alone")
    verifying.add_argument(
        "--datasets", nargs="+", choices=DATASETS, metavar="NAME", help="likewise"
    )
    verifying.add_argument("--seed", type=int, help="of the choice")
    verifying.set_defaults(run=verify_cells)


def _add_grid(parser):
    parser.add_argument("grid", choices=GRIDS)
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, metavar="NAME")
    parser.add_argument("--design", nargs="+", choices=DESIGNS, dest="designs")
    parser.add_argument("--label-frequencies", nargs="+", type=float, metavar="C")
    parser.add_argument("--seeds", nargs="+", type=int, metavar="SEED")
    parser.add_argument("--methods", nargs="+", choices=FAMILIES, dest="families")
    parser.add_argument("--schedule", choices=EXPERIMENT_SCHEDULES)
    parser.add_argument("--output", default=OUTPUT, help=f"directory of the cells ({OUTPUT})")


def _add_recorded(parser):
    parser.add_argument("--recorded", metavar="RESULTS", help="leave out what these CSVs hold")


def _add_folders(parser, output=False):
    if output:
        parser.add_argument("--output", default=OUTPUT, help=f"directory of the cells ({OUTPUT})")
    parser.add_argument("--results", default=RESULTS, help=f"of the CSV files ({RESULTS})")


def _cells(arguments):
    axes = ("datasets", "designs", "label_frequencies", "seeds", "families", "schedule")
    return grid(arguments.grid, **{name: getattr(arguments, name) for name in axes})


def _not_recorded(arguments):
    """Cells that the recorded CSV files do not hold, so that another machine can go on."""
    cells = _cells(arguments)
    if arguments.recorded is None:
        return cells
    fresh, _ = split_rows(read_cells(arguments.recorded))
    recorded = {cell_of(row) for row in fresh}
    left = [cell for cell in cells if cell not in recorded]
    print(f"{len(cells) - len(left)} of {len(cells)} cells are in {arguments.recorded}")
    return left


def run_grid(arguments):
    """Compute what is missing; list what failed."""
    cells = _not_recorded(arguments)
    options = (arguments.workers, arguments.scheduler, arguments.retry_failed)
    try:
        failed = run(cells, arguments.output, *options)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    for cell in failed:
        print(f"failed: {failure_path(arguments.output, cell)}", file=sys.stderr)
    if failed:
        print("run again with --retry-failed once the cause is gone", file=sys.stderr)
    return int(bool(failed))


def show_status(arguments):
    """Print how many cells of the grid are in each state, and every stale file."""
    counts, stale = survey(arguments.output, _not_recorded(arguments))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    for path in stale:
        print(f"stale (other settings, or unreadable): {path}")
    return 0


def collect_cells(arguments):
    """Collect, and list what was left out."""
    n_cells, stale = collect(arguments.output, arguments.results)
    print(f"{n_cells} cells in {arguments.results}")
    for name in stale:
        print(f"left out, stale: {name}", file=sys.stderr)
    return 0


def write_estimates(arguments):
    """Compute the VAE-PU cells of a grid, and write what they estimate on each test row."""
    cells = [cell for cell in _cells(arguments) if cell.family == "vae_pu"]
    if not cells:
        raise ValueError("no cell of family vae_pu is among them; leave --methods out")
    for cell in cells:
        print(record_estimates(cell, arguments.output, arguments.results))
    return 0


def verify_cells(arguments):
    """Print a verdict on each chosen cell; the exit code is 1 if one does not hold."""
    verdicts = verify(
        arguments.results,
        arguments.cells,
        families=arguments.methods,
        datasets=arguments.datasets,
        seed=arguments.seed,
    )
    for verdict in verdicts:
        found = verdict["problem"] or "holds"
        print("{cell}: {found} (largest difference {largest}, tolerance {tolerance})".format(
            found=found, **verdict
        ))  # fmt: skip
    return int(any(verdict["problem"] for verdict in verdicts))
