"""What the paper proves and concludes, put to its own numbers and to ours.

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
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from pu_utils.data import NAMES
from pu_utils.reproduction import tables
from pu_utils.reproduction.experiment import FIGURE_2
from pu_utils.reproduction.results import read_estimates, read_results
from pu_utils.reproduction.tables import CELL, PUBLISHED, TABLE_NAMES

# The book's from its beginning; that pairs decide was settled after our clean numbers were known.
MOST = 0.75  # share of the cases in which a claim "in most cases" must hold
HALF = 0.5  # of those that were run, below which it does not hold
RULE = (
    f"A claim holds if at least {MOST:.0%} of its cases bear it out, and does not hold if fewer "
    f"than {HALF:.0%} of those that were run do; in between it holds in part. Where seeds can be "
    "paired, a case counts only if its difference is sure, that is significant at 5% after Holm's "
    f"correction. The claim then holds if at least {MOST:.0%} of its cases surely bear it out, "
    "does not hold if more of them surely contradict it than bear it out, and is open if fewer "
    f"than {HALF:.0%} of them are decided."
)
READING_SCHEDULES = {  # of a reading, on synthetic and on real sets
    "clean": ("fast", "fast"),
    "replay": ("paper", "fast"),
}
SOURCES = TABLE_NAMES | {"figure2": "Figure 2", "section2": "Section 2"}
TABLE_METRICS = dict(tables.published()[["table", "metric"]].drop_duplicates().to_numpy())


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


# The claims


class Comparison(NamedTuple):
    """That a method is ahead of the best of others (">"), behind the worst ("<"), or equal ("=").

    Equal are methods that do not differ significantly: of the published numbers by at most two
    combined standard errors; of ours, not surely.
    """

    method: str
    relation: str
    others: tuple


class Claim(NamedTuple):
    """A conclusion of the paper, in our words, and how to tell whether it holds in a case."""

    key: str
    table: str
    claim: str
    case: str  # what must hold in one case
    holds: Comparison | Callable  # of the latter, one of the functions above
    methods: tuple  # whose numbers it is about
    c: tuple  # the label frequencies it speaks of; all where empty
    datasets: tuple  # likewise
    per: str  # a case is a data set at a label frequency (a "cell"), a "dataset" or the "table"
    same_question: bool  # whether the clean reading compares what the published one does


def read_claims(path=PUBLISHED / "claims.csv"):
    """Claims as a table has them, a row each; what it holds beyond their fields is refused.

    Parameters
    ----------
    path : path
        A CSV file with the fields of :class:`Claim` as columns. In lists commas separate; ``holds``
        is "A > B, C", "A < B, C" or "A = B", or blank where a function tells; the methods are then
        those whose numbers the function needs.

    Returns
    -------
    tuple of Claim

    Examples
    --------
    >>> read_claims()[0].holds
    Comparison(method='VP-B', relation='>', others=('VP', 'VP-A3', 'VP-IF'))
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    if list(table) != list(Claim._fields):
        raise ValueError(
            f"the columns of {path} are {', '.join(table)}; they must be "
            f"{', '.join(Claim._fields)}, in this order"
        )
    return tuple(_claim(Claim(*row)) for row in table.itertuples(index=False))


def _claim(row):
    """The claim of a row of texts."""
    found = re.fullmatch("(.+) ([<>=]) (.+)", row.holds)
    if found:
        method, relation, others = found.groups()
        holds = Comparison(method, relation, _listed(others))
        methods = (method, *holds.others)
    elif row.key in CONCLUSIONS and not row.holds:
        holds, methods = CONCLUSIONS[row.key], _listed(row.methods)
    else:
        raise ValueError(
            f"the claim {row.key!r} holds if {row.holds!r}; write 'A > B, C', 'A < B, C' or "
            "'A = B', or leave it blank and add a function to CONCLUSIONS"
        )
    return row._replace(
        holds=holds,
        methods=methods,
        c=tuple(map(float, _listed(row.c))),
        datasets=_listed(row.datasets),
        same_question={"yes": True, "no": False}[row.same_question],
    )


def _listed(text):
    return tuple(text.split(", ")) if text else ()


CLAIMS = read_claims()


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
        What :func:`pu_utils.reproduction.tables.numbers` gives.
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


# Judging


class Answer(NamedTuple):
    """What one source says of a claim: "yes", "in part", "no", "open" or "not run", and why."""

    answer: str
    counts: str


class Evidence:
    """The numbers of one source, table by table, and its seeds where it has any."""

    def __init__(self, results, source, design):
        self.source = source
        reading = {"design": design, "reading": "clean" if source == "published" else source}
        self.schedules = READING_SCHEDULES[reading["reading"]]
        of_paper = results[results["dataset"].isin(NAMES)]
        self.compare = cache(partial(tables.compare, of_paper, **reading))
        self.by_seed = cache(partial(tables.by_seed, of_paper, **reading))

    def table(self, claim, source=None):
        """The numbers that a claim is about, a row per data set and label frequency."""
        if claim.table == "section2":
            return self._precision_and_recall()
        source = source or ("published" if self.source == "published" else "ours")
        comparison = self.compare(schedule=self._schedule(claim))
        wide = tables.numbers(comparison, claim.table, source)
        if claim.table == "table3":
            traditional = tables.numbers(comparison, "table1", source)["VP-B"]
            wide = wide.assign(**{"VP-B of Table 1": traditional})
        for level, wanted in (("label_frequency", claim.c), ("dataset", claim.datasets)):
            if wanted:
                wide = wide[wide.index.get_level_values(level).isin(wanted)]
        return wide

    def seeds(self, claim):
        """The same numbers seed by seed."""
        seeds = self.by_seed(TABLE_METRICS[claim.table], schedule=self._schedule(claim))
        seeds = seeds.drop(columns="LBE+S", errors="ignore")
        seeds = seeds.rename(columns={"LBE+S (released)": "LBE+S"}).reindex(columns=claim.methods)
        return seeds[seeds.index.droplevel("seed").isin(self.table(claim).index)].dropna()

    def distance(self, claim):
        """Mean distance of our numbers that a claim is about from the published ones, in points."""
        if claim.table == "section2":
            return np.nan
        ours, paper = (self.table(claim, source) for source in ("ours", "published"))
        return (ours - paper)[list(claim.methods)].abs().mean(axis=None)

    def _schedule(self, claim):
        made = claim.table in ("table2", "table4", "tableA2", "tableA4")
        return self.schedules[0 if made else 1]

    def _precision_and_recall(self):
        wide = {}
        for what in ("precision", "recall"):
            seeds = self.by_seed(f"u_{what}", schedule="fast")
            means = seeds.reindex(columns=["VP-B", "VP-B+S"]).groupby(CELL).mean()
            wide |= {f"{what} of {name}": means[name] for name in means}
        return pd.DataFrame(wide)


def judge(results, keys=None, estimates=None, design="released"):
    """The three answers to each claim, how far the numbers are apart, and the verdict.

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
        ``clean_points`` and ``replay_points``, the mean distance from the published numbers
        (missing where the two compare different things); and the ``verdict``.
    """
    wanted = [claim for claim in CLAIMS if keys is None or claim.key in keys]
    sources = ("published", *READING_SCHEDULES)
    evidence = {source: Evidence(results, source, design) for source in sources}
    rows = [_judged(claim, evidence, estimates) for claim in wanted]
    table = pd.DataFrame(rows).set_index("key")
    return table if keys is None else table.loc[list(keys)]


def judge_recorded(results):
    """Every claim judged from a directory of results."""
    try:
        estimates = read_estimates(FIGURE_2, results)
    except FileNotFoundError:
        estimates = None
    return judge(read_results(results), estimates=estimates)


def _judged(claim, evidence, estimates):
    answers = {source: Answer("", "") for source in evidence}
    distances = dict.fromkeys(READING_SCHEDULES, np.nan)
    if claim.table == "figure2":
        cases = [] if estimates is None else [claim.holds(golden_area(estimates))]
        answers["clean"] = _counted(sum(cases), len(cases), 1)
    else:
        printed = claim.table != "section2"  # which is an expectation, without numbers
        asked = evidence if printed else READING_SCHEDULES
        answers |= {source: _answer(claim, evidence[source]) for source in asked}
        distances = {source: evidence[source].distance(claim) for source in READING_SCHEDULES}
        if not claim.same_question:
            distances["clean"] = np.nan
    row = dict(zip(("key", "table", "claim", "case"), claim[:4], strict=True))
    for source, (answer, counts) in answers.items():
        row |= {source: answer, f"{source}_counts": counts}
    row |= {f"{source}_points": points for source, points in distances.items()}
    return row | {"verdict": verdict(*(answers[source].answer for source in evidence))}


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


def _answer(claim, evidence):
    table, holds = evidence.table(claim), claim.holds
    if not isinstance(holds, Comparison):
        return _by_means(claim, table)
    if evidence.source == "published":
        errors = evidence.table(claim, "published_se")
        cases = _printed(holds, table[list(claim.methods)].dropna(), errors)
        return _counted(int(cases.sum()), len(cases), len(table))
    found = tables.paired(_leads(holds, evidence.seeds(claim)))
    if holds.relation == "=":
        return _counted(int((found["side"] == "open").sum()), len(found), len(table))
    return _decided(found, len(table))


def _printed(holds, table, errors):
    """In which cells the printed means have it so."""
    own, others = table[holds.method], table[list(holds.others)]
    if holds.relation == "=":
        (other,) = holds.others
        return (own - table[other]).abs() <= 2 * np.hypot(errors[holds.method], errors[other])
    return own > others.max(axis=1) if holds.relation == ">" else own < others.min(axis=1)


def _decided(found, total):
    """The answer from paired differences, of which some may be open."""
    ahead, behind = ((found["side"] == side).sum() for side in ("ahead", "behind"))
    if len(found) == 0:
        return Answer("not run", f"none of {total} cases")
    run = f"{len(found)} cases" + (f" run, of {total}" if len(found) != total else "")
    counts = f"surely so in {ahead}, surely not in {behind} of {run}"
    if ahead >= MOST * total:
        return Answer("yes", counts)
    if behind > ahead:
        return Answer("no", counts)
    return Answer("open" if ahead + behind < HALF * len(found) else "in part", counts)


def _leads(holds, seeds):
    """By seed, how far the method of a comparison is ahead of the best of the others.

    Which of several others is the best (the worst, if the claim is "behind") is judged by their
    means, cell by cell.
    """
    if seeds.empty:
        return pd.Series(dtype=float, index=seeds.index)
    seeds = -seeds if holds.relation == "<" else seeds
    others = seeds[list(holds.others)]
    rival = others.groupby(CELL).transform("mean").idxmax(axis=1)
    of_rival = others.to_numpy()[np.arange(len(others)), others.columns.get_indexer(rival)]
    return seeds[holds.method] - of_rival


def _by_means(claim, table):
    """The answer from one number per method and cell; what was not run is left out."""
    known = table.dropna(subset=list(claim.methods))
    if claim.per == "dataset":
        missing = table.index.difference(known.index).get_level_values("dataset")
        known = known[~known.index.get_level_values("dataset").isin(missing)]
    total = {
        "cell": len(table),
        "dataset": table.index.get_level_values("dataset").nunique(),
        "table": 1,
    }[claim.per]
    if known.empty or (claim.per == "table" and len(known) < MOST * len(table)):
        return _counted(0, 0, total)
    cases = np.atleast_1d(claim.holds(known))
    return _counted(int(cases.sum()), len(cases), total)


def _counted(holds, run, total):
    counts = f"in {holds} of {run} cases" + (f" run, of {total}" if run != total else "")
    if run == 0:
        return Answer("not run", f"none of {total} cases")
    if holds < HALF * run:
        return Answer("no", counts)
    return Answer("yes" if holds >= MOST * total else "in part", counts)


def scoreboard(judged):
    """Claims and verdicts as they are recorded in ``results/scoreboard.csv``.

    Parameters
    ----------
    judged : pandas.DataFrame
        What :func:`judge` gives.
    """
    return judged.assign(table=judged["table"].map(SOURCES)).round(2).reset_index()


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
