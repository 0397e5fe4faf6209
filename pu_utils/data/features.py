"""Image features: 512 numbers an image, by one of three recipes.

The paper's pretrained network is not named and its files are not available; these stand in for it:

- ``vgg16``: the convolutional trunk of VGG16 (ImageNet weights), pooled, computed here;
- ``efficientnet``: the first 512 principal components of EfficientNet-Lite2's pooled output, better
  at telling the classes apart; its files are made elsewhere and only read here;
- ``efficientnet_colourless``: the same, made free of what the mean colours of an image explain.

Torch is imported only where features are computed, so that stored ones need none.
"""

import contextlib
import hashlib
import json
import os
import uuid
import warnings
import zipfile
import zlib

import numpy as np
from tqdm.auto import tqdm

from pu_utils.data import store

STEMS = {  # of the files of a recipe
    "vgg16": "vgg16_64",
    "efficientnet": "efflite2_224",
    "efficientnet_colourless": "efflite2_224",
}
OTHER_RECIPES = ("efficientnet", "efficientnet_colourless")  # than VGG16's
RECIPE = {
    "network": "VGG16, IMAGENET1K_V1, convolutional trunk",
    "resize": "bilinear to 64 x 64, align_corners=False, no antialiasing",
    "mean": [0.485, 0.456, 0.406],
    "std": [0.229, 0.224, 0.225],
    "pooling": "mean over the last 2 x 2",
}
WEIGHTS = ("vgg16_trunk_float16.npz", "vgg16-397923af.pth")
# Indices of the convolutions in torchvision's VGG16; a block ends with a max-pool.
BLOCKS = ((0, 2), (5, 7), (10, 12, 14), (17, 19, 21), (24, 26, 28))


def recipe_hash(images_checksum):
    """Name of the features of an image file: changes with the recipe and with the images."""
    recipe = json.dumps([RECIPE, images_checksum], sort_keys=True)
    return hashlib.sha256(recipe.encode()).hexdigest()[:12]


def stored_features(stem, image_file, read_images, colours):
    """Features, classes and mean colours of an image file, computed once and stored as float16.

    Parameters
    ----------
    stem : str
        Beginning of the stored file's name; the recipe's hash follows.
    image_file : str
        Name of the image file in ``pu_utils.data.store.FILES``.
    read_images : callable
        From its path to (images, labels): uint8 of shape (n, height, width, 3), and (n,).
    colours : dict of str to callable
        From images to three numbers each, by their name.

    Returns
    -------
    dict
        ``features`` (n, 512), ``labels`` (n,), and the colours, (n, 3) each.
    """
    key = recipe_hash(store.FILES[image_file].checksum)
    path = store.data_dir() / f"{stem}-{key}.npz"
    if path.exists():
        arrays = read_stored(path)
        if arrays is not None and set(arrays) > set(colours):
            return arrays
        warnings.warn(
            store.set_aside(path, "is damaged or old") + "; it is made anew", stacklevel=2
        )
    images, labels = read_images(store.fetch(image_file))
    arrays = {"features": vgg16_features(images).astype(np.float16), "labels": labels}
    arrays |= {name: colour(images) for name, colour in colours.items()}
    _write(path, arrays)
    return arrays


def stored_files():
    """Paths of the features that were computed here."""
    return sorted(store.data_dir().glob(f"*_{STEMS['vgg16']}-*.npz"))


def read_stored(path):
    """The arrays of a file of features, or None where they are not those that were stored."""
    try:
        with np.load(path) as stored:
            arrays = dict(stored)
        whole = str(arrays.pop("checksum")) == _checksum(arrays)
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    return arrays if whole else None


def _checksum(arrays):
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return digest.hexdigest()


def without_colour(features, rgb_mean):
    """Features less what the mean colours explain: the residuals of least squares, as float16.

    The regressors are 1, the means of the three channels, and their squares.

    Examples
    --------
    >>> colours = np.random.default_rng(0).random((50, 3))
    >>> without_colour(colours @ np.ones((3, 2)), colours).round(3).max() == 0
    np.True_
    """
    colours = np.asarray(rgb_mean, dtype=float)
    regressors = np.column_stack([np.ones(len(colours)), colours, colours**2])
    values = np.asarray(features, dtype=float)
    explained = regressors @ np.linalg.lstsq(regressors, values)[0]
    return (values - explained).astype(np.float16)  # rounded: the same on every machine


def vgg16_features(images, device="auto", batch_size=250):
    """Pooled features of images, in batches on whatever device there is.

    Parameters
    ----------
    images : uint8 array of shape (n, height, width, 3)
    device : str
        A torch device; ``"auto"`` takes a GPU if there is one.

    Returns
    -------
    float32 array of shape (n, 512)
    """
    import torch

    device = _device() if device == "auto" else device
    weights = {name: tensor.to(device) for name, tensor in _trunk_weights().items()}
    features = np.empty((len(images), 512), dtype=np.float32)
    with torch.inference_mode():
        for start in tqdm(range(0, len(images), batch_size), desc="VGG16", disable=None):
            rows = slice(start, start + batch_size)
            batch = torch.from_numpy(np.ascontiguousarray(images[rows])).to(device)
            features[rows] = _trunk(batch, weights).cpu().numpy()
    return features


def rgb_mean(images):
    """Mean of each colour channel in [0, 1], as float32.

    Examples
    --------
    >>> rgb_mean(np.full((1, 4, 4, 3), [255, 0, 51], dtype=np.uint8)).round(3).tolist()
    [[1.0, 0.0, 0.20000000298023224]]
    """
    return _mean_of_255(images.reshape(len(images), -1, 3))


def released_rgb_mean(images):
    """The "mean colours" that the released programs take for those of STL-10's images.

    They cut the bytes of all images, channel after channel, into blocks of 32 x 32 x 3, nine an
    image, and give row i of the data the colours of block i: a piece of another image.
    """
    channel_first = np.ascontiguousarray(images[: -(-len(images) // 9)].transpose(0, 3, 1, 2))
    return _mean_of_255(channel_first.reshape(-1, 32 * 32, 3)[: len(images)])


def _mean_of_255(pixels):
    return (pixels.sum(axis=1, dtype=np.int64) / (255 * pixels.shape[1])).astype(np.float32)


def _trunk(images, weights):
    """From uint8 images (n, height, width, 3) to features (n, 512)."""
    import torch
    from torch.nn import functional as F

    mean = torch.tensor(RECIPE["mean"], device=images.device)[:, None, None]
    std = torch.tensor(RECIPE["std"], device=images.device)[:, None, None]
    x = images.permute(0, 3, 1, 2).float() / 255  # (n, 3, height, width)
    x = F.interpolate(x, size=(64, 64), mode="bilinear", align_corners=False)
    x = (x - mean) / std
    for block in BLOCKS:
        for k in block:
            x = F.relu(F.conv2d(x, weights[f"{k}.weight"], weights[f"{k}.bias"], padding=1))
        x = F.max_pool2d(x, 2)
    return x.mean(dim=(2, 3))  # (n, 512, 2, 2) -> (n, 512)


def _trunk_weights():
    """Weights of the 13 convolutions as float32 tensors, by layer, from whichever file is there."""
    import torch

    path = store.fetch_first(*WEIGHTS)
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            state = {name: torch.from_numpy(array) for name, array in arrays.items()}
    else:
        state = torch.load(path, map_location="cpu", weights_only=True)
    layers = {name.removeprefix("features."): tensor for name, tensor in state.items()}
    wanted = [f"{k}.{kind}" for block in BLOCKS for k in block for kind in ("weight", "bias")]
    return {name: layers[name].float() for name in wanted}


def _device():
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _write(path, arrays):
    """Store arrays, complete or not at all; a read-only folder costs only the next computation."""
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp.npz")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(temporary, checksum=_checksum(arrays), **arrays)
        os.replace(temporary, path)
    except OSError as reason:
        with contextlib.suppress(OSError):
            temporary.unlink()
        warnings.warn(
            f"features could not be stored at {path} and will be computed again: {reason}; "
            "set PU_DATA_DIR to a writable folder",
            stacklevel=3,
        )
