"""The list of CDC against what is recorded in ``results/`` for the same rows."""

import warnings
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pu_utils import rules
from pu_utils.data import load
from pu_utils.metrics import u_auc
from pu_utils.own_data import TableModel
from tests.data_files import needs

RESULTS = Path(__file__).parents[2] / "results"
CELL = {"design": "released", "label_frequency": 0.9, "seed": 0}
TOP = 100


@cache
def ranked_test_rows():
    """The test part, and its unlabelled rows from the top down by a model of the training part.

    0.9 of seed 0 is the one cell of CDC of which ``results/estimates`` holds every row's estimates.
    The model is told that age and education drive labelling, as the paper's design has it; of the
    recorded methods none is. Untold it finds 49 of 100 with a U-AUC of .828: more than VP-B and
    VP-B+S there, but fewer than EN (53) and LBE+S (52, U-AUC .836) fitted anew to the same rows.
    """
    data = load("cdc_diabetes", **CELL)
    table, rows = (
        pd.DataFrame(part.X.astype(float), columns=list(data.feature_names)).assign(labelled=part.s)
        for part in (data.train, data.test)
    )
    causes = [name for name in data.feature_names if name.startswith(("Age_", "Education_"))]
    model = TableModel(label="labelled", prior=data.prior, propensity_columns=causes)
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        for question in ("_band", "_calibration"):  # five more fits, which leave the order alone
            patch.setattr(TableModel, question, lambda *_: None)
        ranked = model.fit(table).rank(rows)
    return data.test, ranked["row"].to_numpy() - 1


@needs("cdc_diabetes")
def test_the_top_holds_more_than_the_recorded_one():
    """Of the first 100 at least as many are positive as by the recorded y and augmented posterior.

    Measured: 55 against 42 by y(x) (VP-B) and 29 by the augmented posterior (VP-B+S).
    """
    test, order = ranked_test_rows()
    name = "cdc_diabetes_released_c0.9_vae_pu-fast-seed0.csv"
    recorded = pd.read_csv(RESULTS / "estimates" / name)
    assert (recorded["class"] == test.y).all() and (recorded["labelled"] == test.s).all()
    s = np.minimum(recorded["s"], recorded["y"])
    unlabelled = np.flatnonzero(test.s == 0)
    for score in (recorded["y"], rules.augmented_posterior(recorded["y"], s)):
        theirs = unlabelled[np.argsort(-np.asarray(score)[unlabelled], kind="stable")][:TOP]
        assert test.y[order[:TOP]].sum() >= test.y[theirs].sum()


@needs("cdc_diabetes")
def test_the_whole_order_is_better_than_any_recorded():
    """The U-AUC exceeds every one recorded for these rows: .846, the next .836 (LBE+S)."""
    test, order = ranked_test_rows()
    metrics = pd.read_csv(RESULTS / "metrics_cdc_diabetes.csv")
    for name, value in CELL.items():
        metrics = metrics[metrics[name] == value]
    recorded = metrics[metrics["metric"] == "u_auc"]["value"].dropna()
    assert len(recorded) >= 14
    ours = u_auc(test.y[order], -np.arange(len(order)), np.zeros(len(order), int))
    assert ours >= recorded.max()
