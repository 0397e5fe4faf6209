"""What the paper proves and concludes, put to its own figures and to ours.

A claim is cut into cases, most often one per data set and label frequency. Three answers are
given to it, and never mixed:

- ``published``: do the paper's own figures bear it out? Only means are printed, so a case holds if
  the printed means have it so.
- ``clean``: do our experiments, in which every method goes on from the same trained VAE-PU?
- ``replay``: do the networks that the authors' program compares, each trained further than the
  one before it?

Where two methods are compared and seeds are at hand, a case is decided by the differences seed by
seed, with Holm's correction for the number of cases, and may stay open.
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from pu_utils import risk, rules
from pu_utils.reproduction.tables import CELL, TABLE_NAMES, by_seed, compare, figures, paired

# The book's from its beginning; that pairs decide was settled after our clean figures were known.
MOST = 0.75  # share of the cases in which a claim "in most cases" must hold
HALF = 0.5  # of those that were run, below which it does not hold
RULE = (
    f"A claim holds if it does in at least {MOST:.0%} of its cases, and does not hold if it does "
    f"in less than {HALF:.0%} of those that were run; in between it holds in part. Where seeds can "
    "be paired, a case counts only if the difference is sure at 5% after Holm's correction: the "
    f"claim then holds if at least {MOST:.0%} of its cases surely have it so, does not hold if "
    f"more of them surely have it the other way, and is open if less than {HALF:.0%} are decided. "
    "Mathematics must hold in every case."
)
READING_SCHEDULES = {  # of a reading, on synthetic and on real sets
    "clean": ("fast", "fast"),
    "replay": ("paper", "fast"),
}
SOURCES = TABLE_NAMES | {
    "figure2": "Figure 2",
    "theorem1": "Theorem 1",
    "example1": "Example 1",
    "example2": "Example 2",
    "section2": "Section 2",
}


class Pair(NamedTuple):
    """That a method is ahead of (the best of) others, or behind (the worst of) them."""

    method: str
    others: tuple
    sign: int = 1


class Equal(NamedTuple):
    """That two methods do not differ significantly.

    Of the published figures: by at most two combined standard errors; of ours: not surely.
    """

    method: str
    other: str


class Claim(NamedTuple):
    """A conclusion of the paper, in our words, and how to tell whether it holds in a case."""

    key: str
    table: str
    claim: str
    case: str  # what must hold in one case
    # a Pair, an Equal, or a function: of the table's figures, a row per data set and label
    # frequency and a column per method; for mathematics of nothing, for Figure 2 of estimates
    holds: Pair | Equal | Callable
    c: tuple | None = None  # the label frequencies it speaks of
    datasets: tuple | None = None
    methods: tuple = ()  # whose figures the function needs
    per: str = "cell"  # a case is a data set at a label frequency, a "dataset" or the "table"
    same_question: bool = True  # whether the clean reading compares what the published one does


# The claims

VARIANTS = ("VP", "VP-A3", "VP-IF")
WITH_S = ("VP+S", "LBE+S")
RULE_PAIR = Pair("VP-B+S", ("VP-B",))
FEW, MANY = (0.02, 0.1), (0.5, 0.7, 0.9)


def _gain(t):
    return t["VP-B+S"] - t["VP-B"]


def _by_frequency(values):
    return values.unstack("label_frequency")


CLAIMS = (
    Claim(
        "theorem-rule", "theorem1",
        "(i), (ii) The rule y(x) > (1 + s(x))/2 on unlabelled rows, with 1 on labelled ones, has "
        "the least error of all rules of (x, S), and its risk is the stated one.",
        "in a random population of three points none of the 64 rules errs less",
        lambda: _no_rule_is_better(),
    ),
    Claim(
        "theorem-conservative", "theorem1",
        "The rule is more conservative on unlabelled rows than the usual one.",
        "in a random population it calls no unlabelled point positive that y(x) > 1/2 does not",
        lambda: pd.Series(
            [bool((rules.x_only_rule(y) >= rules.augmented_rule(y, s)).all())
             for y, s, _ in _populations()]
        ),
    ),
    Claim(
        "theorem-bounds", "theorem1",
        "(iii) The excess risk of the x-only rule lies between the stated bounds.",
        "it does in a random population of three points",
        lambda: pd.Series(
            [r.lower - TOLERANCE <= r.total <= r.upper + TOLERANCE
             for r in (risk.excess_risk(*population) for population in _populations())]
        ),
    ),
    Claim(
        "theorem-odds", "theorem1",
        "(iv) Not being labelled multiplies the odds of class 1 by 1 - e(x).",
        "it does in a random population of three points",
        lambda: pd.Series(
            [bool(np.abs(rules.augmented_odds(y, s) * (1 - y) / y - (1 - s / y)).max() < 1e-9)
             for y, s, _ in _populations()]
        ),
    ),
    Claim(
        "example-1", "example1",
        "The excess risk of the probit example has the stated closed form.",
        "quadrature agrees, for one of 41 cut-offs a",
        lambda: _example_1(),
    ),
    Claim(
        "example-2", "example2",
        "The augmented posterior of two logistic curves has the stated closed form.",
        "both agree on a grid of x, for one of 15 pairs of slopes",
        lambda: _example_2(),
    ),
    Claim(
        "traditional-best", "table1",
        "In the traditional setting VP-B has the highest accuracy of the VAE-PU variants in the "
        "vast majority of cases.",
        "VP-B is ahead of the best of VP, VP-A3, VP-IF",
        Pair("VP-B", VARIANTS), same_question=False,
    ),
    Claim(
        "traditional-margin", "table1",
        "VP-B's lead over the other variants goes up to five points.",
        "the largest lead over the best of the others rounds to 5 points or more",
        lambda t: pd.Series([(t["VP-B"] - t[list(VARIANTS)].max(axis=1)).max() >= 4.5]),
        methods=("VP-B", *VARIANTS), per="table", same_question=False,
    ),
    Claim(
        "traditional-rare-labels", "table1",
        "At c = 0.02 VP-B is outperformed on the MNIST sets.",
        "VP-B is behind the best of the others there",
        lambda t: t["VP-B"] < t[list(VARIANTS)].max(axis=1),
        c=(0.02,), datasets=("mnist_3v5", "mnist_ove"), methods=("VP-B", *VARIANTS),
        same_question=False,
    ),
    Claim(
        "traditional-many-labels", "table1",
        "At c = 0.9 VP-B is about as good as the best alternative.",
        "at c = 0.9 VP-B is at most 1 point behind the best variant",
        lambda t: t[list(VARIANTS)].max(axis=1) - t["VP-B"] <= 1,
        c=(0.9,), methods=("VP-B", *VARIANTS), same_question=False,
    ),
    Claim(
        "synthetic-low-c", "table2",
        "With the rule, VP-B+S is the best method on synthetic data when labels are rare.",
        "at c <= 0.3 VP-B+S is ahead of the best of VP+S and LBE+S",
        Pair("VP-B+S", WITH_S), c=(0.02, 0.1, 0.3), same_question=False,
    ),
    Claim(
        "synthetic-lbe-low-c", "table2",
        "LBE+S does not work well when labels are rare.",
        "at c <= 0.1 LBE+S is behind both others",
        Pair("LBE+S", ("VP+S", "VP-B+S"), -1), c=FEW,
    ),
    Claim(
        "synthetic-lbe-overtakes", "table2",
        "LBE+S tends to overtake VP-B+S at c = 0.7.",
        "at c = 0.7 LBE+S is ahead of VP-B+S",
        Pair("LBE+S", ("VP-B+S",)), c=(0.7,),
    ),
    Claim(
        "synthetic-lbe-falls", "table2",
        "LBE+S levels off and falls at c = 0.9.",
        "per data set, LBE+S at c = 0.9 is below LBE+S at c = 0.7",
        lambda t: (lambda f: f[0.9] < f[0.7])(_by_frequency(t["LBE+S"])),
        c=(0.7, 0.9), methods=("LBE+S",), per="dataset",
    ),
    Claim(
        "synthetic-vp-at-0.9", "table2",
        "VP+S is better than VP-B+S at c = 0.9.",
        "VP+S is ahead of VP-B+S at c = 0.9",
        Pair("VP+S", ("VP-B+S",)), c=(0.9,), same_question=False,
    ),
    Claim(
        "synthetic-vp-elsewhere", "table2",
        "VP+S is outperformed by VP-B+S at all other label frequencies.",
        "VP-B+S is ahead of VP+S at c < 0.9",
        Pair("VP-B+S", ("VP+S",)), c=(0.02, 0.1, 0.3, 0.5, 0.7), same_question=False,
    ),
    Claim(
        "prophets-agree", "table4",
        "With few labels the prophets are nearly equivalent.",
        "at c <= 0.1 the U-accuracies of S-Prophet and Y-Prophet differ by at most 1 point",
        lambda t: (t["S-Prophet"] - t["Y-Prophet"]).abs() <= 1,
        c=FEW, methods=("S-Prophet", "Y-Prophet"),
    ),
    Claim(
        "prophets-part", "table4",
        "At c = 0.9 the prophets differ by some twenty points.",
        "at c = 0.9 S-Prophet is ahead of Y-Prophet by more than 15 points",
        lambda t: t["S-Prophet"] - t["Y-Prophet"] > 15,
        c=(0.9,), methods=("S-Prophet", "Y-Prophet"),
    ),
    Claim(
        "synthetic-rule", "table4",
        "The rule raises the U-accuracy of VP-B in almost every case on synthetic data.",
        "VP-B+S is ahead of VP-B",
        RULE_PAIR, same_question=False,
    ),
    Claim(
        "synthetic-sign-test", "table4",
        "A sign test over the cells rejects that the rule adds nothing on synthetic data.",
        "its one-sided p-value is below 5%",
        lambda t: pd.Series([sign_test(t, "VP-B+S", "VP-B").p_value < 0.05]),
        methods=("VP-B", "VP-B+S"), per="table", same_question=False,
    ),
    Claim(
        "synthetic-gain-grows", "table4",
        "The gain tends to increase with the label frequency.",
        "per data set, the mean gain of VP-B+S over VP-B is larger at c >= 0.7 than at c <= 0.1",
        lambda t: (lambda f: f[[0.7, 0.9]].mean(axis=1) > f[list(FEW)].mean(axis=1))(
            _by_frequency(_gain(t))
        ),
        c=(*FEW, 0.7, 0.9), methods=("VP-B", "VP-B+S"), per="dataset", same_question=False,
    ),
    Claim(
        "synthetic-gain-small", "table4",
        "The gain of VP-B+S over VP-B is smaller than that of the prophets.",
        "at c >= 0.5 it is below the gain of S-Prophet over Y-Prophet",
        lambda t: _gain(t) < t["S-Prophet"] - t["Y-Prophet"],
        c=MANY, methods=("VP-B", "VP-B+S", "S-Prophet", "Y-Prophet"), same_question=False,
    ),
    Claim(
        "y-holds-back", "table4",
        "It is the estimate of y(x), not that of s(x), that holds VP-B+S back.",
        "told the true y(x), VP-B+S is ahead of VP-B+S told the true s(x)",
        Pair("VP-B+S + true y(x)", ("VP-B+S + true s(x)",)),
    ),
    Claim(
        "true-y-is-enough", "table4",
        "Told the true y(x), VP-B+S does not deviate significantly from S-Prophet.",
        "the U-accuracies of the two do not differ significantly",
        Equal("S-Prophet", "VP-B+S + true y(x)"),
    ),
    Claim(
        "real-best", "table3",
        "With the rule, VP-B+S is the best method in the vast majority of real cases.",
        "VP-B+S is ahead of the best of VP+S and LBE+S",
        Pair("VP-B+S", WITH_S), same_question=False,
    ),
    Claim(
        "real-cdc", "table3",
        "On CDC Diabetes LBE+S outperforms VP-B+S at c = 0.5 and 0.7.",
        "LBE+S is ahead of VP-B+S there",
        Pair("LBE+S", ("VP-B+S",)), c=(0.5, 0.7), datasets=("cdc_diabetes",),
    ),
    Claim(
        "real-dependence-on-c", "table3",
        "Performance depends much less on c than in the traditional setting of Table 1.",
        "per data set, the range of VP-B+S over c is at most half of the range of VP-B in Table 1",
        lambda t: (lambda f: f["VP-B+S"] <= f["VP-B of Table 1"] / 2)(
            t.groupby("dataset").max() - t.groupby("dataset").min()
        ),
        methods=("VP-B+S", "VP-B of Table 1"), per="dataset", same_question=False,
    ),
    Claim(
        "real-rule", "table5",
        "On real data, too, the rule raises the U-accuracy of VP-B systematically.",
        "VP-B+S is ahead of VP-B",
        RULE_PAIR, same_question=False,
    ),
    Claim(
        "real-sign-test", "table5",
        "A sign test over the cells rejects that the rule adds nothing on real data.",
        "its one-sided p-value is below 5%",
        lambda t: pd.Series([sign_test(t, "VP-B+S", "VP-B").p_value < 0.05]),
        methods=("VP-B", "VP-B+S"), per="table", same_question=False,
    ),
    Claim(
        "real-gain-small", "table5",
        "On real data the gain is small.",
        "VP-B+S is within 3 points of VP-B",
        lambda t: _gain(t).abs() <= 3, methods=("VP-B", "VP-B+S"), same_question=False,
    ),
    Claim(
        "balanced-synthetic", "tableA2",
        "In U-balanced accuracy VP-B+S is still the best of the methods with the rule, on "
        "synthetic data.",
        "VP-B+S is ahead of the best of VP+S and LBE+S",
        Pair("VP-B+S", WITH_S), same_question=False,
    ),
    Claim(
        "balanced-real", "tableA3",
        "In U-balanced accuracy VP-B+S is still the best of the methods with the rule, on real "
        "data.",
        "VP-B+S is ahead of the best of VP+S and LBE+S",
        Pair("VP-B+S", WITH_S), same_question=False,
    ),
    Claim(
        "precision-outweighs-recall", "section2",
        "The precision that the rule gains outweighs the recall that it loses.",
        "VP-B+S gains more U-precision on VP-B than it loses U-recall",
        lambda t: t["precision of VP-B+S"] + t["recall of VP-B+S"]
        > t["precision of VP-B"] + t["recall of VP-B"],
        methods=tuple(
            f"{what} of {name}" for what in ("precision", "recall") for name in ("VP-B+S", "VP-B")
        ),
    ),
    Claim(
        "golden-few", "figure2",
        "On CIFAR VA at c = 0.9 few unlabelled rows lie where the two rules differ.",
        "less than a tenth of the unlabelled test rows",
        lambda rows: pd.Series([rows["golden"].mean() < 0.1]),
    ),
    Claim(
        "golden-negative", "figure2",
        "Those that do are mostly negative.",
        "less than half of them are positive",
        lambda rows: pd.Series([rows.loc[rows["golden"], "class"].mean() < 0.5]),
    ),
    Claim(
        "extreme-y", "figure2",
        "The estimated y(x) tends to the extremes of 0 and 1.",
        "more than 75% of the unlabelled rows have y(x) below 0.1 or above 0.9",
        lambda rows: pd.Series([((rows["y"] < 0.1) | (rows["y"] > 0.9)).mean() > MOST]),
    ),
)  # fmt: skip


class SignTest(NamedTuple):
    """A binomial sign test of two methods over the cells of a table."""

    wins: int
    cells: int
    p_value: float


def sign_test(table, method, other):
    """Test that ``method`` is ahead of ``other`` in more than half of the cells, exactly.

    Cells with equal figures, or with one missing, do not count. The p-value is one-sided: the
    probability of so many wins, or more, if each cell were the toss of a fair coin. Cells share
    rows and models, so it is a guide rather than a proof.

    Parameters
    ----------
    table : pandas.DataFrame
        What :func:`pu_utils.reproduction.tables.figures` gives.
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
    """The figures of one source, table by table, and its seeds where it has any."""

    def __init__(self, metrics, source, design):
        self.metrics, self.source, self.design = metrics, source, design
        self.reading = "clean" if source == "published" else source
        self.schedules = READING_SCHEDULES[self.reading]
        self.comparisons = {
            schedule: compare(metrics, design, schedule, self.reading)
            for schedule in set(self.schedules)
        }

    def table(self, claim, source=None):
        """The figures that a claim is about, a row per data set and label frequency."""
        source = source or ("published" if self.source == "published" else "ours")
        comparison = self.comparisons[self._schedule(claim)]
        if claim.table == "section2":
            return self._precision_and_recall()
        wide = figures(comparison, claim.table, source)
        if claim.table == "table3":
            traditional = figures(comparison, "table1", source)["VP-B"]
            wide = wide.assign(**{"VP-B of Table 1": traditional})
        chosen = np.ones(len(wide), dtype=bool)
        for level, wanted in (("label_frequency", claim.c), ("dataset", claim.datasets)):
            if wanted is not None:
                chosen &= wide.index.get_level_values(level).isin(wanted)
        return wide[chosen]

    def seeds(self, claim, methods):
        """The same figures of these methods seed by seed."""
        metric = {"table1": "accuracy"}.get(claim.table, "u_accuracy")
        metric = "u_balanced_accuracy" if claim.table.startswith("tableA") else metric
        seeds = self._seeds(metric, self._schedule(claim)).drop(columns="LBE+S", errors="ignore")
        seeds = seeds.rename(columns={"LBE+S (released)": "LBE+S"}).reindex(columns=methods)
        return seeds[seeds.index.droplevel("seed").isin(self.table(claim).index)].dropna()

    def distance(self, claim):
        """Mean distance of our figures that a claim is about from the published ones, in points."""
        if claim.table == "section2":
            return np.nan
        methods = list(_methods(claim))
        ours, paper = (self.table(claim, source)[methods] for source in ("ours", "published"))
        return (ours - paper).abs().mean(axis=None)

    @cache  # noqa: B019, lives no longer than a judgement
    def _seeds(self, metric, schedule):
        return by_seed(self.metrics, metric, self.design, schedule, self.reading)

    def _schedule(self, claim):
        made = claim.table in ("table2", "table4", "tableA2", "tableA4")
        return self.schedules[0 if made else 1]

    def _precision_and_recall(self):
        wide = {}
        for what in ("precision", "recall"):
            seeds = self._seeds(f"u_{what}", "fast")
            means = seeds.reindex(columns=["VP-B", "VP-B+S"]).groupby(CELL).mean()
            wide |= {f"{what} of {name}": means[name] for name in means}
        return pd.DataFrame(wide)


def judge(metrics, keys=None, estimates=None, design="released"):
    """The three answers to each claim, how far the figures are apart, and the verdict.

    Parameters
    ----------
    metrics : pandas.DataFrame
        What :func:`pu_utils.reproduction.read_metrics` gives.
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
        ``clean_points`` and ``replay_points``, the mean distance from the published figures
        (missing where the two compare different things); and the ``verdict``.
    """
    wanted = [claim for claim in CLAIMS if keys is None or claim.key in keys]
    sources = ("published", *READING_SCHEDULES)
    evidence = {source: Evidence(metrics, source, design) for source in sources}
    rows = [_judged(claim, evidence, estimates) for claim in wanted]
    table = pd.DataFrame(rows).set_index("key")
    return table if keys is None else table.loc[list(keys)]


def _judged(claim, evidence, estimates):
    answers = {source: Answer("", "") for source in evidence}
    distances = dict.fromkeys(READING_SCHEDULES, np.nan)
    if claim.table in ("theorem1", "example1", "example2"):
        cases = claim.holds()
        answer = "yes" if cases.all() else "no"
        answers["clean"] = Answer(answer, f"in {cases.sum()} of {len(cases)} cases")
    elif claim.table == "figure2":
        cases = [] if estimates is None else claim.holds(golden_area(estimates))
        answers["clean"] = _counted(sum(cases), len(cases), 1)
    else:
        printed = claim.table != "section2"  # which is an expectation, without figures
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


def _methods(claim):
    """Whose figures a claim is about."""
    if isinstance(claim.holds, Pair):
        return (claim.holds.method, *claim.holds.others)
    return tuple(claim.holds) if isinstance(claim.holds, Equal) else claim.methods


def _answer(claim, evidence):
    table, methods = evidence.table(claim), list(_methods(claim))
    if not isinstance(claim.holds, Pair | Equal):
        return _by_means(claim, table)
    if evidence.source == "published":
        errors = evidence.table(claim, "published_se") if isinstance(claim.holds, Equal) else None
        cases = _printed(claim.holds, table[methods].dropna(), errors)
        return _counted(int(cases.sum()), len(cases), len(table))
    seeds = evidence.seeds(claim, methods)
    if isinstance(claim.holds, Equal):
        found = paired(seeds[methods[0]] - seeds[methods[1]])
        return _counted(int((found["side"] == "open").sum()), len(found), len(table))
    return _decided(paired(_leads(claim.holds, seeds)), len(table))


def _printed(holds, table, errors):
    """In which cells the printed means have it so."""
    if isinstance(holds, Pair):
        rival = (holds.sign * table[list(holds.others)]).max(axis=1)
        return holds.sign * table[holds.method] > rival
    difference = (table[holds.method] - table[holds.other]).abs()
    return difference <= 2 * np.hypot(errors[holds.method], errors[holds.other])


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


def _leads(pair, seeds):
    """By seed, how far the method of a pair is ahead of the best of the others.

    Which of several others is the best (the worst, if the claim is "behind") is judged by their
    means, cell by cell.
    """
    if seeds.empty:
        return pd.Series(dtype=float, index=seeds.index)
    others = pair.sign * seeds[list(pair.others)]
    rival = others.groupby(CELL).transform("mean").idxmax(axis=1)
    of_rival = others.to_numpy()[np.arange(len(others)), others.columns.get_indexer(rival)]
    return pair.sign * seeds[pair.method] - of_rival


def _by_means(claim, table):
    """The answer from one figure per method and cell; what was not run is left out."""
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
    cases = claim.holds(known)
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


# Questions to the mathematics

TOLERANCE = 1e-12


def _populations(n=200, points=3):
    """Random populations: y and s at a few points, and the points' probabilities."""
    rng = np.random.default_rng(0)
    for _ in range(n):
        y = rng.random(points)
        yield y, y * rng.random(points), rng.dirichlet(np.ones(points))


def _no_rule_is_better():
    """No rule of (x, S) errs less than the augmented one; its risk is the one stated."""

    def holds(y, s, weights):
        # what calling an unlabelled, a labelled row 0 or 1 costs at each point
        cost = np.stack([y - s, 1 - y]), np.stack([s, 0 * s])
        points = np.arange(len(y))
        errors = [
            weights
            @ (cost[0][list(rule[: len(y)]), points] + cost[1][list(rule[len(y) :]), points])
            for rule in product((0, 1), repeat=2 * len(y))
        ]
        own = rules.augmented_rule(y, s, np.zeros_like(y)).astype(int)
        error = weights @ cost[0][own, points]
        stated = risk.augmented_bayes_risk(y, s, weights)
        return abs(min(errors) - error) < TOLERANCE and abs(error - stated) < TOLERANCE

    return pd.Series([holds(*population) for population in _populations()])


def _example_1(n=20_000):
    """The closed form of the excess risk, against the midpoint rule in z = Phi(x)."""
    from scipy.stats import norm

    z = (np.arange(n) + 0.5) / n
    cases = []
    for a in np.linspace(-2, 2, 41):
        total = risk.excess_risk(z, z * (norm.ppf(z) > a)).total
        closed = (norm.cdf(a) - 1) ** 2 / 2 if a > 0 else 1 / 4 - norm.cdf(a) ** 2 / 2
        cases.append(abs(total - closed) < 2 / n)  # a cell of the grid, cut by a
    return pd.Series(cases)


def _example_2():
    """The closed form of the augmented posterior, on a grid of slopes."""
    from scipy.special import expit

    x, cases = np.linspace(-4, 4, 33), []
    for alpha, beta in product((0.5, 1, 2), (0, 0.5, 1, 2, 4)):
        y = expit(alpha * x)
        posterior = rules.augmented_posterior(y, y * expit(beta * x))
        closed = 1 / (1 + np.exp(-(alpha - beta) * x) + np.exp(-alpha * x))
        cases.append(bool(np.abs(posterior - closed).max() < 1e-9))
    return pd.Series(cases)


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
