"""Published files to arrays: MNIST's idx files, CIFAR-10's and STL-10's archives, CDC's table."""

import gzip
import math
import struct
import tarfile
import zipfile

import numpy as np
import pandas as pd

from pu_utils.data import features, store

CDC_TARGET = "Diabetes_binary"
CDC_COLUMNS = (
    "HighBP", "HighChol", "CholCheck", "BMI", "Smoker", "Stroke", "HeartDiseaseorAttack",
    "PhysActivity", "Fruits", "Veggies", "HvyAlcoholConsump", "AnyHealthcare", "NoDocbcCost",
    "GenHlth", "MentHlth", "PhysHlth", "DiffWalk", "Sex", "Age", "Education", "Income",
)  # fmt: skip
CDC_RANGES = {  # of the answers; all others are 0 or 1
    "BMI": (12, 98), "GenHlth": (1, 5), "MentHlth": (0, 30), "PhysHlth": (0, 30),
    "Age": (1, 13), "Education": (1, 6), "Income": (1, 8),
}  # fmt: skip
CDC_ROWS, CDC_POSITIVES = 253_680, 35_346
CDC_WAYS = (
    ("diabetes_binary_health_indicators_BRFSS2015.csv.zip",),
    ("cdc_diabetes_uci_891.csv",),
)
MNIST_FILES = tuple(
    f"{part}-{kind}-ubyte.gz"
    for part in ("train", "t10k")
    for kind in ("images-idx3", "labels-idx1")
)


def read_mnist(digits):
    """Images (n, 784), labels and positions of these digits; training files, then test files."""
    parts, start = [], 0
    for stem in ("train", "t10k"):
        labels = read_idx(store.fetch(f"{stem}-labels-idx1-ubyte.gz"))
        images = read_idx(store.fetch(f"{stem}-images-idx3-ubyte.gz")).reshape(len(labels), -1)
        index = np.arange(start, start + len(labels))
        parts.append(_of_classes(digits, images=images, labels=labels, index=index))
        start += len(labels)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def read_idx(path):
    """The array of a gzipped idx file of unsigned bytes."""
    with gzip.open(path) as file:
        zero, kind, n_dimensions = struct.unpack(">HBB", file.read(4))
        if (zero, kind) != (0, 8):
            raise ValueError(f"{path} is not an idx file of unsigned bytes; fetch it again")
        shape = struct.unpack(f">{n_dimensions}I", file.read(4 * n_dimensions))
        values = np.frombuffer(file.read(math.prod(shape)), dtype=np.uint8)
    if values.size != math.prod(shape):
        raise ValueError(f"{path} holds {values.size} bytes for shape {shape}; fetch it again")
    return values.reshape(shape)


IMAGE_ARRAYS = ("features", "labels", "rgb_mean", "released_rgb_mean")
IMAGE_FILES = {
    "cifar10": ("cifar-10-binary.tar.gz", {"rgb_mean": features.rgb_mean}),
    "stl10": (
        "stl10_binary.tar.gz",
        {"rgb_mean": features.rgb_mean, "released_rgb_mean": features.released_rgb_mean},
    ),
}


def image_ways(source, recipe):
    """Files of features, or else the images and the weights that VGG16's are computed from."""
    stem = f"{source}_{features.STEMS[recipe]}"
    stored = (f"{stem}.npz",)
    if recipe != "vgg16":
        return (stored,)
    archive, _ = IMAGE_FILES[source]
    computed = f"{stem}-{features.recipe_hash(store.FILES[archive].checksum)}.npz"
    return (stored, (computed,), *((archive, weights) for weights in features.WEIGHTS))


def read_images(source, classes, recipe="vgg16"):
    """Features, labels, mean colours and positions of these classes of CIFAR-10 or STL-10.

    Parameters
    ----------
    source : {"cifar10", "stl10"}
    classes : sequence of int
    recipe : {"vgg16", "efficientnet", "efficientnet_colourless"}
        What the features are. The file of a recipe, tied to it by its checksum, is used where it
        is there; elsewhere VGG16's features are computed once from the images.
    """
    name = f"{source}_{features.STEMS[recipe]}.npz"
    if recipe != "vgg16" or (store.data_dir() / name).exists():
        with np.load(store.fetch(name)) as stored:
            arrays = {key: stored[key] for key in IMAGE_ARRAYS if key in stored}
    else:
        archive, colours = IMAGE_FILES[source]
        read = {"cifar10": cifar_images, "stl10": stl_images}[source]
        arrays = features.stored_features(name.removesuffix(".npz"), archive, read, colours)
    chosen = _of_classes(classes, index=np.arange(len(arrays["labels"])), **arrays)
    if recipe == "efficientnet_colourless":
        chosen["features"] = features.without_colour(chosen["features"], chosen["rgb_mean"])
    return chosen


def cifar_images(path):
    """Images (60000, 32, 32, 3) and labels of CIFAR-10's binary archive, training, then test."""
    names = [*(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin"]
    members = _members(path, names)
    records = np.concatenate([members[name] for name in names]).reshape(-1, 1 + 3 * 32 * 32)
    # one byte of label, then channels row by row: (n, channel, row, column)
    return records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0].copy()


def stl_images(path):
    """Images (13000, 96, 96, 3) and labels, from 0, of STL-10's archive, training, then test."""
    names = ["train_X.bin", "test_X.bin", "train_y.bin", "test_y.bin"]
    train_X, test_X, train_y, test_y = map(_members(path, names).get, names)
    pixels = np.concatenate([train_X, test_X]).reshape(-1, 3, 96, 96)
    # channels column by column: (n, channel, column, row)
    return pixels.transpose(0, 3, 2, 1), np.concatenate([train_y, test_y]) - 1


def read_cdc():
    """Answers of all 253,680 people as uint8, the target in the first column.

    The archive is used where it is there, else the table of the UCI repository, which has an ID
    column more and no known checksum: columns are chosen by name, rows and positives counted, and
    answers compared with their ranges.
    """
    path = store.fetch_first(*(name for (name,) in CDC_WAYS))
    try:
        answers = _cdc_answers(path)
    except ValueError as reason:
        done = store.set_aside(path, f"is not the published table ({reason})")
        raise store.ChecksumError(f"{done}: load again to download it") from reason
    return {"answers": answers, "index": np.arange(len(answers))}


def _cdc_answers(path):
    columns = [CDC_TARGET, *CDC_COLUMNS]
    low, high = np.array([CDC_RANGES.get(column, (0, 1)) for column in columns]).T
    parts = []
    # in blocks: all at once as floats would take many times the memory of the bytes
    with (
        _open_table(path) as file,
        pd.read_csv(file, usecols=columns, dtype=np.float32, chunksize=5_000) as blocks,
    ):
        for block in blocks:
            values = block[columns].to_numpy()
            possible = (values >= low) & (values <= high) & (values == np.rint(values))
            if not possible.all():  # NaN is not
                row, column = np.argwhere(~possible)[0]
                raise ValueError(f"{columns[column]} is {values[row, column]} in a row")
            parts.append(values.astype(np.uint8))
    answers = np.concatenate(parts)
    rows, positives = len(answers), int(answers[:, 0].sum())
    if (rows, positives) != (CDC_ROWS, CDC_POSITIVES):
        raise ValueError(f"{rows} rows, {positives} positive, not {CDC_ROWS}, {CDC_POSITIVES}")
    return answers


def _open_table(path):
    """A CSV file, or the first member of a zip archive; pandas would unpack the latter whole."""
    if path.suffix != ".zip":
        return path.open("rb")
    archive = zipfile.ZipFile(path)
    return archive.open(archive.namelist()[0])


def _of_classes(classes, **arrays):
    """Those rows of each array whose label is one of ``classes``."""
    keep = np.isin(arrays["labels"], classes)
    return {name: array[keep] for name, array in arrays.items()}


def _members(path, names):
    """Bytes of the named members of an archive, read in one pass and never unpacked to disk."""
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name.rsplit("/", 1)[-1]
            if name in names:
                found[name] = np.frombuffer(archive.extractfile(member).read(), dtype=np.uint8)
            if len(found) == len(names):
                return found
    missing = ", ".join(sorted(set(names) - set(found)))
    raise ValueError(f"{path} does not hold {missing}; fetch the archive again")
