"""Small random samples of the real sets inside the package; README.md here has their licences."""

from pathlib import Path

import numpy as np

from pu_utils.data import readers, store

FOLDER = Path(__file__).parent
SAMPLES = ("mnist_3v5", "cifar_ct", "cdc_diabetes")


def read(name):
    """Arrays of a set's sample, as its reader would give them."""
    if name not in SAMPLES:
        raise ValueError(
            f"there is no sample of {name} in the package, only of {', '.join(SAMPLES)}; "
            "load it with sample=False"
        )
    return _read(name)


def sample_images():
    """Twenty automobiles and twenty trucks of CIFAR-10, to look at.

    Returns
    -------
    images : uint8 array of shape (40, 32, 32, 3)
    labels : uint8 array of shape (40,)
        1 for automobiles, 9 for trucks.

    Examples
    --------
    >>> images, labels = sample_images()
    >>> images.shape
    (40, 32, 32, 3)
    """
    arrays = _read("cifar_images")
    return arrays["images"], arrays["labels"]


def make(folder=FOLDER):
    """Draw the samples anew from the full files: the same bytes each time."""
    rng = np.random.default_rng(0)
    _save(folder, "mnist_3v5", _draw(readers.read_mnist((3, 5)), 2_000, rng))
    _save(folder, "cifar_ct", _draw(readers.read_images("cifar10", (1, 9)), 2_000, rng))
    cdc = readers.read_cdc()
    with_diabetes = cdc["answers"][:, 0] == 1
    halves = [
        _draw({name: array[rows] for name, array in cdc.items()}, 2_000, rng)
        for rows in (with_diabetes, ~with_diabetes)
    ]
    _save(folder, "cdc_diabetes", {k: np.concatenate([h[k] for h in halves]) for k in cdc})
    with np.load(store.fetch("cifar10_sample.npz")) as images:
        shown = np.isin(images["labels"], (1, 9))
        _save(folder, "cifar_images", {k: images[k][shown] for k in ("images", "labels", "index")})


def _draw(arrays, n, rng):
    """``n`` random rows, in the order of the file."""
    rows = np.sort(rng.choice(len(arrays["index"]), size=n, replace=False))
    return {name: array[rows] for name, array in arrays.items()}


def _save(folder, name, arrays):
    np.savez_compressed(Path(folder) / f"{name}.npz", **arrays)


def _read(name):
    with np.load(FOLDER / f"{name}.npz") as arrays:
        return dict(arrays)
