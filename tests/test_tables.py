"""The published tables come with the package, and ours stand beside them."""

import html
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from pu_utils import metrics, rendering
from pu_utils.__main__ import main
from pu_utils.claims import RULE, judge
from pu_utils.data import NAMES, REAL
from pu_utils.rendering import FORMATS, to_html, to_latex, to_markdown
from pu_utils.reproduction import Experiment
from pu_utils.reproduction.experiment import KEY
from pu_utils.reproduction.record import METRIC_COLUMNS
from pu_utils.tables import (
    DATASET_NAMES,
    NOT_YET,
    compare,
    gains,
    mean_distance,
    published,
    published_datasets,
    seeds_run,
)


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


def recorded_metrics():
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
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def comparison():
    """The comparison of these."""
    return compare(recorded_metrics(), schedule="fast")


def place(comparison, table, method, dataset="synth_1", label_frequency=0.5):
    """One place in a table."""
    names = ("table", "method", "dataset", "label_frequency")
    wanted = (table, method, dataset, label_frequency)
    chosen = [comparison[n] == v for n, v in zip(names, wanted, strict=True)]
    (row,) = comparison[np.logical_and.reduce(chosen)].to_dict("records")
    return row


def test_compare_has_the_papers_layout(comparison):
    """Every published figure once, LBE+S twice, all-negative in each table."""
    figures = published()
    n_lbe = (figures["method"] == "LBE+S").sum()
    n_columns = figures.drop_duplicates(["table", "dataset", "label_frequency"]).shape[0]
    assert len(comparison) == 960 + n_lbe + n_columns
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


def test_gains_are_taken_seed_by_seed():
    """A common rise cancels out; the interval is Student's; two seeds are too few."""
    ours = recorded_metrics()
    ours["decision"] = ours["decision"].replace({"VP+S": "VP-B"})  # the cells have no VP-B
    table = gains(ours)
    assert list(table.index) == [("synth_1", 0.5), ("mnist_3v5", 0.5)]  # the paper's order
    for column in ("gain", "low", "high"):  # the seeds move both alike
        assert table[column].tolist() == pytest.approx([1, 1])
    assert (table["seeds"] == 3).all() and (table["side"] == "ahead").all()
    turned = ours.replace({"decision": {"VP-B": "VP-B+S", "VP-B+S": "VP-B"}})
    assert (gains(turned)["side"] == "behind").all()
    assert table.loc[("synth_1", 0.5), "published"] == pytest.approx(67.90 - 67.07)
    assert gains(ours.assign(schedule="paper")).empty
    moved = (ours["decision"] == "VP-B+S") & (ours["seed"] == 2)
    ours.loc[moved, "value"] += 0.03  # gains of 1, 1 and 4: mean 2, standard error 1
    row = gains(ours).iloc[0]
    assert row[["gain", "low", "high"]].tolist() == pytest.approx([2, 2 - 4.302653, 2 + 4.302653])
    assert row["side"] == "open"
    assert gains(ours[ours["seed"] < 2]).empty


def test_best_is_never_told_the_truth(comparison):
    """S-Prophet is not bold; all-negative may be, and ties all are."""
    best = {m: place(comparison, "table2", m)["ours_best"] for m in ("S-Prophet", "VP+S", "VP-B+S")}
    assert best == {"S-Prophet": False, "VP+S": False, "VP-B+S": True}
    assert place(comparison, "table2", "all-negative")["ours_best"]


def test_the_only_figure_is_not_the_best():
    """All-negative alone in its column beats nobody."""
    metrics_ = recorded_metrics()
    alone = compare(metrics_[metrics_["decision"] == "all-negative"])
    assert alone["ours"].notna().any() and not alone["ours_best"].any()


def test_schedules_and_designs_are_not_mixed():
    """Results of another schedule or design leave the places empty."""
    metrics = recorded_metrics()
    assert place(compare(metrics, schedule="paper"), "table2", "VP+S")["seeds"] == 0
    assert place(compare(metrics, schedule="paper"), "table2", "S-Prophet")["seeds"] == 3
    text = compare(metrics, design="text", schedule="fast")
    assert (text["seeds"] == 0).all() and text["difference"].isna().all()
    with pytest.raises(ValueError, match="schedule is 'slow'"):
        compare(metrics, schedule="slow")


def test_not_run_has_a_reason(comparison):
    """STL-10 is named with its reason in every table that has it, others as not run."""
    assert "archive" in place(comparison, "table3", "VP+S", "stl_va")["reason"]
    assert place(comparison, "table3", "VP+S", "cifar_ct")["reason"] == NOT_YET
    for table in ("table1", "table3", "table5", "tableA3", "tableA5"):
        for render in FORMATS.values():
            assert "STL-10's archive was not at hand" in html.unescape(render(comparison, table))


@pytest.mark.parametrize("form", FORMATS)
def test_every_table_in_every_format(comparison, form):
    """Each method, data set and published figure of a table is printed."""
    for table, rows in published().groupby("table"):
        text = html.unescape(FORMATS[form](comparison, table)).replace("$\\pm$", "±")
        for name in set(rows["method"]) | {DATASET_NAMES[d] for d in rows["dataset"]}:
            assert name in text
        figures = {f"{m:.2f} ± {e:.2f}" for m, e in zip(rows["mean"], rows["se"], strict=True)}
        assert all(figure in text for figure in figures)
        assert "released design" in text and "'fast'" in text


def test_markdown_marks_best_and_differences(comparison):
    """Bold as in the paper and for our best; a symbol with each difference."""
    text = to_markdown(comparison, "table2")
    assert "| **68.72 ± 0.51** |" in text and "| **68.00 ± 0.58** |" in text
    assert "≈ +0.1" in text and "72.78 ± 0.57" in text
    assert {line.count("|") for line in text.splitlines() if line.startswith("|")} == {8}


@pytest.mark.parametrize(
    ("difference", "text", "css"),
    [(0.3, "≈ +0.3", "near"), (-2.0, "≈ -2.0", "near"), (2.1, "▲ +2.1", "off"),
     (-4.0, "▼ -4.0", "off"), (4.1, "▲▲ +4.1", "far"), (-9.0, "▼▼ -9.0", "far")],
)  # fmt: skip
def test_levels_do_not_rely_on_colour(difference, text, css):
    """Every level has a symbol of its own beside its colour."""
    assert rendering._difference(difference) == text
    assert rendering._level(difference) == f"pu-{css}"


@pytest.mark.parametrize(("seeds", "known"), [(1, False), (2, False), (3, True)])
def test_differences_need_three_seeds(seeds, known):
    """The standard error of two values has one degree of freedom: nothing to measure by."""
    metrics = recorded_metrics()
    row = place(compare(metrics[metrics["seed"] < seeds], schedule="fast"), "table2", "VP+S")
    assert row["seeds"] == seeds and (not np.isnan(row["difference"])) == known


def test_one_seed_and_unusual_numbers_are_said():
    """One seed has no standard error; a figure of fewer seeds than usual says so."""
    metrics = recorded_metrics()
    few = (metrics["decision"] == "VP+S") & (metrics["seed"] > 0)
    text = to_markdown(compare(metrics[~few], schedule="fast"), "table2")
    assert "| 66.00 (n = 1) |" in text and "3 seeds where a figure does not say otherwise" in text


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
    blocks = re.findall(r"--near: .*?--ink: #\w+", rendering.STYLE)
    assert len(blocks) == 4
    for block in blocks:
        *tints, ink = re.findall(r"#\w{6}", block)
        assert len(tints) == 3
        for tint in tints:
            dark, light = sorted([luminance(tint), luminance(ink)])
            assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_latex_is_complete(comparison):
    """Columns match the header, special characters are commands."""
    text = to_latex(comparison, "table4")
    rows = [line for line in text.splitlines() if line.endswith("\\\\")]
    assert {line.count("&") for line in rows} == {6} and "\\textbf{" in text
    assert text.isascii()


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
        assert ("1 of the recorded cells are stale" in capsys.readouterr().err) == warned


def test_tables_command(tmp_path, capsys):
    """Nine tables in each format, also where nothing is recorded yet."""
    assert main(["tables", "--results", str(tmp_path), "--to", str(tmp_path / "to")]) == 0
    assert "9 tables" in capsys.readouterr().out
    assert len(list((tmp_path / "to").iterdir())) == 9 * 3
    assert main(["tables", "--to", str(tmp_path / "md"), "--formats", "markdown"]) == 0
    assert {path.suffix for path in (tmp_path / "md").iterdir()} == {".md"}


def test_published_datasets_are_table_a1():
    """Six real sets, by the names that `load` knows."""
    table = published_datasets()
    assert tuple(table["dataset"]) == tuple(REAL)
    assert table.set_index("dataset").loc["cdc_diabetes", "samples"] == 148_458


def test_verdicts_have_a_row_per_claim_and_the_rule():
    """Words and symbols say the verdict, not colour alone; links only where asked for."""
    judged = judge(compare(pd.DataFrame(columns=METRIC_COLUMNS)), ["theorem-rule", "real-best"])
    text = rendering.verdicts_html(judged)
    assert text.count("<li>") == 2 and html.escape(RULE) in text
    assert "✔ reproduced" in text and "– not run" in text
    assert "published: 32 of 36" in text and text.count("published: ") == 1
    assert "href" not in text
    assert 'href="12_real.html#which-method"' in rendering.verdicts_html(judged, link=True)


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
