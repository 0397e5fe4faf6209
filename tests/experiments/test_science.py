"""What a cell computes."""

import json
import subprocess

import numpy as np
import pytest

from pu_utils import metrics, rules
from pu_utils.data import load
from pu_utils.experiments import Cell, compute, provenance
from pu_utils.experiments.science import Decision, measure
from pu_utils.tables import published


def smoke(dataset, family, label_frequency=0.5):
    """The result of a smoke cell."""
    return compute(Cell(dataset, "released", label_frequency, family, "smoke", 0))


def metric(result, decision, rule, name):
    """One figure of a result."""
    (row,) = (r for r in result["metrics"] if (r["decision"], r["rule"]) == (decision, rule))
    return row[name]


@pytest.fixture(scope="module")
def every_family():
    """Results of all families on a synthetic and a real set."""
    families = ("vae_pu", "lbe", "lbe_released", "reference")
    return {(d, f): smoke(d, f) for d in ("synth_1", "cdc_diabetes") for f in families}


def test_every_published_decision_is_computed(every_family):
    """Each method of the published tables comes out of the families, with its metric."""
    figures = published()
    for dataset in ("synth_1", "cdc_diabetes"):
        computed = {
            (row["decision"], name)
            for (name_, _), result in every_family.items()
            if name_ == dataset
            for row in result["metrics"]
            for name in row
        }
        wanted = figures[figures["dataset"] == dataset]
        assert set(zip(wanted["method"], wanted["metric"], strict=True)) <= computed


def test_synthetic_sets_have_no_one_class_methods(every_family):
    """VP-IF and VP-A3 are not in the tables of synthetic sets."""
    names = {row["decision"] for row in every_family["synth_1", "vae_pu"]["metrics"]}
    assert names == {
        "VP", "VP+S", "VP-B", "VP-B+S", "VP-B+S + true s(x)", "VP-B+S + true y(x)"
    }  # fmt: skip


def test_reference_is_what_the_rules_say(every_family):
    """Prophets and all-negative are the rules at the truth, and the label status itself."""
    test = load("synth_1", 0.5, 0, "released").test
    result = every_family["synth_1", "reference"]
    s_proba = rules.label_posterior(test.y_proba, test.propensity)
    decision = rules.augmented_rule(test.y_proba, s_proba, test.s)
    told = metrics.u_accuracy(test.y, decision, test.s)
    assert metric(result, "S-Prophet", "augmented", "u_accuracy") == told
    naive = metrics.u_accuracy(test.y, test.y_proba > 0.5, test.s)
    assert metric(result, "Y-Prophet", "naive", "u_accuracy") == naive
    expected = metrics.u_accuracy(test.y, test.s, test.s)
    assert metric(result, "all-negative", "naive", "u_accuracy") == expected


def test_x_only_differs_from_naive_in_accuracy():
    """Table 1's rule never looks at S; on labelled rows the naive rule cannot be wrong."""
    test = load("synth_1", 0.5, 0, "released").test
    nothing = np.zeros(len(test))
    x_only, naive = (
        measure(Decision("VP", r, nothing, nothing), test) for r in ("x_only", "naive")
    )
    assert x_only["accuracy"] == np.mean(test.y == 0)
    assert naive["accuracy"] == np.mean((test.y == 0) | (test.s == 1))
    assert set(x_only) == {"decision", "rule", "accuracy"}


def test_result_has_its_provenance_and_is_strict_json(every_family):
    """Settings, hash, fingerprint, versions, device, times, commit; no NaN."""
    result = every_family["synth_1", "vae_pu"]
    assert json.loads(json.dumps(result, allow_nan=False)) is not None
    assert result["data_fingerprint"] == load("synth_1", 0.5, 0, "released").fingerprint
    assert {"VP", "VP-B", "data", "metrics", "processor", "total"} == set(result["seconds"])
    assert result["seconds"]["total"] >= result["seconds"]["VP"]
    assert result["device"] in ("cpu", "cuda", "mps")
    assert result["versions"]["torch"] and "processor" in result and "commit" in result


def test_undefined_metrics_are_null():
    """With every positive labelled there is no unlabelled positive to recall."""
    result = smoke("synth_scar", "reference", label_frequency=1.0)
    assert metric(result, "all-negative", "naive", "u_recall") is None
    assert metric(result, "all-negative", "naive", "u_accuracy") == 1


def test_commit(tmp_path, monkeypatch):
    """None outside a checkout or untracked in one; the commit, marked if changed, inside."""
    commit = provenance._commit
    assert commit(tmp_path) is None
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))

    def git(*words):
        identity = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "-C", tmp_path, *identity, *words], check=True, capture_output=True)

    git("init")
    (tmp_path / "__init__.py").write_text("")
    assert commit(tmp_path) is None
    git("add", ".")
    git("commit", "-m", "first")
    assert len(commit(tmp_path)) == 40
    (tmp_path / "__init__.py").write_text("changed")
    assert commit(tmp_path).endswith("-dirty")


def test_processor_and_versions(monkeypatch, tmp_path):
    """A missing package has no version; without /proc the platform names the processor."""
    assert provenance._version("no-such-package") is None
    monkeypatch.setattr(provenance, "Path", lambda path: tmp_path / "nothing")
    assert provenance._processor()
