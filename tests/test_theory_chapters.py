"""The chapters that prove: no step without its cell, no deciding cell without its line."""

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


def listed(sources):
    """The last column of the table of steps: one name a row."""
    (table,) = (source for source in sources if "| Step |" in source)
    _, _, *rows = re.findall(r"^\|.*\|$", table, flags=re.MULTILINE)
    return [re.fullmatch(r"\|.*\| \*(\S+)\* \|", row)[1] for row in rows]


def unmatched(steps, deciding):
    """Steps without a cell, cells without a step, and names that are used twice."""
    names = [name for name, _ in deciding]
    twice = {name for name in (*steps, *names) if steps.count(name) > 1 or names.count(name) > 1}
    return set(steps) ^ set(names) | twice


def asserts(source):
    """Whether a cell stops the book if what it decides is false."""
    return bool(re.search(r"^\s*assert(_zero\()?", source, flags=re.MULTILINE))


def test_every_step_of_chapter_2_has_its_cell_and_every_cell_its_step():
    """The table at the end of the chapter is complete in both directions, and in order."""
    steps = listed(cells("02_theorem_1", "markdown"))
    deciding = announced(cells("02_theorem_1", "code"), "decides")
    assert unmatched(steps, deciding) == set()
    assert steps == [name for name, _ in deciding] and len(steps) >= 20
    assert [name for name, source in deciding if not asserts(source)] == []


@pytest.mark.parametrize("lost", ["step", "cell"])
def test_a_lost_step_or_cell_would_be_noticed(lost):
    """Take one line of the table away, or one cell: the comparison names it."""
    steps = listed(cells("02_theorem_1", "markdown"))
    deciding = announced(cells("02_theorem_1", "code"), "decides")
    name, _ = deciding[3]
    if lost == "step":
        steps.remove(name)
    else:
        del deciding[3]
    assert unmatched(steps, deciding) == {name}


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
