"""Image features: 512 numbers an image, by one of three recipes.

The paper's pretrained network is not named and its files are not available; these stand in for it:

- ``vgg16``: the convolutional trunk of VGG16 (ImageNet weights), pooled; where its file is missing,
  it is computed here from the images;
- ``efficientnet``: the first 512 principal components of EfficientNet-Lite2's pooled output, better
  at telling the classes apart; its files are made elsewhere and only read here;
- ``efficientnet_colourless``: the same, made free of what the mean colours of an image explain.

Torch is imported only where features are computed, so that stored ones need none.
"""

import numpy as np
from tqdm.auto import tqdm

from pu_utils.data import store

WEIGHTS = ("vgg16_trunk_float16.npz", "vgg16-397923af.pth")
CONVOLUTIONS = (0, 2, 5, 7, 10, 12, 14, 17, 19, 21, 24, 26, 28)  # as torchvision numbers them
BEFORE_A_POOL = (2, 7, 14, 21, 28)
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's channels


def vgg16_features(images, batch_size=250):
    """Pooled features of images: resized to 64 x 64, through VGG16's convolutions, averaged.

    Parameters
    ----------
    images : uint8 array of shape (n, height, width, 3)
    batch_size : int
        Images at a time, on a GPU if there is one.

    Returns
    -------
    float32 array of shape (n, 512)
    """
    import torch
    from torch.nn import functional as F

    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = {name: tensor.to(device) for name, tensor in _weights().items()}
    mean, std = (torch.tensor(values, device=device)[:, None, None] for values in (MEAN, STD))
    features = np.empty((len(images), 512), dtype=np.float32)
    with torch.inference_mode():
        for start in tqdm(range(0, len(images), batch_size), desc="VGG16", disable=None):
            rows = slice(start, start + batch_size)
            x = torch.from_numpy(np.ascontiguousarray(images[rows])).to(device)
            x = x.permute(0, 3, 1, 2).float() / 255  # (n, 3, height, width)
            x = F.interpolate(x, size=(64, 64), mode="bilinear", align_corners=False)
            x = (x - mean) / std
            for k in CONVOLUTIONS:
                x = F.relu(F.conv2d(x, weights[f"{k}.weight"], weights[f"{k}.bias"], padding=1))
                if k in BEFORE_A_POOL:
                    x = F.max_pool2d(x, 2)
            features[rows] = x.mean(dim=(2, 3)).cpu().numpy()  # (n, 512, 2, 2) -> (n, 512)
    return features


def _weights():
    """Weights of VGG16 as float32 tensors, by layer, from whichever file is there."""
    import torch

    path = store.fetch(*WEIGHTS)
    if path.suffix == ".npz":
        state = {name: torch.from_numpy(array) for name, array in np.load(path).items()}
    else:
        state = torch.load(path, map_location="cpu", weights_only=True)
    layers = [f"{k}.{kind}" for k in CONVOLUTIONS for kind in ("weight", "bias")]
    return {layer: state[f"features.{layer}"].float() for layer in layers}


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
