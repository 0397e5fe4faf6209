"""The six real sets: rows, scores and labels.

=============  ===================================  =======================================
set            positive                             labelled
=============  ===================================  =======================================
mnist_3v5      digit 3 (against 5)                  the boldest of each positive class
mnist_ove      odd digits (against even)            the boldest of each positive class
cifar_ct       automobile (against truck)           the reddest of each positive class
cifar_va       airplane, automobile, ship, truck    the reddest of each positive class
stl_va         airplane, car, ship, truck           the reddest of each positive class
cdc_diabetes   diabetes (against as many without)   a sample weighted by age and education
=============  ===================================  =======================================

The three sets of images exist on other features too, under a name that says so, such as
``cifar_ct_efficientnet`` (:mod:`pu_utils.data.features`): the same rows, labels and split.

Where the *released* programs differ from the *text*: redness; the class numbers and the colours of
STL-10; and the negatives of CDC, which they draw with replacement, so that copies of one row of the
file can lie in training and test part. In the text design each row of the file is used at most
once. (Different people may still have given the same answers, as in any survey.)
"""

from dataclasses import dataclass

import numpy as np

from pu_utils.data import readers, samples
from pu_utils.data.labelling import check_label_frequency, label_by_weight, label_top_fraction
from pu_utils.data.record import DESIGNS, PUData, check_choice, random_streams

CIFAR_CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
STL_CLASSES = (
    "airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck",
)  # fmt: skip
VEHICLES = ("airplane", "automobile", "car", "ship", "truck")
# positive and negative classes
MNIST_DIGITS = {"mnist_3v5": ((3,), (5,)), "mnist_ove": ((1, 3, 5, 7, 9), (0, 2, 4, 6, 8))}
CIFAR_NUMBERS = {"cifar_ct": ((1,), (9,)), "cifar_va": ((0, 1, 8, 9), (2, 3, 4, 5, 6, 7))}

CDC_RANGES = {"BMI": (12, 98), "GenHlth": (1, 5), "MentHlth": (0, 30), "PhysHlth": (0, 30)}
CDC_LEVELS = {"Age": 13, "Education": 6}
CDC_PLAIN = tuple(column for column in readers.CDC_COLUMNS if column not in CDC_LEVELS)
CDC_ONE_HOT = tuple((column, k) for column, n in CDC_LEVELS.items() for k in range(1, n + 1))
CDC_NAMES = CDC_PLAIN + tuple(f"{column}_{level}" for column, level in CDC_ONE_HOT)


@dataclass(frozen=True)
class Rows:
    """Chosen rows of a file: values to encode, true class, labelling score, class and position."""

    values: np.ndarray
    y: np.ndarray
    score: np.ndarray
    classes: np.ndarray
    source_rows: np.ndarray


def load_real(name, label_frequency, seed, design="text", sample=False):
    """One real set; see :func:`pu_utils.data.load`."""
    check_choice("name", name, (*REAL, *RECIPES))
    check_choice("design", design, DESIGNS)
    check_label_frequency(label_frequency)
    base, recipe = set_and_recipe(name)
    row_rng, label_rng, split_rng = random_streams(base, seed)
    choose_rows, encode, feature_names = REAL[base]
    rows = choose_rows(name, design, sample, row_rng)
    if name == "cdc_diabetes":
        s = label_by_weight(rows.y, rows.score, label_frequency, label_rng)
    else:
        s = label_top_fraction(rows.y, rows.score, label_frequency, rows.classes)
    order = split_rng.permutation(len(s))
    return PUData(
        X=encode(rows.values[order]),
        y=rows.y[order],
        s=s[order],
        name=name,
        label_frequency=label_frequency,
        seed=seed,
        design=design,
        prior=float(rows.y.mean()),
        feature_names=feature_names if recipe == "vgg16" else _EFFICIENTNET,
        score=rows.score[order],
        source_rows=rows.source_rows[order],
    )


def set_and_recipe(name):
    """The set that a name stands for, and the recipe of its features.

    Examples
    --------
    >>> set_and_recipe("cifar_ct_efficientnet"), set_and_recipe("cifar_ct")
    (('cifar_ct', 'efficientnet'), ('cifar_ct', 'vgg16'))
    """
    return RECIPES.get(name, (name, "vgg16"))


def boldness(images):
    """Sum of the pixels of each image.

    Examples
    --------
    >>> boldness(np.array([[0, 255], [3, 4]], dtype=np.uint8)).tolist()
    [255.0, 7.0]
    """
    return images.sum(axis=1, dtype=float)


def redness(rgb_mean, design="text"):
    """How red images are, from the means of their channels, (n, 3).

    Examples
    --------
    >>> redness([[0.5, 0.25, 0.0]]).tolist(), redness([[0.5, 0.25, 0.0]], "released").tolist()
    ([0.75], [0.5])
    """
    check_choice("design", design, DESIGNS)
    R, G, B = np.asarray(rgb_mean, dtype=float).T
    return (R - G) + (R - (B if design == "text" else G))


def diagnosis_weight(age, education):
    """Weight with which a person with diabetes is diagnosed, from the survey's codes.

    Examples
    --------
    >>> diagnosis_weight(age=1, education=1), diagnosis_weight(age=13, education=6)
    (25.0, 200.0)
    """
    age01, education01 = (age - 1) / 12, (education - 1) / 5
    return 25 * (age01 + 1) ** 2 + 100 * education01


# Which rows of the files make up a set


def _mnist_rows(name, design, sample, rng):
    positives, negatives = MNIST_DIGITS[name]
    file = samples.read(name) if sample else readers.read_mnist(positives + negatives)
    return _image_rows(file, file["images"], positives, boldness(file["images"]))


def _cifar_rows(name, design, sample, rng):
    base, recipe = set_and_recipe(name)
    positives, negatives = CIFAR_NUMBERS[base]
    classes = positives + negatives
    file = samples.read(name) if sample else readers.read_images("cifar10", classes, recipe)
    return _image_rows(file, file["features"], positives, redness(file["rgb_mean"], design))


def _stl_rows(name, design, sample, rng):
    _, recipe = set_and_recipe(name)
    file = samples.read(name) if sample else readers.read_images("stl10", range(10), recipe)
    # the released programs number classes as CIFAR-10 does, and misread the images
    class_names, colours = {
        "text": (STL_CLASSES, "rgb_mean"),
        "released": (CIFAR_CLASSES, "released_rgb_mean"),
    }[design]
    positives = [k for k, class_name in enumerate(class_names) if class_name in VEHICLES]
    return _image_rows(file, file["features"], positives, redness(file[colours], design))


def _image_rows(file, values, positives, score):
    y = np.isin(file["labels"], positives).astype(np.int8)
    return Rows(values, y, score, file["labels"], file["index"])


def _cdc_rows(name, design, sample, rng):
    file = samples.read(name) if sample else readers.read_cdc()
    target = file["answers"][:, 0]
    positives, negatives = np.flatnonzero(target == 1), np.flatnonzero(target == 0)
    drawn = rng.choice(negatives, size=len(positives), replace=design == "released")
    chosen = np.concatenate([positives, drawn])
    answers, y = file["answers"][chosen], target[chosen].astype(np.int8)
    weight = diagnosis_weight(_answer(answers, "Age"), _answer(answers, "Education"))
    return Rows(answers, y, weight, y, file["index"][chosen])


# From stored values to float32 features


def _encode_pixels(images):
    X = images.astype(np.float32)
    X /= 255
    return X


def _encode_features(features):
    return features.astype(np.float32)


def _encode_answers(answers):
    """Four columns scaled to [0, 1], age and education one-hot, the rest as it is."""
    X = np.empty((len(answers), len(CDC_NAMES)), dtype=np.float32)
    for k, column in enumerate(CDC_PLAIN):
        low, high = CDC_RANGES.get(column, (0, 1))
        X[:, k] = (_answer(answers, column) - low) / (high - low)
    for k, (column, level) in enumerate(CDC_ONE_HOT, start=len(CDC_PLAIN)):
        X[:, k] = _answer(answers, column) == level
    return X


def _answer(answers, column):
    """A column of the survey; the target is the first."""
    return answers[:, 1 + readers.CDC_COLUMNS.index(column)].astype(float)


_PIXELS = tuple(f"pixel_{row}_{column}" for row in range(28) for column in range(28))
_VGG16 = tuple(f"vgg16_{k}" for k in range(512))
_EFFICIENTNET = tuple(f"efficientnet_{k}" for k in range(512))
REAL = {
    "mnist_3v5": (_mnist_rows, _encode_pixels, _PIXELS),
    "mnist_ove": (_mnist_rows, _encode_pixels, _PIXELS),
    "cifar_ct": (_cifar_rows, _encode_features, _VGG16),
    "cifar_va": (_cifar_rows, _encode_features, _VGG16),
    "stl_va": (_stl_rows, _encode_features, _VGG16),
    "cdc_diabetes": (_cdc_rows, _encode_answers, CDC_NAMES),
}
# The sets of images on other features: the name of the set and of the recipe
RECIPES = {
    f"{name}_{recipe}": (name, recipe)
    for name in ("cifar_ct", "cifar_va", "stl_va")
    for recipe in ("efficientnet", "efficientnet_colourless")
}
