"""The front page: its numbers, computed from ``results/`` whenever the book is built, its picture.

A number stands in ``book/intro.md`` as ``{{ name }}``; :func:`facts` gives each its value.
"""

from pathlib import Path

import pandas as pd
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from pu_utils.data import DATASET_NAMES
from pu_utils.reproduction import by_seed, compare, numbers, read_results, sign_test
from pu_utils.reproduction.tables import CELL

ROOT = Path(__file__).parents[2]
NETWORKS = [name for vp in ("VP-B", "VP", "VP-IF", "VP-A3") for name in (vp, f"{vp}+S")]


def facts(results):
    """The numbers of the front page, by the names that it calls them.

    Parameters
    ----------
    results : path
        Folder of the recorded results.

    Returns
    -------
    dict
        Whole numbers are counts, others points of U-accuracy.
    """
    claims = pd.read_csv(Path(results) / "scoreboard.csv").query("about == 'trained methods'")
    verdicts = claims["verdict"].value_counts()
    recorded = read_results(results)
    recorded = recorded[recorded["dataset"].isin(DATASET_NAMES)]
    comparison = compare(recorded)
    accuracy = by_seed(recorded, "u_accuracy")
    found = {
        "claims": int(verdicts.sum()),
        "claims_hold": int(verdicts["holds"]),
        "claims_hold_in_part": int(verdicts.get("holds in part", 0)),
    }
    for source in ("published", "ours"):
        test = sign_test(numbers(comparison, "table5", source), "VP-B+S", "VP-B")
        found |= {f"{source}_gains": int(test.wins), f"{source}_cells": int(test.cells)}
    return (
        found
        | _prophets(accuracy)
        | _regression(accuracy)
        | _all_negative(comparison)
        | _confirmation(by_seed(read_results(Path(results) / "confirmation"), "u_accuracy"))
    )


def _difference(accuracy, method, other):
    """Mean over the seeds that both have, by data set and label frequency."""
    return (accuracy[method] - accuracy[other]).dropna().groupby(CELL).mean()


def _prophets(accuracy):
    """What the rule is worth to those who know the truth, at c = 0.9: least and most."""
    gain = _difference(accuracy, "S-Prophet", "Y-Prophet").xs(0.9, level="label_frequency")
    return {"prophet_least": round(gain.min()), "prophet_most": round(gain.max())}


def _regression(accuracy):
    """The lead of a logistic regression over every network on the one table: least and most."""
    leads = [_difference(accuracy, "EN+S", network) for network in NETWORKS]
    lead = pd.concat(leads, axis=1).loc["cdc_diabetes"].min(axis=1)
    return {"table_least": float(lead.min().round(1)), "table_most": float(lead.max().round(1))}


def _all_negative(comparison):
    """Cells in which calling nobody positive is above the best published method."""
    table = comparison[comparison["table"].isin(["table2", "table3"])]
    told = table["method"].isin(["S-Prophet", "all-negative"])
    best = table[~told].groupby(CELL)["published"].max()
    negative = table[table["method"] == "all-negative"].groupby(CELL)["ours"].first().dropna()
    return {"nobody_best": int((negative > best).sum()), "nobody_cells": len(negative)}


def _confirmation(accuracy):
    """Fresh seeds: EM beside the network, and what the rule is worth to both at c = 0.9."""
    lead = _difference(accuracy, "EM+S", "VP-B+S")
    pairs = {"prophets": ("S-Prophet", "Y-Prophet"), "em": ("EM+S", "EM"), "vp": ("VP-B+S", "VP-B")}
    gains = {name: accuracy[with_s] - accuracy[x] for name, (with_s, x) in pairs.items()}
    gains = pd.DataFrame(gains).dropna().xs(0.9, level="label_frequency").mean().round().astype(int)
    seeds = (accuracy["EM+S"] - accuracy["VP-B+S"]).dropna().groupby(CELL).size().min()
    counts = {"em_above": int((lead >= 0).sum()), "em_cells": len(lead), "em_seeds": int(seeds)}
    counts["told_most"] = round(_difference(accuracy, "EM told+S", "EM+S").max())
    return counts | {f"{name}_gain": int(gain) for name, gain in gains.items()}


# The picture: a hundred patients of 65, as chapter 1 has them

REPORTED, SILENT, HEALTHY = 39, 28, 33
MARKS = {
    "reported": "<rect class='pu-reported' x='{x0}' y='{y0}' width='14' height='14' />",
    "silent": "<circle class='pu-silent' cx='{x}' cy='{y}' r='7' />",
    "healthy": "<circle class='pu-healthy' cx='{x}' cy='{y}' r='6' />",
}


def patients(kinds, label):
    """A drawing of patients, ten a row, one mark for each."""
    marks = "".join(
        _mark(kind, 10 + 20 * (k % 10), 10 + 20 * (k // 10)) for k, kind in enumerate(kinds)
    )
    return (
        f"<svg role='img' aria-label='{label}' viewBox='0 0 200 200' width='200' height='200'>"
        f"{marks}</svg>"
    )


def _mark(kind, x, y):
    return MARKS[kind].format(x=x, y=y, x0=x - 7, y0=y - 7)


def picture():
    """All patients of one age, and those among them who have reported nothing."""
    silent = ["silent"] * SILENT + ["healthy"] * HEALTHY
    ill, n = REPORTED + SILENT, len(silent)
    everybody = patients(["reported"] * REPORTED + silent, f"100 patients, {ill} of them ill")
    unreported = patients(silent, f"The {n} of them without a report, {SILENT} of them ill")
    legend = "".join(
        f"<li><svg viewBox='0 0 20 20' aria-hidden='true'>{_mark(kind, 10, 10)}</svg> {text}</li>"
        for kind, text in {
            "reported": "ill, and has reported it",
            "silent": "ill and silent",
            "healthy": "healthy, and so silent",
        }.items()
    )
    return f"""<div class="pu-idea">
<div>{everybody}<p><b>{ill} of 100</b> patients of 65 are ill.<br/>
If you know only their age, call them ill.</p></div>
<div class="pu-arrow" aria-hidden="true">→</div>
<div>{unreported}<p><b>{SILENT} of the {n}</b> who have reported nothing are ill.<br/>
If you know of their silence too, call them healthy.</p></div>
<ul>{legend}</ul>
</div>"""


class IdeaPicture(SphinxDirective):
    """Where the picture stands in its page."""

    def run(self):
        return [nodes.raw("", picture(), format="html")]


def put_numbers(app, config):
    """Give the page its numbers."""
    config.myst_substitutions = {**config.myst_substitutions, **facts(ROOT / "results")}


def setup(app):
    """Register the directive and the numbers."""
    app.add_directive("idea-picture", IdeaPicture)
    app.connect("config-inited", put_numbers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
