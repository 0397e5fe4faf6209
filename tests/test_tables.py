"""The published tables come with the package, and ours stand beside them."""

import html
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from published_numbers import as_results, recorded_as_published
from scipy.stats import t as student

from pu_utils import metrics
from pu_utils.__main__ import main
from pu_utils.data import NAMES, REAL
from pu_utils.reproduction import compare, judge, paired, published, to_html
from pu_utils.reproduction.claims import RULE
from pu_utils.reproduction.experiment import KEY
from pu_utils.reproduction.rendering import difference_html, verdicts_html
from pu_utils.reproduction.tables import (
    DATASET_NAMES,
    TABLE_NAMES,
    by_seed,
    holm,
    published_datasets,
    seeds_run,
    split_gain,
)


def test_reading_tables_needs_no_models():
    """Neither networks nor estimators are imported for it."""
    code = "import sys, pu_utils.reproduction; print({'torch', 'sklearn'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_published_has_all_numbers():
    """960 of them, by the names of this package; what stands in two tables is the same in both."""
    rows = published()
    assert len(rows) == 960 and rows["bold"].sum() == 280
    assert set(rows["dataset"]) == set(NAMES) and set(rows["table"]) == set(TABLE_NAMES)
    assert all(hasattr(metrics, metric) for metric in set(rows["metric"]))
    assert set(rows["label_frequency"]) == {0.02, 0.1, 0.3, 0.5, 0.7, 0.9}
    assert rows["mean"].between(0, 100).all() and (rows["se"] >= 0).all()
    places = rows.groupby(["metric", "dataset", "label_frequency", "method"])
    assert (places["mean"].nunique() == 1).all()
    table_a1 = published_datasets().set_index("dataset")
    assert tuple(table_a1.index) == tuple(REAL)
    assert table_a1.loc["cdc_diabetes", "samples"] == 148_458


# Ours beside them


def recorded_results():
    """Two sets, one label frequency; seeds 0 to 2 of networks and references."""
    decisions = [
        ("vae_pu", "fast", "VP+S", "augmented", "u_accuracy", 0.66, 0.01),
        ("vae_pu", "fast", "VP-B+S", "augmented", "u_accuracy", 0.67, 0.01),
        ("vae_pu", "fast", "VP", "x_only", "accuracy", 0.9, 0),
        ("vae_pu", "fast", "VP", "naive", "accuracy", 0.1, 0),
        ("reference", "paper", "S-Prophet", "augmented", "u_accuracy", 0.73, 0),
        ("reference", "paper", "all-negative", "naive", "u_accuracy", 0.68, 0),
    ]
    columns = ["family", "schedule", "decision", "rule", "metric", "value", "step"]
    rows = pd.DataFrame(decisions, columns=columns).assign(design="released", label_frequency=0.5)
    rows = rows.merge(pd.Series(["synth_1", "mnist_3v5"], name="dataset"), how="cross")
    rows = rows.merge(pd.Series(range(3), name="seed"), how="cross")
    return as_results(rows.assign(value=rows["value"] + rows["step"] * rows["seed"]))


@pytest.fixture(scope="module")
def comparison():
    """The comparison of these."""
    return compare(recorded_results(), schedule="fast")


def place(comparison, table, method, dataset="synth_1", label_frequency=0.5):
    """One place in a table."""
    names = ("table", "method", "dataset", "label_frequency")
    wanted = (table, method, dataset, label_frequency)
    chosen = [comparison[n] == v for n, v in zip(names, wanted, strict=True)]
    (row,) = comparison[np.logical_and.reduce(chosen)].to_dict("records")
    return row


def test_compare_has_the_papers_layout(comparison):
    """Its tables, methods and sets in its order, and the one method that it lacks as the last."""
    numbers = published()
    for table, rows in numbers.groupby("table"):
        ours = comparison[comparison["table"] == table]
        printed = list(dict.fromkeys(rows["method"]))
        shown = list(dict.fromkeys(ours["method"]))
        assert [m for m in shown if m in printed] == printed
        assert (shown[-1] == "all-negative") == (table not in ("table1", *BALANCED))
        assert list(dict.fromkeys(ours["dataset"])) == list(dict.fromkeys(rows["dataset"]))
        assert ours["label_frequency"].is_monotonic_increasing
    lbe = (numbers["method"] == "LBE+S").sum()  # stands there twice
    assert comparison["published"].notna().sum() == 960 + lbe


BALANCED = ("tableA2", "tableA3", "tableA4", "tableA5")


def test_compare_means_errors_and_differences(comparison):
    """By hand, in per cent and combined errors; Table 1 is about decisions without S."""
    row = place(comparison, "table2", "VP-B+S")
    assert row["ours"] == pytest.approx(68) and row["seeds"] == 3
    assert row["ours_se"] == pytest.approx(1 / np.sqrt(3))
    expected = (68 - 67.90) / np.sqrt(1 / 3 + 0.45**2)
    assert row["difference"] == pytest.approx(expected)
    assert place(comparison, "table1", "VP", "mnist_3v5")["ours"] == pytest.approx(90)


def test_best_is_never_told_the_truth(comparison):
    """S-Prophet is not bold; all-negative may be, and ties all are."""
    best = {m: place(comparison, "table2", m)["ours_best"] for m in ("S-Prophet", "VP+S", "VP-B+S")}
    assert best == {"S-Prophet": False, "VP+S": False, "VP-B+S": True}
    assert place(comparison, "table2", "all-negative")["ours_best"]


@pytest.mark.parametrize(("seeds", "known"), [(1, False), (2, False), (3, True)])
def test_differences_need_three_seeds(seeds, known):
    """The standard error of two values has one degree of freedom: nothing to measure by."""
    results = recorded_results()
    row = place(compare(results[results["seed"] < seeds], schedule="fast"), "table2", "VP+S")
    assert row["seeds"] == seeds and (not np.isnan(row["difference"])) == known


def test_schedules_and_designs_are_not_mixed():
    """Results of another schedule or design leave the places empty."""
    results = recorded_results()
    assert place(compare(results, schedule="paper"), "table2", "VP+S")["seeds"] == 0
    assert place(compare(results, schedule="paper"), "table2", "S-Prophet")["seeds"] == 3
    text = compare(results, design="text", schedule="fast")
    assert (text["seeds"] == 0).all() and text["difference"].isna().all()
    with pytest.raises(ValueError, match="schedule is 'slow'"):
        compare(results, schedule="slow")


def test_readings_do_not_mix():
    """The replay has its own networks, the clean reading prefers cells that train for it alone."""
    clean, replay = (recorded_as_published(3, family=f) for f in ("vae_pu", "replay"))
    both = pd.concat([clean, replay]).drop_duplicates([*KEY, "decision", "rule"])
    both.loc[both["decision"].eq("VP-B+S (replay)"), "u_accuracy"] += 0.01
    extra = both[both["decision"] == "VP-B+S"].assign(family="replay", u_accuracy=0.0)
    both = pd.concat([both, extra])
    place_ = ("table3", "VP-B+S", "mnist_3v5")
    published_ = place(compare(both), *place_)["published"]
    assert place(compare(both), *place_)["ours"] == pytest.approx(published_)
    assert place(compare(both, reading="replay"), *place_)["ours"] == pytest.approx(published_ + 1)
    only_replay = pd.concat([replay, extra])
    assert place(compare(only_replay), *place_)["ours"] == 0  # where no other cell says it


def test_seeds_run_counts_what_every_method_has(comparison):
    """The least over the methods, by data set and label frequency."""
    seeds = seeds_run(comparison, "table4")
    assert seeds.shape == (4, 6) and seeds.loc["Synth. 1", 0.5] == 0  # some were not run
    assert seeds_run(compare(recorded_as_published()), "table3").eq(5).all(axis=None)


# Differences seed by seed


def test_differences_are_taken_seed_by_seed():
    """A common rise cancels out; the interval is Student's; two seeds are too few."""
    seeds = by_seed(recorded_results(), "u_accuracy")
    table = paired(seeds["VP-B+S"] - seeds["VP+S"])
    assert list(table.index) == [("synth_1", 0.5), ("mnist_3v5", 0.5)]  # the paper's order
    for column in ("mean", "low", "high"):  # the seeds move both alike
        assert table[column].tolist() == pytest.approx([1, 1])
    assert (table["seeds"] == 3).all() and (table["side"] == "ahead").all()
    assert (paired(seeds["VP+S"] - seeds["VP-B+S"])["side"] == "behind").all()
    assert (paired(0 * seeds["VP+S"])["side"] == "open").all()  # equal in every seed
    moved = seeds["VP-B+S"] - seeds["VP+S"] + 3 * (seeds.index.get_level_values("seed") == 2)
    made, real = (row for _, row in paired(moved).iterrows())
    row = made  # differences of 1, 1 and 4: mean 2, standard error 1
    assert row[["mean", "low", "high"]].tolist() == pytest.approx([2, 2 - 4.302653, 2 + 4.302653])
    assert row["p"] == pytest.approx(0.183503, abs=1e-6)  # of Student's t = 2, two degrees
    assert row["holm"] == pytest.approx(2 * row["p"]) and row["side"] == "open"
    # of splits the variance is 1/3 + 15/70 times that of a seed, in the place of 1/3
    assert real["high"] - 2 == pytest.approx(4.302653 * np.sqrt(3 * (1 / 3 + 15 / 70)))
    assert real["p"] > made["p"]
    assert paired(moved.drop(2, level="seed")).empty


def test_equivalence_needs_an_interval_within_the_margin():
    """Differences of 0.1 and 0.3 lie within half a point, of 1 beyond it; noise decides nothing."""
    index = pd.MultiIndex.from_product(
        [["synth_1"], [0.1, 0.3, 0.5], range(4)], names=["dataset", "label_frequency", "seed"]
    )
    around = np.tile([-0.1, 0.1, -0.1, 0.1], 3)
    means = pd.Series(np.repeat([0.3, -1, 0.1], 4), index)
    assert paired(means + around, within=0.5)["side"].tolist() == ["within", "beyond", "within"]
    assert paired(means + 20 * around, within=0.5)["side"].tolist() == ["open"] * 3
    # two one-sided tests of -0.5 < mean < 0.5: the worse of the two, of Student's t, at 2.5%
    t = (0.5 - 0.3) / (np.std([-0.1, 0.1] * 2, ddof=1) / 2)
    assert paired(means + around, 0.5)["p"].iloc[0] == pytest.approx(2 * student.sf(t, 3))


def test_holm_is_between_none_and_bonferroni():
    """The smallest is multiplied by the number of tests, the largest by 1, in order."""
    assert holm([0.02, 0.01, 0.9]).tolist() == pytest.approx([0.04, 0.03, 0.9])
    assert holm([0.5, 0.6]).tolist() == pytest.approx([1, 1])


def test_the_replayed_gain_is_split_into_rule_and_training():
    """Each network asked both ways, against the first asked without S; other schedules apart."""
    cell = {"dataset": "mnist_3v5", "label_frequency": 0.5, "seed": 0, "design": "released"}
    cell |= {"family": "replay", "metric": "u_accuracy"}
    asked = {
        ("VP-B (replay)", "naive"): 0.60,
        ("VP-B (replay)", "augmented"): 0.59,
        ("VP-B+S (replay)", "naive"): 0.63,
        ("VP-B+S (replay)", "augmented"): 0.64,
    }
    rows = [
        cell | {"schedule": schedule, "decision": decision, "rule": rule, "value": value}
        for schedule in ("fast", "paper")
        for (decision, rule), value in asked.items()
    ]
    rows[-1]["value"] = 0.9
    (found,) = split_gain(as_results(rows), "fast").to_dict("records")
    assert found == pytest.approx({"rule alone": -1, "more training alone": 3, "both": 4})


# On a page


class Page(HTMLParser):
    """The tags of a page, whether they nest, and the cells of its tables, row by row."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen, self.rows = [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        if tag == "br":
            return
        self.open.append(tag)
        self.seen.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_published_number_is_printed_at_its_place():
    """In its table, fold, method and column, with ours and their difference below it."""
    comparison = compare(recorded_as_published())
    count = 0
    for table in TABLE_NAMES:
        text = html.unescape(to_html(comparison, table))
        for c, fold in re.findall(r"<summary>c = (.*?)</summary>(.*?)</details>", text, re.DOTALL):
            (_, _, *sets), *rows = Page(fold).rows
            rows = iter(rows)
            for method, source, *texts in rows:
                assert source == "published" and [next(rows)[0], next(rows)[0]] == [
                    "ours",
                    "difference",
                ]
                for name, shown in zip(sets, texts, strict=True):
                    (dataset,) = (d for d, title in DATASET_NAMES.items() if title == name)
                    row = place(comparison, table, method, dataset, float(c))
                    assert shown == f"{row['published']:.2f} ± {row['published_se']:.2f}"
                    count += 1
    assert count == 960 + 60 * 2  # LBE+S stands there twice


def test_head_cells_have_a_scope_and_boxes_are_reached(comparison):
    """A fold per label frequency; boxes that the keyboard reaches; no style of its own, no ids."""
    page = Page(to_html(comparison, "table3"))
    assert [tag for tag, _ in page.seen].count("details") == 6
    boxes = [a for _, a in page.seen if a.get("class") == "pu-box"]
    assert len(boxes) == 6 and all(a["tabindex"] == "0" and a["aria-label"] for a in boxes)
    assert all("scope" in a for tag, a in page.seen if tag == "th")
    assert not [a for _, a in page.seen if "style" in a or "id" in a]
    with pytest.raises(ValueError, match="table is 'table9'; it must be one of table1"):
        to_html(comparison, "table9")


def test_what_was_not_run_and_unusual_numbers_of_seeds_are_said():
    """One seed has no standard error; a number of fewer seeds than usual says so."""
    results = recorded_results()
    few = (results["decision"] == "VP+S") & (results["seed"] > 0)
    text = to_html(compare(results[~few]), "table2")
    assert "<td>66.00<br>(n = 1)</td>" in text and "<td>not run</td>" in text
    assert "over 3 seeds where a" in text


@pytest.mark.parametrize(
    ("difference", "text", "css"),
    [(0.3, "≈ +0.3", "near"), (-2.0, "≈ -2.0", "near"), (2.1, "▲ +2.1", "off"),
     (-4.0, "▼ -4.0", "off"), (4.1, "▲▲ +4.1", "far"), (-9.0, "▼▼ -9.0", "far")],
)  # fmt: skip
def test_levels_do_not_rely_on_colour(difference, text, css):
    """Every level has a symbol of its own beside its colour."""
    assert difference_html(difference) == f'<span class="pu-{css}">{text}</span>'


def test_verdicts_have_a_row_per_claim_and_three_marks():
    """Marks have names; the counts unfold; links stand where they are given."""
    judged = judge(recorded_as_published()[:0], ["golden-few", "real-best"])
    text = verdicts_html(judged, {"real-best": "08_real.html#which-method"})
    (names, first, second), page = Page(text).rows, Page(text)
    assert names == ["place", "claim", "paper", "ours", "replay", "verdict"]
    assert first[0] == "Figure 2" and first[2:] == ["", "–", "", "not run"]
    assert second[0] == "Table 3" and second[2:] == ["✔", "–", "–", "not run"]
    assert "paper: yes, in 31 of 36 cases" in second[1]
    assert [a["aria-label"] for _, a in page.seen if a.get("role") == "img"][1] == "yes"
    assert text.count('<a href="08_real.html#which-method">Table 3</a>') == 1
    assert RULE in html.unescape(text)


def test_tables_command(tmp_path):
    """It writes the published numbers where nothing of ours is recorded."""
    to = tmp_path / "tables.csv"
    assert main(["tables", "--results", str(tmp_path), "--to", str(to)]) == 0
    assert pd.read_csv(to)["published"].notna().sum() == 960 + 60 * 2  # LBE+S stands there twice
