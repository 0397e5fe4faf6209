"""The command on tables as people have them: what it writes is right, and nothing is injected."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from pu_utils import rules
from pu_utils.__main__ import main
from pu_utils.metrics import u_auc
from pu_utils.models import AugmentedEM
from pu_utils.own_data import TableModel, read_table
from pu_utils.own_data.table import describe_columns, design_matrix, label_status, owners
from tests.own_data.conftest import PRIOR, make_people

QUICK = ("--method", "upu", "--prior", PRIOR)
EVIL = "<script>alert(1)</script>"


def test_one_command_does_it(rank):
    """Strings, categories, dates, gaps, an id and labels "yes"/"": a list and a report."""
    people, y = make_people()
    result = rank(people, "--prior", PRIOR, "--propensity-columns", "school")
    assert result.status == 0, result.err
    ranked = result.ranked
    assert list(ranked) == ["id", "y", "e", "s", "augmented", "decision"]
    assert set(ranked["id"]) == set(people["person_id"][people["found"] == ""])
    assert ranked["augmented"].is_monotonic_decreasing
    assert np.allclose(ranked["s"], ranked["y"] * ranked["e"], atol=1e-5)
    expected = rules.augmented_posterior(ranked["y"], ranked["s"])
    assert np.allclose(ranked["augmented"], expected, atol=1e-4)
    assert (ranked["decision"] == (ranked["augmented"] > 0.5)).all()
    truth = y[ranked["id"].astype(int)].astype(int)
    # chance is 1/2 with a standard error of .03 for about 90 positives among 320 rows
    assert u_auc(truth, ranked["augmented"], np.zeros(len(ranked), int)) > 0.7


def test_the_first_line_says_what_is_assumed(people, rank):
    """With neither prior nor range it says so; with either it names it."""
    out = rank(people, "--method", "upu").out
    assert out.startswith("Assumed: 38.0% of all 400 rows are positive")  # 76 labelled, twice
    assert "since no prior was given: half of the positives are then taken to be labelled" in out
    out = rank(people, "--method", "upu", "--prior-range", 0.3, 0.5).out
    assert "(prior 0.4, the middle of the range given, 0.3 to 0.5)" in out
    assert "(prior 0.4, as given). 76 are labelled, so about 84" in rank(people, *QUICK).out


@pytest.mark.parametrize("taken_away", [False, True])
def test_the_report_says_what_was_kept_from_the_class(people, rank, monkeypatch, taken_away):
    """Where the class is freed of what labelling depends on, its reader must know of it."""
    only = {"class_model": "logistic", "residualise": taken_away, "ridge": 1.0}
    monkeypatch.setattr(AugmentedEM, "_candidates", lambda _: [only])
    text = rank(people, "--prior", PRIOR, "--propensity-columns", "school").report
    assert ("only what this does not explain" in text) == taken_away


def test_the_report(people, rank):
    """It says the assumption first, and everything that the reader must know."""
    people.loc[0, "score"] = np.inf  # worth a warning
    result = rank(people, *QUICK)
    text = result.report
    lead = text.index(result.out.splitlines()[0])
    assert lead < text.index("<h2>")
    titles = re.findall("<h2>(.*?)</h2>", text)
    assert titles == [
        "Warnings", "The list", "How many positives are hidden, and what that depends on",
        "The audit that decides", "What drives class, and what drives labelling",
        "Negatives that need no model of labelling", "Diagnostics", "How the file was read",
        "What was learnt", "What to do next",
    ]  # fmt: skip
    assert "school" in text and "date (ISO8601)" in text
    assert text.count("right if none is called") >= 2  # the baseline stands beside the numbers
    assert "http" not in text.replace("http-equiv", "")
    assert "<script" not in text and "src=" not in text
    figures = re.findall(r"<svg role=\"img\" aria-label=\"([^\"]{40,})\"", text)
    assert len(figures) == text.count("<svg") == 3


LABELS = {
    "0 and 1": ((1, 0), ()),
    "Booleans": ((True, False), ()),
    "-1 and 1": ((1, -1), ()),
    "1.0 and gaps": ((1.0, None), ()),
    "any two": (("P", "U"), ("--positive", "P")),
    "sorted the other way": (("A", "B"), ("--positive", "a")),
    "1 and 2": ((1, 2), ("--positive", 1)),
    "a value, another and gaps": (("yes", "no"), ("--positive", "yes")),
}


@pytest.mark.parametrize("case", LABELS)
def test_codings_of_the_label_give_one_ranking(case, people, rank):
    """However the label is written, the ranking is the same."""
    (labelled, unlabelled), options = LABELS[case]
    status = np.where(people["found"] == "yes", 1, 0)
    found = pd.Series([labelled if one else unlabelled for one in status], dtype=object)
    if "gaps" in case:
        found[(status == 0) & (np.arange(len(status)) % 2 == 0)] = None
    wanted = rank(people, *QUICK).ranked
    pd.testing.assert_frame_equal(rank(people.assign(found=found), *QUICK, *options).ranked, wanted)


def test_cells_with_everything_in_them(people, rank):
    """Quotes, separators, line breaks, emoji and HTML in cells and names of columns are data."""
    odd = people.assign(**{f'a,"b"{EVIL}': np.resize(['x,"y"\nz', "🙂", EVIL], len(people))})
    odd["person_id"] = [f'{k},"{EVIL}\n' for k in range(len(odd))]
    result = rank(odd, *QUICK)
    assert result.status == 0, result.err
    assert set(result.ranked["id"]) <= set(odd["person_id"])
    assert EVIL not in result.report and "<script" not in result.report
    assert "&lt;script&gt;" in result.report


def test_formulas_become_text(people, rank):
    """No cell that was written begins like a formula, in the ranking or in the audit."""
    starts = np.resize(["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\tx"], len(people))
    people["person_id"] = [f"{start}{k}" for k, start in enumerate(starts)]
    result = rank(people, *QUICK, "--audit-sample", "check.csv")
    assert result.status == 0, result.err
    for name in ("ranked.csv", "check.csv"):
        names = pd.read_csv(name, dtype=str)["id"]
        assert names.str.match(r"'[=+@\-\t]").all()


def test_other_ways_to_write_a_file(people, rank):
    """Semicolons with decimal commas, tabulators, a byte-order mark, a blank: one ranking."""
    wanted = rank(people, *QUICK).ranked
    texts = {
        "people.csv": people.to_csv(sep=";", decimal=",", index=False),
        "people.tsv": people.to_csv(sep="\t", index=False),
        "people.txt": "\ufeff" + people.to_csv(index=False).replace(",found", ", found"),
    }
    for file, text in texts.items():
        pd.testing.assert_frame_equal(rank(text.encode(), *QUICK, file=file).ranked, wanted)


def test_parquet_is_read_where_an_engine_is_there(people, rank):
    """The ranking is that of the CSV file; without an engine the error names one."""
    if importlib.util.find_spec("pyarrow") is None:
        assert "pip install pyarrow" in rank(b"PAR1", file="people.parquet").err
        return
    wanted = rank(people, *QUICK).ranked
    people.assign(seen=pd.to_datetime(people["seen"])).to_parquet("people.parquet")
    found = rank(None, *QUICK, file="people.parquet").ranked
    pd.testing.assert_frame_equal(found, wanted)


def test_infinite_values_are_missing(people, rank):
    """An infinite value counts as missing, and is spoken of."""
    people.loc[:9, "score"] = [np.inf, -np.inf] * 5
    result = rank(people, *QUICK)
    assert result.status == 0
    assert "'score' holds values that are no finite number; they count as missing" in result.err
    assert np.isfinite(result.ranked["y"]).all()


def test_columns_that_tell_nothing_or_too_much(people, rank):
    """Constants, copies of the label, what only labelled rows have, and free text are dropped."""
    labelled = people["found"] == "yes"
    odd = people.assign(
        country="PL",
        copy=labelled.map({True: 7, False: 3}),
        since=people["seen"].where(labelled & (people["age"] > 30)),
        empty=None,
        remark=[f"remark {k}" for k in range(len(people))],
    )
    result = rank(odd, *QUICK)
    pd.testing.assert_frame_equal(result.ranked, rank(people, *QUICK).ranked)
    for name, reason in {
        "country": "the same in every row",
        "copy": "it equals the label",
        "since": "it is present only in labelled rows",
        "empty": "the same in every row",
        "remark": "text of which no value is found in 5 rows",
    }.items():
        assert re.search(rf"<td>{name}</td><td>dropped: {reason}", result.report), name


def test_a_rare_value_of_labelled_rows_alone_is_no_leak():
    """Two rows of which both are labelled can be chance: 1 in 10 squared is more than 1 in 1000."""
    s = np.repeat([1, 0], [10, 90])
    table = pd.DataFrame({"x": [1.0, 2.0, *[np.nan] * 98], "s": s})
    assert describe_columns(table, s, {"s"})[0]["kind"] == "number"


def test_what_is_named_like_an_identifier_has_no_order():
    """The number of a hospital is a category; one that is different in every row is dropped."""
    s = np.repeat([1, 0], [20, 80])
    values = {"hospital_id": np.tile(["7", "12"], 50), "visit_id": np.arange(100), "s": s}
    facts = describe_columns(pd.DataFrame(values), s, {"s"})
    assert [fact["kind"] for fact in facts] == ["category", "dropped"]


def test_lists_in_cells_are_dropped():
    """Parquet can hold lists, which are no single values."""
    s = np.repeat([1, 0], [20, 80])
    table = pd.DataFrame({"x": np.arange(100.0), "lists": [[1, 2]] * 100, "s": s})
    assert describe_columns(table, s, {"s"})[1]["reason"].startswith("its values are no single")


def test_columns_of_one_name_are_two(people, rank):
    """A name that is used twice is made two, as pandas does."""
    people.insert(1, "age.1", people["score"])
    text = people.to_csv(index=False).replace("age.1", "age", 1)
    assert "<td>age.1</td>" in rank(text.encode(), *QUICK).report


def test_rows_are_numbered_where_nothing_names_them(people, rank):
    """Without an identifier the ranking gives numbers of rows, from 1."""
    ranked = rank(people.drop(columns="person_id"), *QUICK).ranked
    wanted = 1 + np.flatnonzero(people["found"] == "")
    assert sorted(ranked["row"].astype(int)) == wanted.tolist()


def test_budget_and_costs(people, rank):
    """A budget calls the first rows; costs move the threshold to FP / (FP + FN)."""
    ranked = rank(people, *QUICK, "--budget", 7).ranked
    assert ranked["decision"].tolist() == [1] * 7 + [0] * (len(ranked) - 7)
    result = rank(people, *QUICK, "--cost", "1:4")
    assert (result.ranked["decision"] == (result.ranked["augmented"] > 0.2)).all()
    assert "odds of being positive above 0.25" in result.report


@pytest.mark.parametrize("method", ["elkan-noto", "upu", "sar-em"])
def test_other_methods(method, people, rank):
    """Each gives a ranking; SAR-EM, which takes no prior, says where its own comes from."""
    result = rank(people, "--method", method, "--prior", PRIOR)
    assert result.status == 0, result.err
    assert ("estimated by SAR-EM" in result.out) == (method == "sar-em")


def test_the_console_script():
    """``pu-utils`` is the same command."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"pu-utils": "pu_utils.__main__:main"}


# New rows


@pytest.fixture(scope="module")
def saved_once(tmp_path_factory):
    """The folder of a model of the people, saved, and its own ranking and report."""
    folder = tmp_path_factory.mktemp("saved")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        make_people()[0].to_csv("people.csv", index=False)
        command = ["rank", "people.csv", "--label", "found", "--prior", str(PRIOR)]
        assert main([*command, "--propensity-columns", "school", "--save", "m.joblib"]) == 0
    return folder


@pytest.fixture
def saved(saved_once, tmp_path):
    """The same in a folder of the test's own."""
    shutil.copytree(saved_once, tmp_path, dirs_exist_ok=True)
    ranked = pd.read_csv(tmp_path / "ranked.csv", dtype={"id": str})
    return SimpleNamespace(folder=tmp_path, ranked=ranked)


def applied(rank, table):
    """What the saved model makes of a table."""
    table.to_csv("new.csv", index=False)
    result = rank(None, "--apply", "new.csv", file="m.joblib", label=None)
    assert result.status == 0, result.err
    return result


def test_a_saved_model_gives_the_ranking_again(saved, people, rank):
    """In another order of the columns, with others beside them, and with no report of a fit."""
    (saved.folder / "report.html").unlink()
    changed = people[people.columns[::-1]].assign(other=1)
    result = applied(rank, changed)
    pd.testing.assert_frame_equal(result.ranked, saved.ranked)
    assert not hasattr(result, "report")


def test_fitting_and_applying_in_one_go(saved, people, rank):
    """``--apply`` beside a file fits to it, reports on it, and ranks the other one's rows."""
    people.head(50).to_csv("new.csv", index=False)
    options = ("--prior", PRIOR, "--propensity-columns", "school", "--apply", "new.csv")
    result = rank(people, *options)
    assert set(result.ranked["id"]) < set(people["person_id"].head(50))
    merged = result.ranked.merge(saved.ranked, on="id")
    assert np.allclose(merged["augmented_x"], merged["augmented_y"])
    assert "of 324 unlabelled rows" in result.report


def test_new_rows_of_unknown_status(saved, people, rank):
    """Without the label column all rows are ranked, by y, and called where y exceeds 1/2."""
    ranked = applied(rank, people.drop(columns="found")).ranked
    assert len(ranked) == len(people)
    assert ranked["augmented"].isna().all()
    assert ranked["y"].is_monotonic_decreasing
    assert (ranked["decision"] == (ranked["y"] > 0.5)).all()


def test_new_categories_and_gaps(saved, people, rank):
    """A new level counts as 'other' and is spoken of; gaps where there were none are the median."""
    changed = people.assign(school="abroad", age=None)
    result = applied(rank, changed)
    assert "column 'school' holds values that training rows held rarely or never" in result.err
    assert "'abroad'" in result.err
    middle = people.assign(school="abroad", age=people["age"].median())
    pd.testing.assert_frame_equal(result.ranked, applied(rank, middle).ranked)


def test_text_in_a_column_of_numbers(saved, people, rank):
    """A number that cannot be read counts as missing, and is spoken of."""
    changed = people.astype({"age": object})
    changed.loc[3, "age"] = "old"
    assert "'age' holds values that are no finite number" in applied(rank, changed).err


# Parts


def test_design_matrix_does_not_depend_on_the_rows_beside():
    """The facts determine the numbers: a chunk is transformed as the whole is."""
    people, _ = make_people()
    s, _, _ = label_status(people["found"])
    facts = describe_columns(people, s, {"found", "person_id"})
    whole = design_matrix(people, facts)
    assert np.array_equal(whole[100:150], design_matrix(people.iloc[100:150], facts))
    assert np.isfinite(whole).all() and whole.shape[1] == len(owners(facts))


def test_the_band_moves_with_the_prior():
    """More is hidden and more is called the higher the prior; the list is its own at the prior."""
    people, _ = make_people()
    model = TableModel(label="found", prior_range=(0.3, 0.5), list_size=50).fit(people)
    band = pd.DataFrame(model.band_)
    assert band["prior"].round(3).tolist() == [0.3, 0.35, 0.4, 0.45, 0.5]
    assert np.allclose(band["hidden"], band["prior"] * 400 - 76)
    assert band["called"].is_monotonic_increasing and band["precision"].is_monotonic_increasing
    assert band["same"][2] == 50 and band["same"].min() >= 0


def test_a_second_fit_forgets_the_first(monkeypatch):
    """What was chosen for one table is not passed on to the next."""
    for question in ("_band", "_calibration"):  # more fits, which make no choice
        monkeypatch.setattr(TableModel, question, lambda *_: None)
    (first, _), (second, _) = make_people(300, seed=1), make_people(300, seed=2)
    options = {"label": "found", "prior": PRIOR, "propensity_columns": ["school"]}
    again, new = TableModel(**options).fit(first).fit(second), TableModel(**options).fit(second)
    assert again.estimator_.choice_ == new.estimator_.choice_ != []
    pd.testing.assert_frame_equal(again.rank(second), new.rank(second))


def test_drivers_tell_class_from_labelling():
    """With schooling as the cause of labelling, it moves e, and age and score move y."""
    people, _ = make_people(2000)
    options = {"label": "found", "prior": PRIOR, "propensity_columns": ["school"]}
    drivers = {row["name"]: row for row in TableModel(**options).fit(people).drivers_}
    assert max(drivers, key=lambda name: drivers[name]["e"]) == "school"
    assert max(drivers, key=lambda name: drivers[name]["y"]) == "score"
    assert drivers["score"]["e"] < 1e-12  # the propensity does not see it


def test_more_rows_than_are_fitted_to(monkeypatch):
    """A large table is fitted to a seeded sample, applied to all, and the same every time."""
    monkeypatch.setattr("pu_utils.own_data.model.BAND_ROWS", 300)
    monkeypatch.setattr("pu_utils.own_data.model.FIT_ROWS", {"logistic": 600, "neighbours": 300})
    people, _ = make_people(1000)
    rankings = []
    for _ in range(2):
        model = TableModel(label="found", prior=PRIOR, method="upu").fit(people)
        rankings.append(model.rank(people))
    # as many labelled and unlabelled rows as their share of 600, rounded down
    assert 598 <= model.estimator_.diagnostics_["rows"] <= 600
    assert len(rankings[0]) == (people["found"] == "").sum()
    pd.testing.assert_frame_equal(*rankings)


def test_read_table_reads_what_was_written(tmp_path):
    """Names of rows keep their leading zeros."""
    people, _ = make_people(20)
    people.to_csv(tmp_path / "people.csv", index=False)
    assert read_table(tmp_path / "people.csv")["person_id"].tolist() == people["person_id"].tolist()


def test_the_command_needs_no_torch(people, rank):
    """``rank`` starts and ranks where torch cannot be imported."""
    rank(people, *QUICK)  # writes the file
    program = """
import sys

class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name="torch")

sys.meta_path.insert(0, NoTorch())
from pu_utils.__main__ import main
sys.exit(main(["rank", "people.csv", "--label", "found", "--method", "upu"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
