"""The results explorer: every number of the tables, published and ours, on one page.

The directive ``results-explorer`` puts the numbers into its page as JSON, made from ``results/``
whenever the page is built, and a table of the first choice for readers without scripts.
``book/_static/explorer.js`` does the rest.
"""

import json
from functools import partial
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from pu_utils.data import DATASET_NAMES
from pu_utils.metrics import METRIC_NAMES
from pu_utils.reproduction import compare, read_results
from pu_utils.reproduction.tables import METHODS, PLACE

ROOT = Path(__file__).parents[2]
SOURCES = {"published": "published", "clean": "ours", "replay": "ours, in the program's order"}
FIRST = ("u_accuracy", "cdc_diabetes", 0.5)  # what is shown before anything is chosen


def numbers(results):
    """Every number of the tables by metric, data set, c and method, as JSON can hold it.

    Parameters
    ----------
    results : path
        Folder of the recorded results.

    Returns
    -------
    dict
        ``metrics`` and ``sets``, their names as printed; ``sources``, names of the columns; and
        ``rows``: the place, and for each source its mean, standard error and number of seeds, in
        per cent, or None where there is none.
    """
    recorded = read_results(results)
    rows = {}
    for reading in ("clean", "replay"):
        table = compare(recorded, reading=reading).drop_duplicates(PLACE)
        for row in table.to_dict("records"):
            place = tuple(row[key] for key in PLACE)
            entry = rows.setdefault(place, {})
            if row["published"] == row["published"]:  # not NaN
                entry["published"] = _figure(row["published"], row["published_se"], 10)
            if row["seeds"]:
                entry[reading] = _figure(row["ours"], row["ours_se"], row["seeds"])
    _drop_repetitions(rows)
    sets = DATASET_NAMES | {place[1]: place[1] for place in rows if place[1] not in DATASET_NAMES}
    return {
        "metrics": METRIC_NAMES,
        "sets": sets,
        "sources": SOURCES,
        "first": FIRST,
        "rows": [
            [*place, [entry.get(source) for source in SOURCES]]
            for place, entry in sorted(rows.items(), key=partial(_order, list(sets)))
        ],
    }


def _figure(mean, error, seeds):
    """Mean, standard error (None of a single seed) and seeds of one number."""
    return [round(mean, 2), round(error, 2) if error == error else None, int(seeds)]


def _order(sets, item):
    """The paper's sets and methods in its order, those that it lacks last."""
    (metric, name, c, method), _ = item
    place = METHODS.index(method) if method in METHODS else len(METHODS)
    return metric, sets.index(name), c, place, method


def _drop_repetitions(rows):
    """Methods that the program's order does not touch are the same experiments: shown once."""
    for entry in rows.values():
        if entry.get("replay") == entry.get("clean"):
            entry.pop("replay", None)


def static_table(payload):
    """The first choice as an HTML table, for readers without scripts."""
    metric, name, c = payload["first"]
    lines = [
        "<tr><th scope='row'>{}</th>{}</tr>".format(
            escape(row[3]), "".join(f"<td>{_shown(number)}</td>" for number in row[4])
        )
        for row in payload["rows"]
        if tuple(row[:3]) == (metric, name, c)
    ]
    heads = "".join(f"<th scope='col'>{escape(text)}</th>" for text in payload["sources"].values())
    caption = f"{payload['metrics'][metric]} on {payload['sets'][name]} at c = {c}, in per cent"
    return (
        f"<table class='pu-readings'><caption>{escape(caption)}</caption>"
        f"<thead><tr><th scope='col'>method</th>{heads}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _shown(number):
    if number is None:
        return "–"
    mean, error, _ = number
    return f"{mean:.2f}" if error is None else f"{mean:.2f} ± {error:.2f}"


class ResultsExplorer(SphinxDirective):
    """Where the explorer stands in its page."""

    def run(self):
        for path in (__file__, *(ROOT / "results").glob("*.csv")):
            self.env.note_dependency(str(path))  # new results: the page is built again
        payload = numbers(ROOT / "results")
        data = json.dumps(payload, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
        html = (
            f"<div class='pu-explorer'>{static_table(payload)}"
            f"<script type='application/json'>{data}</script></div>"
        )
        return [nodes.raw("", html, format="html")]


def setup(app):
    """Register the directive."""
    app.add_directive("results-explorer", ResultsExplorer)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
