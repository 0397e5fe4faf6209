"""Comparisons with the published tables as HTML, Markdown and LaTeX.

Every format has the paper's layout, a column per data set and the methods below each other for
each label frequency, with three lines for each method: published, ours, difference.
"""

import sys
from html import escape
from itertools import groupby
from math import isnan
from operator import itemgetter
from pathlib import Path
from statistics import mode

from pandas import isna

from pu_utils.claims import RULE, SOURCES, judge, scoreboard
from pu_utils.data.record import DESIGNS, check_choice
from pu_utils.reproduction.cli import RESULTS
from pu_utils.reproduction.experiment import FIGURE_2
from pu_utils.reproduction.families import EXPERIMENT_SCHEDULES
from pu_utils.reproduction.output import write_text
from pu_utils.reproduction.record import (
    current_experiments,
    read_estimates,
    read_experiments,
    read_metrics,
)
from pu_utils.tables import DATASET_NAMES, FEWEST_SEEDS, METRIC_NAMES, TABLE_NAMES, compare

NEAR, FAR = 2, 4  # combined standard errors
LEVELS = {  # class in HTML: what its symbols mean
    "pu-near": f"≈ up to {NEAR}",
    "pu-off": f"▲ or ▼ (ours above or below) up to {FAR}",
    "pu-far": "▲▲ or ▼▼ beyond",
}
LEGEND = (
    "Difference of the means in combined standard errors, from "
    f"{FEWEST_SEEDS} seeds on: {{}}, {{}}, {{}}."
)
BOLD = "Bold: the best method that is not told the truth."
# Dark text on light tints and the reverse; the symbols say the same without colour
STYLE = """
.pu-table { --near: #e3f1e3; --off: #fdf0d0; --far: #fbdcd6; --ink: #1b1b1b; }
@media (prefers-color-scheme: dark) {
  .pu-table { --near: #1d3a22; --off: #4a3a0c; --far: #5a211a; --ink: #f2f2f2; }
}
html[data-theme="light"] .pu-table {
  --near: #e3f1e3; --off: #fdf0d0; --far: #fbdcd6; --ink: #1b1b1b;
}
html[data-theme="dark"] .pu-table {
  --near: #1d3a22; --off: #4a3a0c; --far: #5a211a; --ink: #f2f2f2;
}
.pu-table .pu-box { overflow-x: auto; max-width: 100%; }
.pu-table summary { cursor: pointer; padding: 0.4em 0; font-weight: bold; }
.pu-table .pu-box table { border-collapse: collapse; font-size: 0.8em; }
.pu-table .pu-box table :is(th, td) {
  padding: 0.1em 0.45em; text-align: right; white-space: nowrap;
}
.pu-table .pu-box table tr > th:first-child:not([scope="row"]) {
  position: sticky; left: 0; background: var(--pst-color-background, Canvas); text-align: left;
}
.pu-table tbody th { font-weight: normal; }
.pu-table tbody tr:nth-child(1) > * { border-top: 1px solid currentColor; }
.pu-table .pu-near { background: var(--near); color: var(--ink); }
.pu-table .pu-off { background: var(--off); color: var(--ink); }
.pu-table .pu-far { background: var(--far); color: var(--ink); }
"""
MISSING = "–"


def to_html(comparison, table):
    """A table as HTML that folds by label frequency and scrolls in a box of its own.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`pu_utils.tables.compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".

    Returns
    -------
    str
    """
    rows = _rows(comparison, table)
    usual = _usual_seeds(rows)
    folds = [_html_fold(table, c, list(fold), usual) for c, fold in _by(rows, "label_frequency")]
    folds[0] = folds[0].replace("<details>", "<details open>")
    legend = LEGEND.format(*(f'<span class="{css}">{text}</span>' for css, text in LEVELS.items()))
    return (
        f'<div class="pu-table">\n<style>{STYLE}</style>\n<p>{escape(_caption(rows))}</p>\n'
        f"{''.join(folds)}<p>{legend} {BOLD}</p>\n</div>\n"
    )


def to_markdown(comparison, table):
    """A table as Markdown; see :func:`to_html`."""
    rows = _rows(comparison, table)
    header = ["c", "method", "", *_dataset_names(rows)]
    lines = [_markdown_line(header), _markdown_line(["---"] * len(header))]
    for texts in _printed_lines(rows, "**{}**".format):
        lines.append(_markdown_line(texts))
    return "\n".join([_caption(rows), "", *lines, "", _legend(), ""])


def to_latex(comparison, table):
    """A table as LaTeX, which needs the packages booktabs and amssymb; see :func:`to_html`."""
    rows = _rows(comparison, table)
    header = ["$c$", "method", "", *_dataset_names(rows)]
    body = []
    for c, method, *texts in _printed_lines(rows, "\\textbf{{{}}}".format):
        if c:
            body.append("\\midrule" if method == rows[0]["method"] else "\\addlinespace")
        body.append(" & ".join(map(_latex_text, [c, method, *texts])) + " \\\\")
    return "\n".join(
        [
            "\\begin{table}",
            f"\\caption{{{_latex_text(_caption(rows) + ' ' + _legend())}}}",
            f"\\begin{{tabular}}{{lll{'r' * (len(header) - 3)}}}",
            "\\toprule",
            " & ".join(header) + " \\\\",
            *body,
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{table}",
            "",
        ]
    )


FORMATS = {"html": to_html, "markdown": to_markdown, "latex": to_latex}
SUFFIXES = {"html": "html", "markdown": "md", "latex": "tex"}


def _rows(comparison, table):
    """The rows of a table as dictionaries."""
    check_choice("table", table, TABLE_NAMES)
    return comparison[comparison["table"] == table].to_dict("records")


def _by(rows, *keys):
    """Groups of rows that follow each other and agree in ``keys``."""
    return groupby(rows, itemgetter(*keys))


def _dataset_names(rows):
    return [DATASET_NAMES[name] for name in dict.fromkeys(row["dataset"] for row in rows)]


def _usual_seeds(rows):
    """The most frequent number of seeds, 0 where nothing was run."""
    return mode([row["seeds"] for row in rows if row["seeds"]] or [0])


def _caption(rows):
    """Metric, unit, design, schedule, number of seeds, and what was not run."""
    first, usual = rows[0], _usual_seeds(rows)
    count = "1 seed" if usual == 1 else f"{usual} seeds"
    seeds = f"{count} where a figure does not say otherwise" if usual else "none recorded"
    return (
        f"{TABLE_NAMES[first['table']]}: {METRIC_NAMES[first['metric']]}, per cent, mean ± "
        f"standard error over seeds. Ours: the {first['design']} design, networks by the "
        f"schedule {first['schedule']!r}, {seeds}.{_gaps(rows)}"
    )


def _gaps(rows):
    """Which data sets are missing, wholly or in part, and why."""
    names = {}
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        missing = [row["reason"] if row["seeds"] == 0 else None for row in rows
                   if row["dataset"] == dataset]  # fmt: skip
        reason = missing[0] if all(missing) else "run in part, the rest has not been computed yet"
        if any(missing):
            names.setdefault(reason, []).append(DATASET_NAMES[dataset])
    return "".join(f" {', '.join(sets)}: {reason}." for reason, sets in names.items())


def _legend():
    return f"{LEGEND.format(*LEVELS.values())} {BOLD}"


def _printed_lines(rows, bold):
    """Texts of every line; label frequency and method stand in the first of three alone."""
    usual = _usual_seeds(rows)
    for (c, method), group in _by(rows, "label_frequency", "method"):
        for line, texts in _lines(list(group), usual, bold):
            yield [*([str(c), method] if line == "published" else ["", ""]), line, *texts]


def _lines(rows, usual, bold):
    """Name and texts of the three lines of a method."""
    return [
        ("published", [_published(row, bold) for row in rows]),
        ("ours", [_ours(row, usual, bold) for row in rows]),
        ("difference", [_difference(row["difference"]) for row in rows]),
    ]


def _published(row, bold):
    if isnan(row["published"]):
        return MISSING
    text = f"{row['published']:.2f} ± {row['published_se']:.2f}"
    return bold(text) if row["published_best"] else text


def _ours(row, usual, bold):
    if row["seeds"] == 0:
        return row["reason"].split(":")[0]  # the caption says why
    text = f"{row['ours']:.2f}"
    if row["seeds"] > 1:  # the standard error of one seed is unknown
        text += f" ± {row['ours_se']:.2f}"
    if row["seeds"] != usual:
        text += f" (n = {row['seeds']})"
    return bold(text) if row["ours_best"] else text


def _difference(difference):
    return MISSING if isnan(difference) else f"{_symbol(difference)} {difference:+.1f}"


def _symbol(difference):
    if abs(difference) <= NEAR:
        return "≈"
    arrow = "▲" if difference > 0 else "▼"
    return arrow if abs(difference) <= FAR else 2 * arrow


def _html_fold(table, c, rows, usual):
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in _dataset_names(rows))
    bodies = [_html_method(name, list(group), usual) for name, group in _by(rows, "method")]
    label = f"{TABLE_NAMES[table]}, c = {c}"
    return (
        f"<details><summary>c = {c}</summary>"
        f'<div class="pu-box" tabindex="0" role="region" aria-label="{label}"><table>\n'
        f'<thead><tr><th scope="col">method</th><th scope="col">source</th>{heads}</tr></thead>\n'
        f"{''.join(bodies)}</table></div></details>\n"
    )


def _html_method(method, rows, usual):
    head, lines = f'<th scope="rowgroup" rowspan="3">{escape(method)}</th>', []
    for line, texts in _lines(rows, usual, "<strong>{}</strong>".format):
        levels = [_level(row["difference"]) if line == "difference" else "" for row in rows]
        cells = "".join(map(_html_cell, texts, levels))
        lines.append(f'<tr>{head}<th scope="row">{line}</th>{cells}</tr>\n')
        head = ""
    return f"<tbody>{''.join(lines)}</tbody>\n"


def _html_cell(text, level):
    text = text.replace(" (n =", "<br>(n =")  # a narrower column
    return f'<td class="{level}">{text}</td>' if level else f"<td>{text}</td>"


def _level(difference):
    if isnan(difference):
        return ""
    return (
        "pu-near" if abs(difference) <= NEAR else "pu-off" if abs(difference) <= FAR else "pu-far"
    )


def _markdown_line(texts):
    return f"| {' | '.join(texts)} |"


def _latex_text(text):
    replacements = {
        "±": "$\\pm$", "≈": "$\\approx$", "▲": "$\\blacktriangle$", "▼": "$\\blacktriangledown$",
        "–": "--", "%": "\\%",
    }  # fmt: skip
    for character, command in replacements.items():
        text = text.replace(character, command)
    return text


# Verdicts

SYMBOLS = {
    "reproduced": "✔",
    "reproduced in part": "◐",
    "not reproduced": "✘",
    "not run": "–",
}
VERDICT_LEVELS = {
    "reproduced": "pu-near",
    "reproduced in part": "pu-off",
    "not reproduced": "pu-far",
    "not run": "",
}


def verdicts_html(judged, link=False):
    """Claims and verdicts as HTML, one row a claim, and the rule that gives the verdicts.

    Parameters
    ----------
    judged : pandas.DataFrame
        What :func:`pu_utils.claims.judge` gives.
    link : bool
        Whether each claim links to the page that shows its figures.
    """
    rows = "".join(_verdict_row(row, link) for row in judged.to_dict("records"))
    return (
        f'<div class="pu-table"><style>{STYLE}{VERDICT_STYLE}</style>\n'
        f'<ul class="pu-verdicts">\n{rows}</ul>\n<p><small>{escape(RULE)}.</small></p></div>\n'
    )


# A list, not a table: on a narrow screen the parts of a row stand below each other
VERDICT_STYLE = """
.pu-table ul.pu-verdicts { list-style: none; padding: 0; margin: 0; }
.pu-table .pu-verdicts li {
  display: grid; grid-template-columns: 12.5em 1fr 10em; gap: 0 1em; margin: 0;
  padding: 0.5em 0; border-top: 1px solid currentColor;
}
.pu-table .pu-verdicts .pu-verdict { font-weight: bold; padding: 0 0.4em; align-self: start; }
@media (max-width: 720px) { .pu-table .pu-verdicts li { grid-template-columns: 1fr; } }
"""


def _verdict_row(row, link):
    verdict = f"{SYMBOLS[row['verdict']]} {row['verdict']}"
    source = SOURCES[row["table"]]
    if link:
        source = f'<a href="{row["where"].replace("#", ".html#")}">{source}</a>'
    cases = f"ours: {row['holds']} of {row['ran']} run"
    if not isna(row["published"]):
        cases += f"<br>published: {row['published']} of {row['cases']}"
        cases += ", which does not bear it out" if row["refuted"] else ""
    level = VERDICT_LEVELS[row["verdict"]]
    return (
        f'<li><span><span class="pu-verdict {level}">{verdict}</span></span>'
        f"<span>{source}: {escape(row['claim'])}<br><small>A case: {escape(row['case'])}.</small>"
        f"</span><span><small>{cases}</small></span></li>\n"
    )


# The command


def add_parser(commands):
    """Add ``tables`` to the subparsers of the command line."""
    parser = commands.add_parser("tables", help="write published | ours | difference")
    parser.add_argument("--results", default=RESULTS, help=f"of the CSV files ({RESULTS})")
    parser.add_argument("--design", choices=DESIGNS, default="released")
    parser.add_argument("--schedule", choices=EXPERIMENT_SCHEDULES, default="paper")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--to", default="_build/tables", help="directory (_build/tables)")
    parser.set_defaults(run=write_tables)


def add_scoreboard_parser(commands):
    """Add ``scoreboard`` to the subparsers of the command line."""
    parser = commands.add_parser("scoreboard", help="judge the claims; write scoreboard.csv")
    parser.add_argument("--results", default=RESULTS, help=f"of the CSV files ({RESULTS})")
    parser.set_defaults(run=write_scoreboard)


def write_scoreboard(arguments):
    """Judge every claim from the recorded results."""
    table = scoreboard(judge_recorded(arguments.results))
    write_text(Path(arguments.results) / "scoreboard.csv", table.to_csv(index=False))
    print(table["verdict"].value_counts().to_string())
    return 0


def judge_recorded(results):
    """Every claim judged from a directory of results: released design, schedule ``fast``."""
    comparison = compare(read_metrics(results), design="released", schedule="fast")
    try:
        estimates = read_estimates(FIGURE_2, results)
    except FileNotFoundError:
        estimates = None
    return judge(comparison, estimates=estimates)


def write_tables(arguments):
    """Write every table in every format asked for."""
    comparison = compare(read_metrics(arguments.results), arguments.design, arguments.schedule)
    for form in arguments.formats:
        for table in TABLE_NAMES:
            path = Path(arguments.to) / f"{table}.{SUFFIXES[form]}"
            write_text(path, FORMATS[form](comparison, table))
    print(f"{len(TABLE_NAMES)} tables in {arguments.to}")
    if stale := current_experiments(read_experiments(arguments.results)).count(None):
        print(f"{stale} of the recorded cells are stale: collect again", file=sys.stderr)
    return 0
