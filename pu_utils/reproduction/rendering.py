"""Comparisons with the published tables, and verdicts, as HTML without a style of its own.

The HTML is in two templates of Jinja, which escapes all that is filled in; here is what has to be
computed for them. A table has the paper's layout, a column per data set and the methods below each
other for each label frequency, with three lines for each method: published, ours, difference.
"""

from itertools import groupby
from math import isnan
from operator import itemgetter
from pathlib import Path
from statistics import mode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pu_utils.data import DATASET_NAMES
from pu_utils.data.record import check_choice
from pu_utils.metrics import METRIC_NAMES
from pu_utils.reproduction.claims import RULE, SOURCES
from pu_utils.reproduction.tables import FEWEST_SEEDS, TABLE_NAMES

NEAR, FAR = 2, 4  # combined standard errors
LEVELS = {  # class in HTML: what its symbols mean
    "pu-near": f"≈ up to {NEAR}",
    "pu-off": f"▲ or ▼ (ours above or below) up to {FAR}",
    "pu-far": "▲▲ or ▼▼ beyond",
}
SYMBOLS = {  # of a verdict, and the class of its colour
    "holds": ("✔", "pu-near"),
    "holds in part": ("◐", "pu-off"),
    "holds only as the program compares": ("◐", "pu-off"),
    "cannot be told": ("?", "pu-off"),
    "not borne out by the paper": ("✘", "pu-far"),
    "does not hold": ("✘", "pu-far"),
    "not run": ("–", ""),
}
READINGS = {
    "clean": "every method from the same VAE-PU",
    "replay": "one network handed from method to method, as in the authors' program",
}
ASKED = {"published": "published", "clean": "ours, clean", "replay": "ours, replayed"}
TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    undefined=StrictUndefined,
)
TEMPLATES.tests["missing"] = isnan


def to_html(comparison, table):
    """A table as HTML that folds by label frequency and scrolls in a box of its own.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`pu_utils.reproduction.tables.compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".

    Returns
    -------
    str
    """
    check_choice("table", table, TABLE_NAMES)
    rows = comparison[comparison["table"] == table].to_dict("records")
    by_frequency = _grouped(rows, "label_frequency")
    return TEMPLATES.get_template("comparison.html").render(
        title=TABLE_NAMES[table],
        metric=METRIC_NAMES[rows[0]["metric"]],
        reading=READINGS[rows[0]["reading"]],
        first=rows[0],
        usual=mode([row["seeds"] for row in rows if row["seeds"]] or [0]),
        gaps=_gaps(rows),
        folds={c: _grouped(fold, "method") for c, fold in by_frequency.items()},
        sets=[DATASET_NAMES.get(name, name) for name in _grouped(rows, "dataset")],
        level_of=level_of,
        levels=LEVELS,
        fewest=FEWEST_SEEDS,
    )


def verdicts_html(judged, links=None):
    """Claims and verdicts as HTML, one row a claim, and the rule that gives the verdicts.

    Parameters
    ----------
    judged : pandas.DataFrame
        What :func:`pu_utils.reproduction.claims.judge` gives.
    links : dict of str to str, optional
        Where the numbers behind a claim are shown, by its key.
    """
    return TEMPLATES.get_template("verdicts.html").render(
        claims=judged.reset_index().to_dict("records"),
        links=links or {},
        symbols=SYMBOLS,
        sources=SOURCES,
        asked=ASKED,
        rule=RULE,
    )


def level_of(difference):
    """The class and the symbol of a difference: the level is told without its colour.

    Examples
    --------
    >>> level_of(-5.0)
    ('pu-far', '▼▼')
    """
    near, off, far = LEVELS
    arrow = "▲" if difference > 0 else "▼"
    if abs(difference) <= NEAR:
        return near, "≈"
    return (off, arrow) if abs(difference) <= FAR else (far, 2 * arrow)


def _grouped(rows, key):
    """Rows by their value of ``key``, in the order in which the values first come."""
    order = {value: k for k, value in enumerate(dict.fromkeys(row[key] for row in rows))}
    together = sorted(rows, key=lambda row: order[row[key]])
    return {value: list(group) for value, group in groupby(together, itemgetter(key))}


def _gaps(rows):
    """Data sets that are missing, wholly or in part, by the reason."""
    names = {}
    for dataset, own in _grouped(rows, "dataset").items():
        missing = [row["reason"] for row in own]
        reason = missing[0] if all(missing) else "run in part, the rest has not been computed yet"
        if any(missing):
            names.setdefault(reason, []).append(DATASET_NAMES.get(dataset, dataset))
    return names
