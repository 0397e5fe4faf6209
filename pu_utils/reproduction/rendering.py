"""Comparisons with the published tables, and verdicts, as HTML without a style of its own.

A table has the paper's layout, a column per data set and the methods below each other for each
label frequency, with three lines for each method: published, ours, difference.
"""

from html import escape
from itertools import groupby
from math import isnan
from operator import itemgetter
from statistics import mode

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
MISSING = "–"


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
    usual = mode([row["seeds"] for row in rows if row["seeds"]] or [0])
    folds = [_fold(table, c, list(fold), usual) for c, fold in _by(rows, "label_frequency")]
    levels = ", ".join(f'<span class="{css}">{text}</span>' for css, text in LEVELS.items())
    return (
        f'<div class="pu-table">\n<p>{escape(_caption(rows, usual))}</p>\n{"".join(folds)}'
        f"<p>Difference of the means in combined standard errors, from {FEWEST_SEEDS} seeds on: "
        f"{levels}. Bold: the best method that is not told the truth.</p>\n</div>\n"
    )


def _by(rows, *keys):
    """Groups of rows that follow each other and agree in ``keys``."""
    return groupby(rows, itemgetter(*keys))


def _caption(rows, usual):
    """Metric, unit, design, schedule, reading, number of seeds, and what was not run."""
    first = rows[0]
    count = "1 seed" if usual == 1 else f"{usual} seeds"
    seeds = f"{count} where a number does not say otherwise" if usual else "none recorded"
    reading = {
        "clean": "every method from the same VAE-PU",
        "replay": "one network handed from method to method, as in the authors' program",
    }[first["reading"]]
    return (
        f"{TABLE_NAMES[first['table']]}: {METRIC_NAMES[first['metric']]}, per cent, mean ± "
        f"standard error over seeds. Ours: the {first['design']} design, networks by the "
        f"schedule {first['schedule']!r}, {reading}, {seeds}.{_gaps(rows)}"
    )


def _gaps(rows):
    """Which data sets are missing, wholly or in part, and why."""
    names = {}
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        missing = [row["reason"] for row in rows if row["dataset"] == dataset]
        reason = missing[0] if all(missing) else "run in part, the rest has not been computed yet"
        if any(missing):
            names.setdefault(reason, []).append(DATASET_NAMES.get(dataset, dataset))
    return "".join(f" {', '.join(sets)}: {reason}." for reason, sets in names.items())


def _fold(table, c, rows, usual):
    """The methods of one label frequency."""
    names = dict.fromkeys(row["dataset"] for row in rows)
    heads = "".join(
        f'<th scope="col">{escape(DATASET_NAMES.get(name, name))}</th>' for name in names
    )
    bodies = [_method(name, list(group), usual) for name, group in _by(rows, "method")]
    state = " open" if c == 0.5 else ""
    return (
        f'<details{state}><summary>c = {c}</summary><div class="pu-box" tabindex="0" role="region" '
        f'aria-label="{TABLE_NAMES[table]}, c = {c}"><table>\n'
        f'<thead><tr><th scope="col">method</th><th scope="col">source</th>{heads}</tr></thead>\n'
        f"{''.join(bodies)}</table></div></details>\n"
    )


def _method(method, rows, usual):
    """The three lines of a method; one that the paper lacks has ours alone."""
    lines = [("ours", [_cell(_ours(row, usual), row["ours_best"]) for row in rows])]
    if not all(isnan(row["published"]) for row in rows):
        published = [_cell(_published(row), row["published_best"]) for row in rows]
        differences = [_difference(row["difference"]) for row in rows]
        lines = [("published", published), *lines, ("difference", differences)]
    head, text = f'<th scope="rowgroup" rowspan="{len(lines)}">{escape(method)}</th>', ""
    for line, cells in lines:
        text += f'<tr>{head}<th scope="row">{line}</th>{"".join(cells)}</tr>\n'
        head = ""
    return f"<tbody>{text}</tbody>\n"


def _cell(text, bold):
    text = text.replace(" (n =", "<br>(n =")  # a narrower column
    return f"<td><strong>{text}</strong></td>" if bold else f"<td>{text}</td>"


def _published(row):
    if isnan(row["published"]):
        return MISSING
    return f"{row['published']:.2f} ± {row['published_se']:.2f}"


def _ours(row, usual):
    if row["seeds"] == 0:
        return row["reason"].split(":")[0]  # the caption says why
    text = f"{row['ours']:.2f}"
    if row["seeds"] > 1:  # the standard error of one seed is unknown
        text += f" ± {row['ours_se']:.2f}"
    return text if row["seeds"] == usual else f"{text} (n = {row['seeds']})"


def _difference(difference):
    """A cell whose symbol says the level without its colour."""
    if isnan(difference):
        return f"<td>{MISSING}</td>"
    near, off, far = LEVELS
    arrow = "▲" if difference > 0 else "▼"
    level, symbol = (off, arrow) if abs(difference) <= FAR else (far, 2 * arrow)
    if abs(difference) <= NEAR:
        level, symbol = near, "≈"
    return f'<td class="{level}">{symbol} {difference:+.1f}</td>'


# Verdicts

SYMBOLS = {  # and the class of the colour
    "holds": ("✔", "pu-near"),
    "holds in part": ("◐", "pu-off"),
    "holds only as the program compares": ("◐", "pu-off"),
    "cannot be told": ("?", "pu-off"),
    "not borne out by the paper": ("✘", "pu-far"),
    "does not hold": ("✘", "pu-far"),
    "not run": (MISSING, ""),
}
ASKED = {"published": "published", "clean": "ours, clean", "replay": "ours, replayed"}


def verdicts_html(judged, links=None):
    """Claims and verdicts as HTML, one row a claim, and the rule that gives the verdicts.

    Parameters
    ----------
    judged : pandas.DataFrame
        What :func:`pu_utils.reproduction.claims.judge` gives.
    links : dict of str to str, optional
        Where the numbers behind a claim are shown, by its key.
    """
    rows = "".join(_verdict_row(row, (links or {}).get(row.Index)) for row in judged.itertuples())
    return (
        f'<div class="pu-table"><ul class="pu-verdicts">\n{rows}</ul>\n'
        "<details><summary>How a verdict is reached</summary>"
        f"<p>{escape(RULE)}</p></details></div>\n"
    )


def _verdict_row(row, link):
    symbol, level = SYMBOLS[row.verdict]
    source = SOURCES[row.table]
    source = f'<a href="{link}">{source}</a>' if link else source
    answers = [_answer(row, key, name) for key, name in ASKED.items() if getattr(row, key)]
    return (
        f'<li><span><span class="pu-verdict {level}">{symbol} {row.verdict}</span></span>'
        f"<span>{source}: {escape(row.claim)}<br><small>A case: {escape(row.case)}.</small>"
        f"</span><span><small>{'<br>'.join(answers)}</small></span></li>\n"
    )


def _answer(row, key, name):
    points = getattr(row, f"{key}_points", float("nan"))
    apart = "" if isnan(points) else f"; {points:.1f} points from the published numbers"
    return f"{name}: <strong>{getattr(row, key)}</strong> ({getattr(row, f'{key}_counts')}{apart})"
