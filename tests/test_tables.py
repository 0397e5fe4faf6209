"""The published tables come with the package, and ours stand beside them."""

import html
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from published_numbers import as_results, recorded_as_published

from pu_utils import metrics
from pu_utils.__main__ import main
from pu_utils.data import NAMES, REAL
from pu_utils.reproduction import Experiment, rendering
from pu_utils.reproduction.claims import RULE, judge
from pu_utils.reproduction.experiment import KEY
from pu_utils.reproduction.rendering import to_html
from pu_utils.reproduction.results import DECISION, read_results
from pu_utils.reproduction.tables import (
    DATASET_NAMES,
    NOT_YET,
    by_seed,
    compare,
    holm,
    mean_distance,
    paired,
    published,
    published_datasets,
    seeds_run,
    split_gain,
)


def test_reading_tables_needs_no_models():
    """Neither networks nor estimators are imported for it."""
    code = "import sys, pu_utils.reproduction; print({'torch', 'sklearn'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_published_has_all_figures():
    """960 figures: sets and metrics as this package names them, means in per cent."""
    figures = published()
    assert len(figures) == 960
    assert set(figures["dataset"]) == set(NAMES)
    assert all(hasattr(metrics, metric) for metric in set(figures["metric"]))
    assert set(figures["label_frequency"]) == {0.02, 0.1, 0.3, 0.5, 0.7, 0.9}
    assert figures["mean"].between(0, 100).all()
    assert (figures["se"] >= 0).all()
    assert figures["bold"].sum() == 280


def test_repeated_figures_agree():
    """What the paper prints in two tables is the same figure in both."""
    keys = ["metric", "dataset", "label_frequency", "method"]
    assert (published().groupby(keys)["mean"].nunique() == 1).all()


# Ours beside them


def recorded():
    """Two sets, one label frequency; seeds 0 to 2 of networks and references."""
    keys = {"design": "released", "label_frequency": 0.5}
    rows = []
    for dataset in ("synth_1", "mnist_3v5"):
        for seed in range(3):
            cell = keys | {"dataset": dataset, "seed": seed}
            network = cell | {"family": "vae_pu", "schedule": "fast"}
            reference = cell | {"family": "reference", "schedule": "paper"}
            for decision, rule, value in (
                ("VP+S", "augmented", 0.66),
                ("VP-B+S", "augmented", 0.67),
            ):
                value = value + seed / 100
                row = {"decision": decision, "rule": rule, "metric": "u_accuracy", "value": value}
                rows.append(network | row)
            for rule, value in (("x_only", 0.9), ("naive", 0.1)):
                row = {"decision": "VP", "rule": rule, "metric": "accuracy", "value": value}
                rows.append(network | row)
            row = {"decision": "S-Prophet", "rule": "augmented", "metric": "u_accuracy"}
            rows.append(reference | row | {"value": 0.73})
            row = {"decision": "all-negative", "rule": "naive", "metric": "u_accuracy"}
            rows.append(reference | row | {"value": 0.68})
    return as_results(rows)


@pytest.fixture(scope="module")
def comparison():
    """The comparison of these."""
    return compare(recorded(), schedule="fast")


def place(comparison, table, method, dataset="synth_1", label_frequency=0.5):
    """One place in a table."""
    names = ("table", "method", "dataset", "label_frequency")
    wanted = (table, method, dataset, label_frequency)
    chosen = [comparison[n] == v for n, v in zip(names, wanted, strict=True)]
    (row,) = comparison[np.logical_and.reduce(chosen)].to_dict("records")
    return row


def test_compare_has_the_papers_layout(comparison):
    """Every published figure once, LBE+S twice, two simple methods in each table."""
    figures = published()
    n_lbe = (figures["method"] == "LBE+S").sum()
    n_columns = figures.drop_duplicates(["table", "dataset", "label_frequency"]).shape[0]
    assert len(comparison) == 960 + n_lbe + 2 * n_columns
    for table, rows in figures.groupby("table"):
        ours = comparison[comparison["table"] == table]
        printed = list(dict.fromkeys(rows["method"]))
        shown = [m for m in dict.fromkeys(ours["method"]) if m in printed]
        assert shown == printed and list(dict.fromkeys(ours["method"]))[-1] == "all-negative"
        assert list(dict.fromkeys(ours["dataset"])) == list(dict.fromkeys(rows["dataset"]))


def test_compare_means_errors_and_differences(comparison):
    """Mean, standard error and difference by hand, in per cent and combined errors."""
    row = place(comparison, "table2", "VP-B+S")
    assert row["ours"] == pytest.approx(68) and row["seeds"] == 3
    assert row["ours_se"] == pytest.approx(1 / np.sqrt(3))
    expected = (68 - 67.90) / np.sqrt(1 / 3 + 0.45**2)
    assert row["difference"] == pytest.approx(expected)


def test_compare_takes_the_rule_of_the_table(comparison):
    """Table 1 is about decisions without S, not about the naive rule's accuracy."""
    assert place(comparison, "table1", "VP", "mnist_3v5")["ours"] == pytest.approx(90)


def test_differences_are_taken_seed_by_seed():
    """A common rise cancels out; the interval is Student's; two seeds are too few."""
    seeds = by_seed(recorded(), "u_accuracy")
    table = paired(seeds["VP-B+S"] - seeds["VP+S"])
    assert list(table.index) == [("synth_1", 0.5), ("mnist_3v5", 0.5)]  # the paper's order
    for column in ("mean", "low", "high"):  # the seeds move both alike
        assert table[column].tolist() == pytest.approx([1, 1])
    assert (table["seeds"] == 3).all() and (table["side"] == "ahead").all()
    assert (paired(seeds["VP+S"] - seeds["VP-B+S"])["side"] == "behind").all()
    moved = seeds["VP-B+S"] - seeds["VP+S"] + 3 * (seeds.index.get_level_values("seed") == 2)
    row = paired(moved).iloc[0]  # differences of 1, 1 and 4: mean 2, standard error 1
    assert row[["mean", "low", "high"]].tolist() == pytest.approx([2, 2 - 4.302653, 2 + 4.302653])
    assert row["p"] == pytest.approx(0.183503, abs=1e-6)  # of Student's t = 2, two degrees
    assert row["holm"] == pytest.approx(2 * row["p"]) and row["side"] == "open"
    assert paired(moved.drop(2, level="seed")).empty


def test_holm_is_between_none_and_bonferroni():
    """The smallest is multiplied by the number of tests, the largest by 1, in order."""
    assert holm([0.02, 0.01, 0.9]).tolist() == pytest.approx([0.04, 0.03, 0.9])
    assert holm([0.5, 0.6]).tolist() == pytest.approx([1, 1])


def test_equal_methods_are_neither_ahead_nor_behind():
    """A difference of exactly 0 in every seed is open, not an error."""
    seeds = by_seed(recorded(), "u_accuracy")
    assert (paired(0 * seeds["VP+S"])["side"] == "open").all()


def test_readings_do_not_mix():
    """The replay has its own networks, the clean reading prefers cells that train for it alone."""
    clean, replay = (recorded_as_published(3, family=f) for f in ("vae_pu", "replay"))
    both = pd.concat([clean, replay]).drop_duplicates(DECISION)
    both.loc[both["decision"] == "VP-B+S (replay)", "u_accuracy"] += 0.01
    extra = both[both["decision"] == "VP-B+S"].assign(family="replay", u_accuracy=0.0)
    both = pd.concat([both, extra])
    place_ = ("table3", "VP-B+S", "mnist_3v5")
    published_ = place(compare(both), *place_)["published"]
    assert place(compare(both), *place_)["ours"] == pytest.approx(published_)
    assert place(compare(both, reading="replay"), *place_)["ours"] == pytest.approx(published_ + 1)
    only_replay = pd.concat([replay, extra])
    assert place(compare(only_replay), *place_)["ours"] == 0  # where no other cell says it


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


def test_best_is_never_told_the_truth(comparison):
    """S-Prophet is not bold; all-negative may be, and ties all are."""
    best = {m: place(comparison, "table2", m)["ours_best"] for m in ("S-Prophet", "VP+S", "VP-B+S")}
    assert best == {"S-Prophet": False, "VP+S": False, "VP-B+S": True}
    assert place(comparison, "table2", "all-negative")["ours_best"]


def test_the_only_figure_is_not_the_best():
    """All-negative alone in its column beats nobody."""
    results = recorded()
    alone = compare(results[results["decision"] == "all-negative"])
    assert alone["ours"].notna().any() and not alone["ours_best"].any()


def test_schedules_and_designs_are_not_mixed():
    """Results of another schedule or design leave the places empty."""
    results = recorded()
    assert place(compare(results, schedule="paper"), "table2", "VP+S")["seeds"] == 0
    assert place(compare(results, schedule="paper"), "table2", "S-Prophet")["seeds"] == 3
    text = compare(results, design="text", schedule="fast")
    assert (text["seeds"] == 0).all() and text["difference"].isna().all()
    with pytest.raises(ValueError, match="schedule is 'slow'"):
        compare(results, schedule="slow")


def test_not_run_has_a_reason(comparison):
    """What has nothing of ours says why, in the table and in its caption."""
    assert place(comparison, "table3", "VP+S", "cifar_ct")["reason"] == NOT_YET
    assert place(comparison, "table2", "VP+S", "synth_1")["reason"] == ""
    text = html.unescape(to_html(comparison, "table3"))
    assert f"CIFAR CT, CIFAR VA, STL VA, CDC Diabetes: {NOT_YET}." in text.replace(
        "MNIST OvE, ", ""
    )


def test_every_table_is_complete(comparison):
    """Each method, data set and published figure of a table is printed."""
    for table, rows in published().groupby("table"):
        text = html.unescape(to_html(comparison, table))
        for name in set(rows["method"]) | {DATASET_NAMES[d] for d in rows["dataset"]}:
            assert name in text
        figures = {f"{m:.2f} ± {e:.2f}" for m, e in zip(rows["mean"], rows["se"], strict=True)}
        assert all(figure in text for figure in figures)
        assert "released design" in text and "'fast'" in text


@pytest.mark.parametrize(
    ("difference", "text", "css"),
    [(0.3, "≈ +0.3", "near"), (-2.0, "≈ -2.0", "near"), (2.1, "▲ +2.1", "off"),
     (-4.0, "▼ -4.0", "off"), (4.1, "▲▲ +4.1", "far"), (-9.0, "▼▼ -9.0", "far")],
)  # fmt: skip
def test_levels_do_not_rely_on_colour(difference, text, css):
    """Every level has a symbol of its own beside its colour."""
    level, symbol = rendering.level_of(difference)
    assert (level, f"{symbol} {difference:+.1f}") == (f"pu-{css}", text)


@pytest.mark.parametrize(("seeds", "known"), [(1, False), (2, False), (3, True)])
def test_differences_need_three_seeds(seeds, known):
    """The standard error of two values has one degree of freedom: nothing to measure by."""
    results = recorded()
    row = place(compare(results[results["seed"] < seeds], schedule="fast"), "table2", "VP+S")
    assert row["seeds"] == seeds and (not np.isnan(row["difference"])) == known


def test_one_seed_and_unusual_numbers_are_said():
    """One seed has no standard error; a figure of fewer seeds than usual says so."""
    results = recorded()
    few = (results["decision"] == "VP+S") & (results["seed"] > 0)
    text = to_html(compare(results[~few]), "table2")
    assert "<td>66.00<br>(n = 1)</td>" in text
    assert "3 seeds where a number does not say otherwise" in text


class Tags(HTMLParser):
    """Collects the tags of a page, and whether they nest."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_folds_scrolls_and_has_no_inline_style(comparison):
    """Well nested; a fold per label frequency; boxes that the keyboard reaches; no inline style."""
    page = Tags(to_html(comparison, "table3"))
    assert page.open == []
    assert [tag for tag, _ in page.seen].count("details") == 6
    boxes = [a for _, a in page.seen if a.get("class") == "pu-box"]
    assert len(boxes) == 6 and all(a["tabindex"] == "0" and a["aria-label"] for a in boxes)
    assert not [a for _, a in page.seen if "style" in a]


def luminance(colour):
    """Relative luminance as WCAG defines it."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def test_contrast_in_light_and_dark():
    """The ink stands out from every tint by WCAG's 4.5, in each block of colours."""
    style = (Path(__file__).parents[1] / "book" / "_static" / "book.css").read_text()
    blocks = re.findall(r"--near: .*?--ink: #\w+", style)
    assert len(blocks) == 2
    for block in blocks:
        *tints, ink = re.findall(r"#\w{6}", block)
        assert len(tints) == 3
        for tint in tints:
            dark, light = sorted([luminance(tint), luminance(ink)])
            assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_unknown_table(comparison):
    """The error lists the tables there are."""
    with pytest.raises(ValueError, match="table is 'table9'; it must be one of table1"):
        to_html(comparison, "table9")


def test_tables_command_warns_of_stale_cells(tmp_path, capsys):
    """Figures recorded with other settings are not passed off as today's."""
    key = dict(zip(KEY, ("synth_1", "released", 0.5, "lbe", "paper", 0), strict=True))
    for hash_, warned in ((Experiment(**key).settings_hash, False), ("0", True)):
        pd.DataFrame([key | {"settings_hash": hash_}]).to_csv(tmp_path / "cells.csv", index=False)
        assert main(["tables", "--results", str(tmp_path), "--to", str(tmp_path / "to")]) == 0
        assert ("1 of the recorded experiments are stale" in capsys.readouterr().err) == warned


def test_tables_command(tmp_path, capsys):
    """One row per figure of the nine tables, also where nothing is recorded yet."""
    to = tmp_path / "tables.csv"
    assert main(["tables", "--results", str(tmp_path), "--to", str(to)]) == 0
    assert "9 tables" in capsys.readouterr().out
    assert pd.read_csv(to)["published"].notna().sum() == 960 + 60 * 2  # LBE+S stands there twice


def test_published_datasets_are_table_a1():
    """Six real sets, by the names that `load` knows."""
    table = published_datasets()
    assert tuple(table["dataset"]) == tuple(REAL)
    assert table.set_index("dataset").loc["cdc_diabetes", "samples"] == 148_458


def test_verdicts_have_a_row_per_claim_and_the_rule():
    """Words and symbols say the verdict, not colour alone; links only where they are given."""
    judged = judge(read_results("a folder that is not there"), ["golden-few", "real-best"])
    text = rendering.verdicts_html(judged)
    assert text.count("<li>") == 2 and RULE in html.unescape(text)
    assert text.count("– not run") == 2
    assert text.count("published: <strong>yes</strong> (in 31 of 36 cases)") == 1
    assert "href" not in text
    linked = rendering.verdicts_html(judged, {"real-best": "12_real.html#which-method"})
    assert linked.count('<a href="12_real.html#which-method">Table 3</a>') == 1


def test_seeds_run_counts_what_every_method_has(comparison):
    """The least over the methods; the text's LBE is an addition and does not count."""
    seeds = seeds_run(comparison, "table4")
    assert list(seeds) == [0.02, 0.1, 0.3, 0.5, 0.7, 0.9]
    rows = comparison[(comparison["table"] == "table4") & (comparison["dataset"] == "synth_1")]
    assert seeds.loc["Synth. 1", 0.5] == rows.loc[rows["label_frequency"] == 0.5, "seeds"].min()
    assert seeds.shape == (4, 6)


def test_mean_distance_is_that_of_what_was_run(comparison):
    """Of one method, where a published figure stands beside ours."""
    row = place(comparison, "table2", "VP+S")
    apart = abs(row["ours"] - row["published"])
    assert mean_distance(comparison, "table2", "synth_1", "VP+S") == pytest.approx(apart)
