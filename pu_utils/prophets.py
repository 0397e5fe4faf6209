"""What perfect knowledge of y(x) and e(x) is worth: the paper's prophets and their baseline."""

import pandas as pd

from pu_utils import metrics, rules
from pu_utils.data import SYNTHETIC, load
from pu_utils.experiments.cells import LABEL_FREQUENCIES
from pu_utils.tables import published

METRICS = ("u_accuracy", "u_balanced_accuracy")
PROPHETS = ("S-Prophet", "Y-Prophet")


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
    >>> decisions = prophet_decisions(load("synth_1", 0.5, seed=0).test)
    >>> bool((decisions["S-Prophet"] <= decisions["Y-Prophet"]).all())
    True
    """
    s_proba = rules.label_posterior(data.y_proba, data.propensity)
    return {
        "S-Prophet": rules.augmented_rule(data.y_proba, s_proba, data.s),
        "Y-Prophet": rules.naive_rule(data.y_proba, data.s),
        "all-negative": data.s == 1,
    }


def prophet_figures(design, seeds=range(10)):
    """U-metrics in per cent of the prophets on the test parts, one row per set, c, seed and rule.

    Parameters
    ----------
    design : "text" or "released"
    seeds : iterable of int
    """
    rows = []
    for name in SYNTHETIC:
        for label_frequency in LABEL_FREQUENCIES:
            for seed in seeds:
                test = load(name, label_frequency, seed, design).test
                for method, decision in prophet_decisions(test).items():
                    for metric in METRICS:
                        value = 100 * getattr(metrics, metric)(test.y, decision, test.s)
                        rows.append((metric, name, label_frequency, method, seed, value))
    columns = ["metric", "dataset", "label_frequency", "method", "seed", "value"]
    return pd.DataFrame(rows, columns=columns)


def beside_published(figures):
    """Published prophet figures, ours (mean and standard error over seeds), and how far apart.

    Parameters
    ----------
    figures : DataFrame
        As :func:`prophet_figures` gives it.

    Returns
    -------
    DataFrame
        One row per published figure; ``z`` is ours minus published in combined standard errors.
    """
    key = ["metric", "dataset", "label_frequency", "method"]
    ours = figures.groupby(key)["value"].agg(ours="mean", ours_se="sem").reset_index()
    theirs = published().query("method in @PROPHETS").drop_duplicates(key)
    both = theirs[[*key, "mean", "se"]].merge(ours, on=key, validate="one_to_one")
    error = (both["se"] ** 2 + both["ours_se"] ** 2) ** 0.5
    return both.assign(z=(both["ours"] - both["mean"]) / error)
