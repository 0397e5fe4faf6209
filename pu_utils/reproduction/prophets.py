"""What perfect knowledge of y(x) and e(x) is worth: the paper's prophets and their baseline."""

import pandas as pd

from pu_utils.reproduction.experiment import grid
from pu_utils.reproduction.families import prophets
from pu_utils.reproduction.results import decision_rows
from pu_utils.reproduction.runs import compute
from pu_utils.reproduction.tables import PLACE, published

METRICS = ("u_accuracy", "u_balanced_accuracy")


def prophet_decisions(data):
    """Decisions of the prophets, and of the all-negative rule, on rows with known y(x) and e(x).

    Parameters
    ----------
    data : PUData
        With ``y_proba`` and ``propensity``.

    Returns
    -------
    dict of bool arrays

    Examples
    --------
    >>> from pu_utils.data import load
    >>> decisions = prophet_decisions(load("synth_1", 0.5, seed=0).test)
    >>> bool((decisions["S-Prophet"] <= decisions["Y-Prophet"]).all())
    True
    """
    found = [decision for decision in prophets(data) if decision.rule != "x_only"]
    return {decision.name: decision.predict(data.s) for decision in found}


def prophet_numbers(design, seeds=range(10)):
    """U-metrics in per cent of the prophets on the test parts of the synthetic sets.

    Parameters
    ----------
    design : "text" or "released"
    seeds : iterable of int

    Returns
    -------
    DataFrame
        One row per ``metric``, ``dataset``, ``label_frequency``, ``method`` and ``seed``.
    """
    chosen = grid("synthetic", designs=[design], seeds=seeds, families=["reference"])
    rows = pd.DataFrame([row for one in chosen for row in decision_rows(one, compute(one))])
    rows = rows.rename(columns={"decision": "method"}).melt([*PLACE[1:], "seed"], METRICS, "metric")
    rows = rows.dropna(ignore_index=True)  # of the x-only rule there is no U-metric
    return rows.assign(value=100 * rows["value"])[[*PLACE, "seed", "value"]]


def beside_published(numbers):
    """Published numbers of the prophets, ours (mean and standard error over seeds), how far apart.

    Parameters
    ----------
    numbers : DataFrame
        As :func:`prophet_numbers` gives it.

    Returns
    -------
    DataFrame
        One row per published number; ``z`` is ours minus published in combined standard errors.
    """
    ours = numbers.groupby(PLACE)["value"].agg(ours="mean", ours_se="sem").reset_index()
    theirs = published().query("method in ('S-Prophet', 'Y-Prophet')").drop_duplicates(PLACE)
    both = theirs[[*PLACE, "mean", "se"]].merge(ours, on=PLACE, validate="one_to_one")
    error = (both["se"] ** 2 + both["ours_se"] ** 2) ** 0.5
    return both.assign(z=(both["ours"] - both["mean"]) / error)
