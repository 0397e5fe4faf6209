"""The chapter on what can be known: no statement without the cells that decide and try it."""

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def cells(name, kind):
    """Sources of a notebook's cells of one kind."""
    parsed = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in parsed["cells"] if cell["cell_type"] == kind]


def announced(sources, verb):
    """What each cell that begins with ``# verb: name`` announces, with its source."""
    found = [(re.match(rf"# {verb}: (\S+)\n", source), source) for source in sources]
    return [(match[1], source) for match, source in found if match]


def asserts(source):
    """Whether a cell stops the book if what it decides is false."""
    return bool(re.search(r"^\s*assert(_zero\()?", source, flags=re.MULTILINE))


BEYOND = "16_what_can_be_known"


def statements(sources):
    """The labels of the theorems and propositions in a chapter."""
    text = "\n".join(sources)
    boxes = r"\{prf:(?:theorem|proposition|lemma|corollary)\}[^\n]*\n:label: (\S+)"
    return re.findall(boxes, text)


@pytest.mark.parametrize("verb", ["decides", "enumerates"])
def test_every_statement_beyond_theorem_1_is_decided_and_enumerated(verb):
    """Each numbered statement has cells that prove and that try it, and these prove no other."""
    labels = statements(cells(BEYOND, "markdown"))
    found = announced(cells(BEYOND, "code"), verb)
    assert {name for name, _ in found} == set(labels) and len(labels) == len(set(labels)) >= 6
    assert [name for name, source in found if not asserts(source)] == []


def test_the_list_of_statements_is_complete():
    """The table at the end of the chapter names each statement once, in order."""
    (closing,) = (text for text in cells(BEYOND, "markdown") if "| Statement |" in text)
    rows = re.findall(r"^\| \{prf:ref\}`(\S+)` \| `(\S+)` \|$", closing, flags=re.MULTILINE)
    assert [shown for shown, _ in rows] == [name for _, name in rows]
    assert [name for _, name in rows] == statements(cells(BEYOND, "markdown"))


def test_each_enumeration_goes_through_all_populations():
    """Every trying cell loops over the same populations, of which there are at least 300."""
    code = cells(BEYOND, "code")
    (number,) = re.findall(r"populations = \[.* for _ in range\((\d+)\)\]", "\n".join(code))
    assert int(number) >= 300
    for name, source in announced(code, "enumerates"):
        assert "for counts in populations:" in source, name
