"""The commands ``python -m pu_utils run|status|collect|estimates|verify|costs``."""

import math
import sys

from pu_utils.data import DATASETS, DESIGNS
from pu_utils.reproduction.costs import recorded_seconds
from pu_utils.reproduction.experiment import DEFAULTS, GRIDS, grid
from pu_utils.reproduction.families import EXPERIMENT_SCHEDULES, FAMILIES
from pu_utils.reproduction.output import failure_path, survey
from pu_utils.reproduction.record import (
    collect,
    current_experiments,
    read_experiments,
    record_estimates,
    verify,
)
from pu_utils.reproduction.runner import run

OUTPUT, RESULTS = "runs", "results"
INTERRUPTED = 130  # as shells have it
OPTIONS = {
    "--datasets": {"nargs": "+", "choices": DATASETS, "metavar": "NAME"},
    "--designs": {"nargs": "+", "choices": DESIGNS},
    "--label-frequencies": {"nargs": "+", "type": float, "metavar": "C"},
    "--seeds": {"nargs": "+", "type": int},
    "--families": {"nargs": "+", "choices": FAMILIES, "metavar": "NAME"},
    "--schedule": {"choices": EXPERIMENT_SCHEDULES},
    "--output": {"default": OUTPUT, "help": f"directory of the experiments ({OUTPUT})"},
    "--results": {"default": RESULTS, "help": f"directory of the CSV files ({RESULTS})"},
    "--recorded": {"metavar": "RESULTS", "help": "leave out what these CSV files hold"},
    "--workers": {"type": int, "help": "processes; one per processor"},
    "--scheduler": {"metavar": "ADDRESS", "help": "address of Dask's, instead of processes"},
    "--time-limit": {"type": float, "default": math.inf, "help": "seconds of each experiment"},
    "--retry-failed": {"action": "store_true", "help": "compute failed experiments again"},
    "--experiments": {"type": int, "default": 2, "help": "how many (2)"},
    "--seed": {"type": int, "help": "seed of the random choice"},
}
GRID = [f"--{axis.replace('_', '-')}" for axis in DEFAULTS] + ["--output"]


def add_parsers(commands):
    """Add the commands of the experiments to the subparsers of the command line."""

    def add(function, name, text, *options):
        parser = commands.add_parser(name, help=text)
        parser.set_defaults(run=function)
        if "--schedule" in options:
            parser.add_argument("grid", choices=GRIDS)
        for option in options:
            parser.add_argument(option, **OPTIONS[option])

    which = ("--workers", "--scheduler", "--retry-failed", "--time-limit")
    add(run_grid, "run", "compute what of a grid is not done", *GRID, "--recorded", *which)
    add(show_status, "status", "what of a grid is done", *GRID, "--recorded")
    add(collect_experiments, "collect", "put results into CSV files", "--output", "--results")
    add(write_estimates, "estimates", "run, and record y(x), s(x) of test rows", *GRID, "--results")
    which = ("--results", "--experiments", "--families", "--datasets", "--seed")
    add(verify_experiments, "verify", "recompute a few recorded ones and compare", *which)
    add(show_costs, "costs", "processor seconds of the recorded experiments", "--results")


def _experiments(arguments):
    return grid(arguments.grid, **{axis: getattr(arguments, axis) for axis in DEFAULTS})


def _not_recorded(arguments):
    """Experiments that the recorded CSV files do not hold, so that another machine can go on."""
    experiments = _experiments(arguments)
    if arguments.recorded is None:
        return experiments
    recorded = set(current_experiments(read_experiments(arguments.recorded)))
    left = [one for one in experiments if one not in recorded]
    n_recorded = len(experiments) - len(left)
    print(f"{n_recorded} of {len(experiments)} experiments are in {arguments.recorded}")
    return left


def run_grid(arguments):
    """Compute what is missing; list what failed."""
    given = vars(arguments)
    options = {name: given[name] for name in ("workers", "scheduler", "retry_failed", "time_limit")}
    try:
        failed = run(_not_recorded(arguments), arguments.output, **options)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    for one in failed:
        print(f"failed: {failure_path(arguments.output, one)}", file=sys.stderr)
    if failed:
        print("run again with --retry-failed once the cause is gone", file=sys.stderr)
    return int(bool(failed))


def show_status(arguments):
    """Print how many experiments of the grid are in each state, and every stale file."""
    counts, stale = survey(arguments.output, _not_recorded(arguments))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    for path in stale:
        print(f"stale (other settings, or unreadable): {path}")
    return 0


def collect_experiments(arguments):
    """Collect, and list what was left out."""
    n_experiments, stale = collect(arguments.output, arguments.results)
    print(f"{n_experiments} experiments in {arguments.results}")
    for name in stale:
        print(f"left out, stale: {name}", file=sys.stderr)
    return 0


def write_estimates(arguments):
    """Compute the VAE-PU experiments of a grid, and write what they estimate on each test row."""
    experiments = [one for one in _experiments(arguments) if one.family == "vae_pu"]
    if not experiments:
        raise ValueError("no experiment of family vae_pu is among them; leave --families out")
    for one in experiments:
        print(record_estimates(one, arguments.output, arguments.results))
    return 0


def verify_experiments(arguments):
    """Print a verdict on each chosen experiment; the exit code is 1 if one does not hold."""
    which = (arguments.experiments, arguments.families, arguments.datasets, arguments.seed)
    verdicts = verify(arguments.results, *which)
    for verdict in verdicts:
        found = verdict["problem"] or "holds"
        limits = "largest difference {largest}, tolerance {tolerance}".format(**verdict)
        print(f"{verdict['experiment']}: {found} ({limits})")
    return int(any(verdict["problem"] for verdict in verdicts))


def show_costs(arguments):
    """Print mean processor seconds by data set, family and schedule, and how many they are of."""
    print(recorded_seconds(arguments.results).round({"seconds": 2}).to_string())
    return 0
