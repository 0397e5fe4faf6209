"""Estimators with one interface: ``fit(X, s)``, then ask with S or without.

Those made of networks are imported when they are asked for: the others need no torch.
"""

import importlib

from pu_utils.schedules import SCHEDULES, Schedule, paper_settings

from .augmented_em import AugmentedEM
from .base import ConflictWarning, PriorWarning, PUClassifier, estimate_prior
from .em import ExchangeWarning
from .recalibrated import Recalibrated
from .sar_em import SarEm
from .simple import Augmented, ElkanNoto
from .upu import Upu

_OF_NETWORKS = {
    "A3": "a3", "LabelModel": "networks", "Lbe": "lbe", "NetworkClassifier": "networks",
    "TrainingDiverged": "networks", "VaePu": "vae_pu", "VaePuBayes": "fine_tuning",
    "VaePuOcc": "fine_tuning",
}  # fmt: skip


def __getattr__(name):
    if name not in _OF_NETWORKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_OF_NETWORKS[name]}"), name)


def __dir__():
    return [*globals(), *_OF_NETWORKS]
