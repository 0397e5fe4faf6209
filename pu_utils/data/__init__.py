"""The ten data sets of the paper, labelled and split, each as one :class:`PUData` record."""

import sys

from . import store
from .labelling import label_by_propensity, label_by_weight, label_top_fraction, logistic_propensity
from .real import CDC_QUESTIONS, REAL_SETS, boldness, diagnosis_weight, redness
from .record import DESIGNS, DataSet, PUData, check_choice
from .samples import sample_images
from .synthetic import SYNTHETIC, SYNTHETIC_SETS, make_synthetic

# The registry. The paper's ten come first, then sets like one of them: images on other features,
# and other questions of the survey
DATASETS = SYNTHETIC_SETS | REAL_SETS
NAMES = tuple(name for name, entry in DATASETS.items() if entry.like == name)
REAL = tuple(name for name in NAMES if name not in SYNTHETIC)

DATASET_NAMES = {  # as the paper prints them
    "synth_1": "Synth. 1", "synth_2": "Synth. 2", "synth_3": "Synth. 3",
    "synth_scar": "Synth. SCAR", "mnist_3v5": "MNIST 3v5", "mnist_ove": "MNIST OvE",
    "cifar_ct": "CIFAR CT", "cifar_va": "CIFAR VA", "stl_va": "STL VA",
    "cdc_diabetes": "CDC Diabetes",
}  # fmt: skip


def load(name, label_frequency, seed, design="text", sample=False):
    """Load a data set, labelled with the given label frequency and split 70/15/15.

    The same arguments give the same bytes on every machine, but for features of images that were
    computed anew instead of read from the same file: they agree to about 0.01. Rows and split
    depend on name and seed alone, so that label frequencies are compared on the same data.

    Parameters
    ----------
    name : str
        One of ``DATASETS``: the paper's (``NAMES``), a set of images on other features, or one of
        ``CDC_QUESTIONS``.
    label_frequency : float in (0, 1]
        Share ``c`` of the positives that are labelled.
    seed : int
        Number of the experiment, 0 to 9 in the paper.
    design : "text" or "released"
        What the paper says, or what its programs do; the published tables fit the latter. The
        modules ``synthetic`` and ``real`` say where the two differ (on MNIST nowhere).
    sample : bool
        Whether to take the small sample inside the package, which needs no download.

    Returns
    -------
    PUData

    Examples
    --------
    >>> data = load("synth_1", label_frequency=0.5, seed=0)
    >>> len(data.train), len(data.validation), len(data.test)
    (7000, 1500, 1500)
    """
    check_choice("name", name, DATASETS)
    return DATASETS[name].make(label_frequency, seed, design, sample)


def at_hand(name):
    """Whether :func:`load` can give this set in full here, without a download.

    Made sets are always at hand, real ones if their files are in the data folder. On Colab files
    with a public home count too: downloads are quick there.

    Examples
    --------
    >>> at_hand("synth_1")
    True
    """

    def here(file):
        downloadable = file in store.FILES and store.FILES[file].address
        on_colab = "google.colab" in sys.modules
        return (store.data_dir() / file).exists() or bool(downloadable and on_colab)

    check_choice("name", name, DATASETS)
    return any(all(map(here, files)) for files in DATASETS[name].ways)
