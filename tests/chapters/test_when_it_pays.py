"""Chapter 9: the numbers in its sentences are those of the recorded results."""

import json
from pathlib import Path

import numpy as np
import pytest

from pu_utils.data import REAL, load
from pu_utils.reproduction import Experiment, by_seed, read_estimates, read_results
from pu_utils.rules import augmented_rule

ROOT = Path(__file__).parents[2]
CELL = ["dataset", "label_frequency"]


@pytest.fixture(scope="module")
def text():
    """The chapter's prose, on one line."""
    path = ROOT / "notebooks" / "09_when_it_pays.ipynb"
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    prose = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return " ".join(" ".join(prose).split())


@pytest.fixture(scope="module")
def results():
    return read_results(ROOT / "results")


def test_what_the_rule_is_worth(text, results):
    """To the prophets up to twenty points, to VP-B on real data mostly below one."""
    accuracy = by_seed(results, "u_accuracy")
    prophets = (accuracy["S-Prophet"] - accuracy["Y-Prophet"]).dropna().groupby(CELL).mean()
    assert 20 <= prophets.max() < 22
    real = accuracy[accuracy.index.get_level_values("dataset").isin(REAL)]
    gain = (real["VP-B+S"] - real["VP-B"]).dropna().groupby(CELL).mean()
    assert f"less than one point in {(gain < 1).sum()} of {len(gain)} cases" in text


def test_errors_of_y_and_s(text):
    """Sizes, what is left of the regret, and what at equal size: the sentences below the table."""
    rows = []
    for c in (0.5, 0.7, 0.9):
        for seed in range(3):
            test = load("synth_1", c, seed, design="released").test
            y, s = test.y_proba, test.y_proba * test.propensity
            experiment = Experiment("synth_1", "released", c, "vae_pu", "fast", seed)
            given = read_estimates(experiment, ROOT / "results")
            dy, ds = given["y"] - y, given["s"] - s
            ratio = abs(ds).mean() / abs(dy).mean()
            best, w = augmented_rule(y, s), 1 + s - 2 * y

            def regret(dy, ds, best=best, w=w):
                return (abs(w) * (best != (w + ds - 2 * dy < 0))).mean()

            kept = regret(dy, ds), regret(0, ds), regret(dy, 0), regret(dy * ratio, 0)
            rows.append([abs(dy).mean(), abs(ds).mean(), *kept])
    dy, ds, whole, told_y, told_s, shrunk = np.reshape(rows, (3, 3, 6)).mean(axis=1).T
    assert (told_y < whole / 6).all() and "less than a sixth" in text
    assert (told_s > 0.9 * whole).all() and "nine tenths or more" in text
    assert (told_s[:2] > whole[:2]).all() and "even all of it" in text
    assert np.isclose(dy[0] / ds[0], 2.5, atol=0.1) and "two and a half times" in text
    assert np.isclose(dy[2] / ds[2], 4 / 3, atol=0.05) and "a third larger" in text
    assert (shrunk / told_y > 3).all() and (shrunk / told_y < 4).all()


def test_semi_prophets_and_the_prophet_of_y(text, results):
    """Ten seeds each; told s changes little, told y a lot; the Y-Prophet is beaten at .7 and .9."""
    accuracy = by_seed(results, "u_accuracy").loc[["synth_1", "synth_2", "synth_scar"]]
    names = ["VP-B+S", "VP-B+S + true s(x)", "VP-B+S + true y(x)", "Y-Prophet"]
    assert (accuracy[names].groupby(CELL).count() == 10).all(axis=None) and "over ten seeds" in text
    behind = accuracy[names].rsub(accuracy["S-Prophet"], axis=0).groupby("label_frequency").mean()
    network, told_s, told_y, knows_y = behind.to_numpy().T
    assert (abs(told_s - network) < 0.6).all() and (told_y < 1).all() and (network > 3).all()
    assert (network < knows_y).tolist() == [False] * 4 + [True] * 2


def test_the_count(text, results):
    """34 cells above two calls for each positive: calling nobody is better in all of them."""
    pairs = {name: f"{name}+S" for name in ("VP-B", "VP", "VP-IF", "VP-A3", "LBE")}
    pairs["LBE (released)"] = "LBE+S (released)"
    named = ["synth_1", "synth_2", "synth_3", "synth_scar", *REAL]
    accuracy, precision, recall = (
        by_seed(results[results["dataset"].isin(named)], f"u_{metric}").groupby(CELL)
        for metric in ("accuracy", "precision", "recall")
    )
    lead, gained, cells = [], 0, 0
    for method, with_s in pairs.items():
        for (_, a), (_, p), (_, r) in zip(accuracy, precision, recall, strict=True):
            calls = (r[method] / p[method]).where(r[method] != 0, 0).mean()
            if np.isnan(calls):
                continue
            cells += 1
            if calls > 2:
                lead.append((a["all-negative"] - a[with_s]).mean())
                gained += (a[with_s] - a[method]).mean() > 0
    assert cells == 312 and min(lead) > 0 and gained == len(lead) - 1
    assert f"In all {len(lead)} cells above two" in text
    assert f"by {np.mean(lead):.1f} points on average" in text
