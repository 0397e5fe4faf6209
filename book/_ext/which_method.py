"""The page *Which method?*: its table, computed from ``results/confirmation`` at every build."""

from pathlib import Path

import pandas as pd
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from pu_utils.data import DATASET_NAMES
from pu_utils.reproduction import by_seed, read_results
from pu_utils.reproduction.rendering import html_table

RESULTS = Path(__file__).parents[2] / "results" / "confirmation"
COLUMNS = {
    "all-negative": "all-neg.",
    "EN+S": "EN",
    "VP-B+S": "VP-B",
    "EM+S": "EM",
    "EM told+S": "EM told",
}
TOLD = "EM told+S"  # knows more than the others, and is never the best of them
FREQUENCIES = (0.1, 0.5, 0.9)
LABEL = "U-accuracy of five methods by data set and label frequency"


def evidence(results=RESULTS):
    """Mean U-accuracies in per cent, a row per data set and label frequency, as the page has them.

    Parameters
    ----------
    results : path
        Folder of the results of the confirmation.
    """
    accuracy = by_seed(read_results(results), "u_accuracy")
    means = accuracy[list(COLUMNS)].groupby(["dataset", "label_frequency"]).mean()
    sets = [name for name in DATASET_NAMES if name in means.index]
    return means.reindex(pd.MultiIndex.from_product([sets, FREQUENCIES], names=means.index.names))


def to_html(table):
    """The table as HTML; of the methods that are told nothing the best is bold."""
    best = table.round().eq(table.round().drop(columns=TOLD).max(axis=1), axis=0)
    texts = table.map("{:.0f}".format)
    texts = texts.mask(best.assign(**{TOLD: False}), "<strong>" + texts + "</strong>")
    texts = texts.rename(columns=COLUMNS, index=DATASET_NAMES).rename_axis(["set", "c"])
    return f"<div class='pu-table'>{html_table(texts, LABEL)}</div>"


class MethodEvidence(SphinxDirective):
    """Where the table stands in its page."""

    def run(self):
        for path in (__file__, *RESULTS.glob("*.csv")):
            self.env.note_dependency(str(path))  # new results: the page is built again
        return [nodes.raw("", to_html(evidence()), format="html")]


def setup(app):
    """Register the directive."""
    app.add_directive("method-evidence", MethodEvidence)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
