"""The commands of the experiments: ``python -m pu_utils run``, and those that read what it did."""

import sys
from collections import Counter
from pathlib import Path

from pu_utils.data import DATASETS, DESIGNS
from pu_utils.reproduction import claims, results, runs, tables
from pu_utils.reproduction.experiment import DEFAULTS, GRIDS, grid
from pu_utils.reproduction.families import EXPERIMENT_SCHEDULES, FAMILIES

OUTPUT, RESULTS = "runs", "results"
INTERRUPTED = 130  # as shells have it
OPTIONS = {
    "grid": {"choices": GRIDS},
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
    "--time-limit": {"type": float, "help": "seconds of each experiment"},
    "--retry-failed": {"action": "store_true", "help": "compute failed experiments again"},
    "--experiments": {"type": int, "default": 2, "help": "how many (2)"},
    "--every-family": {"action": "store_true", "help": "as many of each that takes at most 40 s"},
    "--seed": {"type": int, "help": "seed of the random choice"},
    "--design": {"choices": DESIGNS, "default": "released"},
    "--reading": {"choices": tables.READINGS, "default": "clean"},
    "--to": {"default": "tables.csv", "help": "file (tables.csv)"},
}
GRID = ("grid", *(f"--{axis.replace('_', '-')}" for axis in DEFAULTS))
HOW = ("--workers", "--scheduler", "--retry-failed", "--time-limit")


def add_parsers(commands):
    """Add the commands of the experiments to the subparsers of the command line."""

    def add(name, function, *options, **defaults):
        text = function.__doc__.rstrip(".")
        parser = commands.add_parser(name, help=text[0].lower() + text[1:])
        for option in options:
            parser.add_argument(option, **OPTIONS[option])
        parser.set_defaults(run=function, **defaults)

    add("run", run_grid, *GRID, "--output", "--recorded", *HOW)
    add("status", show_status, *GRID, "--output", "--recorded")
    add("collect", collect_experiments, "--output", "--results")
    add("estimates", write_estimates, *GRID, "--results")
    which = ("--experiments", "--families", "--datasets", "--seed", "--every-family")
    add("verify", verify_experiments, "--results", *which)
    add("costs", show_costs, "--results")
    what = ("--results", "--design", "--schedule", "--reading", "--to")
    add("tables", write_tables, *what, schedule="fast")
    add("scoreboard", write_scoreboard, "--results")


def _experiments(arguments):
    return grid(arguments.grid, **{axis: getattr(arguments, axis) for axis in DEFAULTS})


def _not_recorded(arguments):
    """Experiments that the recorded CSV files do not hold, so that another machine can go on."""
    experiments = _experiments(arguments)
    if arguments.recorded is None:
        return experiments
    left = results.not_recorded(experiments, arguments.recorded)
    n_recorded = len(experiments) - len(left)
    print(f"{n_recorded} of {len(experiments)} experiments are in {arguments.recorded}")
    return left


def run_grid(arguments):
    """Compute what of a grid is not done."""
    how = [option.strip("-").replace("-", "_") for option in HOW]
    options = {name: getattr(arguments, name) for name in how}
    try:
        failed = runs.run(_not_recorded(arguments), arguments.output, **options)
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return INTERRUPTED
    for one in failed:
        print(f"failed: {results.failure_path(arguments.output, one)}", file=sys.stderr)
    if failed:
        print("run again with --retry-failed once the cause is gone", file=sys.stderr)
    return int(bool(failed))


def show_status(arguments):
    """Tell how much of a grid is done."""
    counts = Counter(results.state(arguments.output, one) for one in _not_recorded(arguments))
    print(", ".join(f"{counts[name]} {name}" for name in ("done", "stale", "failed", "missing")))
    return 0


def collect_experiments(arguments):
    """Put results into CSV files, and list what was left out."""
    n_experiments, stale = results.collect(arguments.output, arguments.results)
    print(f"{n_experiments} experiments in {arguments.results}")
    for name in stale:
        print(f"left out, stale: {name}", file=sys.stderr)
    return 0


def write_estimates(arguments):
    """Run the VAE-PU experiments of a grid, and record y(x) and s(x) of their test rows."""
    experiments = [one for one in _experiments(arguments) if one.family == "vae_pu"]
    if not experiments:
        raise ValueError("no experiment of family vae_pu is among them; leave --families out")
    for one in experiments:
        print(runs.record_estimates(one, arguments.results))
    return 0


def verify_experiments(arguments):
    """Recompute a few recorded experiments and compare."""
    which = (arguments.experiments, arguments.families, arguments.datasets, arguments.seed)
    verdicts = runs.verify(arguments.results, *which, arguments.every_family)
    for verdict in verdicts:
        found = verdict["problem"] or "holds"
        limits = "largest difference {largest}, tolerance {tolerance}".format(**verdict)
        print(f"{verdict['experiment']}: {found} ({limits})")
    return int(any(verdict["problem"] for verdict in verdicts))


def show_costs(arguments):
    """Print the mean processor seconds of the recorded experiments, and how many they are of."""
    print(results.recorded_seconds(arguments.results).round({"seconds": 2}).to_string())
    return 0


def write_tables(arguments):
    """Write published and our numbers side by side, as CSV."""
    options = (arguments.design, arguments.schedule, arguments.reading)
    comparison = tables.compare(results.read_results(arguments.results), *options)
    results.write_text(Path(arguments.to), comparison.round(4).to_csv(index=False))
    print(f"{len(tables.TABLE_NAMES)} tables in {arguments.to}")
    recorded = results.current_experiments(results.read_experiments(arguments.results))
    if stale := recorded.count(None):
        print(f"{stale} of the recorded experiments are stale: collect again", file=sys.stderr)
    return 0


def write_scoreboard(arguments):
    """Judge every claim from the recorded results, and write scoreboard.csv."""
    table = claims.scoreboard(claims.judge_recorded(arguments.results))
    results.write_text(Path(arguments.results) / "scoreboard.csv", table.to_csv(index=False))
    print(table["verdict"].value_counts().to_string())
    return 0
