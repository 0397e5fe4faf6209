"""The published tables as data, ours beside them, and differences taken seed by seed."""

from pathlib import Path

import numpy as np
import pandas as pd

from pu_utils.data import DATASET_NAMES, DATASETS
from pu_utils.data.record import DESIGNS, check_choice
from pu_utils.metrics import METRIC_NAMES
from pu_utils.reproduction.experiment import schedule_of
from pu_utils.reproduction.families import EXPERIMENT_SCHEDULES, FAMILIES

PUBLISHED = Path(__file__).parent / "published"
PLACE = ["metric", "dataset", "label_frequency", "method"]
CELL = ["dataset", "label_frequency"]
TABLE_NAMES = {f"table{n}": f"Table {n}" for n in (*"12345", "A2", "A3", "A4", "A5")}
TOLD_THE_TRUTH = (
    "S-Prophet", "Y-Prophet", "VP-B+S + true s(x)", "VP-B+S + true y(x)", "supervised",
)  # fmt: skip
METHODS = (
    "S-Prophet", "Y-Prophet", "VP", "VP-A3", "VP-IF", "VP-B", "VP+S", "VP-B+S",
    "VP-B+S + true s(x)", "VP-B+S + true y(x)", "LBE+S", "LBE+S (released)",
)  # fmt: skip
# Methods that need no network, which the paper lacks and every table of ours has, by its metric
SIMPLE = {
    "accuracy": ("EN", "all-negative"),
    "u_accuracy": ("EN+S", "all-negative"),
    "u_balanced_accuracy": ("EN+S", "all-negative"),
}
FEWEST_SEEDS = 3  # that a difference is measured with
LEVEL = 0.05  # of tests, after Holm's correction
NOT_YET = "not run: it has not been computed yet"

# Two readings of what was recorded. "clean": every method goes on from the same trained VP, and
# "+S" asks the same network with S. "replay": the networks that the authors' program compares,
# by the decision and the rule that it reports under the name of the published method.
READINGS = ("clean", "replay")
REPLAYED = {
    ("VP", "x_only"): "VP",
    ("VP-IF (replay)", "x_only"): "VP-IF",
    ("VP-A3 (replay)", "x_only"): "VP-A3",
    ("VP-B of Table 1 (replay)", "x_only"): "VP-B",
    ("VP-B (replay)", "naive"): "VP-B",
    ("VP-B+S (replay)", "augmented"): "VP-B+S",
    ("VP+S (replay)", "augmented"): "VP+S",
    ("VP-B+S (replay) + true s(x)", "augmented"): "VP-B+S + true s(x)",
    ("VP-B+S (replay) + true y(x)", "augmented"): "VP-B+S + true y(x)",
}


def published():
    """The 960 published numbers, one per row.

    Returns
    -------
    pandas.DataFrame
        ``table``, ``metric`` (as named in ``pu_utils.metrics``), ``dataset`` (as named in
        ``pu_utils.data``), ``label_frequency``, ``method``, ``mean`` and ``se`` in per cent,
        and ``bold``, whether the paper prints the number in bold.

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


def read_as(results, reading="clean"):
    """Recorded results under the names of the published methods.

    Parameters
    ----------
    results : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_results` gives.
    reading : {"clean", "replay"}
        Whether every method starts from the same trained VP, or the networks are those that the
        authors' program hands on from method to method.

    Returns
    -------
    pandas.DataFrame
        The rows of that reading, with a column ``method`` in place of ``decision``. Table 1 never
        looks at S, so accuracy is left to the rows of the x-only rule; other metrics are of
        unlabelled rows, where the naive rule is the x-only one.
    """
    check_choice("reading", reading, READINGS)
    rows = results[results["family"] != "choices"]
    rows = rows.assign(accuracy=rows["accuracy"].where(rows["rule"] == "x_only"))
    if reading == "replay":
        replayed = rows["family"] == "replay"
        names = pd.MultiIndex.from_frame(rows[["decision", "rule"]]).map(REPLAYED)
        names = pd.Series(names, rows.index, dtype=object).where(replayed, rows["decision"])
        chosen = names.notna() & (rows["family"] != "vae_pu")
        return rows[chosen].assign(method=names[chosen]).drop(columns="decision")
    chosen = rows[~rows["decision"].str.contains("(replay)", regex=False)]
    # what a replay cell says of the clean methods counts where no other cell says it
    chosen = chosen.sort_values("family", key=lambda family: family == "replay", kind="stable")
    key = [*CELL, "design", "schedule", "seed", "decision", "rule"]
    chosen = chosen.groupby(key, as_index=False, sort=False).first()  # not missing, by metric
    return chosen.rename(columns={"decision": "method"})


def by_seed(results, metric, design="released", schedule="fast", reading="clean"):
    """A metric in per cent, one row per data set, label frequency and seed, one column per method.

    Parameters
    ----------
    results : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_results` gives.
    metric : str
        As named in ``pu_utils.metrics``.
    design, schedule, reading : str
        As in :func:`compare`.
    """
    rows = read_as(_followed(results, design, schedule), reading).dropna(subset=metric)
    return 100 * rows.pivot(index=[*CELL, "seed"], columns="method", values=metric)


def compare(results, design="released", schedule="fast", reading="clean"):
    """Our numbers beside the published ones, in the paper's layout, and what was run besides.

    Simple methods stand in every table. So does any other method that the paper lacks, unless its
    family has one of the paper's, in the tables with S as asked with S. A data set that the paper
    lacks stands in the tables of the one that it is like, unless it is named after that one: then
    it is the same set on other features.

    Parameters
    ----------
    results : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_results` gives.
    design : {"text", "released"}
        Data sets as the paper says, or as its programs make them.
    schedule : {"paper", "paper_narrow", "paper_equal", "paper_equal_narrow", "fast", "smoke"}
        Of the networks; results of different schedules are never mixed.
    reading : {"clean", "replay"}
        See :func:`read_as`.

    Returns
    -------
    pandas.DataFrame
        One row per table, label frequency, method and data set, in the order of the paper:
        ``published``, ``published_se``, ``published_best``; ``ours``, ``ours_se``, ``ours_best``
        (in per cent), ``seeds``; ``difference``, of the means in combined standard errors, where
        there are three seeds or more (of two the error is anybody's guess); ``reason``, where
        there is nothing of ours; ``design``, ``schedule`` and ``reading``. LBE+S stands there
        twice, after the paper's text and as released. Methods that are told the truth are never
        the best.
    """
    check_choice("design", design, DESIGNS)
    check_choice("schedule", schedule, EXPERIMENT_SCHEDULES)
    run = read_as(_followed(results, design, schedule), reading)
    run = run.melt([*CELL, "family", "seed", "method"], list(METRIC_NAMES), "metric").dropna()
    seeds = run.assign(value=100 * run["value"]).groupby(PLACE)["value"]
    ours = seeds.agg(ours="mean", ours_se="sem", seeds="count").reset_index()
    rows = _places(run).merge(ours, on=PLACE, how="left")
    error = np.hypot(rows["ours_se"], rows["published_se"])
    difference = (rows["ours"] - rows["published"]) / error
    rows["difference"] = difference.where(rows["seeds"] >= FEWEST_SEEDS)
    rows["ours_best"] = _is_best(rows)
    rows["seeds"] = rows["seeds"].fillna(0).astype(int)
    rows["reason"] = np.where(rows["seeds"] == 0, NOT_YET, "")
    return rows.assign(design=design, schedule=schedule, reading=reading)


def numbers(comparison, table, source):
    """The numbers of a table, a row per data set and label frequency and a column per method.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".
    source : {"published", "ours"} or another column of ``comparison``
        "LBE+S" of ours is the released variant, which the published numbers come from.
    """
    rows = comparison[comparison["table"] == table]
    wide = rows.pivot(index=CELL, columns="method", values=source)
    if source == "ours" and "LBE+S (released)" in wide:
        wide = wide.assign(**{"LBE+S": wide["LBE+S (released)"]})
    return wide


def mean_distance(comparison, table, dataset, method):
    """Mean distance of our numbers of a method and set from the published ones, in points.

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
    names = rows["dataset"].replace(DATASET_NAMES).rename("data set")
    seeds = rows.groupby([names, rows["label_frequency"].rename("c")], sort=False)["seeds"]
    return seeds.min().unstack()


# Differences seed by seed


def split_gain(results, schedule):
    """What the replayed gain of VP-B+S over VP-B is made of, in points of U-accuracy.

    The two are networks, the second one trained further than the first, and asked with S.

    Parameters
    ----------
    results : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_results` gives.
    schedule : str
        As in :func:`compare`.

    Returns
    -------
    pandas.DataFrame
        By data set, label frequency and seed, against VP-B asked without S: ``rule alone`` (the
        same network asked with S), ``more training alone`` (the network of VP-B+S asked without
        S) and ``both``, as the authors' program compares.
    """
    rows = _followed(results, "released", schedule).query("family == 'replay'")
    names = ["decision", "rule"]
    asked = 100 * rows.pivot(index=[*CELL, "seed"], columns=names, values="u_accuracy")
    first, second = asked["VP-B (replay)"], asked["VP-B+S (replay)"]
    return pd.DataFrame(
        {
            "rule alone": first["augmented"] - first["naive"],
            "more training alone": second["naive"] - first["naive"],
            "both": second["augmented"] - first["naive"],
        }
    )


def paired(differences):
    """Mean differences with their intervals, and which of them are sure.

    Two methods of one seed decide on the same test rows, most often by the same trained model:
    what a seed does to both cancels out of their difference.

    Parameters
    ----------
    differences : pandas.Series
        Indexed by data set, label frequency and seed, such as one column of :func:`by_seed` minus
        another.

    Returns
    -------
    pandas.DataFrame
        By data set, in the order of the paper, and label frequency: the ``mean``, the ends ``low``
        and ``high`` of its 95% interval (Student's t), ``seeds``, ``p`` (two-sided), ``holm``, the
        same after Holm's correction for the number of rows, and the ``side`` of zero on which the
        mean surely lies at 5% after it: "ahead", "behind", or "open". Rows of fewer than three
        seeds are left out.
    """
    from scipy.stats import t as student  # it takes its time, and `tables` does without

    table = differences.dropna().groupby(CELL).agg(["mean", "sem", "count"])
    table = table.set_axis(["mean", "error", "seeds"], axis=1).query(f"seeds >= {FEWEST_SEEDS}")
    error = table.pop("error")
    half = student.ppf(0.975, table["seeds"] - 1) * error
    table = table.assign(low=table["mean"] - half, high=table["mean"] + half)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(np.abs(table["mean"] / error), posinf=np.inf)  # all equal: 0/0
    table["p"] = 2 * student.sf(size, table["seeds"] - 1)
    table["holm"] = holm(table["p"])
    sure = table["holm"] < LEVEL
    sides = [sure & (table["mean"] > 0), sure & (table["mean"] < 0)]
    table["side"] = np.select(sides, ["ahead", "behind"], default="open")
    in_order = sorted(table.index, key=lambda cell: (_order(cell[0]), cell[1]))
    return table.loc[in_order, ["mean", "low", "high", "seeds", "p", "holm", "side"]]


def _order(name):
    """Place of a data set in the paper's order; others come last."""
    names = list(DATASET_NAMES)
    return names.index(name) if name in names else len(names)


def holm(p_values):
    """p-values corrected for their number by Holm's method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(np.maximum.accumulate(stepped), 1)
    return corrected


def _places(run):
    """Every place in the tables, with the published number where there is one."""
    names = {"mean": "published", "se": "published_se", "bold": "published_best"}
    paper = published().rename(columns=names)
    released = paper[paper["method"] == "LBE+S"].assign(method="LBE+S (released)")
    paper = pd.concat([paper, released])
    run = run.assign(like=run["dataset"].map(_sets_like()))
    where = paper[["table", "metric", "dataset"]].drop_duplicates()
    run = run.merge(where.rename(columns={"dataset": "like"}), on=["metric", "like"])
    columns = pd.concat([paper, run])[["table", *PLACE[:-1]]].drop_duplicates()
    added = pd.Series(SIMPLE).explode().rename_axis("metric").rename("method").reset_index()
    added = where[["table", "metric"]].merge(pd.concat([added, _added_methods(run)]), on="metric")
    lines = pd.concat([paper, added])[["table", "method"]].drop_duplicates()
    rows = columns.merge(lines, on="table").merge(paper, on=["table", *PLACE], how="left")
    rows["published_best"] = rows["published_best"].eq(True)  # what is ours alone: not published
    order = {
        "table": list(TABLE_NAMES),
        "method": list(dict.fromkeys([*METHODS, "EN", "EN+S", *lines["method"]])),
        "dataset": list(dict.fromkeys([*DATASET_NAMES, *columns["dataset"]])),
    }
    return rows.sort_values(
        ["table", "label_frequency", "method", "dataset"],
        key=lambda column: column.map(order[column.name].index) if column.name in order else column,
        ignore_index=True,
    )


def _sets_like():
    """By the name of a data set, the one of the paper in whose tables it stands."""
    return {
        name: entry.like
        for name, entry in DATASETS.items()
        if name == entry.like or not name.startswith(entry.like)
    }


def _added_methods(run):
    """Methods of families that the paper lacks, by metric; where asked with S, not without."""
    of_paper = run["method"].isin(METHODS).groupby(run["family"]).transform("any")
    without = (run["metric"] != "accuracy") & (run["method"] + "+S").isin(run["method"])
    return run.loc[~of_paper & ~without, ["metric", "method"]].drop_duplicates()


def _followed(results, design, schedule):
    """Rows of a design whose family followed the schedule, or knows none."""
    followed = results["family"].map({f: schedule_of(f, schedule) for f in FAMILIES})
    return results[(results["design"] == design) & (results["schedule"] == followed)]


def _is_best(rows):
    """Whether a number, as printed, is the highest of those that were not told the truth.

    Where a simple method alone was run there is nothing to be better than.
    """
    printed = rows["ours"].round(2).where(~rows["method"].isin(TOLD_THE_TRUTH))
    place = [rows["table"], rows["label_frequency"], rows["dataset"]]
    learnt = printed.where(rows["method"].isin(METHODS)).groupby(place).transform("count")
    return printed.eq(printed.groupby(place).transform("max")) & (learnt > 0)
