"""The published tables as data, and ours beside them: published | ours | difference."""

from pathlib import Path

import numpy as np
import pandas as pd

from pu_utils.data.record import DESIGNS, check_choice
from pu_utils.reproduction.experiment import schedule_of
from pu_utils.reproduction.families import EXPERIMENT_SCHEDULES, FAMILIES

PUBLISHED = Path(__file__).parent / "published"
PLACE = ["metric", "dataset", "label_frequency", "method"]
TABLE_NAMES = {
    "table1": "Table 1",
    "table2": "Table 2",
    "table3": "Table 3",
    "table4": "Table 4",
    "table5": "Table 5",
    "tableA2": "Table A2",
    "tableA3": "Table A3",
    "tableA4": "Table A4",
    "tableA5": "Table A5",
}
METRIC_NAMES = {
    "accuracy": "accuracy without S",
    "u_accuracy": "U-accuracy",
    "u_balanced_accuracy": "U-balanced accuracy",
}
DATASET_NAMES = {
    "synth_1": "Synth. 1",
    "synth_2": "Synth. 2",
    "synth_3": "Synth. 3",
    "synth_scar": "Synth. SCAR",
    "mnist_3v5": "MNIST 3v5",
    "mnist_ove": "MNIST OvE",
    "cifar_ct": "CIFAR CT",
    "cifar_va": "CIFAR VA",
    "stl_va": "STL VA",
    "cdc_diabetes": "CDC Diabetes",
}
TOLD_THE_TRUTH = ("S-Prophet", "Y-Prophet", "VP-B+S + true s(x)", "VP-B+S + true y(x)")
METHODS = (
    "S-Prophet", "Y-Prophet", "VP", "VP-A3", "VP-IF", "VP-B", "VP+S", "VP-B+S",
    "VP-B+S + true s(x)", "VP-B+S + true y(x)", "LBE+S", "LBE+S (released)", "all-negative",
)  # fmt: skip
FEWEST_SEEDS = 3  # that a difference is measured with
NOT_RUN = {"stl_va": "not run: STL-10's archive was not at hand"}
NOT_YET = "not run: it has not been computed yet"


def published():
    """The 960 published figures, one per row.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``metric`` (as named in ``pu_utils.metrics``), ``dataset`` (as named in
        ``pu_utils.data``), ``label_frequency``, ``method``, ``mean`` and ``se`` in per cent,
        and ``bold``, whether the paper prints the figure in bold.

    Examples
    --------
    >>> len(published())
    960
    """
    return pd.read_csv(PUBLISHED / "tables.csv").astype({"bold": bool})


def published_datasets():
    """Table A1 of the paper: samples, features and class prior of the real sets.

    Returns
    -------
    pandas.DataFrame
        ``dataset``, ``samples``, ``features``, ``prior``.

    Examples
    --------
    >>> len(published_datasets())
    6
    """
    return pd.read_csv(PUBLISHED / "datasets.csv")


def compare(metrics, design="released", schedule="paper"):
    """Our figures beside the published ones, in the paper's layout, with all-negative added.

    Parameters
    ----------
    metrics : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_metrics` gives.
    design : {"text", "released"}
        Data sets as the paper says, or as its programs make them.
    schedule : {"paper", "paper_equal", "paper_equal_narrow", "fast", "smoke"}
        Of the networks; results of different schedules are never mixed.

    Returns
    -------
    pandas.DataFrame
        One row per table, label frequency, method and data set, in the order of the paper:
        ``published``, ``published_se``, ``published_best``; ``ours``, ``ours_se``, ``ours_best``
        (in per cent), ``seeds``; ``difference``, of the means in combined standard errors, where
        there are three seeds or more (of two the error is anybody's guess); ``reason``, where
        there is nothing of ours; ``design`` and ``schedule``. LBE+S stands there twice, after
        the paper's text and as released. Methods that are told the truth are never the best.
    """
    check_choice("design", design, DESIGNS)
    check_choice("schedule", schedule, EXPERIMENT_SCHEDULES)
    rows = _places().merge(_summaries(metrics, design, schedule), on=PLACE, how="left")
    error = np.hypot(rows["ours_se"], rows["published_se"])
    difference = (rows["ours"] - rows["published"]) / error
    rows["difference"] = difference.where(rows["seeds"] >= FEWEST_SEEDS)
    rows["ours_best"] = _is_best(rows)
    rows["seeds"] = rows["seeds"].fillna(0).astype(int)
    reasons = rows["dataset"].map(NOT_RUN).fillna(NOT_YET)
    rows["reason"] = reasons.where(rows["seeds"] == 0, None)
    return rows.assign(design=design, schedule=schedule)


def mean_distance(comparison, table, dataset, method):
    """Mean distance of our figures of a method and set from the published ones, in points.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`compare` gives.
    table, dataset, method : str
        As in its columns.
    """
    chosen = (comparison["table"] == table) & (comparison["dataset"] == dataset)
    chosen &= comparison["method"] == method
    return (comparison["ours"] - comparison["published"])[chosen].abs().mean()


def seeds_run(comparison, table):
    """How many seeds every method of a table was run with, by data set and label frequency.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".
    """
    rows = comparison[(comparison["table"] == table) & (comparison["method"] != "LBE+S")]
    names = rows["dataset"].map(DATASET_NAMES).rename("data set")
    seeds = rows.groupby([names, rows["label_frequency"].rename("c")], sort=False)["seeds"]
    return seeds.min().unstack()


def gains(metrics):
    """How much VP-B+S is ahead of VP-B in U-accuracy, seed by seed: released design, `fast`.

    Both decide on the same test rows by the same trained model: what a seed does to both of them
    cancels out, and small gains can be told from none.

    Parameters
    ----------
    metrics : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_metrics` gives.

    Returns
    -------
    pandas.DataFrame
        By data set, in the order of the paper, and label frequency: the mean ``gain`` in points,
        the ends ``low`` and ``high`` of its 95% interval (Student's t), ``seeds``, on which
        ``side`` of zero the interval lies ("ahead", "behind", or "open" where it holds zero), and
        the ``published`` gain. Cells of fewer than three seeds are left out.
    """
    from scipy.stats import t as student  # it takes its time, and `tables` does without

    method, other = "VP-B+S", "VP-B"
    chosen = (metrics["design"] == "released") & (metrics["schedule"] == "fast")
    chosen &= (metrics["metric"] == "u_accuracy") & metrics["decision"].isin([method, other])
    key = ["dataset", "label_frequency", "seed"]
    values = metrics[chosen].pivot(index=key, columns="decision", values="value")
    values = values.reindex(columns=[method, other]).astype(float)
    by_seed = 100 * (values[method] - values[other])
    table = by_seed.groupby(key[:2]).agg(gain="mean", error="sem", seeds="count")
    table = table[table["seeds"] >= FEWEST_SEEDS]
    half = student.ppf(0.975, table["seeds"] - 1) * table.pop("error")
    table = table.assign(low=table["gain"] - half, high=table["gain"] + half)
    sides = [table["low"] > 0, table["high"] < 0]
    table["side"] = np.select(sides, ["ahead", "behind"], default="open")
    paper = published().query("metric == 'u_accuracy'").drop_duplicates(PLACE)
    paper = paper.pivot(index=key[:2], columns="method", values="mean")
    table = table.join((paper[method] - paper[other]).rename("published"))
    table = table.sort_index(level="dataset", key=lambda ax: ax.map(list(DATASET_NAMES).index))
    return table[["gain", "low", "high", "seeds", "side", "published"]]


def _places():
    """Every place in the tables, with the published figure where there is one."""
    names = {"mean": "published", "se": "published_se", "bold": "published_best"}
    paper = published().rename(columns=names)
    released = paper[paper["method"] == "LBE+S"].assign(method="LBE+S (released)")
    all_negative = paper[["table", *PLACE]].assign(method="all-negative").drop_duplicates()
    rows = pd.concat([paper, released, all_negative], ignore_index=True)
    rows["published_best"] = rows["published_best"].eq(True)  # all-negative: not published
    order = [rows["table"].map(list(TABLE_NAMES).index), rows["label_frequency"]]
    order += [rows["method"].map(METHODS.index), rows["dataset"].map(list(DATASET_NAMES).index)]
    return rows.iloc[np.lexsort(order[::-1])].reset_index(drop=True)


def _summaries(metrics, design, schedule):
    """Mean, standard error and number of seeds of each decision, in per cent."""
    followed = metrics["family"].map({f: schedule_of(f, schedule) for f in FAMILIES})
    # Table 1 never looks at S; on unlabelled rows the naive rule is the x-only one
    right_rule = (metrics["rule"] == "x_only") == (metrics["metric"] == "accuracy")
    chosen = (metrics["design"] == design) & (metrics["schedule"] == followed) & right_rule
    rows = metrics[chosen].rename(columns={"decision": "method"})
    groups = rows.assign(value=100 * rows["value"].astype(float)).groupby(PLACE)["value"]
    named = groups.agg(ours="mean", ours_se="sem", seeds="count")
    return named.reset_index()


def _is_best(rows):
    """Whether a figure, as printed, is the highest of those that were not told the truth.

    Where all-negative alone was run there is nothing to be better than.
    """
    printed = rows["ours"].round(2).where(~rows["method"].isin(TOLD_THE_TRUTH))
    rivals = printed.groupby([rows["table"], rows["label_frequency"], rows["dataset"]])
    return printed.eq(rivals.transform("max")) & (rivals.transform("count") > 1)
