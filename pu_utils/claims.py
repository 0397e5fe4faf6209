"""What the paper proves and concludes, put to its own figures and to ours.

A claim is cut into cases, most often one per data set and label frequency, and in each of them it
holds or it does not. The same question is asked of the published figures and of ours, and one
rule makes a verdict of the answers (:func:`verdict`). The cases of the mathematics are random
populations or points of a grid, computed on the spot; those of Figure 2 come from recorded
estimates.
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from pu_utils import risk, rules
from pu_utils.tables import TABLE_NAMES

MOST = 0.75  # share of the cases
HALF = 0.5
RULE = (
    f"reproduced: holds in at least {MOST:.0%} of the cases we ran, and we ran at least "
    f"{MOST:.0%} of them; not reproduced: holds in less than half of those we ran; not run: we "
    "ran none; else reproduced in part. Mathematics must hold in every case"
)
OURS = {"LBE+S": "LBE+S (released)"}  # the paper's figures are those of its program


SOURCES = TABLE_NAMES | {
    "figure2": "Figure 2",
    "theorem1": "Theorem 1",
    "example1": "Example 1",
    "example2": "Example 2",
}


class Claim(NamedTuple):
    """A conclusion of the paper, in our words, and how to tell whether it holds in a case."""

    key: str
    table: str
    claim: str
    case: str  # what must hold in one case
    where: str  # the page, and the section in it, that shows the figures
    holds: Callable  # figures of the table -> True, False or NaN (not run) for each case;
    # Figure 2: recorded estimates -> the same; mathematics: nothing -> the same


def figures(comparison, table, source):
    """The figures of a table, a row per data set and label frequency and a column per method.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`pu_utils.tables.compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".
    source : {"published", "ours"}
        "LBE+S" of ours is the released variant, as in the paper.
    """
    rows = comparison[comparison["table"] == table]
    wide = rows.pivot(index=["dataset", "label_frequency"], columns="method", values=source)
    return wide.assign(**{k: wide[v] for k, v in OURS.items() if source == "ours" and v in wide})


def verdict(cases, most=MOST, half=HALF):
    """The verdict on a claim, given in which cases it holds (NaN: not run); see ``RULE``.

    Examples
    --------
    >>> verdict(pd.Series([True, True, True, False])), verdict(pd.Series([True, None, None]))
    ('reproduced', 'reproduced in part')
    """
    known = cases.dropna().astype(bool)
    if known.empty:
        return "not run"
    if known.mean() < half:
        return "not reproduced"
    enough = known.mean() >= most and len(known) >= MOST * len(cases)
    return "reproduced" if enough else "reproduced in part"


class SignTest(NamedTuple):
    """A binomial sign test of two methods over the cells of a table."""

    wins: int
    cells: int
    p_value: float


def sign_test(table_figures, method, other):
    """Test that ``method`` is ahead of ``other`` in more than half of the cells, exactly.

    Cells with equal figures, or with one missing, do not count. The p-value is one-sided: the
    probability of so many wins, or more, if each cell were the toss of a fair coin. Cells share
    rows and models, so it is a guide rather than a proof.

    Parameters
    ----------
    table_figures : pandas.DataFrame
        What :func:`figures` gives.
    method, other : str

    Examples
    --------
    >>> table = pd.DataFrame({"VP-B+S": [2.0, 3.0, 1.0], "VP-B": [1.0, 2.0, 0.0]})
    >>> sign_test(table, "VP-B+S", "VP-B")
    SignTest(wins=3, cells=3, p_value=0.125)
    """
    from scipy.stats import binomtest  # it takes its time, and `status` would have to wait for it

    difference = (table_figures[method] - table_figures[other]).dropna()
    wins, cells = int((difference > 0).sum()), int((difference != 0).sum())
    p_value = binomtest(wins, cells, alternative="greater").pvalue if cells else float("nan")
    return SignTest(wins, cells, float(p_value))


# Questions to the figures of a table


def _best(method, among, c=None, datasets=None):
    """``method`` has the highest figure, as printed, of those in ``among``."""

    def holds(table):
        rows = _select(table, c, datasets)[list(among)].round(2)
        return rows[method].eq(rows.max(axis=1)).where(rows.notna().all(axis=1))

    return holds


def _worst(method, among, c):
    def holds(table):
        return _best(method, among, c)(-table)

    return holds


def _ahead(method, other, c=None, datasets=None, by=0.0):
    """``method`` is ahead of ``other`` by more than ``by`` points."""

    def holds(table):
        rows = _select(table, c, datasets)
        difference = rows[method] - rows[other]
        return difference.gt(by).where(difference.notna())

    return holds


def _near(method, other, points, c):
    def holds(table):
        rows = _select(table, c)
        difference = (rows[method] - rows[other]).abs()
        return difference.le(points).where(difference.notna())

    return holds


def _near_best(method, among, points, c):
    def holds(table):
        rows = _select(table, c)[list(among)]
        behind = rows.max(axis=1) - rows[method]
        return behind.le(points).where(rows.notna().all(axis=1))

    return holds


def _lead_reaches(method, others, points):
    """Somewhere the lead over the best of the others is at least so many points: one case.

    That it is nowhere can be said only if most cells were run.
    """

    def holds(table):
        lead = table[method] - table[list(others)].max(axis=1, skipna=False)
        reached, known = bool(lead.max() >= points), lead.notna().mean() >= MOST
        return pd.Series([reached if reached or known else np.nan], dtype=object)

    return holds


def _rejects(method, other):
    """The sign test finds ``method`` ahead of ``other``: one case, if most cells were run."""

    def holds(table):
        known = (table[method] - table[other]).notna().mean() >= MOST
        rejected = sign_test(table, method, other).p_value < 0.05
        return pd.Series([rejected if known else np.nan], dtype=object)

    return holds


def _falls(method, low, high):
    """Per data set, the figure at c = ``high`` is below that at c = ``low``."""

    def holds(table):
        by_frequency = table[method].unstack("label_frequency")
        change = by_frequency[high] - by_frequency[low]
        return change.lt(0).where(change.notna())

    return holds


def _overtaken_only_at(high, method, other):
    """``other`` is ahead at c = ``high``, and ``method`` everywhere else."""

    def holds(table):
        difference = table[other] - table[method]
        expected = np.where(_frequencies(table) == high, 1, -1)
        return (difference * expected).gt(0).where(difference.notna())

    return holds


def _gain_grows(method, other):
    """Per data set, the gain at c >= 0.7 is above that at c <= 0.1."""

    def holds(table):
        gain = (table[method] - table[other]).unstack("label_frequency")
        high, low = (gain[c].mean(axis=1, skipna=False) for c in ([0.7, 0.9], [0.02, 0.1]))
        return high.gt(low).where((high + low).notna())

    return holds


def _closer(target, method, other):
    """``method`` is closer to ``target`` than ``other`` is."""

    def holds(table):
        near, far = ((table[name] - table[target]).abs() for name in (method, other))
        return near.lt(far).where((near + far).notna())

    return holds


def _smaller_gain(ours, theirs, c):
    """The gain ``ours`` (method, other) is below the gain ``theirs``."""

    def holds(table):
        rows = _select(table, c)
        small, large = (rows[method] - rows[other] for method, other in (ours, theirs))
        return small.lt(large).where((small + large).notna())

    return holds


def _frequencies(table):
    return table.index.get_level_values("label_frequency")


def _select(table, c=None, datasets=None):
    chosen = np.ones(len(table), dtype=bool)
    if c is not None:
        chosen &= _frequencies(table).isin(c)
    if datasets is not None:
        chosen &= table.index.get_level_values("dataset").isin(datasets)
    return table[chosen]


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


def _bounds_hold():
    found = [risk.excess_risk(*population) for population in _populations()]
    return pd.Series([r.lower - TOLERANCE <= r.total <= r.upper + TOLERANCE for r in found])


def _odds_ratio():
    """Unlabelled odds over unconditional odds are 1 - e(x)."""
    ratios = [rules.augmented_odds(y, s) * (1 - y) / y - (1 - s / y) for y, s, _ in _populations()]
    return pd.Series([bool(np.abs(ratio).max() < 1e-9) for ratio in ratios])


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


# Questions to the estimates behind Figure 2


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


def _few_golden(estimates):
    return pd.Series([bool(golden_area(estimates)["golden"].mean() < 0.1)])


def _golden_negative(estimates):
    rows = golden_area(estimates)
    return pd.Series([bool(rows.loc[rows["golden"], "class"].mean() < 0.5)])


def _extreme(estimates):
    y = golden_area(estimates)["y"]
    return pd.Series([bool(((y < 0.1) | (y > 0.9)).mean() > MOST)])


# The claims

VARIANTS = ("VP", "VP-A3", "VP-IF", "VP-B")
WITH_S = ("VP+S", "VP-B+S", "LBE+S")
PROPHETS = ("S-Prophet", "Y-Prophet")
MNIST = ("mnist_3v5", "mnist_ove")
TRADITIONAL = "10_traditional#the-verdict"
SYNTHETIC_METHODS = "11_synthetic#which-method"
SYNTHETIC_RULE = "11_synthetic#how-much-and-what-holds-it-back"
SYNTHETIC_SIGNS = "11_synthetic#the-sign-test"
SYNTHETIC_BALANCED = "11_synthetic#and-in-balanced-accuracy"
REAL_METHODS = "12_real#which-method"
REAL_RULE = "12_real#what-does-the-rule-add"
REAL_SIGNS = "12_real#the-sign-test"
REAL_BALANCED = "12_real#and-in-balanced-accuracy"
SMALL_GAIN = "13_small_gain#the-figure-and-two-beside-it"

CLAIMS = (
    Claim(
        "theorem-rule", "theorem1",
        "(i), (ii) The rule y(x) > (1 + s(x))/2 on unlabelled rows, with 1 on labelled ones, has "
        "the least error of all rules of (x, S), and its risk is the stated one.",
        "in a random population of three points none of the 64 rules errs less",
        "02_theorem_1#a-check-that-needs-no-calculus", _no_rule_is_better,
    ),
    Claim(
        "theorem-bounds", "theorem1",
        "(iii) The excess risk of the x-only rule lies between the stated bounds.",
        "it does in a random population of three points",
        "02_theorem_1#iii-the-excess-risk", _bounds_hold,
    ),
    Claim(
        "theorem-odds", "theorem1",
        "(iv) Not being labelled multiplies the odds of class 1 by 1 - e(x).",
        "it does in a random population of three points",
        "02_theorem_1#iv-the-odds-ratio-and-the-paper-s-remarks", _odds_ratio,
    ),
    Claim(
        "example-1", "example1",
        "The excess risk of the probit example has the stated closed form.",
        "quadrature agrees, for one of 41 cut-offs a",
        "03_example_1#by-quadrature", _example_1,
    ),
    Claim(
        "example-2", "example2",
        "The augmented posterior of two logistic curves has the stated closed form.",
        "both agree on a grid of x, for one of 15 pairs of slopes",
        "04_example_2#the-closed-form", _example_2,
    ),
    Claim(
        "traditional-best", "table1",
        "In the traditional setting VP-B has the highest accuracy of the VAE-PU variants in the "
        "vast majority of cases.",
        "VP-B has the highest accuracy of VP, VP-A3, VP-IF, VP-B",
        TRADITIONAL, _best("VP-B", VARIANTS),
    ),
    Claim(
        "traditional-margin", "table1",
        "VP-B's lead over the other variants goes as far as about five points.",
        "somewhere the lead over the best of the others is at least 4 points",
        TRADITIONAL, _lead_reaches("VP-B", VARIANTS[:-1], 4),
    ),
    Claim(
        "traditional-rare-labels", "table1",
        "At c = 0.02 VP-B is outperformed on the MNIST sets.",
        "VP-B is not the best at c = 0.02 on a set of MNIST digits",
        TRADITIONAL,
        lambda table: _best("VP-B", VARIANTS, (0.02,), MNIST)(table).map(
            {True: False, False: True}
        ),
    ),
    Claim(
        "traditional-many-labels", "table1",
        "At c = 0.9 VP-B is about as good as the best alternative.",
        "at c = 0.9 VP-B is at most 1 point behind the best variant",
        TRADITIONAL, _near_best("VP-B", VARIANTS, 1, (0.9,)),
    ),
    Claim(
        "synthetic-low-c", "table2",
        "With the rule, VP-B+S is the best method on synthetic data when labels are rare.",
        "at c <= 0.3 VP-B+S has the highest U-accuracy of VP+S, VP-B+S, LBE+S",
        SYNTHETIC_METHODS, _best("VP-B+S", WITH_S, (0.02, 0.1, 0.3)),
    ),
    Claim(
        "synthetic-lbe-low-c", "table2",
        "LBE+S does not work well when labels are rare.",
        "at c <= 0.1 LBE+S has the lowest U-accuracy of the three",
        SYNTHETIC_METHODS, _worst("LBE+S", WITH_S, (0.02, 0.1)),
    ),
    Claim(
        "synthetic-lbe-overtakes", "table2",
        "LBE+S tends to overtake VP-B+S at c = 0.7.",
        "at c = 0.7 LBE+S is ahead of VP-B+S",
        SYNTHETIC_METHODS, _ahead("LBE+S", "VP-B+S", (0.7,)),
    ),
    Claim(
        "synthetic-lbe-falls", "table2",
        "LBE+S levels off and falls at c = 0.9.",
        "per data set, LBE+S at c = 0.9 is below LBE+S at c = 0.7",
        SYNTHETIC_METHODS, _falls("LBE+S", 0.7, 0.9),
    ),
    Claim(
        "synthetic-vp-at-0.9", "table2",
        "VP+S is better than VP-B+S at c = 0.9 and worse everywhere else.",
        "VP+S is ahead of VP-B+S at c = 0.9, behind it elsewhere",
        SYNTHETIC_METHODS, _overtaken_only_at(0.9, "VP-B+S", "VP+S"),
    ),
    Claim(
        "prophets-agree", "table4",
        "With few labels the prophets are nearly equivalent.",
        "at c <= 0.1 the U-accuracies of S-Prophet and Y-Prophet differ by at most 1 point",
        SYNTHETIC_RULE, _near(*PROPHETS, 1, (0.02, 0.1)),
    ),
    Claim(
        "prophets-part", "table4",
        "At c = 0.9 the prophets differ by some twenty points.",
        "at c = 0.9 S-Prophet is ahead of Y-Prophet by more than 15 points",
        SYNTHETIC_RULE, _ahead(*PROPHETS, (0.9,), by=15),
    ),
    Claim(
        "synthetic-rule", "table4",
        "The rule raises the U-accuracy of VP-B in almost every case.",
        "VP-B+S is ahead of VP-B",
        SYNTHETIC_RULE, _ahead("VP-B+S", "VP-B"),
    ),
    Claim(
        "synthetic-sign-test", "table4",
        "A sign test over the cells rejects that the rule adds nothing on synthetic data.",
        "its one-sided p-value is below 5%",
        SYNTHETIC_SIGNS, _rejects("VP-B+S", "VP-B"),
    ),
    Claim(
        "synthetic-gain-grows", "table4",
        "The gain tends to increase with the label frequency.",
        "per data set, the mean gain of VP-B+S over VP-B is larger at c >= 0.7 than at c <= 0.1",
        SYNTHETIC_RULE, _gain_grows("VP-B+S", "VP-B"),
    ),
    Claim(
        "synthetic-gain-small", "table4",
        "The gain of VP-B+S over VP-B is smaller than that of the prophets.",
        "at c >= 0.5 it is below the gain of S-Prophet over Y-Prophet",
        SYNTHETIC_RULE,
        _smaller_gain(("VP-B+S", "VP-B"), PROPHETS, (0.5, 0.7, 0.9)),
    ),
    Claim(
        "y-holds-back", "table4",
        "It is the estimate of y(x), not that of s(x), that holds VP-B+S back.",
        "told the true y(x), VP-B+S is closer to S-Prophet than told the true s(x)",
        SYNTHETIC_RULE,
        _closer("S-Prophet", "VP-B+S + true y(x)", "VP-B+S + true s(x)"),
    ),
    Claim(
        "true-y-is-enough", "table4",
        "Told the true y(x), VP-B+S does not deviate significantly from S-Prophet.",
        "the U-accuracies of the two differ by at most 1 point",
        SYNTHETIC_RULE,
        lambda table: _near("S-Prophet", "VP-B+S + true y(x)", 1, _frequencies(table))(table),
    ),
    Claim(
        "real-best", "table3",
        "With the rule, VP-B+S is the best method in the vast majority of real cases.",
        "VP-B+S has the highest U-accuracy of VP+S, VP-B+S, LBE+S",
        REAL_METHODS, _best("VP-B+S", WITH_S),
    ),
    Claim(
        "real-cdc", "table3",
        "On CDC Diabetes LBE+S outperforms VP-B+S at c = 0.5 and 0.7.",
        "LBE+S is ahead of VP-B+S there",
        REAL_METHODS, _ahead("LBE+S", "VP-B+S", (0.5, 0.7), ("cdc_diabetes",)),
    ),
    Claim(
        "real-rule", "table5",
        "On real data, too, the rule raises the U-accuracy of VP-B systematically.",
        "VP-B+S is ahead of VP-B",
        REAL_RULE, _ahead("VP-B+S", "VP-B"),
    ),
    Claim(
        "real-sign-test", "table5",
        "A sign test over the cells rejects that the rule adds nothing on real data.",
        "its one-sided p-value is below 5%",
        REAL_SIGNS, _rejects("VP-B+S", "VP-B"),
    ),
    Claim(
        "real-gain-small", "table5",
        "On real data the gain is small.",
        "VP-B+S is within 3 points of VP-B",
        REAL_RULE, lambda table: _near("VP-B+S", "VP-B", 3, _frequencies(table))(table),
    ),
    Claim(
        "balanced-synthetic", "tableA2",
        "In U-balanced accuracy VP-B+S is still the best of the methods with the rule, on "
        "synthetic data.",
        "VP-B+S has the highest U-balanced accuracy of VP+S, VP-B+S, LBE+S",
        SYNTHETIC_BALANCED, _best("VP-B+S", WITH_S),
    ),
    Claim(
        "balanced-real", "tableA3",
        "In U-balanced accuracy VP-B+S is still the best of the methods with the rule, on real "
        "data.",
        "VP-B+S has the highest U-balanced accuracy of VP+S, VP-B+S, LBE+S",
        REAL_BALANCED, _best("VP-B+S", WITH_S),
    ),
    Claim(
        "golden-few", "figure2",
        "On CIFAR VA at c = 0.9 few unlabelled rows lie where the two rules differ.",
        "less than a tenth of the unlabelled test rows",
        SMALL_GAIN, _few_golden,
    ),
    Claim(
        "golden-negative", "figure2",
        "Those that do are mostly negative.",
        "less than half of them are positive",
        SMALL_GAIN, _golden_negative,
    ),
    Claim(
        "extreme-y", "figure2",
        "The estimated y(x) tends to the extremes of 0 and 1.",
        "more than 75% of the unlabelled rows have y(x) below 0.1 or above 0.9",
        SMALL_GAIN, _extreme,
    ),
)  # fmt: skip


def judge(comparison, keys=None, estimates=None):
    """The verdict on each claim, from our figures and, by the same question, from the paper's.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`pu_utils.tables.compare` gives: one design, one schedule.
    keys : sequence of str, optional
        Keys of the claims wanted; all of them where None.
    estimates : pandas.DataFrame, optional
        What :func:`pu_utils.reproduction.read_estimates` gives for CIFAR VA at c = 0.9.

    Returns
    -------
    pandas.DataFrame
        One row per claim, by its ``key``: ``table``, ``claim``, ``case``, ``where``; how many
        ``cases`` there are, in how many of them the published figures have it so (``published``,
        missing where the paper prints no figures) and whether that is less than half of them
        (``refuted``: the paper's own figures do not bear the claim out); how many we ``ran`` and
        in how many of these it ``holds``; and the ``verdict``.
    """
    wanted = [claim for claim in CLAIMS if keys is None or claim.key in keys]
    rows = [_judged(claim, comparison, estimates) for claim in wanted]
    table = pd.DataFrame(rows).astype({"published": "Int64"}).set_index("key")
    return table if keys is None else table.loc[list(keys)]


def _judged(claim, comparison, estimates):
    published, refuted, every = None, False, {}
    if claim.table in TABLE_NAMES:
        paper, ours = (
            claim.holds(figures(comparison, claim.table, source))
            for source in ("published", "ours")
        )
        published, refuted = int(paper.sum()), verdict(paper) == "not reproduced"
    elif claim.table == "figure2":
        ours = pd.Series([None]) if estimates is None else claim.holds(estimates)
    else:
        ours, every = claim.holds(), {"most": 1, "half": 1}
    row = dict(zip(("key", "table", "claim", "case", "where"), claim[:5], strict=True))
    row |= {"cases": len(ours), "published": published, "refuted": refuted}
    row |= {"ran": int(ours.notna().sum()), "holds": int(ours.dropna().sum())}
    return row | {"verdict": verdict(ours, **every)}


def scoreboard(judged):
    """Claims and verdicts as they are recorded in ``results/scoreboard.csv``.

    Parameters
    ----------
    judged : pandas.DataFrame
        What :func:`judge` gives.

    Returns
    -------
    pandas.DataFrame
        ``claim``, ``table``, ``verdict``, ``rule`` and ``evidence``.
    """
    evidence = [
        f"ours: holds in {row.holds} of {row.ran} cases run, of {row.cases}"
        + ("" if pd.isna(row.published) else f"; published: in {row.published}")
        + (", which does not bear it out" if row.refuted else "")
        + f"; shown in notebooks/{row.where.replace('#', '.ipynb#')}"
        for row in judged.itertuples()
    ]
    return pd.DataFrame(
        {
            "claim": judged["claim"],
            "table": judged["table"].map(SOURCES),
            "verdict": judged["verdict"],
            "rule": "A case: " + judged["case"] + ". " + RULE,
            "evidence": evidence,
        }
    )
