"""Every chapter with experiments opens by running one, and it is one that was recorded."""

import ast
import json
from pathlib import Path

import pytest

from pu_utils.reproduction import read_results

ROOT = Path(__file__).parents[2]
# chapter: data set, label frequency and seed that it sets at its top, the folder of results where
# this experiment is recorded, and the decisions that stand there
LIVE = {
    "06_without_s": ("mnist_3v5", 0.5, 0, "results", ["VP", "VP-B", "EN"]),
    "07_synthetic": ("synth_1", 0.9, 0, "results", ["VP", "VP-B", "EN"]),
    "08_real": ("cdc_diabetes", 0.9, 0, "results", ["VP", "VP-B", "EN"]),
    "09_when_it_pays": ("synth_1", 0.9, 10, "results/confirmation", ["EM", "EM+S", "all-negative"]),
    "11_do_you_need_a_network": ("synth_1", 0.5, 10, "results/confirmation", ["EM+S", "VP-B+S"]),
    "12_does_it_hold_up": ("synth_2", 0.7, 15, "results/confirmation", ["EN+S", "uPU+S", "EM+S"]),
}


def training_cell(chapter):
    """The cell that says at its top what it trains, as the reader finds it."""
    notebook = json.loads((ROOT / "notebooks" / f"{chapter}.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return next(cell for cell in code if "dataset, c, seed = " in "".join(cell["source"]))


def variables(source):
    """What a cell sets to a literal, ``dataset, c, seed = "synth_1", 0.9, 10`` among it."""
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Tuple):
            names, values = target.elts, getattr(node.value, "elts", [])
            if values and all(isinstance(value, ast.Constant) for value in values):
                found |= {n.id: v.value for n, v in zip(names, values, strict=True)}
    return found


@pytest.mark.parametrize("chapter", LIVE)
def test_chapter_runs_a_recorded_experiment(chapter):
    """In the open, with the variables at its top, and it stops if it does not agree."""
    dataset, label_frequency, seed, folder, decisions = LIVE[chapter]
    cell = training_cell(chapter)
    source = "".join(cell["source"])
    assert "hide-input" not in cell["metadata"].get("tags", []) and "assert " in source
    assert variables(source) == {"dataset": dataset, "c": label_frequency, "seed": seed}
    results = read_results(ROOT / folder)
    rows = results.query(
        "dataset == @dataset and label_frequency == @label_frequency and seed == @seed"
    )
    assert set(decisions) <= set(rows["decision"])
    printed = "".join("".join(output.get("text", "")) for output in cell["outputs"])
    assert all(decision in printed for decision in decisions)
