"""The command line: ``python -m pu_utils COMMAND``."""

import argparse
import sys


def main(argv=None):
    """Run one command; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m pu_utils")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    argv = sys.argv[1:] if argv is None else argv
    # Only what the command needs is imported: the rest would take longer than some commands do
    if argv[:1] != ["rank"]:
        _add_book_commands(commands)
    if not set(argv[:1]) & set(commands.choices):  # rank, help, or a mistake
        from pu_utils.own_data.cli import add_parser as add_rank_parser

        add_rank_parser(commands)
    arguments = parser.parse_args(argv)
    try:
        return arguments.run(arguments)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _add_book_commands(commands):
    from pu_utils.data.cli import add_parser as add_data_parser
    from pu_utils.reproduction.cli import add_parsers as add_experiment_parsers

    add_data_parser(commands)
    add_experiment_parsers(commands)
    set_repo = commands.add_parser("set-repo", help="write the repository's address everywhere")
    set_repo.add_argument("url", help="https://github.com/OWNER/NAME")
    set_repo.set_defaults(run=_set_repo)


def _set_repo(arguments):
    from pu_utils.repository import set_repository

    for path in set_repository(arguments.url):
        print(f"changed {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
