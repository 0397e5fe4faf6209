"""The report: one HTML file that needs no network, runs no script and trusts no cell of the file.

Every function returns HTML. What comes from the reader's file passes through ``escape`` once, in
:func:`grid`, :func:`prose` and :func:`chart`.
"""

from html import escape
from importlib.resources import files
from string import Template

import numpy as np

from pu_utils.metrics import all_negative_u_accuracy
from pu_utils.own_data.audit import checks_needed

HEAD = 20  # rows of the ranking that are shown
SHOWN = 15  # features that are shown
PROMISE = "if the model and this prior are right, which only an audit can tell"


def write_report(path, model, facts, ranked, verdict=None):
    """Write the report on a fitted model and the ranking of its own table.

    Parameters
    ----------
    path : Path
        The file to write.
    model : TableModel
        The fitted model.
    facts : dict
        ``title``; ``rule``: how decisions were made; ``output``: where the ranking is.
    ranked : pandas.DataFrame
        Its ranking.
    verdict : dict, optional
        What :func:`pu_utils.own_data.audit.judge` gives.
    """
    sections = [
        _warnings(model),
        _list(model, ranked, facts),
        _hidden(model),
        _audit(ranked) if verdict is None else _audited(verdict),
        _drivers(model),
        _certified(model),
        _diagnostics(model, ranked),
        _columns(model),
        _learnt(model),
        _next(model),
    ]
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    text = template.substitute(
        title=escape(facts["title"]), lead=escape(first_line(model)), sections="\n".join(sections)
    )
    path.write_text(text, encoding="utf-8")


def first_line(model):
    """Which prior is assumed, where it comes from, and what it means for the rows at hand."""
    counts, prior = model.counts_, model.prior_
    source = "as given with --prior"
    if model.method == "sar-em":
        source = "as SAR-EM estimates it, leaning on logistic models"
    elif model.prior_range is not None:
        source = f"the middle of the range {model.range_[0]:g} to {model.range_[1]:g} given"
    elif model.prior is None:
        source = (
            "because no prior was given and half of the positives are then taken to be labelled: "
            "an assumption, not a finding"
        )
    return (
        f"Assumed: {prior:.1%} of all {counts['rows']:,} rows are positive (prior {prior:.4g}, "
        f"{source}). {counts['labelled']:,} are labelled, so about {_hidden_count(model):,} of "
        f"the {counts['unlabelled']:,} others are hidden positives. The data cannot confirm this "
        "number: everything below follows from it."
    )


def _hidden_count(model):
    return round(model.prior_ * model.counts_["rows"] - model.counts_["labelled"])


# Sections


def _warnings(model):
    if not model.remarks_:
        return ""
    items = "".join(f"<li>{escape(remark)}</li>" for remark in model.remarks_)
    return f'<section class="alert"><h2>Warnings</h2><ul>{items}</ul></section>'


def _list(model, ranked, facts):
    called = int(ranked["decision"].sum())
    digits = ranked.head(HEAD).round(4).astype(object)
    return section(
        "The list",
        prose(
            f"{called:,} of {len(ranked):,} unlabelled rows are called positive ({facts['rule']}); "
            f"to call none would be right in {_all_negative(model):.1%} of them. All rows, most "
            f"likely positive first, are in {facts['output']}. y is the probability of being "
            "positive, e that of a positive being labelled, s that of being labelled, and "
            "augmented the probability of being positive in spite of having no label."
        ),
        grid(f"The first {len(digits)} rows", list(ranked.columns), digits.to_numpy().tolist()),
    )


def _all_negative(model):
    labelled, rows = model.counts_["labelled"], model.counts_["rows"]
    return all_negative_u_accuracy(model.prior_, labelled / rows / model.prior_)


def _hidden(model):
    band, size = model.band_, model.list_size
    priors = [row["prior"] for row in band]
    lines = {
        "hidden positives": (priors, [row["hidden"] for row in band]),
        "called positive": (priors, [row["called"] for row in band]),
    }
    ends = " to ".join(f"{row['hidden']:,.0f}" for row in (band[0], band[-1]))
    rows = [
        [
            f"{row['prior']:.3g}", f"{row['hidden']:,.0f}", f"{row['all_negative']:.1%}",
            f"{row['called']:,}", f"{row['right']:.1%}", f"{row['precision']:.1%}", row["same"],
        ]
        for row in band
    ]  # fmt: skip
    return section(
        "How many positives are hidden, and what that depends on",
        prose(
            f"Over the range of priors the number of hidden positives is {ends}. The table says "
            f"what else would change: shares are {PROMISE}; estimated from PU data they have been "
            f"far too rosy. It rests on {model.counts_['band']:,} rows."
        ),
        grid(
            "What follows from each prior",
            ["prior", "hidden positives", "right if none is called", "called positive",
             "right with these calls", f"positives among the first {size}",
             f"of the first {size}, as in the list"],
            rows,
        ),
        chart(lines, "prior", "rows", "Both numbers against the prior that is assumed."),
    )  # fmt: skip


def _audit(ranked):
    sizes = [int((ranked["decision"] == decision).sum()) for decision in (1, 0)]
    rows = [[f"{w:g}", *(f"{checks_needed(n, w):,}" for n in sizes)] for w in (0.1, 0.2, 0.3)]
    return section(
        "The audit that decides",
        prose(
            "Nothing here has been checked yet. Have rows drawn at random (seeded), look each up "
            "by hand, write yes or no beside it, and hand the file in: exact 95% intervals for "
            "precision, hidden positives and prior follow, whatever the model is worth."
        ),
        grid(
            "Rows to check for 95% intervals of a wanted width",
            ["width", f"of the {sizes[0]:,} called", f"of the {sizes[1]:,} others"],
            rows,
        ),
        prose(
            "Repeat the command with --audit-sample to_check.csv --audit-width 0.2 to have the "
            "rows drawn, and with --audit to_check.csv (and --recalibrate) once they are checked."
        ),
    )


def _audited(verdict):
    names = {
        "precision": "precision of the rows called",
        "missed": "positives among the rows not called",
        "prior": "prior",
    }
    rows = [[text, *(f"{end:.1%}" for end in verdict[key])] for key, text in names.items()]
    rows.append(["hidden positives, rows", *(f"{end:,.0f}" for end in verdict["hidden"])])
    counts = verdict["checked"]
    return section(
        "What the audit found",
        prose(
            f"Of {counts[1]['size']:,} rows called {counts[1]['checked']:,} were checked and "
            f"{counts[1]['positive']:,} are positive; of {counts[0]['size']:,} others "
            f"{counts[0]['checked']:,} and {counts[0]['positive']:,}. Calls beat calling none "
            "(with equal costs) where precision exceeds 50%."
        ),
        grid("Exact 95% intervals", ["", "from", "to"], rows),
    )


def _drivers(model):
    rows = [[row["name"], f"{row['y']:.3f}", f"{row['e']:.3f}"] for row in model.drivers_]
    return section(
        "What drives class, and what drives labelling",
        prose(
            "How far y (being positive) and e (a positive being labelled) move on average when a "
            "column is shuffled. A column that moves e more than y tells who gets a label rather "
            "than who is positive."
        ),
        grid("Columns that move y most", ["column", "moves y by", "moves e by"], rows[:SHOWN]),
    )


def _certified(model):
    rows = [[f"{row['least_propensity']:g}", f"{row['share']:.1%}"] for row in model.certified_]
    line = [[row[key] for row in model.certified_] for key in ("least_propensity", "share")]
    return section(
        "Negatives that need no model of labelling",
        prose(
            "Suppose that wherever there are positives at least a share eps of them is labelled. "
            "Then y is at most s / eps, and rows with s of at most eps / (2 - eps) are negative "
            "for the best rule, whatever else is true. What eps is you must know; s can be checked."
        ),
        chart({"certified negative": line}, "eps", "share of unlabelled rows", "Share certified."),
        grid("Certified negatives", ["eps", "share of unlabelled rows"], rows),
    )


def _diagnostics(model, ranked):
    checked = model.calibration_
    points = [checked["estimated"], checked["observed"]]
    end = max(map(max, points))
    return section(
        "Diagnostics",
        grid(
            "Numbers to look at",
            ["", "value"],
            [
                ["rows with s above y (should be 0)", f"{model.share_above():.1%}"],
                ["unlabelled rows called positive", f"{int(ranked['decision'].sum()):,}"],
                ["hidden positives that the prior means", f"{_hidden_count(model):,}"],
                ["sum of the augmented posterior", f"{ranked['augmented'].sum():,.0f}"],
                ["right if none is called (baseline)", f"{_all_negative(model):.1%}"],
            ],
        ),
        chart(
            {"observed": points, "perfect": ([0, end], [0, end])},
            "estimated s",
            "share labelled",
            f"Calibration of s on {checked['rows']:,} rows that the fit for it has not seen: the "
            "points should lie on the broken line. Of y no such check exists without an audit.",
        ),
    )


def _columns(model):
    return section(
        "How the file was read",
        prose(
            f"Label: column {model.label!r}, labelled where it says {model.positive_!r}. Rows are "
            f"named by {repr(model.id_) if model.id_ else 'their number'}. A ColumnTransformer of "
            "scikit-learn makes numbers of the columns: numbers and dates (in days) are "
            "standardised, missing ones take the median and are marked; categories become a "
            "column per level."
        ),
        grid(
            "Columns",
            ["column", "read as", "missing"],
            [[fact["name"], _reading(fact), f"{fact['missing']:,}"] for fact in model.columns_],
            "words",
        ),
    )


def _reading(fact):
    if fact["kind"] == "dropped":
        return f"dropped: {fact['reason']}"
    if fact["kind"] == "category":
        levels = ", ".join(fact["levels"][:5]) + (", …" if len(fact["levels"]) > 5 else "")
        return f"category with {len(fact['levels'])} levels: {levels}"
    return fact["kind"] if fact["form"] in ("number", "date") else f"date ({fact['form']})"


def _learnt(model):
    fitted, counts = model.estimator_, model.counts_
    chosen = getattr(fitted, "chosen_", {}).get("class_model", "logistic")
    cause = model.propensity_columns or ["all columns"]
    return section(
        "What was learnt",
        prose(
            f"Method {model.method} with a {chosen} model of the class, fitted to "
            f"{counts['fitted']:,} of {counts['rows']:,} rows (seed {model.seed}) and applied to "
            f"all. Labelling may depend on: {', '.join(cause)}. On average "
            f"{counts['labelled'] / counts['rows'] / model.prior_:.1%} of the positives are "
            "labelled."
        ),
    )


def _next(model):
    steps = [
        "Find out the prior: a survey, a registry, an earlier audit. A range is better than a "
        "guess (--prior-range LOW HIGH).",
        "Check a random sample by hand (see above) before anyone acts on the list.",
        "Set what a false alarm and a missed positive cost (--cost FP:FN), or how many rows can "
        "be looked at (--budget N).",
        "Save the model (--save MODEL.safetensors) and rank new rows with it (rank "
        "MODEL.safetensors --apply NEW_FILE).",
    ]
    if not model.propensity_columns:
        steps.insert(1, "Say what labelling depends on (--propensity-columns): it helps most.")
    return section(
        "What to do next", "<ol>" + "".join(f"<li>{escape(step)}</li>" for step in steps) + "</ol>"
    )


# Pieces


def section(title, *parts):
    """A titled part of the page."""
    return f"<section><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def prose(text):
    """A paragraph."""
    return f"<p>{escape(text)}</p>"


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
    """One or two lines as SVG, the second one broken; its text says the numbers."""
    xs, ys = (np.concatenate([line[k] for line in lines.values()]) for k in (0, 1))
    x0, x1, y1 = xs.min(), max(xs.max(), xs.min() + 1e-9), max(ys.max(), 1e-9)
    drawn, told = [], []
    for kind, (name, (x, y)) in zip("ab", lines.items(), strict=False):
        across = 60 + 400 * (np.asarray(x) - x0) / (x1 - x0)
        up = 230 - 200 * np.asarray(y) / y1
        points = list(zip(across.round(1), up.round(1), strict=True))
        drawn.append(
            f'<polyline class="{kind}" points="{" ".join(f"{a},{b}" for a, b in points)}"/>'
        )
        drawn += [f'<circle class="{kind}" cx="{a}" cy="{b}" r="3.5"/>' for a, b in points]
        drawn.append(_key(kind, name))
        told.append(
            f"{name}: " + ", ".join(f"{b:.3g} at {a:.3g}" for a, b in zip(x, y, strict=True))
        )
    for part in np.linspace(0, 1, 5):
        a, b = 60 + 400 * part, 230 - 200 * part
        drawn.append(f'<line class="axis" x1="60" x2="460" y1="{b:.0f}" y2="{b:.0f}"/>')
        drawn.append(f'<text x="54" y="{b + 4:.0f}" text-anchor="end">{_short(y1 * part)}</text>')
        drawn.append(
            f'<text x="{a:.0f}" y="248" text-anchor="middle">{_short(x0 + (x1 - x0) * part)}</text>'
        )
    drawn.append(f'<text x="260" y="270" text-anchor="middle">{escape(xlabel)}</text>')
    drawn.append(f'<text x="60" y="14">{escape(ylabel)}</text>')
    alt = escape(f"{ylabel} against {xlabel}. {'; '.join(told)}.")
    return (
        f'<figure><svg role="img" aria-label="{alt}" viewBox="0 0 480 280">{"".join(drawn)}</svg>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _key(kind, name):
    x = 220 if kind == "a" else 350
    return (
        f'<polyline class="{kind}" points="{x},10 {x + 22},10"/>'
        f'<text x="{x + 28}" y="14">{escape(name)}</text>'
    )


def _short(number):
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
