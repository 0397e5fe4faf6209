"""What an experiment computes, by every family of the registry."""

import json
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pu_utils import metrics
from pu_utils.data import DATASETS, DataSet, load, make_synthetic
from pu_utils.models import ElkanNoto
from pu_utils.reproduction import (
    FAMILIES,
    Decision,
    Experiment,
    Family,
    collect,
    compute,
    families,
    grid,
    read_results,
    runs,
)
from pu_utils.reproduction.rendering import to_html
from pu_utils.reproduction.results import write_result
from pu_utils.reproduction.runs import measure
from pu_utils.reproduction.tables import compare, numbers, published

ROOT = Path(__file__).parents[2]


def smoke(dataset, family, label_frequency=0.5):
    """The result of a smoke experiment."""
    return compute(Experiment(dataset, "released", label_frequency, family, "smoke", 0))


def metric(result, decision, rule, name):
    """One number of a result."""
    (row,) = (r for r in result["metrics"] if (r["decision"], r["rule"]) == (decision, rule))
    return row[name]


@pytest.fixture(scope="module")
def computed():
    """Results of all families on a sample of a real set, and the models that they trained."""
    results, models, ask = {}, {}, families.with_and_without_s
    with pytest.MonkeyPatch.context() as patch:
        for family in FAMILIES:

            def remember(trained, test, family=family):
                models[family] = trained
                return ask(trained, test)

            patch.setattr(families, "with_and_without_s", remember)
            results[family] = smoke("cdc_diabetes", family)
    return results, models


def test_every_published_decision_is_computed():
    """Each method of the tables comes out of the families, with its metric (smoke results)."""
    results = json.loads((ROOT / "tests" / "contract" / "smoke.json").read_text("utf-8"))
    for dataset in ("synth_1", "cdc_diabetes"):
        rows = [r for key, one in results.items() if key.endswith(dataset) for r in one["metrics"]]
        wanted = published().query("dataset == @dataset")
        wanted = set(zip(wanted["method"], wanted["metric"], strict=True))
        assert wanted <= {(row["decision"], name) for row in rows for name in row}
    names = {row["decision"] for row in results["vae_pu-synth_1"]["metrics"]}
    assert not names & {"VP-IF", "VP-A3"}  # which are not in the tables of synthetic sets


def test_recorded_decisions_are_those_of_predict(computed):
    """Whatever estimator a family trains, its numbers are those of ``predict`` on the test part."""
    results, trained = computed
    assert set(trained) == set(FAMILIES) - {"reference", "supervised"}
    test = load("cdc_diabetes", 0.5, 0, "released", sample=True).test
    for family, models in trained.items():
        suffix = " (released)" if family == "lbe_released" else ""
        for name, model in models.items():
            if model.n_features_in_ > test.X.shape[1]:
                continue  # it was told what labelling looked at, and test.X does not say it
            without, with_s = model.predict(test.X), model.predict(test.X, s=test.s)
            number = partial(metric, results[family], f"{name}{suffix}")
            assert number("x_only", "accuracy") == metrics.accuracy(test.y, without)
            assert number("naive", "u_f1") == metrics.u_f1(test.y, without, test.s)
            number = partial(metric, results[family], f"{name}+S{suffix}", "augmented")
            assert number("u_accuracy") == metrics.u_accuracy(test.y, with_s, test.s)
            score = model.predict_proba(test.X, s=test.s)[:, 1]
            assert number("u_auc") == metrics.u_auc(test.y, score, test.s)


def test_prophets_decide_by_the_truth():
    """Theorem 1's rule and the x-only rule on the true posteriors; all-negative needs none."""
    test = load("synth_1", 0.5, 0, "released").test
    s_proba = test.propensity * test.y_proba
    result = smoke("synth_1", "reference")
    for name, rule, positive in (
        ("S-Prophet", "augmented", test.y_proba > (1 + s_proba) / 2),
        ("Y-Prophet", "naive", test.y_proba > 0.5),
        ("all-negative", "naive", np.zeros(len(test), dtype=bool)),
    ):
        right = (positive == test.y)[test.s == 0].mean()
        assert metric(result, name, rule, "u_accuracy") == pytest.approx(right, abs=1e-12)


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


def test_result_has_its_provenance_and_is_strict_json(computed):
    """Settings, hash, fingerprint, versions, device, times, commit; no NaN."""
    result = computed[0]["vae_pu"]
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    data = load("cdc_diabetes", 0.5, 0, "released", sample=True)
    assert result["data_fingerprint"] == data.fingerprint
    phases = {"VP", "VP-B", "VP-IF", "VP-A3", "data", "metrics", "processor", "total"}
    assert phases == set(result["seconds"])
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
    commit = runs._commit
    assert commit(tmp_path) is None
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "__init__.py").write_text("")
    subprocess.run(["git", "init", "--quiet"], check=True)
    assert commit(tmp_path) is None
    subprocess.run(["git", "add", "."], check=True)
    identity = ["-c", "user.name=n", "-c", "user.email=e"]
    subprocess.run(["git", *identity, "commit", "--quiet", "-m", "first"], check=True)
    assert len(commit(tmp_path)) == 40
    (tmp_path / "__init__.py").write_text("changed")
    assert commit(tmp_path).endswith("-dirty")


# The registries: a method and a data set that nobody but this test knows


def toy_decisions(data, parameters, seed, watch):
    """Elkan and Noto's estimator under another name."""
    model = families.train("Toy", ElkanNoto(prior=parameters["prior"]), data, watch)
    return families.with_and_without_s({"Toy": model}, data.test)


def make_toy(label_frequency, seed, design, sample):
    """A small sample of the first synthetic set."""
    return make_synthetic("synth_1", label_frequency, seed, design, n=400)


def test_a_registered_method_and_data_set_are_run_recorded_and_shown(monkeypatch, tmp_path):
    """One entry each is all that it takes; families that were there run on the new set as well."""
    toy = Family(toy_decisions, lambda dataset, schedule: {"prior": 0.5}, 1, tolerance=0.01)
    monkeypatch.setitem(FAMILIES, "toy", toy)
    monkeypatch.setitem(DATASETS, "toys", DataSet(make_toy, like="synth_1", synthetic=True))
    known = ("toy", "vae_pu", "elkan_noto", "reference")
    chosen = grid("smoke", datasets=["toys"], seeds=[0], families=known)
    for one in chosen:
        write_result(tmp_path, one, compute(one))
    assert collect(tmp_path, tmp_path / "results") == (len(chosen), [])
    found = read_results(tmp_path / "results")
    assert set(found["dataset"]) == {"toys"} and set(found["family"]) == set(known)
    assert set(found.loc[found["family"] == "toy", "decision"]) == {"Toy", "Toy+S"}
    table = compare(found, schedule="smoke")
    accuracies = numbers(table[table["label_frequency"] == 0.5], "table2", "ours").loc["toys", 0.5]
    shares = found.set_index(["decision", "rule"])["u_accuracy"]
    for method in ("Toy+S", "VP-B+S", "EN+S", "S-Prophet"):
        assert accuracies[method] == pytest.approx(100 * shares[method, "augmented"])
    assert accuracies["all-negative"] == pytest.approx(100 * shares["all-negative", "naive"])
    assert "Toy" not in accuracies and "VP-B" not in accuracies  # Table 2 is of decisions with S
    shown = to_html(table, "table2")
    assert '<th scope="col">toys</th>' in shown and ">Toy+S</th>" in shown
