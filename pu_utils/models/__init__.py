"""Estimators with one interface: ``fit(X, s)``, then ask with S or without."""

from pu_utils.models.a3 import A3
from pu_utils.models.base import PUClassifier
from pu_utils.models.fine_tuning import VaePuBayes, VaePuOcc
from pu_utils.models.lbe import Lbe
from pu_utils.models.networks import LabelModel, TrainingDiverged
from pu_utils.models.simple import Augmented, ElkanNoto, estimate_prior
from pu_utils.models.vae_pu import VaePu
from pu_utils.schedules import Schedule, paper_settings

__all__ = [
    "A3",
    "Augmented",
    "ElkanNoto",
    "LabelModel",
    "Lbe",
    "PUClassifier",
    "Schedule",
    "TrainingDiverged",
    "VaePu",
    "VaePuBayes",
    "VaePuOcc",
    "estimate_prior",
    "paper_settings",
]
