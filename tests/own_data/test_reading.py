"""Files as people have them: what is read is right, and what cannot be is an error that helps."""

import importlib.util
import zipfile

import numpy as np
import pandas as pd
import pytest

from pu_utils.own_data import label_marks, rank_table, read_table
from tests.own_data.conftest import PRIOR, make_people

FILES = {
    "empty": (b"", "No columns"),
    "not UTF-8": ("name,found\nJosé,yes\n".encode("latin-1"), "CSV UTF-8"),
    "UTF-16": ("a,found\n1,yes\n".encode("utf-16"), "CSV UTF-8"),
    "a short row": (b"a,b,found\n1,2,yes\n1,2\n", "line 3 has 2 cells and the header 3"),
    "a long row": (b"a,found\n1,yes\n1,yes,3\n", "line 3 has 3 cells and the header 2"),
    "every row too long": (b"a,found\n1,yes,3\n1,,3\n", "line 2 has 3 cells"),
    "an open quote": (b'a,found\n1,"yes\n2,\n', "EOF inside string starting at row 1"),
}


@pytest.mark.parametrize("case", FILES)
def test_files_that_are_no_table(case, rank):
    """The error says what is wrong, and where; nothing is written."""
    content, words = FILES[case]
    result = rank(content)
    assert result.status == 1 and words in result.err and "Traceback" not in result.err
    assert not hasattr(result, "ranked")


def test_files_that_are_not_there(rank):
    """Neither is a file of another kind."""
    assert "nowhere.csv" in rank(None, file="nowhere.csv").err
    assert "give a file that ends in .csv" in rank(b"x", file="people.docx").err


def test_other_ways_to_write_a_file(people, tmp_path):
    """Semicolons, tabulators, a byte-order mark, blanks after commas, compressed: one table."""
    ways = {
        "a.csv": people.to_csv(sep=";", index=False),
        "a.tsv": people.to_csv(sep="\t", index=False),
        "a.txt": "\ufeff" + people.to_csv(index=False).replace(",", ", "),
    }
    people.to_csv(tmp_path / "a.csv.gz", index=False)
    for file, text in ways.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    tables = [read_table(tmp_path / file) for file in (*ways, "a.csv.gz")]
    for table in tables:
        pd.testing.assert_frame_equal(table, tables[0])
    assert tables[0]["person_id"].tolist() == people["person_id"].tolist()  # zeros in front


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_what_needs_another_package(ending, people, tmp_path):
    """Parquet and Excel are read where pandas can; else the error names what to install."""
    file, package = tmp_path / f"a.{ending}", {"parquet": "pyarrow", "xlsx": "openpyxl"}[ending]
    if importlib.util.find_spec(package) is None:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("xl/workbook.xml", "")
        with pytest.raises(ValueError, match=f"(?is){package}.*save it as CSV"):
            read_table(file)
        return
    getattr(people, {"parquet": "to_parquet", "xlsx": "to_excel"}[ending])(file, index=False)
    assert read_table(file)["person_id"].tolist() == people["person_id"].tolist()


# Numbers


@pytest.mark.parametrize("written", ["3,5", "1.234,5", "1 234", "1'234", "12%", "€ 7", "(12)"])
def test_numbers_in_another_notation(written, people):
    """They are an error that names the way out, and not a column less."""
    people["pay"] = np.where(people.index % 2, written, people.index.astype(str))
    with pytest.raises(ValueError, match=r"'pay'.*--decimal.*--thousands.*--codes"):
        rank_table(people, "found", PRIOR)


def test_points_that_separate_thousands(people, tmp_path):
    """950 beside 1.200 is no 1.2: pandas would read it without a word."""
    file = tmp_path / "a.csv"
    people["pay"] = np.where(people.index % 2, "1.200", "950")
    people.to_csv(file, index=False)
    with pytest.raises(ValueError, match=r"'pay' holds '1\.200'"):
        read_table(file)
    assert set(read_table(file, decimal=".")["pay"]) == {1.2, 950}
    assert set(read_table(file, decimal=",", thousands=".")["pay"]) == {1200, 950}


def test_decimal_commas_give_the_list_of_points(people, rank, linear):
    """A table of another country is the same table."""
    wanted = rank(people).ranked
    assert "--decimal" in rank(people.to_csv(sep=";", decimal=",", index=False).encode()).err
    text = people.to_csv(sep=";", decimal=",", index=False).encode()
    pd.testing.assert_frame_equal(rank(text, "--decimal", ",").ranked, wanted)


def test_a_few_words_among_numbers_are_missing(people, linear):
    """One cell of text does not make a category of four hundred numbers; infinity is missing."""
    odd = people.astype({"age": object})
    odd.loc[3, "age"] = "unknown"
    odd.loc[4, "score"] = np.inf
    ranking = rank_table(odd, "found", PRIOR)
    assert ranking.columns.loc[["age", "score"], "read as"].tolist() == ["number", "number"]


# Labels, identifiers, codes


def test_labels_are_compared_as_they_stand():
    """Two codes of SNOMED are two labels, however long, and case is not folded."""
    codes = pd.Series(["44054006", "44054007", None] * 20, name="code")
    assert label_marks(codes, 44054006) == ["44054006"]
    long = pd.Series(["999000041000000102", "999000041000000103"])
    assert label_marks(long, "999000041000000102") == ["999000041000000102"]
    assert label_marks(pd.Series(["A", "a"]), "a") == ["a"]
    with pytest.raises(ValueError, match=r"'44054006', '44054007'; say with --positive"):
        label_marks(codes)


def test_a_snomed_code_in_a_file(people, rank, linear):
    """Only the code that is named is labelled, with gaps beside it and the other one."""
    wanted = rank(people).ranked
    labelled = (people["found"] == "yes").to_numpy()
    other = np.where(np.arange(len(people)) % 2, "44054007", "")
    coded = people.assign(found=np.where(labelled, "44054006", other))
    found = rank(coded, "--positive", "44054006").ranked
    pd.testing.assert_frame_equal(found, wanted)


PLAIN = {"0 and 1": (1, 0), "Booleans": (True, False), "-1 and 1": (1, -1), "gaps": (1.0, None),
         "yes and no": ("Yes", "No"), "a word": ("type 2", None)}  # fmt: skip


@pytest.mark.parametrize("case", PLAIN)
def test_plain_labels_need_no_words(case):
    """These are understood."""
    column = pd.Series(np.resize(np.array(PLAIN[case], dtype=object), 40)).infer_objects()
    assert len(label_marks(column)) == 1


def test_identifiers_keep_their_name_and_digits(people, rank, linear):
    """Zeros in front and eighteen digits are written as they were read, under their own name."""
    people["person_id"] = [f"0{10**16 + k}" for k in range(len(people))]
    ranked = rank(people, "--id", "person_id", "--keep", "school").ranked
    assert list(ranked)[:2] == ["person_id", "school"]
    assert set(ranked["person_id"]) == set(people["person_id"][people["found"] == ""])


def test_the_index_of_a_frame_is_kept(people, linear):
    """``people.loc`` finds the rows of the list, and the file of one without id has its index."""
    people.index = np.arange(len(people)) * 7 + 3
    ranking = rank_table(people, "found", PRIOR, keep=["age"])
    assert (people.loc[ranking.list.index, "age"] == ranking.list["age"]).all()
    assert (people.loc[ranking.list.index, "found"] == "").all()


def test_rows_in_a_file_are_those_of_pandas(people, rank, linear):
    """The column ``row`` counts as ``df.loc`` does."""
    ranked = rank(people, "--keep", "age").ranked
    read = read_table("people.csv")
    assert (read.loc[ranked["row"].astype(int), "age"].to_numpy() == ranked["age"]).all()


def test_codes_have_no_order(people, linear):
    """What is called an id, a key or a code, or is said to be one, is a category."""
    people["hospital_id"] = np.resize([7, 12, 31], len(people))
    people["area"] = np.resize([1, 2], len(people))
    columns = rank_table(people, "found", PRIOR, codes=["area"]).columns["read as"]
    assert columns[["hospital_id", "area"]].tolist() == ["category", "category"]
    assert columns["person_id"] == "left out: it names the rows"


def test_what_gives_the_label_away_is_left_out(people, linear):
    """A copy of the label, what only labelled rows have, constants: named, and not learnt from."""
    labelled = people["found"] == "yes"
    odd = people.assign(
        copy=labelled.map({True: 7, False: 3}), since=people["age"].where(labelled), country="PL"
    )
    ranking = rank_table(odd, "found", PRIOR)
    reasons = ranking.columns["read as"]
    assert reasons[["copy", "since"]].eq("left out: it gives the label away").all()
    assert reasons["country"] == "left out: always the same"
    pd.testing.assert_frame_equal(ranking.list, rank_table(people, "found", PRIOR).list)


ERRORS = {
    "no such label": ({"label": "x"}, "no column.*'x'"),
    "no such column": ({"keep": ["x"]}, "no column.*'x'"),
    "prior too low": ({"prior": 0.01}, "of either kind, and a prior above"),
    "prior in per cent": ({"prior": 40}, "below 1"),
    "prior not a number": ({"prior": float("nan")}, "below 1"),
    "told of the id": ({"propensity_columns": ["person_id"]}, "names the rows"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_options_that_cannot_be(case, people):
    """The error says which, and what there is."""
    options, words = ERRORS[case]
    with pytest.raises(ValueError, match=words):
        rank_table(people, **{"label": "found", "prior": PRIOR} | options)


def test_too_few_rows_of_a_kind(people):
    """Nine labelled rows are not learnt from."""
    people["found"] = np.where(np.arange(len(people)) < 9, "yes", "")
    with pytest.raises(ValueError, match="9 of 400 rows are labelled"):
        rank_table(people, "found", PRIOR)


def test_make_people_has_what_tests_speak_of():
    """Some 80 labelled, of some 160 positives."""
    people, y = make_people()
    assert 60 < (people["found"] == "yes").sum() < y.sum() < 200
