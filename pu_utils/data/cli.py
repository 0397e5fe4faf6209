"""The ``data`` commands: ``python -m pu_utils data list|fetch|verify|describe``."""

import csv
import sys

from pu_utils.data import REAL, load, store


def add_parser(commands):
    """Add ``data`` and its own commands to the subparsers of the command line."""
    parser = commands.add_parser("data", help="files of the real data sets")
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="which files are here").set_defaults(run=list_files)
    fetch = actions.add_parser("fetch", help="download what data sets need, compute features")
    fetch.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(REAL)}; all")
    fetch.set_defaults(run=fetch_sets)
    actions.add_parser("verify", help="compare checksums").set_defaults(run=verify_files)
    describe = actions.add_parser("describe", help="rows, features and prior of each set, as CSV")
    describe.set_defaults(run=describe_sets)


def list_files(_arguments):
    """Print every file with its licence, public home, and whether it is here."""
    print(f"in {store.data_dir()}:")
    for file in store.FILES.values():
        state = "here" if (store.data_dir() / file.name).exists() else "missing"
        print(f"{state:8} {file.name:52} {file.licence}  {file.address or 'no public home'}")
    return 0


def fetch_sets(arguments):
    """Load each set once, which downloads its files and stores its features."""
    failed = False
    for name in arguments.names or REAL:
        try:
            data = load(name, label_frequency=0.5, seed=0)
            print(f"{name}: {len(data)} rows, {data.X.shape[1]} features")
        except (ValueError, OSError) as error:  # the other sets may still be had
            print(f"{name}: {error}", file=sys.stderr)
            failed = True
    return int(failed)


def verify_files(_arguments):
    """Print the state of every file; the exit code is 1 if one was altered."""
    states = {name: store.status(name) for name in store.FILES}
    for name, state in states.items():
        print(f"{state:8} {name}")
    return int("altered" in states.values())


def describe_sets(_arguments):
    """Print one line per real set; a set whose files are not to be had says so."""
    columns = csv.writer(sys.stdout, lineterminator="\n")
    columns.writerow(["dataset", "samples", "features", "prior", "fingerprint", "note"])
    for name in REAL:
        try:
            data = load(name, label_frequency=0.5, seed=0)
            facts = [len(data), data.X.shape[1], f"{data.prior:.4f}", data.fingerprint[:16], ""]
        except (ValueError, OSError) as error:
            facts = ["", "", "", "", f"not run: {error}"]
        columns.writerow([name, *facts])
    return 0
