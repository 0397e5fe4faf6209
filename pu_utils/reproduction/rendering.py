"""Comparisons with the published tables, and verdicts, as HTML without a style of its own."""

from html import escape
from statistics import mode

import pandas as pd

from pu_utils.data import DATASET_NAMES
from pu_utils.data.record import check_choice
from pu_utils.metrics import METRIC_NAMES
from pu_utils.reproduction.claims import RULE, SOURCES
from pu_utils.reproduction.tables import FEWEST_SEEDS, READINGS, TABLE_NAMES

NEAR, FAR = 2, 4  # combined standard errors
MARKS = {  # of an answer, and the class of its colour
    "yes": ("✔", "pu-near"), "in part": ("◐", "pu-off"), "open": ("?", "pu-off"),
    "no": ("✘", "pu-far"), "not run": ("–", ""),
}  # fmt: skip
ASKED = {"published": "paper", "clean": "ours", "replay": "replay"}


def html_table(frame, label):
    """A table of HTML texts that scrolls in a box of its own, as the page's style knows it.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its index has two named levels; the rows of one name of the first are a group.
    label : str
        What the table shows, for readers who hear it.
    """
    head = "".join(f'<th scope="col">{name}</th>' for name in (*frame.index.names, *frame))
    bodies = ""
    for group, rows in frame.groupby(level=0, sort=False):
        first, lines = f'<th scope="rowgroup" rowspan="{len(rows)}">{group}</th>', ""
        for (_, name), *texts in rows.itertuples(name=None):
            cells = "".join(f"<td>{text}</td>" for text in texts)
            lines += f'<tr>{first}<th scope="row">{name}</th>{cells}</tr>\n'
            first = ""
        bodies += f"<tbody>\n{lines}</tbody>\n"
    return (
        f'<div class="pu-box" tabindex="0" role="region" aria-label="{label}"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n{bodies}</table></div>"
    )


def to_html(comparison, table):
    """A table as HTML that folds by label frequency.

    It has the paper's layout, a column per data set and the methods below each other, each with
    three lines: published, ours, and the difference. A method that the paper lacks has ours alone.

    Parameters
    ----------
    comparison : pandas.DataFrame
        What :func:`pu_utils.reproduction.compare` gives.
    table : str
        "table1" to "table5", "tableA2" to "tableA5".

    Returns
    -------
    str
    """
    check_choice("table", table, TABLE_NAMES)
    rows = comparison[comparison["table"] == table].replace({"dataset": DATASET_NAMES})
    usual = mode([n for n in rows["seeds"] if n] or [0])
    texts = pd.DataFrame([_texts(row, usual) for row in rows.to_dict("records")])
    texts.index = pd.MultiIndex.from_frame(rows[["label_frequency", "method", "dataset"]])
    paper = set(rows["method"][rows["published"].notna()])
    lines = [(m, s) for m in rows["method"].unique() for s in texts if s == "ours" or m in paper]
    lines = pd.MultiIndex.from_tuples(lines, names=["method", "source"])
    sets, folds, title = rows["dataset"].unique(), "", TABLE_NAMES[table]
    for c, fold in texts.groupby(level=0):
        fold = fold.droplevel(0).stack().unstack("dataset")
        fold = fold.reindex(index=lines, columns=sets, fill_value="–")
        box, opened = html_table(fold, f"{title}, c = {c}"), " open" if c == 0.5 else ""
        folds += f"<details{opened}><summary>c = {c}</summary>{box}</details>\n"
    metric, design, schedule, reading = rows.iloc[0][["metric", "design", "schedule", "reading"]]
    return f"""<div class="pu-table">
<p>{title}: {METRIC_NAMES[metric]}, per cent, mean ± standard error over {usual} seeds where a
number does not say otherwise. Ours: the {design} design, networks by the schedule '{schedule}',
{READINGS[reading]}. Bold: the best method that is not told the truth.</p>
{folds}<p>Difference of the means in combined standard errors, from {FEWEST_SEEDS} seeds on:
<span class="pu-near">≈ up to {NEAR}</span>, <span class="pu-off">▲ or ▼ (ours above or below) up to
{FAR}</span>, <span class="pu-far">▲▲ or ▼▼ beyond</span>.</p>
</div>"""


def _texts(row, usual):
    """What is printed of a number: the published one, ours, their difference."""
    published = "{published:.2f} ± {published_se:.2f}".format(**row)
    ours = ("{ours:.2f} ± {ours_se:.2f}" if row["seeds"] > 1 else "{ours:.2f}").format(**row)
    published = published if pd.notna(row["published"]) else "–"
    published = f"<strong>{published}</strong>" if row["published_best"] else published
    ours = f"<strong>{ours}</strong>" if row["ours_best"] else ours
    ours += f"<br>(n = {row['seeds']})" if row["seeds"] != usual else ""
    ours = ours if row["seeds"] else "not run"
    difference = difference_html(row["difference"])
    return {"published": published, "ours": ours, "difference": difference}


def difference_html(difference):
    """A difference in standard errors: a symbol tells how large it is, not its colour alone.

    Examples
    --------
    >>> difference_html(-5.0)
    '<span class="pu-far">▼▼ -5.0</span>'
    """
    if pd.isna(difference):
        return "–"
    size, arrow = abs(difference), "▲" if difference > 0 else "▼"
    css, symbol = ("pu-off", arrow) if size <= FAR else ("pu-far", 2 * arrow)
    css, symbol = ("pu-near", "≈") if size <= NEAR else (css, symbol)
    return f'<span class="{css}">{symbol} {difference:+.1f}</span>'


def verdicts_html(judged, links=None):
    """Claims as HTML, a row each: three marks and the verdict, and what they rest on, unfolding.

    Parameters
    ----------
    judged : pandas.DataFrame
        What :func:`pu_utils.reproduction.judge` gives.
    links : dict of str to str, optional
        Where the numbers behind a claim are shown, by its key.
    """
    links, rows = links or {}, {}
    for key, row in judged.iterrows():
        place, asked = SOURCES[row["table"]], [source for source in ASKED if row[source]]
        place = f'<a href="{links[key]}">{place}</a>' if key in links else place
        counts = "".join(f"<br>{ASKED[s]}: {row[s]}, {row[f'{s}_counts']}" for s in asked)
        claim = f"<summary>{escape(row['claim'])}</summary>A case: {escape(row['case'])}.{counts}"
        marks = {name: _mark(row[source]) for source, name in ASKED.items()}
        rows[place, f"<details>{claim}</details>"] = marks | {"verdict": row["verdict"]}
    table = pd.DataFrame.from_dict(rows, orient="index").rename_axis(["place", "claim"])
    legend = ", ".join(f"{symbol} {answer}" for answer, (symbol, _) in MARKS.items())
    return f"""<div class="pu-table pu-verdicts">
{html_table(table, "Claims and verdicts")}
<p>{legend}. The counts behind each claim unfold.</p>
<details><summary>How a verdict is reached</summary><p>{escape(RULE)}</p></details>
</div>"""


def _mark(answer):
    symbol, css = MARKS.get(answer, ("", ""))
    return f'<span class="{css}" role="img" aria-label="{answer}">{symbol}</span>' if answer else ""
