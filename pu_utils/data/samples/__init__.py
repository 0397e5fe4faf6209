"""Small random samples of the real sets inside the package; README.md here has their licences."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
SAMPLES = ("mnist_3v5", "cifar_ct", "cdc_diabetes")


def read(name):
    """Arrays of a set's sample, as its reader would give them."""
    path = FOLDER / f"{name}.npz"
    if not path.exists():
        raise ValueError(f"there is no sample of {name}, only of {', '.join(SAMPLES)}")
    with np.load(path) as arrays:
        return dict(arrays)


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
    arrays = read("cifar_images")
    return arrays["images"], arrays["labels"]
