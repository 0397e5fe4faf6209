"""The real sets: what rows they have, what is labelled, the samples inside the package."""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from data_files import needs
from samples import make

from pu_utils.data import (
    CDC_QUESTIONS,
    DATASETS,
    NAMES,
    SYNTHETIC,
    at_hand,
    boldness,
    load,
    readers,
    samples,
)
from pu_utils.data.real import CDC_LEVELS, CDC_NAMES, CDC_PLAIN, diagnosis_weight

FULL = ("mnist_3v5", "mnist_ove", "cifar_ct", "cifar_va", "stl_va", "cdc_diabetes")


@pytest.fixture(scope="module", autouse=True)
def files_are_read_once():
    """Files are unpacked once for all tests; what is made of them is made anew by each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "read_idx", cache(readers.read_idx))
        yield


in_full = [pytest.param(name, False, marks=needs(name), id=name) for name in FULL]
in_sample = [pytest.param(name, True, id=f"{name} sample") for name in samples.SAMPLES]


@pytest.mark.parametrize(("name", "sample"), in_full + in_sample)
@pytest.mark.parametrize("c", [0.02, 0.9])
def test_labels_and_parts_are_as_asked(name, sample, c):
    """The share of labelled positives is c but for int(c n) per class, and s = 1 only if y = 1.

    No row of the file lies in two parts, or twice in one; together they are the whole.
    """
    data = load(name, c, seed=1, sample=sample)
    parts = [set(part.source_rows.tolist()) for part in (data.train, data.validation, data.test)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == len(data)
    assert np.all(data.s <= data.y)
    classes = {"mnist_ove": 5, "cifar_va": 4, "stl_va": 4}.get(name, 1)
    assert 0 <= c * data.y.sum() - data.s.sum() + 1e-6 < classes


@pytest.mark.parametrize("name", samples.SAMPLES)
def test_seed_moves_rows_only(name):
    """Other seeds split otherwise; images keep their labels, label frequencies keep the rows."""
    one, other = load(name, 0.3, seed=0, sample=True), load(name, 0.3, seed=1, sample=True)
    assert not np.array_equal(one.source_rows, other.source_rows)
    more = load(name, 0.9, seed=0, sample=True)
    assert np.array_equal(one.X, more.X)
    assert np.all(one.s <= more.s)
    if name != "cdc_diabetes":
        labelled = [set(data.source_rows[data.s == 1].tolist()) for data in (one, other)]
        assert labelled[0] == labelled[1]


@pytest.mark.parametrize("sample", [True, pytest.param(False, marks=needs("mnist_3v5"))])
def test_boldest_threes_are_labelled(sample):
    """Among the threes every labelled image has a larger pixel sum than every unlabelled one."""
    data = load("mnist_3v5", 0.3, seed=0, sample=sample)
    threes = data.y == 1
    assert data.score == pytest.approx(boldness(data.X) * 255, rel=1e-5)
    assert data.score[threes & (data.s == 1)].min() >= data.score[threes & (data.s == 0)].max()
    assert data.X.min() == 0
    assert data.X.max() == 1


def test_released_redness_labels_other_cars():
    """The two formulas of redness agree on many cars, not on all."""
    text, released = (
        load("cifar_ct", 0.3, 0, design, sample=True) for design in ("text", "released")
    )
    assert np.array_equal(text.X, released.X)
    both = np.sum(text.s & released.s) / text.s.sum()
    assert 0.3 < both < 1


@pytest.mark.parametrize("sample", [True, pytest.param(False, marks=needs("cdc_diabetes"))])
def test_released_cdc_copies_rows_across_parts(sample):
    """Drawn with replacement, one row of the file lies in training and test part."""
    data = load("cdc_diabetes", 0.5, seed=0, design="released", sample=sample)
    assert set(data.train.source_rows.tolist()) & set(data.test.source_rows.tolist())
    positives = data.source_rows[data.y == 1]
    assert len(np.unique(positives)) == len(positives)  # of negatives alone


def test_cdc_encoding():
    """Scaled columns lie in [0, 1], levels are one-hot, the rest is as answered."""
    data = load("cdc_diabetes", 0.5, seed=0, sample=True)
    file = samples.read("cdc_diabetes")
    row_of = {int(index): k for k, index in enumerate(file["index"])}
    answers = file["answers"][[row_of[int(index)] for index in data.source_rows]].astype(float)
    column = {name: answers[:, 1 + k] for k, name in enumerate(readers.CDC_COLUMNS)}
    X = dict(zip(data.feature_names, data.X.T, strict=True))
    assert len(X) == 38
    assert X["BMI"] == pytest.approx((column["BMI"] - 12) / 86)
    assert X["GenHlth"] == pytest.approx((column["GenHlth"] - 1) / 4)
    assert X["MentHlth"] == pytest.approx(column["MentHlth"] / 30)
    for name in set(CDC_PLAIN) - {"BMI", "GenHlth", "MentHlth", "PhysHlth"}:
        assert np.array_equal(X[name], column[name])
    for name, levels in CDC_LEVELS.items():
        one_hot = np.column_stack([X[f"{name}_{k}"] for k in range(1, levels + 1)])
        assert np.array_equal(one_hot.argmax(axis=1) + 1, column[name])
        assert np.all(one_hot.sum(axis=1) == 1)
    assert data.score == pytest.approx(diagnosis_weight(column["Age"], column["Education"]))


# of people with a heart disease there are so few that the difference is about three errors
in_questions = [pytest.param(name, False, 2, marks=needs("cdc_diabetes")) for name in CDC_QUESTIONS]


@pytest.mark.parametrize(("name", "sample", "errors"), [("cdc_diabetes", True, 4), *in_questions])
def test_cdc_labels_the_older_and_the_educated(name, sample, errors):
    """Labelled people have larger weights than the other positives, on average."""
    data = load(name, 0.3, seed=0, sample=sample)
    labelled, others = data.score[data.s == 1], data.score[(data.y == 1) & (data.s == 0)]
    error = np.sqrt(labelled.var() / len(labelled) + others.var() / len(others))
    assert labelled.mean() - others.mean() > errors * error


@needs("cdc_diabetes")
@pytest.mark.parametrize(("name", "column"), CDC_QUESTIONS.items())
def test_questions_swap_diabetes_with_another_answer(name, column):
    """The answer is the class, diabetes stands in its place, and labels go by the same weight."""
    data = load(name, 0.5, seed=10)
    answers = readers.read_cdc()["answers"][data.source_rows]
    k = readers.CDC_COLUMNS.index(column)
    assert np.array_equal(data.y, answers[:, 1 + k])
    place = data.feature_names.index(readers.CDC_TARGET)
    assert place == CDC_NAMES.index(column) and column not in data.feature_names
    assert np.array_equal(data.X[:, place], answers[:, 0])
    assert len(set(data.source_rows)) == len(data) == 10_000
    assert np.all(data.s <= data.y) and data.s.sum() == int(0.5 * data.y.sum())


@needs(*samples.SAMPLES, "cifar10_vgg16_64.npz", "cifar10_sample.npz")
def test_samples_are_drawn_from_the_full_files(tmp_path):
    """Drawing the samples anew gives the arrays inside the package."""
    make(tmp_path)
    for file in samples.FOLDER.glob("*.npz"):
        with np.load(file) as stored, np.load(Path(tmp_path) / file.name) as drawn:
            assert set(stored) == set(drawn)
            assert all(np.array_equal(stored[key], drawn[key]) for key in stored)


@pytest.mark.parametrize("name", ["mnist_ove", "cifar_va", "stl_va"])
def test_sets_without_a_sample(name):
    """Asking for a sample that is not there lists those that are."""
    with pytest.raises(ValueError, match=f"no sample of {name}.*mnist_3v5, cifar_ct, cdc_diabetes"):
        load(name, 0.5, seed=0, sample=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cdc_diabetes", 0.0, 0), "label_frequency is 0.0"),
        (("mnist_3v5", 0.5, 0, "other"), "design is 'other'"),
        (("mnist_3v5", 1e-5, 0), "no row was labelled"),
        (("cdc_diabetes", 0.5, "0"), "seed is '0'"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    """Real sets refuse what synthetic ones refuse."""
    with pytest.raises(ValueError, match=message):
        load(*arguments, sample=True)


def test_same_bytes_on_every_machine():
    """Fingerprints of the samples are those recorded once."""
    found = {
        name: load(name, 0.3, seed=0, sample=True).fingerprint[:16] for name in samples.SAMPLES
    }
    assert found == {
        "mnist_3v5": "aa47bf8d6332266c",
        "cifar_ct": "cf4249446e781486",
        "cdc_diabetes": "d0ed6d616bbb444f",
    }


@needs(
    *FULL, "cifar10_vgg16_64.npz", "stl10_vgg16_64.npz"
)  # features computed anew differ a little
def test_recorded_facts_are_those_of_the_files():
    """results/datasets.csv, which the data chapter reads, is what `data fetch` says today."""
    recorded = pd.read_csv(Path(__file__).parents[1] / "results" / "datasets.csv")
    for row in recorded.itertuples():
        data = load(row.dataset, label_frequency=0.5, seed=0)
        assert (len(data), data.X.shape[1]) == (row.samples, row.features)
        assert f"{data.prior:.4f}" == f"{row.prior:.4f}"
        assert data.fingerprint.startswith(row.fingerprint)


def test_at_hand_looks_where_load_looks(tmp_path, monkeypatch):
    """Made sets are always at hand, real ones with all files of one way to read them."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path))
    assert [name for name in DATASETS if at_hand(name)] == list(SYNTHETIC)
    for name in (*readers.MNIST_FILES[1:], "cifar10_efflite2_224.npz", "stl10_binary.tar.gz"):
        (tmp_path / name).touch()
    found = ["cifar_ct_efficientnet", "cifar_ct_efficientnet_colourless"]
    found += [name.replace("_ct_", "_va_") for name in found]
    assert [name for name in DATASETS if at_hand(name)] == [*SYNTHETIC, *found]
    for name in (
        readers.MNIST_FILES[0],
        "vgg16-397923af.pth",
        readers.CDC_FILES[0],
    ):
        (tmp_path / name).touch()
    found += ["mnist_3v5", "mnist_ove", "stl_va", "cdc_diabetes", *CDC_QUESTIONS]
    assert {name for name in DATASETS if at_hand(name)} == {*SYNTHETIC, *found}


def test_at_hand_on_colab(tmp_path, monkeypatch):
    """There everything that has a public home is."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "google.colab", None)
    assert all(at_hand(name) for name in NAMES) and not at_hand("stl_va_efficientnet")
    with pytest.raises(ValueError, match="name is 'iris'"):
        at_hand("iris")
