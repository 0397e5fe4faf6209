"""The published tables as data, ours beside them, and differences taken seed by seed."""

from pathlib import Path

import numpy as np
import pandas as pd

from pu_utils.data import CDC_QUESTIONS, DATASET_NAMES, DATASETS, SYNTHETIC
from pu_utils.data.record import DESIGNS, check_choice
from pu_utils.metrics import METRIC_NAMES
from pu_utils.reproduction.experiment import schedule_of
from pu_utils.reproduction.families import EXPERIMENT_SCHEDULES

PUBLISHED = Path(__file__).parent / "published"
CELL = ["dataset", "label_frequency"]
PLACE = ["metric", *CELL, "method"]
TABLE_NAMES = {f"table{n}": f"Table {n}" for n in (*"12345", "A2", "A3", "A4", "A5")}
METHODS = (
    "S-Prophet", "Y-Prophet", "VP", "VP-A3", "VP-IF", "VP-B", "VP+S", "VP-B+S",
    "VP-B+S + true s(x)", "VP-B+S + true y(x)", "LBE+S", "LBE+S (released)",
)  # fmt: skip
TOLD_THE_TRUTH = (
    "S-Prophet", "Y-Prophet", "VP-B+S + true s(x)", "VP-B+S + true y(x)", "supervised",
)  # fmt: skip
FEWEST_SEEDS = 3  # that a difference is measured with
TEST_TO_TRAINING = 15 / 70  # rows of a split
LEVEL = 0.05  # of tests, after Holm's correction

# Two readings of what was recorded. "clean": every method goes on from the same trained VP, and
# "+S" asks the same network with S. "replay": the networks that the authors' program compares,
# by the decision and the rule that it reports under the name of the published method.
READINGS = {
    "clean": "every method from the same VAE-PU",
    "replay": "one network handed from method to method, as in the authors' program",
}
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
    """Table A1 of the paper: samples, features and class prior of the six real sets."""
    return pd.read_csv(PUBLISHED / "datasets.csv")


def read_as(results, design, schedule, reading):
    """Recorded results under the names of the published methods.

    Parameters
    ----------
    results : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_results` gives.
    design, schedule, reading : str
        As in :func:`compare`. Families that are not networks know no other schedule than theirs.

    Returns
    -------
    pandas.DataFrame
        The rows of that reading, with a column ``method``. Table 1 never looks at S, so accuracy is
        left to the rows of the x-only rule; other metrics are of unlabelled rows, where the naive
        rule is the x-only one.
    """
    check_choice("design", design, DESIGNS)
    check_choice("schedule", schedule, EXPERIMENT_SCHEDULES)
    check_choice("reading", reading, READINGS)
    followed = results["family"].map(lambda family: schedule_of(family, schedule))
    rows = results[(results["design"] == design) & (results["schedule"] == followed)]
    accuracy = rows["accuracy"].where(rows["rule"] == "x_only")
    rows = rows.assign(method=rows["decision"], accuracy=accuracy).query("family != 'choices'")
    if reading == "replay":
        rows = rows.query("family != 'vae_pu'")
        names = [REPLAYED.get(pair) for pair in zip(rows["decision"], rows["rule"], strict=True)]
        names = rows["decision"].where(rows["family"] != "replay", names)
        return rows.assign(method=names).dropna(subset="method")
    rows = rows[~rows["decision"].str.contains("(replay)", regex=False)]
    # What a replay says of the clean methods counts where no other experiment says it
    rows = rows.sort_values("family", key=lambda family: family == "replay", kind="stable")
    return rows.groupby([*CELL, "seed", "method", "rule"], as_index=False, sort=False).first()


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
    rows = read_as(results, design, schedule, reading).dropna(subset=metric)
    return 100 * rows.pivot(index=[*CELL, "seed"], columns="method", values=metric)


def compare(results, design="released", schedule="fast", reading="clean"):
    """Our numbers beside the published ones, in the paper's layout, and what was run besides.

    Methods that the paper lacks stand in every table, with S where they can be asked with S, but
    for variants of its own. A data set that the paper lacks stands in the tables of the one that it
    is like, unless it is named after that one: then it is the same set on other features.

    Parameters
    ----------
    results : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_results` gives.
    design : {"text", "released"}
        Data sets as the paper says, or as its programs make them.
    schedule : {"paper", "paper_narrow", "paper_equal", "paper_equal_narrow", "fast", "smoke"}
        Of the networks; results of different schedules are never mixed.
    reading : {"clean", "replay"}
        Whether every method starts from the same trained VP, or the networks are those that the
        authors' program hands on from method to method.

    Returns
    -------
    pandas.DataFrame
        One row per table, label frequency, method and data set, in the order of the paper:
        ``published``, ``published_se``, ``published_best``; ``ours``, ``ours_se``, ``ours_best``
        (in per cent), ``seeds``; ``difference``, of the means in combined standard errors, where
        there are three seeds or more (of two the error is anybody's guess); ``design``,
        ``schedule`` and ``reading``. LBE+S stands there twice, after the paper's text and as
        released. Methods that are told the truth are never the best.
    """
    run = read_as(results, design, schedule, reading)
    run = run.melt([*CELL, "seed", "method"], list(METRIC_NAMES), "metric").dropna()
    seeds = run.assign(value=100 * run["value"]).groupby(PLACE)["value"]
    ours = seeds.agg(ours="mean", ours_se="sem", seeds="count").reset_index()
    rows = _places(ours).merge(ours, on=PLACE, how="left")
    rows["seeds"] = rows["seeds"].fillna(0).astype(int)
    enough, error = rows["seeds"] >= FEWEST_SEEDS, np.hypot(rows["ours_se"], rows["published_se"])
    rows["difference"] = ((rows["ours"] - rows["published"]) / error).where(enough)
    rows["printed"] = rows["ours"].round(2).where(~rows["method"].isin(TOLD_THE_TRUTH))
    best = rows.groupby(["table", *CELL])["printed"].transform("max")
    rows["ours_best"] = rows.pop("printed") == best
    return rows.assign(design=design, schedule=schedule, reading=reading)


def _places(ours):
    """Every place in the tables, in order, with the published number where there is one."""
    names = {"mean": "published", "se": "published_se", "bold": "published_best"}
    paper = published().rename(columns=names)
    released = paper[paper["method"] == "LBE+S"].assign(method="LBE+S (released)")
    paper = pd.concat([paper, released])
    of_set = paper[["table", "metric", "dataset"]].drop_duplicates()
    own = {name: one.like for name, one in DATASETS.items() if not name.startswith(f"{one.like}_")}
    run = ours.assign(like=ours["dataset"].map(own))
    run = run.merge(of_set.rename(columns={"dataset": "like"}), on=["metric", "like"])
    variants = run["method"].isin(METHODS) | run["method"].str.startswith(("VP", "LBE"))
    without = (run["metric"] != "accuracy") & (run["method"] + "+S").isin(run["method"])
    columns = pd.concat([paper, run])[["table", *PLACE[:-1]]].drop_duplicates()
    lines = pd.concat([paper, run[~variants & ~without]])[["table", "method"]].drop_duplicates()
    rows = columns.merge(lines, on="table").merge(paper, on=["table", *PLACE], how="left")
    rows["published_best"] = rows["published_best"].eq(True)  # what is ours alone: not published
    order = ["table", "label_frequency", "method", "dataset"]
    first = [*TABLE_NAMES, *METHODS, "EN", "EN+S", *lines["method"]]
    return rows.sort_values(order, key=_papers_order(first, columns["dataset"]), ignore_index=True)


def _papers_order(first, sets):
    """A key that sorts names by their place in a list, data sets as the paper has them."""
    names = [*first, *DATASET_NAMES, *sets]
    return lambda column: column if "frequency" in column.name else column.map(names.index)


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
    rows = results.query("family == 'replay' and design == 'released' and schedule == @schedule")
    names = ["decision", "rule"]
    asked = 100 * rows.pivot(index=[*CELL, "seed"], columns=names, values="u_accuracy")
    first, second = asked["VP-B (replay)"], asked["VP-B+S (replay)"]
    gains = {
        "rule alone": first["augmented"] - first["naive"],
        "more training alone": second["naive"] - first["naive"],
        "both": second["augmented"] - first["naive"],
    }
    return pd.DataFrame(gains)


def paired(differences, within=None):
    """Mean differences with their intervals, and which of them are significant.

    Two methods of one seed decide on the same test rows, most often by the same trained model:
    what a seed does to both cancels out of their difference. Synthetic sets are drawn anew for each
    seed, and so are the 10,000 of 253,680 people of the five questions. The seeds of another real
    set are splits of the same rows and so not independent: there the variance of the mean is Nadeau
    and Bengio's corrected one, 1/J + 15/70 in the place of 1/J for J splits of which 15% are test
    rows and 70% training rows.

    Parameters
    ----------
    differences : pandas.Series
        Indexed by data set, label frequency and seed, such as one column of :func:`by_seed` minus
        another.
    within : float, optional
        A margin in points, to test whether two methods are equivalent.

    Returns
    -------
    pandas.DataFrame
        By data set, in the order of the paper, and label frequency: the ``mean``, the ends ``low``
        and ``high`` of its 95% interval (Student's t), ``seeds``, ``p`` (two-sided), ``holm``, the
        same after Holm's correction for the number of rows, and ``side``: "ahead" or "behind" where
        the mean differs significantly from zero at 5% after it, else "open". With a margin it is
        "within" where two one-sided tests, of each end of it, find the mean between them (few seeds
        do not help), and "beyond" where it lies outside. Rows of fewer than three seeds are left
        out.
    """
    from scipy.stats import t as student  # it takes its time, and `tables` does without

    cell = [name for name in differences.index.names if name != "seed"]
    table = differences.dropna().groupby(cell).agg(["mean", "sem", "count"])
    table = table.set_axis(["mean", "error", "seeds"], axis=1).query("seeds >= @FEWEST_SEEDS")
    split = ~table.index.get_level_values("dataset").isin([*SYNTHETIC, *CDC_QUESTIONS])
    error = table.pop("error") * np.sqrt(1 + split * table["seeds"] * TEST_TO_TRAINING)
    half = student.ppf(0.975, table["seeds"] - 1) * error
    table.insert(1, "low", table["mean"] - half)
    table.insert(2, "high", table["mean"] + half)
    lead, sides = table["mean"], ("ahead", "behind")
    if within is not None:
        lead, sides = within - lead.abs(), ("within", "beyond")
    size = (lead.abs() / error).where(lead != 0, 0)  # all equal: 0/0
    table["p"] = 2 * student.sf(size, table["seeds"] - 1)
    table["holm"] = holm(table["p"])
    side = np.where(lead > 0, *sides)
    table["side"] = np.where(table["holm"] < LEVEL, side, "open")
    return table.sort_index(key=_papers_order([], table.index.unique("dataset")))


def holm(p_values):
    """p-values corrected for their number by Holm's method.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = pd.Series(p_values, dtype=float)
    ordered = p.sort_values(kind="stable")
    return (ordered * np.arange(len(p), 0, -1)).cummax().clip(upper=1).reindex(p.index)
