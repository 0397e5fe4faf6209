"""The report: one HTML file that needs no network, runs no script and trusts no cell of the file.

Its prose is in ``report.html``; what is filled in there is made here, and escaped here: tables and
charts where they are made, single values by :func:`write_report`.
"""

from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from pu_utils.own_data.audit import checks_needed

HEAD, SHOWN = 20, 15  # rows of the ranking, and columns that drive it, that are shown
WIDTHS = (0.1, 0.2, 0.3)  # of intervals, for which the plan of the audit is shown


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
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    values = facts | _values(model, ranked)
    plain = {name: escape(str(value)) for name, value in values.items()}
    pieces = _pieces(model, ranked) | {"verdict": _verdict(verdict) if verdict else ""}
    path.write_text(template.substitute(plain, **pieces), "utf-8")


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


def _main(model):
    return next(row for row in model.band_ if row["prior"] == model.prior_)


def _values(model, ranked):
    """What stands in the sentences of the report."""
    counts, fitted, band = model.counts_, model.estimator_, model.band_
    told = getattr(fitted, "propensity_features", None) is not None
    return {
        "lead": first_line(model),
        "called": f"{ranked['decision'].sum():,}",
        "unlabelled": f"{len(ranked):,}",
        "all_negative": f"{_main(model)['all_negative']:.1%}",
        "ordered": "augmented" if told else "y, since --propensity-columns are not told",
        "hidden_low": f"{band[0]['hidden']:,.0f}",
        "hidden_high": f"{band[-1]['hidden']:,.0f}",
        "band": f"{counts['band']:,}",
        "label": model.label,
        "positive": model.positive_,
        "id": model.id_ or "their number",
        "method": model.method,
        "class_model": getattr(fitted, "chosen_", {}).get("class_model", "logistic"),
        "fitted": f"{fitted.diagnostics_['rows']:,}",
        "rows": f"{counts['rows']:,}",
        "seed": model.seed,
        "cause": ", ".join(model.propensity_columns or ["any column"]),
        "frequency": f"{counts['labelled'] / counts['rows'] / model.prior_:.1%}",
    }


def _pieces(model, ranked):
    """The tables and charts of the report."""
    band, certified, size = model.band_, model.certified_, model.list_size
    priors = [row["prior"] for row in band]
    calibration = [model.calibration_[key] for key in ("estimated", "observed")]
    end = max(map(max, calibration))
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in model.remarks_)
    head = ranked.head(HEAD).round(4).astype(object)
    return {
        "warnings": remarks
        and f'<section class="alert"><h2>Warnings</h2><ul>{remarks}</ul></section>',
        "head_table": grid(f"The first {len(head)} rows", ranked.columns, head.to_numpy()),
        "band_table": grid(
            "What follows from each prior",
            ["prior", "hidden positives", "right if none is called", "called positive",
             "right with these calls", f"positives in the first {size}",
             f"rows of the first {size} that stay"],
            [[f"{row['prior']:.3g}", f"{row['hidden']:,.0f}", f"{row['all_negative']:.1%}",
              f"{row['called']:,}", f"{row['right']:.1%}", f"{row['precision']:.1%}", row["same"]]
             for row in band],
        ),
        "band_chart": chart(
            {name: (priors, [row[key] for row in band])
             for name, key in (("hidden positives", "hidden"), ("called positive", "called"))},
            "prior", "rows", "Both numbers against the prior that is assumed.",
        ),
        "plan_table": _plan(ranked),
        "drivers_table": grid(
            "Columns that move y most",
            ["column", "moves y by", "moves e by"],
            [[row["name"], f"{row['y']:.3f}", f"{row['e']:.3f}"] for row in model.drivers_[:SHOWN]],
        ),
        "certified_chart": chart(
            {"certified": [[row[k] for row in certified] for k in ("least_propensity", "share")]},
            "eps", "share of unlabelled rows", "Certified negatives against eps.",
        ),
        "certified_table": grid(
            "Certified negatives",
            ["eps", "share of unlabelled rows"],
            [[f"{row['least_propensity']:g}", f"{row['share']:.1%}"] for row in certified],
        ),
        "diagnostics_table": grid("Numbers to look at", ["what", "value"], _checks(model, ranked)),
        "calibration_chart": chart(
            {"observed": calibration, "perfect": ([0, end], [0, end])},
            "estimated s", "share labelled",
            f"Calibration of s on {model.calibration_['rows']:,} rows that the fit for it has not "
            "seen: points should lie on the broken line. For y only an audit can tell.",
        ),
        "columns_table": grid(
            "Columns",
            ["column", "read as", "missing"],
            [[fact["name"], _reading(fact), f"{fact['missing']:,}"] for fact in model.columns_],
            "words",
        ),
    }  # fmt: skip


def _checks(model, ranked):
    facts = model.estimator_.diagnostics_
    above = facts["unlabelled_rows_with_s_above_y"] / (facts["rows"] - facts["labelled_rows"])
    return [
        ["unlabelled rows with s above y (should be none)", f"{above:.1%}"],
        ["unlabelled rows called positive", f"{ranked['decision'].sum():,}"],
        ["hidden positives that the prior means", f"{_hidden(model):,}"],
        ["hidden positives that the ranking adds up to", f"{ranked['augmented'].sum():,.0f}"],
        ["right if none is called (baseline)", f"{_main(model)['all_negative']:.1%}"],
    ]


def _reading(fact):
    if fact["kind"] == "dropped":
        return f"dropped: {fact['reason']}"
    if fact["kind"] == "category":
        levels = ", ".join(fact["levels"][:5]) + (", …" if len(fact["levels"]) > 5 else "")
        return (
            f"category with {len(fact['levels'])} levels ({levels}); {fact['other']:,} other rows"
        )
    return fact["kind"] if fact["form"] in ("number", "date") else f"date ({fact['form']})"


def _plan(ranked):
    sizes = [int((ranked["decision"] == decision).sum()) for decision in (1, 0)]
    rows = [[f"{w:g}", *(f"{checks_needed(n, w):,}" for n in sizes)] for w in WIDTHS]
    header = ["width", f"of the {sizes[0]:,} called", f"of the {sizes[1]:,} others"]
    return grid("Rows to check for 95% intervals of a wanted width", header, rows)


def _verdict(verdict):
    rows = [
        ["precision of the calls", *(f"{end:.1%}" for end in verdict["precision"])],
        ["positives among the others", *(f"{end:.1%}" for end in verdict["missed"])],
        ["hidden positives, in rows", *(f"{end:,.0f}" for end in verdict["hidden"])],
        ["prior", *(f"{end:.1%}" for end in verdict["prior"])],
    ]
    return grid("What the audit found: exact 95% intervals", ["what", "from", "to"], rows)


# Tables and charts


def grid(caption, header, rows, kind="numbers"):
    """A table with a caption and headed columns, which scrolls by itself where it is too wide."""
    head = "".join(f'<th scope="col">{escape(str(cell))}</th>' for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f'<div class="scroll" role="region" aria-label="{escape(caption)}" tabindex="0">'
        f'<table class="{kind}"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def chart(lines, xlabel, ylabel, caption):
    """One or two lines as SVG, the second one broken; its label says the numbers."""
    xs, ys = (np.concatenate([line[k] for line in lines.values()]) for k in (0, 1))
    left, wide, high = xs.min(), np.ptp(xs) or 1.0, ys.max() or 1.0
    drawn = [_text(60, 14, ylabel), _text(260, 284, xlabel, "middle")]
    for part in np.linspace(0, 1, 5):
        up, across = 244 - 190 * part, 60 + 400 * part
        drawn.append(f'<line class="axis" x1="60" x2="460" y1="{up:.0f}" y2="{up:.0f}"/>')
        drawn.append(_text(54, up + 4, _short(high * part), "end"))
        drawn.append(_text(across, 262, _short(left + wide * part), "middle"))
    for kind, start, (name, (x, y)) in zip("ab", (60, 260), lines.items(), strict=False):
        across = 60 + 400 * (np.asarray(x) - left) / wide
        points = [
            (f"{a:.1f}", f"{244 - 190 * b / high:.1f}") for a, b in zip(across, y, strict=True)
        ]
        path = " ".join(",".join(point) for point in points)
        drawn.append(f'<polyline class="{kind}" points="{path}"/>')
        drawn += [f'<circle class="{kind}" cx="{a}" cy="{b}" r="3.5"/>' for a, b in points]
        drawn.append(f'<polyline class="{kind}" points="{start},31 {start + 22},31"/>')
        drawn.append(_text(start + 28, 35, name))
    told = "; ".join(
        f"{name}: " + ", ".join(f"{b:.3g} at {a:.3g}" for a, b in zip(*line, strict=True))
        for name, line in lines.items()
    )
    alt = escape(f"{ylabel} against {xlabel}. {told}")
    return (
        f'<figure><svg role="img" aria-label="{alt}" viewBox="0 0 480 290">{"".join(drawn)}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _text(x, y, text, anchor="start"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escape(text)}</text>'


def _short(number):
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
