"""Checking rows by hand: how many, which, and what the answers say for certain.

What a model says of its own precision cannot be trusted on PU data. Rows drawn at random and looked
at can: the intervals here are exact for samples drawn without replacement (hypergeometric; as the
table grows they become those of Clopper and Pearson).
"""

from bisect import bisect_left, bisect_right
from functools import cache

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import hypergeom

from pu_utils.models.em import ridge_logistic
from pu_utils.own_data.table import check_columns, read_table

CONFIDENCE = 0.95
ANSWER = "answer"
ANSWERS = dict.fromkeys(("1", "1.0", "yes", "y", "true", "positive"), 1.0)
ANSWERS |= dict.fromkeys(("0", "0.0", "no", "n", "false", "negative", "-1", "-1.0"), 0.0)


@cache
def exact_interval(positive, checked, size, confidence=CONFIDENCE):
    """Interval for the number of positives among ``size`` rows, of which some were checked.

    Parameters
    ----------
    positive, checked, size : int
        Positives found, rows checked, rows in all. Checked rows were drawn without replacement.
    confidence : float
        The least probability with which the interval covers the truth.

    Returns
    -------
    low, high : int

    Examples
    --------
    >>> exact_interval(5, 10, size=10)
    (5, 5)
    >>> exact_interval(0, 100, size=1_000_000)
    (0, 36214)
    """
    tail = (1 - confidence) / 2
    possible = range(positive, size - checked + positive + 1)
    low = bisect_left(possible, tail, key=lambda k: hypergeom.sf(positive - 1, size, k, checked))
    high = bisect_right(possible, -tail, key=lambda k: -hypergeom.cdf(positive, size, k, checked))
    return possible[low], possible[high - 1]


def checks_needed(size, width, confidence=CONFIDENCE):
    """Rows to check among ``size`` for an interval of their share of positives so wide at most.

    Half of the checked rows are taken to be positive, which is the worst case.

    Examples
    --------
    >>> checks_needed(1_000_000, 0.2), checks_needed(100, 0.2)
    (104, 48)
    """

    def wide(checked):
        low, high = exact_interval(checked // 2, checked, size, confidence)
        return (low - high) / size

    return bisect_left(range(size), -width, key=wide)


def draw(ranked, counts, seed=0):
    """Rows to check by hand, in random order: of those called positive, and of the others.

    Parameters
    ----------
    ranked : pandas.DataFrame
        What :meth:`pu_utils.own_data.model.TableModel.rank` gives.
    counts : dict
        For the decisions 1 and 0: how many rows.
    seed : int
        Draws them; more rows with the same seed are the same rows and further ones.

    Returns
    -------
    pandas.DataFrame
        The identifier and an empty column ``answer``. The decision is left out, so that who checks
        a row does not know it.
    """
    rng = np.random.default_rng(seed)
    drawn = [
        rng.permutation(np.flatnonzero(ranked["decision"] == decision))[: counts[decision]]
        for decision in (1, 0)
    ]
    rows = np.random.default_rng(seed).permutation(np.concatenate(drawn))
    return ranked.iloc[rows, [0]].assign(**{ANSWER: ""}).reset_index(drop=True)


def plan(ranked, width):
    """How many rows of either decision to check for intervals of a wanted width."""
    sizes = {decision: int((ranked["decision"] == decision).sum()) for decision in (1, 0)}
    return {decision: checks_needed(size, width) for decision, size in sizes.items()}


def read_answers(path, ranked, seed=0):
    """The answers in a file that :func:`draw` began, as a column beside ``ranked``.

    Missing where a row was not drawn; 0.5 where it was, but has no answer.
    """
    name = ranked.columns[0]
    checked = read_table(path, [name, ANSWER])
    check_columns(checked, **{"the audit": [name, ANSWER]})
    answers = checked[ANSWER].astype(str).str.strip().str.casefold()
    answers = answers.mask(checked[ANSWER].isna() | (answers == ""), "")
    strange = answers[~answers.isin([*ANSWERS, ""])]
    if len(strange):
        raise ValueError(
            f"column {ANSWER!r} holds {strange.iloc[0]!r}; write yes or no (or 1 or 0), and leave "
            "blank what could not be found out"
        )
    column = pd.Series(answers.map(ANSWERS).fillna(0.5).to_numpy(), checked[name].astype(str))
    found = ranked[name].astype(str).map(column[~column.index.duplicated()])
    counts = {d: int(found[ranked["decision"] == d].notna().sum()) for d in (1, 0)}
    drawn = draw(ranked, counts, seed)[name].astype(str)
    if set(drawn) != set(column.index) or len(drawn) != len(column):
        raise ValueError(
            "the audit holds other rows than those drawn for this ranking; use the file, the "
            "options and the seed that --audit-sample was used with, and keep rows without an "
            "answer in it (blank)"
        )
    return found.to_numpy(float)


def judge(ranked, answers, labelled):
    """What the answers say: exact intervals for precision, hidden positives and prior.

    A row without an answer counts as negative for the lower ends and as positive for the upper.

    Parameters
    ----------
    ranked : pandas.DataFrame
        The ranking.
    answers : array
        What :func:`read_answers` gives.
    labelled : int
        Labelled rows of the table, which are positive.

    Returns
    -------
    dict of (float, float)
        ``precision`` of the rows called, ``missed``: the share of positives among the others,
        ``hidden``: the number of unlabelled positives, ``prior``; and ``checked``, the counts.
    """
    decision = ranked["decision"].to_numpy()
    shares, either, counts = [], [], {}
    for group in (1, 0):
        mine = answers[decision == group]
        size, known = len(mine), mine[~np.isnan(mine)]
        counts[group] = {"size": size, "checked": len(known), "positive": int((known == 1).sum())}
        shares.append(np.array(_bounds(known, size, CONFIDENCE)) / max(size, 1))
        either.append(_bounds(known, size, (1 + CONFIDENCE) / 2))  # so that both hold at once
    hidden = np.sum(either, axis=0)
    prior = (labelled + hidden) / (labelled + len(ranked))
    found = {"precision": shares[0], "missed": shares[1], "hidden": hidden, "prior": prior}
    return {name: tuple(map(float, ends)) for name, ends in found.items()} | {"checked": counts}


def _bounds(known, size, confidence):
    low = exact_interval(int((known == 1).sum()), len(known), size, confidence)[0]
    return low, exact_interval(int((known > 0).sum()), len(known), size, confidence)[1]


def recalibration(ranked, answers):
    """From augmented posteriors to probabilities that agree with the answers.

    A logistic regression of the answers on the logit, rows weighted by how many they stand for.
    """
    decision, known = ranked["decision"].to_numpy(), np.isin(answers, (0, 1))
    weights = np.zeros(len(ranked))
    for group in (1, 0):
        mine = known & (decision == group)
        weights[mine] = (decision == group).sum() / max(mine.sum(), 1)
    weights *= known.sum() / max(weights.sum(), 1)
    logits = _logits(ranked["augmented"].to_numpy())
    coef = ridge_logistic(logits[known][:, None], answers[known], weights[known])
    if coef[1] <= 0:
        raise ValueError(
            "the audit finds positives no more often where the ranking is high: do not use the "
            "ranking, and leave out --recalibrate; other columns or another --method may do better"
        )
    return lambda scores: expit(coef[0] + coef[1] * _logits(scores))


def _logits(scores):
    return logit(np.clip(scores, 1e-6, 1 - 1e-6))
