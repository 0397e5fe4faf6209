"""Published files to arrays: MNIST's idx files, CIFAR-10's and STL-10's archives, CDC's table."""

import gzip
import os
import struct
import tarfile
import zipfile
import zlib

import numpy as np
import pandas as pd

from pu_utils.data import features, store

MNIST_PARTS = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
MNIST_FILES = tuple(f"{part}-ubyte.gz" for part in MNIST_PARTS)
CDC_FILES = tuple(f"diabetes_binary_health_indicators_BRFSS2015.csv{end}" for end in (".zip", ""))
CDC_TARGET = "Diabetes_binary"
CDC_COLUMNS = (
    "HighBP", "HighChol", "CholCheck", "BMI", "Smoker", "Stroke", "HeartDiseaseorAttack",
    "PhysActivity", "Fruits", "Veggies", "HvyAlcoholConsump", "AnyHealthcare", "NoDocbcCost",
    "GenHlth", "MentHlth", "PhysHlth", "DiffWalk", "Sex", "Age", "Education", "Income",
)  # fmt: skip


def read_mnist(digits):
    """Images (n, 784), labels and positions of these digits; training files, then test files."""
    files = [read_idx(store.fetch(name)) for name in MNIST_FILES]
    labels = np.concatenate(files[1::2])
    images = np.concatenate(files[0::2]).reshape(len(labels), -1)
    return _of_classes(digits, images=images, labels=labels)


def read_idx(path):
    """The array of a gzipped idx file of unsigned bytes."""
    content = gzip.decompress(path.read_bytes())
    n_dimensions = content[3]
    shape = struct.unpack_from(f">{n_dimensions}I", content, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)


def read_images(source, classes, recipe="vgg16"):
    """Features, labels, mean colours and positions of these classes of CIFAR-10 or STL-10.

    Parameters
    ----------
    source : {"cifar10", "stl10"}
    classes : sequence of int
    recipe : {"vgg16", "efficientnet", "efficientnet_colourless"}
        What the features are. Where VGG16's file is missing, its features are computed from the
        images, once: in 13 minutes for CIFAR-10 on two processor cores.
    """
    name = _features_name(source, recipe)
    path = store.data_dir() / f"computed_{name}"
    if recipe != "vgg16" or (store.data_dir() / name).exists():
        path = store.fetch(name)
    elif not path.exists():
        _compute_features(source, path)
    try:
        with np.load(path) as file:
            names = {"features", "labels", "rgb_mean", "released_rgb_mean"} & set(file)
            chosen = _of_classes(classes, **{name: file[name] for name in names})
    except (zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged: remove it and load again") from error
    if recipe == "efficientnet_colourless":
        chosen["features"] = features.without_colour(chosen["features"], chosen["rgb_mean"])
    return chosen


def image_ways(source, recipe):
    """The files that :func:`read_images` can do with: features, or else images and weights."""
    name = _features_name(source, recipe)
    images = [(IMAGES[source][0], weights) for weights in features.WEIGHTS]
    return ((name,), (f"computed_{name}",), *images) if recipe == "vgg16" else ((name,),)


def _features_name(source, recipe):
    return f"{source}_vgg16_64.npz" if recipe == "vgg16" else f"{source}_efflite2_224.npz"


def _compute_features(source, path):
    archive, read = IMAGES[source]
    images, labels = read(store.fetch(archive))
    arrays = {"labels": labels, "rgb_mean": features.rgb_mean(images)}
    if source == "stl10":
        arrays["released_rgb_mean"] = features.released_rgb_mean(images)
    arrays["features"] = features.vgg16_features(images).astype(np.float16)
    unfinished = path.with_name(f"{os.getpid()}_{path.name}")
    np.savez_compressed(unfinished, **arrays)
    unfinished.replace(path)


def cifar_images(path):
    """Images (60000, 32, 32, 3) and labels of CIFAR-10's binary archive, training, then test."""
    members = _members(path, *(f"data_batch_{k}.bin" for k in range(1, 6)), "test_batch.bin")
    records = np.concatenate(members).reshape(-1, 1 + 3 * 32 * 32)
    # one byte of label, then channels row by row: (n, channel, row, column)
    return records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0].copy()


def stl_images(path):
    """Images (13000, 96, 96, 3) and labels, from 0, of STL-10's archive, training, then test."""
    train_X, test_X, train_y, test_y = _members(
        path, "train_X.bin", "test_X.bin", "train_y.bin", "test_y.bin"
    )
    pixels = np.concatenate([train_X, test_X]).reshape(-1, 3, 96, 96)
    # channels column by column: (n, channel, column, row)
    return pixels.transpose(0, 3, 2, 1), np.concatenate([train_y, test_y]) - 1


IMAGES = {
    "cifar10": ("cifar-10-binary.tar.gz", cifar_images),
    "stl10": ("stl10_binary.tar.gz", stl_images),
}


def _members(path, *names):
    """Bytes of the named members of an archive, read in one pass and never unpacked to disk."""
    found = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name.rsplit("/", 1)[-1]
            if name in names:
                found[name] = np.frombuffer(archive.extractfile(member).read(), dtype=np.uint8)
    return [found[name] for name in names]


def read_cdc():
    """Answers of all 253,680 people as uint8, the target in the first column."""
    columns = [CDC_TARGET, *CDC_COLUMNS]
    table = pd.read_csv(store.fetch(*CDC_FILES), usecols=columns, dtype=np.float32)
    answers = table[columns].to_numpy(np.uint8)
    return {"answers": answers, "index": np.arange(len(answers))}


def _of_classes(classes, **arrays):
    """Those rows of each array whose label is one of ``classes``, and where they stand."""
    arrays["index"] = np.arange(len(arrays["labels"]))
    keep = np.isin(arrays["labels"], classes)
    return {name: array[keep] for name, array in arrays.items()}
