"""What the paper concludes from its tables and figures, put to its own numbers and to ours.

The claims are rows of ``published/claims.csv``, beside the paper's numbers; here are the functions
that tell whether one holds where comparing methods does not, and the judging. A claim is cut into
cases, most often one per data set and label frequency. Three answers are given to it, and never
mixed:

- ``published``: do the paper's own numbers bear it out? Only means are printed, so a case holds if
  the printed means have it so.
- ``clean``: do our experiments, in which every method goes on from the same trained VAE-PU?
- ``replay``: do the networks that the authors' program compares, each trained further than the
  one before it?

Where two methods are compared and seeds are at hand, a case is decided by the differences seed by
seed, with Holm's correction for the number of cases, and may stay open.
"""

import re
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from pu_utils.data import NAMES
from pu_utils.reproduction import tables
from pu_utils.reproduction.experiment import FIGURE_2
from pu_utils.reproduction.results import read_estimates, read_results
from pu_utils.reproduction.tables import CELL, PUBLISHED, READINGS, TABLE_NAMES

# The book's from its beginning; that pairs decide was settled after our clean numbers were known.
MOST = 0.75  # share of the cases in which a claim "in most cases" must hold
HALF = 0.5  # of those that were run, below which it does not hold
RULE = (
    f"A claim holds if at least {MOST:.0%} of its cases bear it out, and does not hold if fewer "
    f"than {HALF:.0%} of those that were run do; in between it holds in part. Where seeds can be "
    "paired, a case counts only if its difference is significant, at 5% after Holm's correction. "
    f"The claim then holds if at least {MOST:.0%} of its cases bear it out significantly, does not "
    "hold if more of them contradict it significantly than bear it out, and is open if fewer than "
    f"{HALF:.0%} of them are decided."
)
READING_SCHEDULES = {  # of a reading, on synthetic and on real sets
    "clean": ("fast", "fast"),
    "replay": ("paper", "fast"),
}
ON_SYNTHETIC_SETS = ("table2", "table4", "tableA2", "tableA4")
SOURCES = TABLE_NAMES | {"figure2": "Figure 2", "section2": "Section 2"}


# Conclusions from a table t: a row per data set and label frequency, a column per method


def _lead(t):
    """How far VP-B is ahead of the best of the other variants of VAE-PU."""
    return t["VP-B"] - t[["VP", "VP-A3", "VP-IF"]].max(axis=1)


def _gain(t):
    return t["VP-B+S"] - t["VP-B"]


def _gain_grows(t):
    by_frequency = _gain(t).unstack("label_frequency")
    return by_frequency[[0.7, 0.9]].mean(axis=1) > by_frequency[[0.02, 0.1]].mean(axis=1)


def _depends_less_on_c(t):
    ranges = t.groupby("dataset").max() - t.groupby("dataset").min()
    return ranges["VP-B+S"] <= ranges["VP-B of Table 1"] / 2


def _precision_and_recall(t, method):
    return t[f"precision of {method}"] + t[f"recall of {method}"]


def _passes_sign_test(t):
    return sign_test(t, "VP-B+S", "VP-B").p_value < 0.05


# By the key of the claim: of a table, or of the rows of Figure 2
CONCLUSIONS = {
    "traditional-margin": lambda t: _lead(t).max() >= 4.5,
    "traditional-rare-labels": lambda t: _lead(t) < 0,
    "traditional-many-labels": lambda t: _lead(t) >= -1,
    "synthetic-lbe-falls": lambda t: t["LBE+S"].xs(0.9, level=1) < t["LBE+S"].xs(0.7, level=1),
    "prophets-agree": lambda t: (t["S-Prophet"] - t["Y-Prophet"]).abs() <= 1,
    "prophets-part": lambda t: t["S-Prophet"] - t["Y-Prophet"] > 15,
    "synthetic-sign-test": _passes_sign_test,
    "synthetic-gain-grows": _gain_grows,
    "synthetic-gain-small": lambda t: _gain(t) < t["S-Prophet"] - t["Y-Prophet"],
    "real-dependence-on-c": _depends_less_on_c,
    "real-sign-test": _passes_sign_test,
    "real-gain-small": lambda t: _gain(t).abs() <= 3,
    "precision-outweighs-recall": lambda t: (
        _precision_and_recall(t, "VP-B+S") > _precision_and_recall(t, "VP-B")
    ),
    "golden-few": lambda rows: rows["golden"].mean() < 0.1,
    "golden-negative": lambda rows: rows.loc[rows["golden"], "class"].mean() < 0.5,
    "extreme-y": lambda rows: ((rows["y"] < 0.1) | (rows["y"] > 0.9)).mean() > MOST,
}


# The claims and their judging


def read_claims():
    """The claims, a row each, by their key.

    ``holds`` tells when one holds in a case: "A > B, C" if A is ahead of the best of the others,
    "A < B, C" if it is behind the worst of them, "A = B" if the two do not differ significantly (of
    the published numbers, by at most two combined standard errors). Where it is blank, a function
    of ``CONCLUSIONS`` tells, from the numbers of ``methods``. ``c`` and ``datasets`` are those that
    the claim speaks of, all where blank.
    """
    claims = pd.read_csv(
        PUBLISHED / "claims.csv", index_col="key", dtype=str, keep_default_na=False
    )
    lists = ("methods", "c", "datasets")
    return claims.assign(**{name: claims[name].map(_listed) for name in lists})


def _listed(text):
    return text.split(", ") if text else []


class Answer(NamedTuple):
    """What one source says of a claim: "yes", "in part", "no", "open" or "not run", and why."""

    answer: str
    counts: str


class Evidence:
    """The numbers of one reading, table by table, and seed by seed."""

    def __init__(self, results, reading, design):
        options = {"design": design, "reading": reading}
        self.schedules = READING_SCHEDULES[reading]
        self.compare = cache(partial(tables.compare, results, **options))
        self.by_seed = cache(partial(tables.by_seed, results, **options))

    def schedule(self, claim):
        """The schedule of the data sets that a claim is about."""
        return self.schedules[0 if claim.table in ON_SYNTHETIC_SETS else 1]

    def table(self, claim, source):
        """The numbers that a claim is about, a row per data set and label frequency."""
        comparison = self.compare(schedule=self.schedule(claim))
        if claim.table == "section2":
            return self.precision_and_recall()
        wide = tables.numbers(comparison, claim.table, source)
        if claim.table == "table3":
            wide["VP-B of Table 1"] = tables.numbers(comparison, "table1", source)["VP-B"]
        for level, wanted in (("label_frequency", claim.c), ("dataset", claim.datasets)):
            if wanted:
                wide = wide[wide.index.get_level_values(level).astype(str).isin(wanted)]
        return wide

    def precision_and_recall(self):
        """Of VP-B with and without S."""
        means = {}
        for what in ("precision", "recall"):
            seeds = self.by_seed(f"u_{what}", schedule="fast").reindex(columns=["VP-B", "VP-B+S"])
            means |= {f"{what} of {name}": seeds[name].groupby(CELL).mean() for name in seeds}
        return pd.DataFrame(means)

    def leads(self, claim, method, relation, others):
        """By seed, how far a method is ahead of the best of others, or behind the worst of them.

        Which of them that is, their means say, cell by cell.
        """
        (metric,) = tables.published().query("table == @claim.table")["metric"].unique()
        seeds = self.by_seed(metric, schedule=self.schedule(claim))
        seeds = seeds.drop(columns="LBE+S", errors="ignore")
        seeds = seeds.rename(columns={"LBE+S (released)": "LBE+S"}).reindex(
            columns=[method, *others]
        )
        cells = self.table(claim, "ours").index
        seeds = (-1 if relation == "<" else 1) * seeds[
            seeds.index.droplevel("seed").isin(cells)
        ].dropna()
        means = seeds[others].groupby(CELL).transform("mean")
        rival = seeds[others].where(means.eq(means.max(axis=1), axis=0)).max(axis=1)
        return seeds[method] - rival


def judge(results, keys=None, estimates=None, design="released"):
    """The three answers to each claim, and the verdict.

    Parameters
    ----------
    results : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_results` gives.
    keys : sequence of str, optional
        Keys of the claims wanted; all of them where None.
    estimates : pandas.DataFrame, optional
        What :func:`pu_utils.reproduction.read_estimates` gives for CIFAR VA at c = 0.9.
    design : {"released", "text"}
        Of the data sets.

    Returns
    -------
    pandas.DataFrame
        One row per claim, by its ``key``: ``table``, ``claim``, ``case``; for each source
        ("published", "clean", "replay") its answer and, in ``..._counts``, the counts behind it;
        and the ``verdict``.
    """
    claims = read_claims()
    claims = claims if keys is None else claims.loc[list(keys)]
    results = results[results["dataset"].isin(NAMES)]
    evidence = {reading: Evidence(results, reading, design) for reading in READINGS}
    return pd.DataFrame(
        {key: _judged(claim, evidence, estimates) for key, claim in claims.iterrows()}
    ).T.rename_axis("key")


def judge_recorded(results):
    """Every claim judged from a directory of results."""
    try:
        estimates = read_estimates(FIGURE_2, results)
    except FileNotFoundError:
        estimates = None
    return judge(read_results(results), estimates=estimates)


def _judged(claim, evidence, estimates):
    answers = dict.fromkeys(("published", *READINGS), Answer("", ""))
    if claim.table == "figure2":
        cases = [] if estimates is None else [CONCLUSIONS[claim.name](golden_area(estimates))]
        answers["clean"] = _counted(sum(cases), len(cases), 1)
    else:
        if claim.table != "section2":  # which is an expectation, without numbers
            answers["published"] = _answer(claim, evidence["clean"], "published")
        answers |= {reading: _answer(claim, evidence[reading], "ours") for reading in READINGS}
    row = claim[["table", "claim", "case"]].to_dict()
    for source, (answer, counts) in answers.items():
        row |= {source: answer, f"{source}_counts": counts}
    return row | {"verdict": verdict(*(answers[source].answer for source in answers))}


def verdict(published, clean, replay):
    """The verdict on a claim, given the three answers ("" where a source has none).

    Examples
    --------
    >>> verdict("yes", "yes", "not run"), verdict("yes", "no", "yes"), verdict("no", "yes", "")
    ('holds', 'holds only as the program compares', 'not borne out by the paper')
    """
    if published == "no":
        return "not borne out by the paper"
    if clean in ("no", "in part", "open") and replay == "yes":
        return "holds only as the program compares"
    return {
        "yes": "holds",
        "in part": "holds in part",
        "no": "does not hold",
        "open": "cannot be told",
        "not run": "not run",
    }[clean]


def _answer(claim, evidence, source):
    """The answer of the published numbers, or of ours in one reading."""
    table = evidence.table(claim, source)
    if not claim.holds:
        return _by_means(CONCLUSIONS[claim.name], table, claim.methods)
    method, relation, others = re.fullmatch("(.+) ([<>=]) (.+)", claim.holds).groups()
    others = _listed(others)
    if source == "published":
        own, (least, most) = table[method], table[others].agg(["min", "max"], axis=1).to_numpy().T
        errors = evidence.table(claim, "published_se")[[method, *others]]
        alike = (own - most).abs() <= 2 * np.hypot(*errors.to_numpy().T[:2])
        cases = {">": own > most, "<": own < least, "=": alike}[relation]
        return _counted(cases.sum(), len(cases), len(table))
    found = tables.paired(evidence.leads(claim, method, relation, others))["side"]
    if relation == "=":
        return _counted((found == "open").sum(), len(found), len(table))
    return _decided(found, len(table))


def _by_means(holds, table, methods):
    """The answer from one number per method and cell; what was not run is left out."""
    known, total = table.dropna(subset=methods), np.size(holds(table))
    if len(known) <= (MOST if total == 1 else 0) * len(table):
        return _counted(0, 0, total)
    cases = np.atleast_1d(holds(known))
    return _counted(cases.sum(), len(cases), total)


def _counted(holds, run, total):
    counts = f"in {holds} of {run} cases" + (f" run, of {total}" if run != total else "")
    if run == 0:
        return Answer("not run", f"none of {total} cases")
    if holds < HALF * run:
        return Answer("no", counts)
    return Answer("yes" if holds >= MOST * total else "in part", counts)


def _decided(sides, total):
    """The answer from paired differences, of which some may be open."""
    ahead, behind = ((sides == side).sum() for side in ("ahead", "behind"))
    if len(sides) == 0:
        return Answer("not run", f"none of {total} cases")
    run = f"{len(sides)} cases" + (f" run, of {total}" if len(sides) != total else "")
    counts = f"significantly so in {ahead}, significantly not in {behind} of {run}"
    if ahead >= MOST * total:
        return Answer("yes", counts)
    if behind > ahead:
        return Answer("no", counts)
    return Answer("open" if ahead + behind < HALF * len(sides) else "in part", counts)


class SignTest(NamedTuple):
    """A binomial sign test of two methods over the cells of a table."""

    wins: int
    cells: int
    p_value: float


def sign_test(table, method, other):
    """Test that ``method`` is ahead of ``other`` in more than half of the cells, exactly.

    Cells with equal numbers, or with one missing, do not count. The p-value is one-sided: the
    probability of so many wins, or more, if each cell were the toss of a fair coin. Cells share
    rows and models, so it is a guide rather than a proof.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`pu_utils.reproduction.numbers` gives.
    method, other : str

    Examples
    --------
    >>> table = pd.DataFrame({"VP-B+S": [2.0, 3.0, 1.0], "VP-B": [1.0, 2.0, 0.0]})
    >>> sign_test(table, "VP-B+S", "VP-B")
    SignTest(wins=3, cells=3, p_value=0.125)
    """
    from scipy.stats import binomtest  # it takes its time, and `status` would have to wait for it

    difference = (table[method] - table[other]).dropna()
    wins, cells = int((difference > 0).sum()), int((difference != 0).sum())
    p_value = binomtest(wins, cells, alternative="greater").pvalue if cells else float("nan")
    return SignTest(wins, cells, float(p_value))


def scoreboard(judged):
    """Claims and verdicts as they are recorded in ``results/scoreboard.csv``.

    Parameters
    ----------
    judged : pandas.DataFrame
        What :func:`judge` gives.
    """
    return judged.assign(table=judged["table"].map(SOURCES)).reset_index()


def golden_area(estimates):
    """Unlabelled rows that the naive rule calls positive and the augmented one does not.

    Parameters
    ----------
    estimates : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_estimates` gives.

    Returns
    -------
    pandas.DataFrame
        The unlabelled rows, with a column ``golden``.
    """
    rows = estimates[estimates["labelled"] == 0]
    return rows.assign(golden=(rows["y"] > 0.5) & (rows["y"] <= (1 + rows["s"]) / 2))
