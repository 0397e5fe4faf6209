"""The Sphinx extensions of the book, for the tests of what their pages say."""

import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "book" / "_ext"


def extension(name):
    """A local extension of the book, imported as Sphinx does it."""
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FOLDER))
