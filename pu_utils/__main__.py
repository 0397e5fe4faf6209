"""The command line: ``python -m pu_utils``."""

import argparse
import sys

from pu_utils.data import cli as data_commands


def main(argv=None):
    """Run a command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m pu_utils")
    commands = parser.add_subparsers(dest="command", required=True)
    data_commands.add_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
