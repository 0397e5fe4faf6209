"""The front page: its numbers, computed from ``results/`` whenever the book is built, its picture.

A number stands in ``book/intro.md`` as ``{{ name }}``; :func:`facts` gives each its value.
"""

from pathlib import Path

import pandas as pd
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from pu_utils.data import DATASET_NAMES, SYNTHETIC
from pu_utils.reproduction import by_seed, compare, numbers, paired, read_results, sign_test
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
        Whole numbers are counts, others points of U-accuracy; ``em_by_set`` is a table in Markdown.
    """
    folder = Path(results)
    recorded = read_results(folder)
    recorded = recorded[recorded["dataset"].isin(DATASET_NAMES)]
    comparison = compare(recorded)
    table = comparison[comparison["table"].isin(["table2", "table3"])]
    published = table.pivot(index=CELL, columns="method", values="published")
    best = published.drop(columns="S-Prophet").max(axis=1)
    means = by_seed(recorded, "u_accuracy").groupby(CELL).mean()
    confirmation = by_seed(read_results(folder / "confirmation"), "u_accuracy")
    return (
        _claims(pd.read_csv(folder / "scoreboard.csv"))
        | _rule(comparison)
        | _cifar(published["VP-B+S"] - means["VP-B+S"])
        | _all_negative(means["all-negative"] - best)
        | _regression(means, best)
        | _gains(confirmation.groupby(CELL).mean())
        | _rivals(confirmation, published["VP-B+S"], best)
        | _questions(by_seed(read_results(folder / "questions"), "u_accuracy"))
    )


def _claims(scoreboard):
    """Conclusions about trained methods: how many there are, and how many hold."""
    verdicts = scoreboard[scoreboard["about"] == "trained methods"]["verdict"]
    held = {"claims_hold": "holds", "claims_in_part": "holds in part"}
    counts = {name: int((verdicts == verdict).sum()) for name, verdict in held.items()}
    return {"claims": len(verdicts)} | counts


def _rule(comparison):
    """Cells of real data in which VP-B+S is ahead of VP-B, published and ours."""
    found = {}
    for source in ("published", "ours"):
        test = sign_test(numbers(comparison, "table5", source), "VP-B+S", "VP-B")
        found |= {f"{source}_gains": int(test.wins), f"{source}_cells": int(test.cells)}
    assert found.pop("ours_cells") == found["published_cells"]
    return found


def _cifar(below):
    """How far VP-B+S of ours is below the published one, on average over label frequencies."""
    return {f"{name}_off": round(below[name].mean()) for name in ("cifar_ct", "cifar_va")}


def _all_negative(lead):
    """Cells in which calling nobody positive is above the best published method."""
    return {"nobody_best": int((lead > 0).sum()), "nobody_cells": int(lead.count())}


def _regression(means, best):
    """Leads of EN+S on the one table: over our networks, over the published methods."""
    networks = means["EN+S"] - means[NETWORKS].max(axis=1)
    leads = {"table": networks, "table_paper": means["EN+S"] - best}
    leads = {name: lead["cdc_diabetes"].round(1) for name, lead in leads.items()}
    least = {f"{name}_least": float(lead.min()) for name, lead in leads.items()}
    return least | {f"{name}_most": float(lead.max()) for name, lead in leads.items()}


def _gains(means):
    """What the rule is worth at c = 0.9 on synthetic sets, and what EM+S lacks to all-negative."""
    means = means.xs(0.9, level="label_frequency").loc[list(SYNTHETIC)].mean()
    pairs = {"prophets": ("S-Prophet", "Y-Prophet"), "em": ("EM+S", "EM"), "vp": ("VP-B+S", "VP-B")}
    gains = {f"{name}_gain": round(means[s] - means[x]) for name, (s, x) in pairs.items()}
    return gains | {"nobody_ahead": float(round(means["all-negative"] - means["EM+S"], 1))}


def _rivals(accuracy, published, best):
    """EM+S on fresh seeds beside ours, the published ones, and itself when told."""
    means = accuracy.groupby(CELL).mean()
    rivals = {"ours": means["VP-B+S"], "published": published, "best": best}
    leads = pd.DataFrame({name: means["EM+S"] - rival for name, rival in rivals.items()})
    told = (means["EM told+S"] - means["EM+S"]).groupby("dataset").agg(["mean", "min", "max"])
    seeds = (accuracy["EM+S"] - accuracy["VP-B+S"]).dropna().groupby(CELL).size()
    return {f"em_above_{name}": int((lead >= 0).sum()) for name, lead in leads.items()} | {
        "em_cells": len(leads),
        "em_seeds": int(seeds.min()),
        "em_by_set": _by_set(leads),
        "told_most": round(told["max"]["cifar_ct"]),
        "told_small": int((told["mean"].abs() < 1).sum()),
        "told_sets": len(told),
        "told_cost": float(-told["min"].min().round(1)),
    }


def _by_set(leads):
    """A table: of each set the cells at or above each rival, and the mean lead."""
    titles = ["EM+S against", "our VP-B+S", "published VP-B+S", "best published"]
    lines = [titles, ["---", "---:", "---:", "---:"]]
    for name, title in DATASET_NAMES.items():
        lead = leads.loc[name]
        counts = [f"{(lead[x] >= 0).sum()} of {len(lead)} ({lead[x].mean():+.1f})" for x in lead]
        lines.append([title, *counts])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _questions(accuracy):
    """Five tables that the book had not used: EM+S significantly behind EN+S, and ahead."""
    sides = paired((accuracy["EM+S"] - accuracy["EN+S"]).dropna())["side"]
    counts = {f"questions_{side}": int((sides == side).sum()) for side in ("behind", "ahead")}
    return counts | {"questions_cells": len(sides)}


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
