"""Draw the samples inside the package anew from the full files: ``python -m tests.samples``."""

from pathlib import Path

import numpy as np

from pu_utils.data import readers, samples, store


def make(folder=samples.FOLDER):
    """Write the samples into a folder: the same arrays each time."""
    rng = np.random.default_rng(0)
    save(folder, "mnist_3v5", draw(readers.read_mnist((3, 5)), 2_000, rng))
    save(folder, "cifar_ct", draw(readers.read_images("cifar10", (1, 9)), 2_000, rng))
    cdc = readers.read_cdc()
    with_diabetes = cdc["answers"][:, 0] == 1
    halves = [
        draw({name: array[rows] for name, array in cdc.items()}, 2_000, rng)
        for rows in (with_diabetes, ~with_diabetes)
    ]
    save(folder, "cdc_diabetes", {k: np.concatenate([h[k] for h in halves]) for k in cdc})
    with np.load(store.fetch("cifar10_sample.npz")) as images:
        shown = np.isin(images["labels"], (1, 9))
        save(folder, "cifar_images", {k: images[k][shown] for k in ("images", "labels", "index")})


def draw(arrays, n, rng):
    """``n`` random rows, in the order of the file."""
    rows = np.sort(rng.choice(len(arrays["index"]), size=n, replace=False))
    return {name: array[rows] for name, array in arrays.items()}


def save(folder, name, arrays):
    """Write the file of a sample."""
    np.savez_compressed(Path(folder) / f"{name}.npz", **arrays)


if __name__ == "__main__":
    make()
