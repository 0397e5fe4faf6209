"""Estimators with one interface: ``fit(X, s)``, then ask with S or without.

Those made of networks are imported when they are asked for: the others need no torch.
"""

from importlib import import_module

from pu_utils.models.augmented_em import AugmentedEM
from pu_utils.models.base import ConflictWarning, PriorWarning, PUClassifier, estimate_prior
from pu_utils.models.em import ExchangeWarning
from pu_utils.models.recalibrated import Recalibrated
from pu_utils.models.sar_em import SarEm
from pu_utils.models.scoring import label_log_likelihood, negative_nnpu_risk
from pu_utils.models.simple import Augmented, ElkanNoto
from pu_utils.models.upu import Upu
from pu_utils.schedules import SCHEDULES, Schedule, paper_settings

_OF_NETWORKS = {
    "A3": "a3",
    "LabelModel": "networks",
    "Lbe": "lbe",
    "TrainingDiverged": "networks",
    "VaePu": "vae_pu",
    "VaePuBayes": "fine_tuning",
    "VaePuOcc": "fine_tuning",
}
__all__ = [
    "A3", "SCHEDULES", "Augmented", "AugmentedEM", "ConflictWarning", "ElkanNoto",
    "ExchangeWarning", "LabelModel", "Lbe", "PUClassifier", "PriorWarning", "Recalibrated",
    "SarEm", "Schedule", "TrainingDiverged", "Upu", "VaePu", "VaePuBayes", "VaePuOcc",
    "estimate_prior", "label_log_likelihood", "negative_nnpu_risk", "paper_settings",
]  # fmt: skip


def __getattr__(name):
    if name not in _OF_NETWORKS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_OF_NETWORKS[name]}"), name)
