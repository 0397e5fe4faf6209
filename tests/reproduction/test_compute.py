"""What an experiment computes, by every family of the registry."""

import itertools
import json
import subprocess
from functools import partial

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


def smoke(dataset, family, label_frequency=0.5):
    """The result of a smoke experiment."""
    return compute(Experiment(dataset, "released", label_frequency, family, "smoke", 0))


def metric(result, decision, rule, name):
    """One number of a result."""
    (row,) = (r for r in result["metrics"] if (r["decision"], r["rule"]) == (decision, rule))
    return row[name]


SETS = ("synth_1", "cdc_diabetes")
# Many fits to 7,000 rows, and none published: those to the sample of the other set will do
ON_ONE_SET = ("choices", "augmented_em", "augmented_em_told", "em_changes", "em_told_changes")
ON_ONE_SET += ("em_told_keeping", "em_told_gaussian", "sar_em")


@pytest.fixture(scope="module")
def computed():
    """Results of all families on a synthetic and a real set, and the models that they trained."""
    results, models, ask = {}, {}, families.with_and_without_s
    with pytest.MonkeyPatch.context() as patch:
        for key in itertools.product(SETS, FAMILIES):
            if key[0] == "synth_1" and key[1] in ON_ONE_SET:
                continue

            def remember(trained, test, key=key):
                models[key] = trained
                return ask(trained, test)

            patch.setattr(families, "with_and_without_s", remember)
            results[key] = smoke(*key)
    return results, models


@pytest.fixture
def every_family(computed):
    """Results of all families on a synthetic and a real set."""
    return computed[0]


def test_every_published_decision_is_computed(every_family):
    """Each method of the published tables comes out of the families, with its metric."""
    printed = published()
    for dataset in SETS:
        computed = {
            (row["decision"], name)
            for (name_, _), result in every_family.items()
            if name_ == dataset
            for row in result["metrics"]
            for name in row
        }
        wanted = printed[printed["dataset"] == dataset]
        assert set(zip(wanted["method"], wanted["metric"], strict=True)) <= computed


def test_synthetic_sets_have_no_one_class_methods(every_family):
    """VP-IF and VP-A3 are not in the tables of synthetic sets."""
    names = {row["decision"] for row in every_family["synth_1", "vae_pu"]["metrics"]}
    assert names == {
        "VP", "VP+S", "VP-B", "VP-B+S", "VP-B+S + true s(x)", "VP-B+S + true y(x)"
    }  # fmt: skip


def test_recorded_decisions_are_those_of_predict(computed):
    """Whatever estimator a family trains, its numbers are those of ``predict`` on the test part."""
    results, trained = computed
    assert {family for _, family in trained} == set(FAMILIES) - {"reference", "supervised"}
    for (dataset, family), models in trained.items():
        test = load(dataset, 0.5, 0, "released", sample=True).test
        suffix = " (released)" if family == "lbe_released" else ""
        for name, model in models.items():
            if model.n_features_in_ > test.X.shape[1]:
                continue  # it was told what labelling looked at, and test.X does not say it
            without, with_s = model.predict(test.X), model.predict(test.X, s=test.s)
            number = partial(metric, results[dataset, family], f"{name}{suffix}")
            assert number("x_only", "accuracy") == metrics.accuracy(test.y, without)
            assert number("naive", "u_f1") == metrics.u_f1(test.y, without, test.s)
            number = partial(metric, results[dataset, family], f"{name}+S{suffix}", "augmented")
            assert number("u_accuracy") == metrics.u_accuracy(test.y, with_s, test.s)
            score = model.predict_proba(test.X, s=test.s)[:, 1]
            assert number("u_auc") == metrics.u_auc(test.y, score, test.s)


def test_prophets_decide_by_the_truth(every_family):
    """Theorem 1's rule and the x-only rule on the true posteriors; all-negative needs none."""
    test = load("synth_1", 0.5, 0, "released").test
    s_proba = test.propensity * test.y_proba
    result = every_family["synth_1", "reference"]
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
    commit = runs._commit
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
    assert runs._version("no-such-package") is None
    monkeypatch.setattr(runs, "Path", lambda path: tmp_path / "nothing")
    assert runs._processor()


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
    chosen = grid("smoke", datasets=["toys"], seeds=[0], families=[*FAMILIES])
    for one in chosen:
        write_result(tmp_path, one, compute(one))
    assert collect(tmp_path, tmp_path / "results") == (len(chosen), [])
    found = read_results(tmp_path / "results")
    assert set(found["dataset"]) == {"toys"} and set(found["family"]) == set(FAMILIES)
    decisions = set(found.loc[found["family"] == "toy", "decision"])
    assert decisions == {"Toy", "Toy+S"}
    table = compare(found, schedule="smoke")
    accuracies = numbers(table[table["label_frequency"] == 0.5], "table2", "ours").loc["toys", 0.5]
    own = found.query("family in ['toy', 'vae_pu', 'elkan_noto', 'reference']")
    shares = own.set_index(["decision", "rule"])["u_accuracy"]
    for method in ("Toy+S", "VP-B+S", "EN+S", "S-Prophet"):
        assert accuracies[method] == pytest.approx(100 * shares[method, "augmented"])
    assert accuracies["all-negative"] == pytest.approx(100 * shares["all-negative", "naive"])
    assert "Toy" not in accuracies and "VP-B" not in accuracies  # Table 2 is of decisions with S
    shown = to_html(table, "table2")
    assert '<th scope="col">toys</th>' in shown and ">Toy+S</th>" in shown
    assert f"<td>{accuracies['Toy+S']:.2f}</td>" in shown
    assert "Toy</th>" not in to_html(table, "table1")  # which has no synthetic set


def test_what_is_not_registered_is_refused():
    """There is nothing to fall back on."""
    with pytest.raises(ValueError, match="family is 'toy'; it must be one of vae_pu"):
        grid("smoke", families=["toy"])
    with pytest.raises(ValueError, match="dataset is 'toys'; it must be one of synth_1"):
        grid("smoke", datasets=["toys"])
