"""What the command writes: whole or not at all, never over something, harmless."""

import csv

import numpy as np
import pandas as pd
import pytest

from pu_utils import own_data
from tests.own_data.conftest import make_people

pytestmark = pytest.mark.usefixtures("linear")


def test_nothing_is_written_over(people, rank):
    """Neither a list without --overwrite nor answers with it."""
    assert rank(people).status == 0
    again = rank(people, overwrite=False)
    assert again.status == 1 and "ranked.csv exists" in again.err
    (again.folder / "check.csv").write_text("answers made by hand")
    result = rank(people, "--audit-sample", "check.csv")
    assert result.status == 1 and "but not for audits" in result.err
    assert (again.folder / "check.csv").read_text() == "answers made by hand"


@pytest.mark.parametrize(
    "options",
    [("--output", "people.csv"), ("--audit-sample", "ranked.csv"), ("--output", "./no/r.csv"),
     ("--audit-sample", "a.csv", "--output", "./a.csv")],
)  # fmt: skip
def test_files_that_would_be_one(options, people, rank):
    """Two outputs in one file, one onto the input, a folder that is not there: refused first."""
    result = rank(people, *options)
    assert result.status == 1 and "give every file its own name" in result.err
    assert not hasattr(result, "ranked")
    assert len(pd.read_csv("people.csv")) == len(people)


def test_an_interruption_leaves_what_was_there(people, rank, monkeypatch):
    """One line, no half of a file, and no crumbs."""
    rank(people)
    before = (rank(None, file="people.csv").folder / "ranked.csv").read_bytes()

    def stopped(table):
        raise KeyboardInterrupt

    monkeypatch.setattr(own_data, "_harmless", stopped)
    result = rank(people)
    assert result.status == 130 and result.err.startswith("stopped") and result.err.count("\n") == 1
    assert (result.folder / "ranked.csv").read_bytes() == before
    assert sorted(path.name for path in result.folder.iterdir()) == ["people.csv", "ranked.csv"]


def test_a_write_that_fails_leaves_nothing(people, rank, monkeypatch):
    """As on a full disk, in the middle of the list."""

    def full(self, path, **options):
        path.write_text("half a")
        raise OSError("no space left on device")

    monkeypatch.setattr(own_data, "_harmless", lambda table: type("T", (), {"to_csv": full})())
    result = rank(people)
    assert result.status == 1 and "no space left" in result.err
    assert [path.name for path in result.folder.iterdir()] == ["people.csv"]


STARTS = ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1"]


def test_formulas_become_text(people, rank):
    """No cell, and no name of a column, begins like a formula, a bare carriage return included."""
    people["who"] = [f"{STARTS[k % len(STARTS)]}{k}" for k in range(len(people))]
    people = people.rename(columns={"school": "=school"})
    text = people.to_csv(index=False, quoting=csv.QUOTE_ALL).encode()
    result = rank(text, "--id", "who", "--keep", "=school", "--audit-sample", "check.csv")
    assert result.status == 0, result.err
    for name in ("ranked.csv", "check.csv"):
        cells = pd.read_csv(name, dtype=str, keep_default_na=False)
        assert cells["who"].str.startswith("'").all(), name
        assert not any(column.startswith("=") for column in cells)
    assert own_data._harmless(pd.DataFrame({"x": [-1.5]}))["x"].item() == -1.5  # numbers stay


def test_cells_with_everything_in_them(people, rank):
    """Quotes, separators and line breaks come back as they were."""
    people["who"] = [f'{k},"x\r\ny' for k in range(len(people))]
    ranked = rank(people, "--id", "who").ranked
    assert set(ranked["who"]) <= {name for name in people["who"]}


def test_an_audit_from_beginning_to_end(rank):
    """Drawn once, answered in the user's own file, judged for that list and for a later one."""
    people, y = make_people()
    drawn = rank(people, "--id", "person_id", "--audit-sample", "check.csv")
    assert drawn.status == 0, drawn.err
    checks = pd.read_csv("check.csv", dtype={"person_id": str})
    checks["answer"] = np.where(y[checks["person_id"].astype(int)], "Yes", "no")
    checks.to_csv("checked.csv", index=False)
    hidden = y[(people["found"] == "").to_numpy()].sum()
    for options in ([], ["--propensity-columns", "school", "--budget", 50]):
        out = rank(people, "--id", "person_id", "--audit", "checked.csv", *options).out
        low, high = map(float, out.splitlines()[-1].split()[-2:])
        assert low <= hidden <= high
    assert pd.read_csv("checked.csv")["answer"].notna().all()


def test_names_that_are_no_names(people, rank):
    """An audit needs rows that can be told apart."""
    people["who"] = "one"
    assert rank(people, "--id", "who", "--audit-sample", "c.csv").status == 1


def test_new_rows_from_a_file(people, rank):
    """``--apply`` ranks its rows in the same run."""
    people.head(50).to_csv("new.csv", index=False)
    ranked = rank(people, "--apply", "new.csv", "--id", "person_id").ranked
    assert set(ranked["person_id"]) <= set(people["person_id"].head(50))
