"""The command line: ``python -m pu_utils COMMAND``."""

import argparse
import re
import subprocess
import sys
from pathlib import Path


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
    set_repo.set_defaults(run=set_repository)


def set_repository(arguments):
    """Put another address in the place of the repository's in every tracked file."""
    new, old = arguments.url, re.search(r"(?m)^  url: (\S+)$", Path("_config.yml").read_text())[1]
    if not re.fullmatch(r"https://github\.com/[\w-]+/[\w.-]+(?<!\.git)", new):
        raise ValueError(f"the address must read https://github.com/OWNER/NAME, not {new}")
    folders = [f"%cd -q {url.rsplit('/', 1)[-1]}/" for url in (old, new)]  # in notebooks, on Colab
    listed = subprocess.run(["git", "grep", "-zlIF", old], stdout=subprocess.PIPE, text=True).stdout
    for path in map(Path, listed.split("\0")[:-1]):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(old, new).replace(*folders), encoding="utf-8")
        print(f"changed {path}")
    return 0 if listed else 1


if __name__ == "__main__":
    sys.exit(main())
