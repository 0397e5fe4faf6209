"""What can be wrong with a file or an option: each gets an error that names the remedy."""

import numpy as np
import pytest

from pu_utils.__main__ import main
from tests.own_data.conftest import make_people

QUICK = ("--method", "upu", "--prior", "0.4")  # one convex fit, for errors that come after it


def refused(result, *words):
    """The command failed, wrote nothing, and said all of the words."""
    assert result.status == 1
    assert not (result.folder / "ranked.csv").exists()
    assert not (result.folder / "report.html").exists()
    error = result.err.splitlines()[-1]
    assert error.startswith("error: ")
    for word in words:
        assert word in error
    assert "Traceback" not in result.err


def with_labels(values):
    """The table of people with another label column."""
    people, _ = make_people()
    return people.assign(found=np.resize(np.array(values, dtype=object), len(people)))


FILES = {
    "empty": (b"", "it is empty: give a header"),
    "header only": (b"a,found\n", "0 rows", "at least"),
    "not UTF-8": ("name,found\nJosé,yes\n".encode("latin-1"), "not UTF-8", "CSV UTF-8"),
    "UTF-16": ("a,found\n1,yes\n".encode("utf-16"), "not UTF-8"),
    "two of a name": (b"a, found,found\n1,yes,\n", "two columns 'found'", "rename"),
    "rows too long": (b"a,found\n1,yes\n1,yes,3\n", "as many cells as the header"),
    "every row too long": (b"a,found\n1,yes,3\n1,,3\n", "as many cells as the header"),
    "an open quote": (b'a,found\n1,"yes\n2,\n', "double quotes"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_are_no_table(case, rank):
    """The error says what is wrong with the file, and what to do."""
    content, *words = FILES[case]
    refused(rank(content), "'people.csv'", *words)


@pytest.mark.parametrize(
    ("file", "word"), [("nowhere.csv", "there is no file"), (".", "there is no file")]
)
def test_no_such_file(file, word, rank):
    """A missing file and a folder are no file."""
    refused(rank(None, file=file), word, "check the name")


def test_another_ending(people, rank):
    """A spreadsheet is to be saved as CSV."""
    refused(rank(b"PK", file="people.xlsx"), "'people.xlsx' is no table", ".csv")


def test_too_many_columns(rank):
    """10,000 columns are more than a table of people has."""
    header = ",".join(f"c{k}" for k in range(10_000))
    content = f"{header},found\n{'1,' * 10_000}yes\n".encode()
    refused(rank(content), "10,001 columns", "keep those that may matter")


LABELS = {
    "three values": (["yes", "no", "maybe"], (), "'maybe', 'no', 'yes'", "at most one other"),
    "two unknown values": (["P", "U"], (), "'p', 'u'", "--positive"),
    "none and a value": (["none", "type 2"], (), "'none', 'type 2'", "--positive"),
    "1 and 2": ([1, 2], (), "'1', '2'", "--positive"),
    "a wrong positive": (["P", "U"], ("--positive", "x"), "'p', 'u'", "--positive"),
    "all labelled": ([1], (), "0 unlabelled row(s)", "at least 10"),
    "all unlabelled": ([0], (), "holds '0'", "--positive"),
    "blank": ([None], (), "holds nothing", "--positive"),
    "no or blank": (["no", None], (), "holds 'no'", "--positive"),
    "one labelled row": ([1, *[0] * 399], (), "1 labelled row(s)", "at least 10"),
    "one unlabelled row": ([0, *[1] * 399], (), "1 unlabelled row(s)", "at least 10"),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_that_cannot_be_understood(case, rank):
    """The error names the column and the values it holds."""
    values, options, *words = LABELS[case]
    refused(rank(with_labels(values), *options), "'found'", *words)


OPTIONS = {
    "no label": ((), "", "--label is missing"),
    "no such label": ((), "diagnosis", "--label names column 'diagnosis'", "'found'"),
    "no such id": (("--id", "name"), "found", "--id names column 'name'", "'person_id'"),
    "the label as id": (("--id", "found"), "found", "named twice"),
    "no such cause": (("--propensity-columns", "x"), "found", "--propensity-columns names"),
    "the label as cause": (("--propensity-columns", "found"), "found", "named twice"),
    "prior too low": (("--prior", 0.01), "found", "0.01", "above the share of labelled rows"),
    "prior in per cent": (("--prior", 40), "found", "40.0", "10% is 0.1"),
    "prior not a number": (("--prior", "nan"), "found", "nan", "below 1"),
    "prior 1": (("--prior", 1), "found", "1.0", "below 1"),
    "range upside down": (("--prior-range", 0.6, 0.4), "found", "0.6 to 0.4", "lower end"),
    "range of one": (("--prior-range", 0.4, 0.4), "found", "lower end"),
    "range too low": (("--prior-range", 0.01, 0.4), "found", "0.01", "labelled rows"),
    "onto the input": (("--output", "people.csv"), "found", "would overwrite an input"),
    "no such folder": (("--report", "no/r.html"), "found", "folder", "make it first"),
    "pickle wanted": (("--save", "m.pkl"), "found", "'m.pkl'", ".joblib"),
    "width of 2": (("--audit-width", 2), "found", "--audit-width is 2.0", "between 0 and 1"),
    "no answers": (("--recalibrate",), "found", "--audit"),
    "no such new file": ((*QUICK, "--apply", "new.csv"), "found", "there is no file 'new.csv'"),
    "budget too large": ((*QUICK, "--budget", 1000), "found", "1000", "rows to rank"),
    "budget 0": ((*QUICK, "--budget", 0), "found", "--budget is 0"),
    "budget below 0": ((*QUICK, "--budget", -5), "found", "--budget is -5"),
    "no such audit": ((*QUICK, "--audit", "c.csv"), "found", "there is no file 'c.csv'"),
}  # fmt: skip


@pytest.mark.parametrize("case", OPTIONS)
def test_options_that_cannot_be_met(case, people, rank):
    """The error names the option, the value and the remedy."""
    options, label, *words = OPTIONS[case]
    refused(rank(people, *options, label=label), *words)


@pytest.mark.parametrize(
    "options",
    [("--cost", "5"), ("--cost", "1:0"), ("--cost", "a:b"),
     ("--budget", "ten"), ("--prior", "0.4", "--prior-range", "0.3", "0.5"),
     ("--budget", "5", "--cost", "1:5"), ("--method", "magic")],
)  # fmt: skip
def test_options_that_argparse_refuses(options, people, rank, capsys):
    """A malformed option ends with the usage and a sentence about it."""
    with pytest.raises(SystemExit) as end:
        rank(people, *options)
    assert end.value.code == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert any(f"argument {option}: " in error for option in options)


def test_names_of_rows(people, rank):
    """Repeated and blank identifiers are refused, with the row."""
    repeated = people.assign(person_id=["a", "b", "a", *people["person_id"][3:]])
    refused(rank(repeated, "--id", "person_id"), "'person_id'", "'a' in row 3", "leave out --id")
    blank = people.assign(person_id=["a", None, *people["person_id"][2:]])
    refused(rank(blank, "--id", "person_id"), "blank", "row 2", "leave out --id")


def test_nothing_to_learn_from(people, rank):
    """A table of identifiers, labels and constants is refused, with the reasons."""
    table = people[["person_id", "found"]].assign(country="PL", copy=people["found"])
    refused(rank(table), "no column is left", "the same in every row", "equals the label")


def test_a_cause_that_was_dropped(people, rank):
    """Labelling cannot depend on a constant column."""
    refused(
        rank(people.assign(country="PL"), "--propensity-columns", "country"),
        "'country'", "the same in every row", "leave it out",
    )  # fmt: skip


def test_parquet(people, rank, monkeypatch):
    """What is not Parquet is refused; so is Parquet without an engine, which is named."""

    def without_engine(path):
        raise ImportError("no engine")

    refused(rank(b"not Parquet", file="people.parquet"), "'people.parquet' cannot be read")
    monkeypatch.setattr("pandas.read_parquet", without_engine)
    refused(rank(b"PAR1", file="people.parquet"), "pip install pyarrow")


@pytest.fixture
def saved(people, rank):
    """A model saved in the folder, whose other files are gone again."""
    result = rank(people, *QUICK, "--save", "m.joblib")
    assert result.status == 0
    for name in ("ranked.csv", "report.html"):
        (result.folder / name).unlink()
    return result


NEW_FILES = {
    "columns missing": (lambda t: t.drop(columns=["age", "school"]), "lacks 'age', 'school'"),
    "id missing": (lambda t: t.drop(columns="person_id"), "'person_id'", "does not have"),
    "all labelled": (lambda t: t.assign(found="yes"), "0 rows to rank", "unlabelled rows"),
    "a new label": (lambda t: t.assign(found="maybe"), "'maybe'", "labelled rows, 'yes'"),
}


@pytest.mark.parametrize("case", NEW_FILES)
def test_new_rows_that_do_not_fit(case, saved, people, rank):
    """Rows that a model cannot be applied to are refused."""
    change, *words = NEW_FILES[case]
    change(people).to_csv("new.csv", index=False)
    refused(rank(None, "--apply", "new.csv", file="m.joblib", label=None), *words)


def test_models_that_are_none(saved, people, rank):
    """Rubbish is no model; a model without rows, or with options of the fit, is refused."""
    people.to_csv("new.csv", index=False)
    apply = ("--apply", "new.csv")
    refused(rank(b"rubbish", *apply, file="n.joblib", label=None), "no model saved with")
    refused(rank(None, *apply, file="none.joblib", label=None), "there is no file")
    refused(rank(None, file="m.joblib", label=None), "--apply")
    refused(rank(None, *apply, file="m.joblib"), "--label", "fitted already")


AUDITS = {
    "other rows": ("id,answer\n00001,yes\n00002,no\n", "other rows", "--audit-sample"),
    "strange answers": ("id,answer\n00001,perhaps\n", "'perhaps'", "yes or no"),
    "no answers": ("id,reply\n00001,yes\n", "'answer'", "does not have"),
    "no names": ("name,answer\n00001,yes\n", "'id'", "does not have"),
}


@pytest.mark.parametrize("case", AUDITS)
def test_audits_that_prove_nothing(case, people, rank):
    """Answers for rows that were not drawn, or that say nothing, are refused."""
    content, *words = AUDITS[case]
    with open("checked.csv", "w") as file:
        file.write(content)
    refused(rank(people, *QUICK, "--audit", "checked.csv"), *words)


def test_help_says_what_is_written(capsys):
    """The help names every column of the ranking and gives examples."""
    with pytest.raises(SystemExit):
        main(["rank", "--help"])
    out = capsys.readouterr().out
    for word in ("augmented", "decision", "--prior-range", "examples:", "half of the positives"):
        assert word in out
