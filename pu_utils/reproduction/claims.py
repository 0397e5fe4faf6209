"""What the paper concludes from its tables and figures, put to its own numbers and to ours.

The claims are rows of ``published/claims.csv``, beside the paper's numbers; here are the functions
that say which difference decides it, and the judging. A claim is cut into
cases, most often one per data set and label frequency; in each a difference must be positive, or
small. Three answers are given to it, and never mixed:

- ``published``: do the paper's own numbers bear it out? Only means are printed, so a case holds if
  the printed means have it so.
- ``clean``: do our experiments, in which every method goes on from the same trained VAE-PU?
- ``replay``: do the networks that the authors' program compares, each trained further than the
  one before it?

Where seeds are at hand, a case is decided by the differences seed by seed, with Holm's correction
for the number of cases, and may stay open.
"""

import re
from typing import NamedTuple

import pandas as pd

from pu_utils.data import SYNTHETIC
from pu_utils.reproduction import tables
from pu_utils.reproduction.experiment import FIGURE_2, LABEL_FREQUENCIES
from pu_utils.reproduction.results import read_estimates, read_results
from pu_utils.reproduction.tables import CELL, LEVEL, READINGS

# The book's from its beginning; that pairs decide was settled after our clean numbers were known.
MOST = 0.75  # share of the cases in which a claim "in most cases" must hold
HALF = 0.5  # of those that were run, below which it does not hold
RULE = (
    "A case bears a claim out if a difference is positive, or lies within a margin. Where there "
    "are seeds it counts only if the difference is so significantly, taken seed by seed, at 5% "
    f"after Holm's correction. A claim then holds if at least {MOST:.0%} of its cases bear it out, "
    "does not hold if more of them contradict it than bear it out, and is open if fewer than "
    f"{HALF:.0%} of those run are decided; in between it holds in part. The paper prints means "
    f"alone: by these a claim holds if at least {MOST:.0%} of its cases bear it out, and does not "
    f"if fewer than {HALF:.0%} do."
)
READING_SCHEDULES = {"clean": ("fast", "fast"), "replay": ("paper", "fast")}  # synthetic, real sets
SOURCES = tables.TABLE_NAMES | {"figure2": "Figure 2", "section2": "Section 2"}


# Differences that must be positive, given a table t: a row per data set, label frequency and, of
# ours, seed, and a column per method


def _lead(t, method, *others):
    """How far a method is ahead of the best of others, which their means tell cell by cell."""
    others = t[list(others)].dropna()
    means = others.groupby(CELL).transform("mean")
    return t[method] - others.where(means.eq(means.max(axis=1), axis=0)).max(axis=1)


def _by_c(numbers):
    return numbers.unstack("label_frequency").reindex(columns=LABEL_FREQUENCIES)


def _growth(numbers):
    by_c = _by_c(numbers)
    return (by_c[0.7] + by_c[0.9] - by_c[0.02] - by_c[0.1]) / 2


def _range(numbers):
    by_c = _by_c(numbers).dropna()
    return by_c.max(axis=1) - by_c.min(axis=1)


VARIANTS = ("VP-B", "VP", "VP-A3", "VP-IF")
DIFFERENCES = {
    "traditional-rare-labels": lambda t: -_lead(t, *VARIANTS),
    "traditional-many-labels": lambda t: _lead(t, *VARIANTS) + 1,
    "synthetic-lbe-falls": lambda t: 0.5 - _by_c(t["LBE+S"]).diff(axis=1)[0.9],
    "prophets-part": lambda t: t.eval("`S-Prophet` - `Y-Prophet` - 15"),
    "synthetic-gain-grows": lambda t: _growth(t["VP-B+S"] - t["VP-B"]),
    "synthetic-gain-small": lambda t: t.eval("`S-Prophet` - `Y-Prophet` - (`VP-B+S` - `VP-B`)"),
    "real-dependence-on-c": lambda t: _range(t["VP-B of Table 1"]) / 2 - _range(t["VP-B+S"]),
}
OF_A_WHOLE_TABLE = {  # whether the mean differences of its cells bear the claim out
    "traditional-margin": lambda leads: leads.max() >= 4.5,
    "synthetic-sign-test": lambda gains: _sign_test(gains).p_value < LEVEL,
    "real-sign-test": lambda gains: _sign_test(gains).p_value < LEVEL,
}
OF_ESTIMATES = {  # whether the unlabelled rows of Figure 2 do
    "golden-few": lambda rows: rows["golden"].mean() < 0.1,
    "golden-negative": lambda rows: rows.loc[rows["golden"], "class"].mean() < 0.5,
    "extreme-y": lambda rows: ((rows["y"] < 0.1) | (rows["y"] > 0.9)).mean() > MOST,
}


# The claims and their judging


def read_claims():
    """The claims, a row each, by their key.

    ``holds`` says which differences must be positive: "A > B, C" that of A and the best of the
    others, "A < B, C" that of the worst of them and A; "A = B ± 1" that A and B must lie within a
    point of each other. Where it is blank, one of ``DIFFERENCES`` or ``OF_ESTIMATES`` does. ``c``
    and ``datasets`` are those that the claim speaks of, all where blank. ``about`` tells claims on
    trained methods from those on prophets, whose numbers follow from the data, and on one seed.
    """
    path = tables.PUBLISHED / "claims.csv"
    return pd.read_csv(path, index_col="key", dtype=str, keep_default_na=False)


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
        One row per claim, by its ``key``: ``table``, ``about``, ``claim``, ``case``; for each
        source ("published", "clean", "replay") its answer and, in ``..._counts``, the counts behind
        it; and the ``verdict``.
    """
    claims = read_claims()
    claims, rows = claims if keys is None else claims.loc[list(keys)], {}
    for table, group in claims.groupby("table"):
        numbers = {} if table == "figure2" else _numbers(results, table, design)
        for key, claim in group.iterrows():
            answers = dict.fromkeys(("published", *READINGS), ("", ""))
            if table == "figure2":
                found = [] if estimates is None else [OF_ESTIMATES[key](golden_area(estimates))]
                answers["clean"] = _counted(sum(found), len(found), 1)
            answers |= {source: _answer(claim, source, numbers) for source in numbers}
            rows[key] = claim[["table", "about", "claim", "case"]].to_dict()
            for source, (answer, counts) in answers.items():
                rows[key] |= {source: answer, f"{source}_counts": counts}
            rows[key]["verdict"] = verdict(*(answer for answer, _ in answers.values()))
    return pd.DataFrame.from_dict(rows, orient="index").loc[claims.index].rename_axis("key")


def judge_recorded(results):
    """Every claim judged from a directory of results."""
    try:
        estimates = read_estimates(FIGURE_2, results)
    except FileNotFoundError:
        estimates = None
    return judge(read_results(results), estimates=estimates)


def _numbers(results, place, design):
    """The numbers behind a place in the paper: the published ones, and ours seed by seed."""
    rows = tables.published()
    rows = rows[rows["table"].isin(["table4", "table5"] if place == "section2" else [place])]
    (metric,) = rows["metric"].unique()
    numbers = {"published": rows.pivot(index=CELL, columns="method", values="mean")}
    for reading in READINGS:
        seeds = _seeds(results, metric, design, reading)
        numbers[reading] = seeds[seeds.index.droplevel("seed").isin(numbers["published"].index)]
    if place == "table3":  # which the paper compares with Table 1
        for source, other in _numbers(results, "table1", design).items():
            numbers[source]["VP-B of Table 1"] = other["VP-B"]
    return numbers


def _seeds(results, metric, design, reading):
    """Ours seed by seed, each set by its schedule; LBE+S is the variant that the paper prints."""
    made, parts = results["dataset"].isin(SYNTHETIC), []
    for of, schedule in zip((made, ~made), READING_SCHEDULES[reading], strict=True):
        parts.append(tables.by_seed(results[of], metric, design, schedule, reading))
    seeds = pd.concat(parts).drop(columns="LBE+S", errors="ignore")
    return seeds.rename(columns={"LBE+S (released)": "LBE+S"}).reindex(columns=tables.METHODS)


def _differences(claim, t):
    """What must be positive, or within a margin, in the cases of a claim; and the margin."""
    for level, wanted in (("label_frequency", claim.c), ("dataset", claim.datasets)):
        if wanted:
            t = t[t.index.get_level_values(level).astype(str).isin(wanted.split(", "))]
    if not claim.holds:
        return DIFFERENCES[claim.name](t).dropna(), None
    found = re.fullmatch("(.+?) ([<>=]) (.+?)(?: ± (.+))?", claim.holds)
    method, relation, others, margin = found.groups()
    t = -t if relation == "<" else t
    return _lead(t, method, *others.split(", ")).dropna(), margin and float(margin)


def _answer(claim, source, numbers):
    found, margin = _differences(claim, numbers[source])
    total = len(_differences(claim, numbers["published"])[0])
    if claim.name in OF_A_WHOLE_TABLE:
        means = found.groupby(CELL).mean()
        if len(means) < MOST * total:
            return _counted(0, 0, 1)
        return _counted(int(OF_A_WHOLE_TABLE[claim.name](means)), 1, 1)
    if source == "published":
        cases = found > 0 if margin is None else found.abs().round(6) <= margin
        return _counted(cases.sum(), total, total)
    return _decided(tables.paired(found, margin)["side"], total)


def _counted(holds, run, total):
    """The answer ("yes", "in part", "no", "not run") from counts of cases, and these in words."""
    counts = f"in {holds} of {run} cases" + (f" run, of {total}" if run != total else "")
    if run == 0:
        return "not run", f"none of {total} cases"
    if holds < HALF * run:
        return "no", counts
    return "yes" if holds >= MOST * total else "in part", counts


def _decided(sides, total):
    """The same from paired differences, which may leave it "open"."""
    ahead, behind = (sides.isin(side).sum() for side in (["ahead", "within"], ["behind", "beyond"]))
    if len(sides) == 0:
        return "not run", f"none of {total} cases"
    run = f"{len(sides)} cases" + (f" run, of {total}" if len(sides) != total else "")
    counts = f"significantly so in {ahead}, significantly not in {behind} of {run}"
    if ahead >= MOST * total:
        return "yes", counts
    if behind > ahead:
        return "no", counts
    return "open" if ahead + behind < HALF * len(sides) else "in part", counts


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
    return _sign_test((table[method] - table[other]).dropna())


def _sign_test(differences):
    from scipy.stats import binomtest  # it takes its time, and reading tables does without

    wins, cells = int((differences > 0).sum()), int((differences != 0).sum())
    p_value = binomtest(wins, cells, alternative="greater").pvalue if cells else float("nan")
    return SignTest(wins, cells, float(p_value))


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
    verdicts = {"yes": "holds", "in part": "holds in part", "no": "does not hold"}
    return (verdicts | {"open": "cannot be told", "not run": "not run"})[clean]


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
