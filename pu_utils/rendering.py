"""Comparisons with the published tables as HTML, Markdown and LaTeX.

Every format has the paper's layout, a column per data set and the methods below each other for
each label frequency, with three lines for each method: published, ours, difference.
"""

from html import escape
from pathlib import Path

import pandas as pd

from pu_utils.experiments.cli import RESULTS
from pu_utils.experiments.recorded import read_metrics
from pu_utils.experiments.store import write_text
from pu_utils.tables import DATASET_NAMES, DESIGNS, METRIC_NAMES, TABLE_NAMES, compare

NEAR, FAR = 2, 4  # combined standard errors
LEVELS = {  # class in HTML: what its symbols mean
    "pu-near": f"≈ up to {NEAR}",
    "pu-off": f"▲ or ▼ (ours above or below) up to {FAR}",
    "pu-far": "▲▲ or ▼▼ beyond",
}
LEGEND = "Difference of the means in combined standard errors: {}, {}, {}."
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
.pu-table table { border-collapse: collapse; font-size: 0.85em; }
.pu-table th, .pu-table td { padding: 0.1em 0.6em; white-space: nowrap; text-align: right; }
.pu-table th { text-align: left; }
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
    part = _part(comparison, table)
    usual = _usual_seeds(part)
    folds = [_html_fold(table, c, rows, usual) for c, rows in part.groupby("label_frequency")]
    folds[0] = folds[0].replace("<details>", "<details open>")
    legend = LEGEND.format(*(f'<span class="{css}">{text}</span>' for css, text in LEVELS.items()))
    return (
        f'<div class="pu-table">\n<style>{STYLE}</style>\n<p>{escape(caption(part, table))}</p>\n'
        f"{''.join(folds)}<p>{legend} {BOLD}</p>\n</div>\n"
    )


def to_markdown(comparison, table):
    """A table as Markdown; see :func:`to_html`."""
    part = _part(comparison, table)
    header = ["c", "method", "", *_dataset_names(part)]
    lines = [_markdown_line(header), _markdown_line(["---"] * len(header))]
    for c, method, line, texts in _lines(part, _usual_seeds(part), "**{}**".format):
        first = [str(c), method] if line == "published" else ["", ""]
        lines.append(_markdown_line([*first, line, *texts]))
    return "\n".join([caption(part, table), "", *lines, "", _legend(), ""])


def to_latex(comparison, table):
    """A table as LaTeX, which needs the package booktabs; see :func:`to_html`."""
    part = _part(comparison, table)
    header = ["$c$", "method", "", *_dataset_names(part)]
    body = []
    for c, method, line, texts in _lines(part, _usual_seeds(part), "\\textbf{{{}}}".format):
        if line == "published":
            body.append("\\midrule" if method == part["method"].iloc[0] else "\\addlinespace")
        first = [str(c), method] if line == "published" else ["", ""]
        body.append(" & ".join(map(_latex_text, [*first, line, *texts])) + " \\\\")
    return "\n".join(
        [
            "\\begin{table}",
            f"\\caption{{{_latex_text(caption(part, table) + ' ' + _legend())}}}",
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


def caption(comparison, table):
    """What a table shows: metric, unit, number of seeds, and what was not run."""
    part = _part(comparison, table)
    metric = METRIC_NAMES[part["metric"].iloc[0]]
    text = f"{TABLE_NAMES[table]}: {metric}, per cent, mean ± standard error over seeds."
    design, schedule = part["design"].iloc[0], part["schedule"].iloc[0]
    text += f" Ours: the {design} design, networks by the schedule {schedule!r}"
    text += f", {_usual_seeds(part)} seeds where a figure does not say otherwise."
    gaps = part.groupby("dataset", sort=False).apply(_gap, include_groups=False).dropna()
    for reason, names in gaps.groupby(gaps).groups.items():
        text += f" {', '.join(DATASET_NAMES[name] for name in names)}: {reason}."
    return text


def _gap(rows):
    """Why figures of a data set are missing; None where none is."""
    if (rows["seeds"] > 0).all():
        return None
    return rows["reason"].iloc[0] if (rows["seeds"] == 0).all() else "run in part"


def _legend():
    return f"{LEGEND.format(*LEVELS.values())} {BOLD}"


def _part(comparison, table):
    part = comparison[comparison["table"] == table]
    if part.empty:
        raise ValueError(f"table is {table!r}; it must be one of {', '.join(TABLE_NAMES)}")
    return part


def _usual_seeds(part):
    """The most frequent number of seeds, 0 where nothing was run."""
    seeds = part["seeds"][part["seeds"] > 0]
    return int(seeds.mode().max()) if len(seeds) else 0


def _dataset_names(part):
    return [DATASET_NAMES[name] for name in part["dataset"].drop_duplicates()]


def _lines(part, usual, bold):
    """Label frequency, method, name of the line and its texts, line by line."""
    for (c, method), rows in part.groupby(["label_frequency", "method"], sort=False):
        records = rows.to_dict("records")
        yield c, method, "published", [_published(row, bold) for row in records]
        yield c, method, "ours", [_ours(row, usual, bold) for row in records]
        yield c, method, "difference", [_difference(row["difference"]) for row in records]


def _published(row, bold):
    if pd.isna(row["published"]):
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
    return MISSING if pd.isna(difference) else f"{_symbol(difference)} {difference:+.1f}"


def _symbol(difference):
    if abs(difference) <= NEAR:
        return "≈"
    arrow = "▲" if difference > 0 else "▼"
    return arrow if abs(difference) <= FAR else 2 * arrow


def _html_fold(table, c, part, usual):
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in _dataset_names(part))
    methods = part.groupby("method", sort=False)
    bodies = [_html_method(method, rows, usual) for method, rows in methods]
    label = f"{TABLE_NAMES[table]}, c = {c}"
    return (
        f"<details><summary>c = {c}</summary>"
        f'<div class="pu-box" tabindex="0" role="region" aria-label="{label}"><table>\n'
        f'<thead><tr><th scope="col">method</th><th scope="col">source</th>{heads}</tr></thead>\n'
        f"{''.join(bodies)}</table></div></details>\n"
    )


def _html_method(method, rows, usual):
    levels = [_level(value) for value in rows["difference"]]
    lines = []
    for _, _, line, texts in _lines(rows, usual, "<strong>{}</strong>".format):
        head = f'<th scope="rowgroup" rowspan="3">{escape(method)}</th>'
        classes = levels if line == "difference" else [""] * len(texts)
        cells = "".join(
            f'<td class="{css}">{text}</td>' if css else f"<td>{text}</td>"
            for css, text in zip(classes, texts, strict=True)
        )
        lines.append(
            f'<tr>{head if line == "published" else ""}<th scope="row">{line}</th>{cells}</tr>\n'
        )
    return f"<tbody>{''.join(lines)}</tbody>\n"


def _level(difference):
    if pd.isna(difference):
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


# The command


def add_parser(commands):
    """Add ``tables`` to the subparsers of the command line."""
    parser = commands.add_parser("tables", help="write published | ours | difference")
    parser.add_argument("--results", default=RESULTS, help=f"of the CSV files ({RESULTS})")
    parser.add_argument("--design", choices=DESIGNS, default="released")
    parser.add_argument("--schedule", choices=("paper", "fast", "smoke"), default="paper")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--to", default="_build/tables", help="directory (_build/tables)")
    parser.set_defaults(run=write_tables)


def write_tables(arguments):
    """Write every table in every format asked for."""
    comparison = compare(read_metrics(arguments.results), arguments.design, arguments.schedule)
    for form in arguments.formats:
        for table in TABLE_NAMES:
            path = Path(arguments.to) / f"{table}.{SUFFIXES[form]}"
            write_text(path, FORMATS[form](comparison, table))
    print(f"{len(TABLE_NAMES)} tables in {arguments.to}")
    return 0
