"""The command line: ``pu-utils COMMAND``, or ``python -m pu_utils COMMAND``.

A command is a function below, and its options are the function's parameters: what is not given has
the function's default. Each imports only what it needs.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

from pu_utils import __version__


def run(output="runs", workers=None, scheduler=None, retry_failed=False, time_limit=None, **grid):
    """Compute what of a grid is not done.

    The grid is smoke, synthetic, real, paper, confirmation or questions; --datasets and the like
    take the place of its own. The experiments go to the folder --output (runs); those in the CSV
    files of the folder --recorded are left out. --workers are processes, one per processor, or
    --scheduler is the address of Dask's. --time-limit is in seconds of each experiment.
    --retry-failed computes failed experiments again.
    """
    from pu_utils.reproduction import results, runs

    failed = runs.run(_experiments(**grid), output, workers, scheduler, retry_failed, time_limit)
    for one in failed:
        print(f"failed: {results.failure_path(output, one)} (again with --retry-failed)")
    return int(bool(failed))


def status(output="runs", **grid):
    """Tell how much of a grid is done."""
    from pu_utils.reproduction.results import state

    counts = Counter(state(output, one) for one in _experiments(**grid))
    print(", ".join(f"{counts[name]} {name}" for name in ("done", "stale", "failed", "missing")))


def _experiments(grid, recorded=None, **changes):
    from pu_utils.reproduction import experiment, results

    experiments = experiment.grid(grid, **changes)
    return results.not_recorded(experiments, recorded) if recorded else experiments


def collect(output="runs", results="results"):
    """Put results into CSV files, and name what was left out."""
    from pu_utils.reproduction.results import collect

    n_experiments, stale = collect(output, results)
    print(f"{n_experiments} experiments in {results}", *stale, sep="\nleft out, stale: ")


def estimates(results="results", **grid):
    """Run the VAE-PU experiments of a grid, and record y(x) and s(x) of their test rows."""
    from pu_utils.reproduction.runs import record_estimates

    for one in _experiments(families=["vae_pu"], **grid):
        print(record_estimates(one, results))


def verify(results="results", experiments=2, **which):
    """Recompute a few recorded experiments (--experiments: how many, 2) and compare.

    They are chosen at random (--seed), among --families and --datasets where these are given.
    --every-family chooses as many of each family, of experiments that take at most 40 seconds.
    """
    from pu_utils.reproduction.runs import verify

    verdicts = verify(results, experiments, **which)
    for one in verdicts:
        limits = f"largest difference {one['largest']}, tolerance {one['tolerance']}"
        print(f"{one['experiment']}: {one['problem'] or 'holds'} ({limits})")
    return int(any(one["problem"] for one in verdicts))


def costs(results="results"):
    """Print the mean processor seconds of recorded experiments, and how many they are of."""
    from pu_utils.reproduction.results import recorded_seconds

    print(recorded_seconds(results).round({"seconds": 2}).to_string())


def tables(results="results", to="tables.csv", **reading):
    """Write published and our numbers side by side, as CSV (--to: tables.csv)."""
    from pu_utils.reproduction import compare, read_results

    compare(read_results(results), **reading).round(4).to_csv(to, index=False)


def scoreboard(results="results"):
    """Judge every claim from the recorded results, and write scoreboard.csv."""
    from pu_utils.reproduction import judge_recorded, scoreboard

    table = scoreboard(judge_recorded(results))
    table.to_csv(Path(results) / "scoreboard.csv", index=False)
    print(table["verdict"].value_counts().to_string())


def data(action, names=()):
    """List the files of the real data sets, or fetch those of all or of the named sets.

    ``list`` tells which are here, whole or altered, and where the others live. ``fetch`` downloads
    what is missing, computes features, and prints the facts of each set as CSV.
    """
    from pu_utils.data import REAL, load, store

    if action == "list":
        states = {name: store.status(name) for name in store.FILES}
        for name, state in states.items():
            _, home, _, licence = store.FILES[name]
            print(f"{state:8} {store.data_dir() / name}  {licence}  {home or 'no public home'}")
        return int("altered" in states.values())
    failed = False
    print("dataset,samples,features,prior,fingerprint")
    for name in names or REAL:
        try:
            found = load(name, label_frequency=0.5, seed=0)
            facts = (name, *found.X.shape, f"{found.prior:.4f}", found.fingerprint[:16])
            print(*facts, sep=",")
        except (ValueError, OSError) as error:  # the other sets may still be had
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


def rank(**options):
    """Rank the unlabelled rows of your own table, the most likely positives first.

    FILE is CSV, Parquet or Excel, compressed or not. --label names the column that says who is
    labelled, --positive its value that means so, where it is not plain, and --prior gives the share
    of positives among ALL rows: no data of this kind contain it. --id is the column that names the
    rows, --propensity-columns are what labelling depends on, as people say who know;
    --trust-columns believes them even where they make unseen labels less likely. --budget calls so
    many rows positive, in the place of those that are more likely so than not. --by gives the
    promise for each group, --keep repeats columns in the list, --codes are columns whose order
    means nothing, --without leaves columns out, and --apply ranks the rows of another file.
    --decimal and --thousands say how numbers are written. The list goes to --output (ranked.csv), a
    page on what it rests on to --report (.html), rows to check by hand to --audit-sample (.csv),
    which come back as --audit with yes, no or blank. --overwrite writes over files of these names.
    """
    from pu_utils.own_data import rank

    rank(**options)


RANK = (
    "file --label --prior --positive --id --propensity-columns --trust-columns --budget --by "
    "--keep --codes --without --apply --decimal --thousands --output --report --audit-sample "
    "--audit --overwrite --seed"
)
GRID = "grid --datasets --designs --label-frequencies --seeds --schedule"
COMMANDS = {
    run: f"{GRID} --families --output --recorded --workers --scheduler --retry-failed --time-limit",
    status: f"{GRID} --families --output --recorded",
    collect: "--output --results",
    estimates: f"{GRID} --results",
    verify: "--results --experiments --families --datasets --seed --every-family",
    costs: "--results",
    tables: "--results --design --schedule --reading --to",
    scoreboard: "--results",
    data: "action names",
    rank: RANK,
}
MANY, SWITCH = {"nargs": "+"}, {"action": "store_true"}
INT, FLOAT = {"type": int}, {"type": float}
OPTIONS = {  # that take no single word
    "action": {"choices": ("list", "fetch")}, "names": {"nargs": "*"},
    "--datasets": MANY, "--designs": MANY, "--families": MANY, "--seeds": MANY | INT,
    "--label-frequencies": MANY | FLOAT, "--workers": INT, "--time-limit": FLOAT,
    "--retry-failed": SWITCH, "--experiments": INT, "--every-family": SWITCH, "--seed": INT,
    "--label": {"required": True}, "--prior": FLOAT | {"required": True}, "--budget": INT,
    "--propensity-columns": MANY, "--keep": MANY, "--codes": MANY, "--without": MANY,
    "--trust-columns": SWITCH, "--overwrite": SWITCH,
}  # fmt: skip


def main(argv=None):
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(prog="pu-utils")
    parser.add_argument("--version", action="version", version=f"pu_utils {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for function, options in COMMANDS.items():
        about = {"help": function.__doc__.split("\n")[0], "description": function.__doc__}
        command = commands.add_parser(function.__name__.replace("_", "-"), **about)
        command.set_defaults(function=function)
        for option in options.split():
            command.add_argument(option, default=argparse.SUPPRESS, **OPTIONS.get(option, {}))
    given = vars(parser.parse_args(argv))
    try:
        return given.pop("function")(**given) or 0
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what is written is whole, and the same command goes on", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
