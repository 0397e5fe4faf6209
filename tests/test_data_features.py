"""Image features: the recipe, the stored copies, the weights from either file."""

import hashlib

import numpy as np
import pytest
from data_files import needs, write_archive

from pu_utils.data import features, load, readers, store
from pu_utils.data.real import CIFAR_CLASSES, STL_CLASSES, VEHICLES, redness

torch = pytest.importorskip("torch", reason="features need torch: pip install 'pu_utils[torch]'")
SAMPLE, WEIGHTS = "cifar10_sample.npz", "vgg16_trunk_float16.npz"
CT_RECIPES = ("cifar_ct_efficientnet", "cifar_ct_efficientnet_colourless")


@needs(SAMPLE, WEIGHTS)
def test_features_are_those_expected():
    """Features of every fifth of the 200 sample images are within 1e-2 of those expected.

    The error is relative and per image; what one image tells of the recipe, all do.
    """
    with np.load(store.fetch(SAMPLE)) as sample:
        computed = features.vgg16_features(sample["images"][::5])
        expected = sample["features"][::5].astype(float)
    error = np.linalg.norm(computed - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert error.max() < 1e-2


@pytest.fixture
def thin_weights(tmp_path, monkeypatch):
    """Weights of a trunk with four channels and 512 at the end, stored as the real ones are."""
    monkeypatch.setenv("PU_DATA_DIR", str(tmp_path))
    rng = np.random.default_rng(0)
    state = {}
    for k in features.CONVOLUTIONS:
        shape = (512 if k == features.CONVOLUTIONS[-1] else 4, 3 if k == 0 else 4, 3, 3)
        state[f"features.{k}.weight"] = rng.normal(0, 0.3, shape).astype(np.float16)
        state[f"features.{k}.bias"] = np.full(shape[0], 0.05, dtype=np.float16)
    _put(monkeypatch, WEIGHTS, lambda path: np.savez(path, **state))
    return state


def _put(monkeypatch, name, write):
    """Write a file into the data folder and register it with its checksum."""
    path = store.data_dir() / name
    write(path)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setitem(store.FILES, name, store.DataFile(name, "", sha256, ""))


def images(n, size, seed=0):
    """Random images, each with colours of its own."""
    rng = np.random.default_rng(seed)
    colours = rng.integers(0, 200, (n, 1, 1, 3))
    return (colours + rng.integers(0, 50, (n, size, size, 3))).astype(np.uint8)


def test_weights_of_torchvision_give_the_same_features(thin_weights, monkeypatch):
    """The published file, classifier and all, is read where the small one is not there."""
    expected = features.vgg16_features(images(2, 32))
    (store.data_dir() / WEIGHTS).unlink()
    state = {name: torch.from_numpy(array).float() for name, array in thin_weights.items()}
    state["classifier.0.weight"] = torch.zeros(2, 2)
    _put(monkeypatch, "vgg16-397923af.pth", lambda path: torch.save(state, path))
    assert np.array_equal(features.vgg16_features(images(2, 32)), expected)


def test_released_colours_are_those_of_pieces():
    """Row i gets every third byte of the i-th block of 3,072 bytes, nine blocks an image."""
    x = images(11, 96)
    planes = [x[k, :, :, channel].ravel() for k in range(2) for channel in range(3)]
    pieces = np.concatenate(planes).reshape(18, 3072)
    expected = np.column_stack([pieces[:11, k::3].mean(axis=1) for k in range(3)]) / 255
    assert features.released_rgb_mean(x) == pytest.approx(expected, abs=1e-6)


def test_features_without_colour():
    """What mean colours and their squares explain is gone; what they do not explain stays."""
    rng = np.random.default_rng(0)
    colours, other = rng.random((200, 3)), rng.normal(size=(200, 2))
    mixed = other + colours @ [[5, 1], [0, 2], [1, 0]] + 3 * colours[:, :1] ** 2
    left = features.without_colour(mixed, colours).astype(float)
    regressors = np.column_stack([colours, colours**2])
    assert np.abs(regressors.T @ (left - left.mean(0))).max() < 0.1  # float16: 200 x 5e-4
    assert [np.corrcoef(left[:, k], other[:, k])[0, 1] > 0.98 for k in range(2)] == [True, True]


@needs("cifar10_efflite2_224.npz", "cifar10_vgg16_64.npz")
def test_recipes_change_features_alone():
    """On other features a set has the same rows, labels and split; colourless ones know no red."""
    data = {name: load(name, 0.1, 0, "released") for name in ("cifar_ct", *CT_RECIPES)}
    for name in CT_RECIPES:
        assert np.array_equal(data[name].source_rows, data["cifar_ct"].source_rows)
        assert np.array_equal(data[name].s, data["cifar_ct"].s)
        assert data[name].X.shape == data["cifar_ct"].X.shape
    red = data["cifar_ct"].score
    correlation = [np.abs(np.corrcoef(red, data[n].X[:, :20].T)[0, 1:]).max() for n in CT_RECIPES]
    assert correlation[0] > 0.2
    assert correlation[1] < 0.01


STL_LABELS = np.repeat(np.arange(10), 6)


@pytest.fixture
def tiny_stl(thin_weights, monkeypatch):
    """An STL-10 archive of 60 images, 6 a class, in its own format; returns the images."""
    x = images(60, 96)
    planes = x.transpose(0, 3, 2, 1)  # channel, column, row
    members = {
        "train_X.bin": planes[:20],
        "train_y.bin": STL_LABELS[:20] + 1,
        "test_X.bin": planes[20:],
        "test_y.bin": STL_LABELS[20:] + 1,
    }
    _put(monkeypatch, "stl10_binary.tar.gz", lambda path: write_archive(path, members))
    return x


def test_stl_is_loaded_from_its_archive(tiny_stl):
    """Vehicles of STL-10's class order are positive, the reddest of each class are labelled."""
    data = load("stl_va", 0.5, seed=0)
    rows = data.source_rows
    assert data.X.shape == (60, 512)
    assert data.prior == 0.4
    vehicle = np.array([STL_CLASSES[k] in VEHICLES for k in STL_LABELS])
    assert np.array_equal(data.y, vehicle[rows])
    expected = features.vgg16_features(tiny_stl)[rows]
    np.testing.assert_allclose(data.X, expected, rtol=1e-3, atol=1e-3)  # stored as float16
    score = redness(tiny_stl.mean(axis=(1, 2)) / 255)
    for k in (0, 2, 8, 9):
        labelled, others = (score[rows[(STL_LABELS[rows] == k) & (data.s == s)]] for s in (1, 0))
        assert len(labelled) == 3
        assert labelled.min() > others.max()


def test_released_stl_takes_the_classes_of_cifar(tiny_stl):
    """The released design has birds for cars, and labels that redness does not explain."""
    data = load("stl_va", 0.5, seed=0, design="released")
    positive = {int(k) for k in STL_LABELS[data.source_rows][data.y == 1]}
    assert positive == {k for k, name in enumerate(CIFAR_CLASSES) if name in VEHICLES}
    assert "bird" in {STL_CLASSES[k] for k in positive}
    colours = features.released_rgb_mean(tiny_stl)[data.source_rows]
    assert data.score == pytest.approx(redness(colours, "released"))


def test_features_are_computed_once(tiny_stl, monkeypatch):
    """The second load reads what the first has stored, as float16 and under a name of its own."""
    first = load("stl_va", 0.5, seed=0)
    with np.load(store.data_dir() / "computed_stl10_vgg16_64.npz") as stored:
        assert stored["features"].dtype == np.float16
    monkeypatch.setattr(features, "vgg16_features", None)
    assert load("stl_va", 0.5, seed=0).fingerprint == first.fingerprint
    assert len(list(store.data_dir().iterdir())) == 3  # weights, images, features


@pytest.mark.parametrize(
    "damage", [lambda text: text[:-100], lambda text: text[:500] + b"\0" * 20 + text[520:]]
)
def test_damaged_features_are_named(damage, tiny_stl):
    """The error says what to do; the images are still there."""
    load("stl_va", 0.5, seed=0)
    path = store.data_dir() / "computed_stl10_vgg16_64.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"computed_stl10_vgg16_64\.npz is damaged: remove it"):
        load("stl_va", 0.5, seed=0)


def test_cifar_is_loaded_from_its_archive(thin_weights, monkeypatch):
    """Where there are no features of CIFAR-10, they are computed from its images."""
    x, labels = images(60, 32), np.tile(np.arange(10), 6)
    records = np.column_stack([labels, x.transpose(0, 3, 1, 2).reshape(60, -1)])
    names = [*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"]
    members = dict(zip(names, np.split(records, 6), strict=True))
    _put(monkeypatch, "cifar-10-binary.tar.gz", lambda path: write_archive(path, members))
    data = load("cifar_ct", 0.5, seed=0)
    assert sorted(data.source_rows.tolist()) == np.flatnonzero(np.isin(labels, (1, 9))).tolist()
    expected = features.vgg16_features(x)[data.source_rows]
    np.testing.assert_allclose(data.X, expected, rtol=1e-3, atol=1e-3)
    assert readers.read_images("cifar10", (0,))["labels"].tolist() == [0] * 6
