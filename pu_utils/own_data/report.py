"""The report: one HTML file that needs no network, runs no script and trusts no cell of the file.

Its prose, tables and charts are in ``report.html``, a template of Jinja, which escapes all that is
filled in; here is what has to be computed for it.
"""

from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pu_utils.own_data.audit import checks_needed

HEAD = 20  # rows of the ranking that are shown


def write_report(path, model, facts, ranked, verdict=None):
    """Write the report on a fitted model and the ranking of its own table.

    Parameters
    ----------
    path : Path
        The file to write.
    model : TableModel
        The fitted model.
    facts : dict
        ``file``: what was read; ``rule``: how decisions were made; ``output``: where they are.
    ranked : pandas.DataFrame
        The ranking.
    verdict : dict, optional
        What :func:`pu_utils.own_data.audit.judge` gives.
    """
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"percent": "{:.1%}".format, "whole": "{:,.0f}".format, "short": _short}
    text = environment.get_template("report.html").render(
        model=model,
        facts=facts,
        ranked=ranked,
        verdict=verdict,
        lead=first_line(model),
        head=ranked.head(HEAD).round(4).astype(object).to_numpy(),
        sizes=[int((ranked["decision"] == decision).sum()) for decision in (1, 0)],
        main=next(row for row in model.band_ if row["prior"] == model.prior_),
        hidden=_hidden(model),
        checks_needed=checks_needed,
        scaled=_scaled,
        zip=zip,
    )
    path.write_text(text, "utf-8")


def first_line(model):
    """Which prior is assumed, where it comes from, and what it means for the rows at hand."""
    rows, labelled = model.counts_["rows"], model.counts_["labelled"]
    source = "as given"
    if model.method == "sar-em":
        source = "estimated by SAR-EM, which takes no prior and leans on logistic models"
    elif model.prior_range is not None:
        source = f"the middle of the range given, {model.range_[0]:g} to {model.range_[1]:g}"
    elif model.prior is None:
        source = "since no prior was given: half of the positives are then taken to be labelled"
    return (
        f"Assumed: {model.prior_:.1%} of all {rows:,} rows are positive (prior {model.prior_:.4g}, "
        f"{source}). {labelled:,} are labelled, so about {_hidden(model):,} of the "
        f"{rows - labelled:,} others are hidden positives. The data cannot confirm this number, "
        "and everything else follows from it."
    )


def _hidden(model):
    return round(model.prior_ * model.counts_["rows"] - model.counts_["labelled"])


def _scaled(lines):
    """Ticks and lines of a chart, from points (x, y) to places in a drawing of 480 by 290."""
    xs, ys = np.concatenate([*lines.values()]).T
    left, wide, high = xs.min(), np.ptp(xs) or 1.0, ys.max() or 1.0

    def place(x, y):
        return round(60 + 400 * (x - left) / wide, 1), round(244 - 190 * y / high, 1)

    corners = [(left + wide * part, high * part) for part in np.linspace(0, 1, 5)]
    ticks = [(*place(*corner), *corner) for corner in corners]
    return ticks, {name: [place(*point) for point in points] for name, points in lines.items()}


def _short(number):
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
