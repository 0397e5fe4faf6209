"""Image features: the convolutional trunk of VGG16 (ImageNet weights), pooled to 512 numbers.

The paper's pretrained network is not named and its files are not available; this stands in for it.
Torch is imported only where features are computed, so that stored ones need none.
"""

import contextlib
import hashlib
import json
import os
import uuid
import warnings

import numpy as np
from tqdm.auto import tqdm

from pu_utils.data import store

RECIPE = {
    "network": "VGG16, IMAGENET1K_V1, convolutional trunk",
    "resize": "bilinear to 64 x 64, align_corners=False, no antialiasing",
    "mean": [0.485, 0.456, 0.406],
    "std": [0.229, 0.224, 0.225],
    "pooling": "mean over the last 2 x 2",
}
# Indices of the convolutions in torchvision's VGG16; a block ends with a max-pool.
BLOCKS = ((0, 2), (5, 7), (10, 12, 14), (17, 19, 21), (24, 26, 28))


def recipe_hash(images_checksum):
    """Name of the features of an image file: changes with the recipe and with the images."""
    recipe = json.dumps([RECIPE, images_checksum], sort_keys=True)
    return hashlib.sha256(recipe.encode()).hexdigest()[:12]


def stored_features(stem, image_file, read_images):
    """Features, classes and mean colours of an image file, computed once and stored as float16.

    Parameters
    ----------
    stem : str
        Beginning of the stored file's name; the recipe's hash follows.
    image_file : str
        Name of the image file in ``pu_utils.data.store.FILES``.
    read_images : callable
        From its path to (images, labels): uint8 of shape (n, height, width, 3), and (n,).

    Returns
    -------
    dict
        ``features`` (n, 512), ``labels`` (n,), ``rgb_mean`` and ``misread_rgb_mean`` (n, 3).
    """
    key = recipe_hash(store.FILES[image_file].checksum)
    path = store.data_dir() / f"{stem}-{key}.npz"
    if not path.exists():
        images, labels = read_images(store.fetch(image_file))
        arrays = {
            "features": vgg16_features(images).astype(np.float16),
            "labels": labels,
            "rgb_mean": rgb_mean(images),
            "misread_rgb_mean": misread_rgb_mean(images),
        }
        _write(path, arrays)
        return arrays
    with np.load(path) as arrays:
        return dict(arrays)


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


def misread_rgb_mean(images):
    """Mean "channels" of images whose channel-first bytes are read as channel-last.

    So the released programs measure redness on STL-10: every third pixel, whatever its colour.
    """
    channel_first = np.ascontiguousarray(images.transpose(0, 3, 1, 2))
    return _mean_of_255(channel_first.reshape(len(images), -1, 3))


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

    path = store.fetch_first("vgg16_trunk_float16.npz", "vgg16-397923af.pth")
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
        np.savez_compressed(temporary, **arrays)
        os.replace(temporary, path)
    except OSError as reason:
        with contextlib.suppress(OSError):
            temporary.unlink()
        warnings.warn(
            f"features could not be stored at {path} and will be computed again: {reason}; "
            "set PU_DATA_DIR to a writable folder",
            stacklevel=3,
        )
