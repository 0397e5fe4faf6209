"""What no rebuilding of the module may move: recorded experiments, data, smoke results, verdicts.

``python -m tests.contract.test_contract`` writes the smoke results anew, after a change that means
to move them: its reason belongs into the commit.
"""

import json
from pathlib import Path

import pandas as pd
import pytest

from pu_utils.data import DESIGNS, load
from pu_utils.reproduction import claims
from pu_utils.reproduction.experiment import Experiment
from pu_utils.reproduction.results import current_experiments, read_experiments
from pu_utils.reproduction.runs import compute

ROOT = Path(__file__).parents[2]
SMOKE = Path(__file__).with_name("smoke.json")
TOLERANCE = 0.1  # of a metric on another processor; of a hundred test rows a few may tip
FAMILIES = (
    *("vae_pu", "replay", "choices", "lbe", "lbe_released", "elkan_noto", "vae_pu_bayes"),
    *("augmented_em", "augmented_em_told", "em_changes", "em_ridge", "em_told_changes"),
    *("em_told_keeping", "em_told_gaussian", "sar_em", "upu", "supervised", "reference"),
)
CASES = [(family, dataset) for family in FAMILIES for dataset in ("synth_1", "cdc_diabetes")]
CASES += [("vae_pu", "mnist_3v5"), ("vae_pu", "cifar_ct"), ("replay", "mnist_3v5")]
CASES += [("lbe", "mnist_3v5"), ("lbe", "cifar_ct")]


def smoke_result(family, dataset):
    """Data, metrics and processor of a smoke experiment."""
    result = compute(Experiment(dataset, "released", 0.5, family, "smoke", seed=0))
    kept = ("settings_hash", "data_fingerprint", "processor", "metrics")
    return json.loads(json.dumps({name: result[name] for name in kept}))


@pytest.mark.parametrize("folder", ["results", "results/confirmation", "results/questions"])
def test_no_recorded_experiment_is_stale(folder):
    """Each would have the settings that it was recorded with."""
    recorded = read_experiments(ROOT / folder)
    stale = [one is None for one in current_experiments(recorded)]
    assert not recorded[stale][["dataset", "family", "schedule"]].drop_duplicates().values.tolist()
    assert len(recorded) > 500


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_smoke_results(case):
    """They agree bit for bit on the processor that wrote them, and nearly on others."""
    before, now = json.loads(SMOKE.read_text("utf-8"))["-".join(case)], smoke_result(*case)
    if now["processor"] == before["processor"]:
        assert now == before
    assert now["data_fingerprint"] == before["data_fingerprint"]
    for one, other in zip(now["metrics"], before["metrics"], strict=True):
        assert (one["decision"], one["rule"]) == (other["decision"], other["rule"])
        assert one["accuracy"] == pytest.approx(other["accuracy"], abs=TOLERANCE)


@pytest.mark.parametrize("design", DESIGNS)
def test_synthetic_data_have_their_fingerprints(design):
    """Those of recorded experiments, for each synthetic set at two label frequencies."""
    recorded = read_experiments(ROOT / "results").query("seed == 0 and family == 'reference'")
    known = recorded.set_index(["dataset", "design", "label_frequency"])["data_fingerprint"]
    for name in ("synth_1", "synth_2", "synth_3", "synth_scar"):
        for c in (0.02, 0.9):
            assert load(name, c, 0, design).fingerprint == known[name, design, c]


def test_the_verdicts_are_those_on_the_scoreboard():
    """Judged anew, every claim has the recorded verdict, by the recorded counts."""
    recorded = pd.read_csv(ROOT / "results" / "scoreboard.csv", keep_default_na=False)
    judged = claims.scoreboard(claims.judge_recorded(ROOT / "results"))
    pd.testing.assert_frame_equal(recorded, judged, check_dtype=False)


if __name__ == "__main__":
    written = {"-".join(case): smoke_result(*case) for case in CASES}
    SMOKE.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
