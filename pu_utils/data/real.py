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

The survey of the CDC asked more than whether somebody has diabetes. ``CDC_QUESTIONS`` are five sets
that the paper does not have: 10,000 people each, drawn at random, whose answer to another question
is the class, labelled as for diabetes. Their classes overlap, and positives may be few.

Where the *released* programs differ from the *text*: redness; the class numbers and the colours of
STL-10; and the negatives of CDC, which they draw with replacement, so that copies of one row of the
file can lie in training and test part. In the text design each row of the file is used at most
once. (Different people may still have given the same answers, as in any survey.)
"""

from functools import partial

import numpy as np

from pu_utils.data import readers, samples
from pu_utils.data.labelling import label_by_weight, label_top_fraction
from pu_utils.data.record import DESIGNS, DataSet, PUData, check_choice, random_streams

CIFAR_CLASSES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip
STL_CLASSES = (
    "airplane", "bird", "car", "cat", "deer", "dog", "horse", "monkey", "ship", "truck",
)  # fmt: skip
VEHICLES = ("airplane", "automobile", "car", "ship", "truck")

CDC_SCALED = {"BMI": (12, 98), "GenHlth": (1, 5), "MentHlth": (0, 30), "PhysHlth": (0, 30)}
CDC_LEVELS = {"Age": 13, "Education": 6}
CDC_PLAIN = tuple(column for column in readers.CDC_COLUMNS if column not in CDC_LEVELS)
CDC_ONE_HOT = tuple((column, k) for column, n in CDC_LEVELS.items() for k in range(1, n + 1))
CDC_NAMES = CDC_PLAIN + tuple(f"{column}_{level}" for column, level in CDC_ONE_HOT)
CDC_QUESTIONS = {
    "cdc_blood_pressure": "HighBP", "cdc_cholesterol": "HighChol",
    "cdc_heart_disease": "HeartDiseaseorAttack", "cdc_walking": "DiffWalk", "cdc_smoking": "Smoker",
}  # fmt: skip


def real_set(name, like, source, choose, encode, feature_names):
    """The entry of ``pu_utils.data.DATASETS`` for a set that is read from files.

    Parameters
    ----------
    name, like : str
        Of the set, and of the set of the paper whose rows and split it shares.
    source : pair of a callable and a tuple of tuples of str
        What gives the arrays of the whole file, and the files that it can do with, as alternatives.
    choose : callable
        From such arrays, the design and a generator to those of the chosen rows: ``values``, which
        become features, ``y``, ``score`` and ``source_rows``, and perhaps finer ``classes``. In
        each of these the highest scores are labelled; without them, a sample with the scores as
        weights.
    encode : callable
        From the values to float32 features.
    feature_names : tuple of str

    Returns
    -------
    DataSet
    """
    read, ways = source

    def make(label_frequency, seed, design, sample):
        check_choice("design", design, DESIGNS)
        row_rng, label_rng, split_rng = random_streams(like, seed)
        rows = choose(samples.read(name) if sample else read(), design, row_rng)
        values, classes = rows.pop("values"), rows.pop("classes", None)
        if classes is None:
            rows["s"] = label_by_weight(rows["y"], rows["score"], label_frequency, label_rng)
        else:
            rows["s"] = label_top_fraction(rows["y"], rows["score"], label_frequency, classes)
        order = split_rng.permutation(len(values))
        return PUData(
            X=encode(values[order]),
            **{array: rows[array][order] for array in rows},
            **{"name": name, "label_frequency": label_frequency, "seed": seed, "design": design},
            prior=float(rows["y"].mean()),
            feature_names=feature_names,
        )

    return DataSet(make, like, ways=ways)


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


def _mnist_rows(file, design, rng, positives):
    return _image_rows(file, file["images"], positives, boldness(file["images"]))


def _cifar_rows(file, design, rng, positives):
    return _image_rows(file, file["features"], positives, redness(file["rgb_mean"], design))


def _stl_rows(file, design, rng):
    # the released programs number classes as CIFAR-10 does, and misread the images
    if design == "text":
        class_names, colours = STL_CLASSES, file["rgb_mean"]
    else:
        class_names, colours = CIFAR_CLASSES, file["released_rgb_mean"]
    positives = [k for k, class_name in enumerate(class_names) if class_name in VEHICLES]
    return _image_rows(file, file["features"], positives, redness(colours, design))


def _image_rows(file, values, positives, score):
    y = np.isin(file["labels"], positives).astype(np.int8)
    rows = {"source_rows": file["index"], "classes": file["labels"]}
    return {"values": values, "y": y, "score": score} | rows


def _cdc_rows(file, design, rng):
    target = file["answers"][:, 0]
    positives, negatives = np.flatnonzero(target == 1), np.flatnonzero(target == 0)
    drawn = rng.choice(negatives, size=len(positives), replace=design == "released")
    chosen = np.concatenate([positives, drawn])
    return _survey_rows(file["answers"][chosen], target[chosen], file["index"][chosen])


def _question_rows(file, design, rng, column):
    """People at random. Diabetes takes the place of the question, whose answer is the class."""
    chosen = rng.choice(len(file["answers"]), size=10_000, replace=False)
    answers = file["answers"][chosen]
    y = _answer(answers, column)
    answers[:, 1 + readers.CDC_COLUMNS.index(column)] = answers[:, 0]
    return _survey_rows(answers, y, file["index"][chosen])


def _survey_rows(answers, y, index):
    weight = diagnosis_weight(_answer(answers, "Age"), _answer(answers, "Education"))
    return {"values": answers, "y": y.astype(np.int8), "score": weight, "source_rows": index}


# From stored values to float32 features


def _encode_pixels(images):
    return images.astype(np.float32) / 255


def _encode_answers(answers):
    """Four columns scaled to [0, 1], age and education one-hot, the rest as it is."""
    X = np.empty((len(answers), len(CDC_NAMES)), dtype=np.float32)
    for k, column in enumerate(CDC_PLAIN):
        low, high = CDC_SCALED.get(column, (0, 1))
        X[:, k] = (_answer(answers, column) - low) / (high - low)
    for k, (column, level) in enumerate(CDC_ONE_HOT, start=len(CDC_PLAIN)):
        X[:, k] = _answer(answers, column) == level
    return X


def _answer(answers, column):
    """A column of the survey; the target is the first."""
    return answers[:, 1 + readers.CDC_COLUMNS.index(column)].astype(float)


# The registry


def _mnist(name, positives, negatives):
    source = partial(readers.read_mnist, positives + negatives), (readers.MNIST_FILES,)
    choose = partial(_mnist_rows, positives=positives)
    pixels = tuple(f"pixel_{row}_{column}" for row in range(28) for column in range(28))
    return real_set(name, name, source, choose, _encode_pixels, pixels)


def _images(like, images, classes, choose, recipe="vgg16"):
    """A set of images on the features of a recipe, which its name tells."""
    name = like if recipe == "vgg16" else f"{like}_{recipe}"
    read = partial(readers.read_images, images, classes, recipe)
    source = read, readers.image_ways(images, recipe)
    names = tuple(f"{recipe.removesuffix('_colourless')}_{k}" for k in range(512))
    return real_set(name, like, source, choose, partial(np.asarray, dtype=np.float32), names)


def _cdc(name, choose, question=None):
    """A set of the survey; diabetes takes the place of a question among the features."""
    names = tuple(readers.CDC_TARGET if given == question else given for given in CDC_NAMES)
    source = readers.read_cdc, tuple((file,) for file in readers.CDC_FILES)
    return real_set(name, CDC, source, choose, _encode_answers, names)


CDC = "cdc_diabetes"
_IMAGES = (
    ("cifar_ct", "cifar10", (1, 9), partial(_cifar_rows, positives=(1,))),
    ("cifar_va", "cifar10", range(10), partial(_cifar_rows, positives=(0, 1, 8, 9))),
    ("stl_va", "stl10", range(10), _stl_rows),
)
RECIPES = ("efficientnet", "efficientnet_colourless")
REAL_SETS = {
    "mnist_3v5": _mnist("mnist_3v5", (3,), (5,)),
    "mnist_ove": _mnist("mnist_ove", (1, 3, 5, 7, 9), (0, 2, 4, 6, 8)),
    **{images[0]: _images(*images) for images in _IMAGES},
    CDC: _cdc(CDC, _cdc_rows),
    **{f"{images[0]}_{r}": _images(*images, r) for images in _IMAGES for r in RECIPES},
    **{name: _cdc(name, partial(_question_rows, column=q), q) for name, q in CDC_QUESTIONS.items()},
}
