"""Estimators with one interface: ``fit(X, s)``, then ask with S or without."""

from pu_utils.models.a3 import A3
from pu_utils.models.augmented_em import AugmentedEM
from pu_utils.models.base import PUClassifier
from pu_utils.models.em import ExchangeWarning, PriorWarning
from pu_utils.models.fine_tuning import VaePuBayes, VaePuOcc
from pu_utils.models.lbe import Lbe
from pu_utils.models.networks import LabelModel, TrainingDiverged
from pu_utils.models.recalibrated import Recalibrated
from pu_utils.models.sar_em import SarEm
from pu_utils.models.simple import Augmented, ElkanNoto, estimate_prior
from pu_utils.models.upu import Upu
from pu_utils.models.vae_pu import VaePu
from pu_utils.schedules import Schedule, paper_settings

__all__ = [
    "A3",
    "Augmented",
    "AugmentedEM",
    "ElkanNoto",
    "ExchangeWarning",
    "LabelModel",
    "Lbe",
    "PUClassifier",
    "PriorWarning",
    "Recalibrated",
    "SarEm",
    "Schedule",
    "TrainingDiverged",
    "Upu",
    "VaePu",
    "VaePuBayes",
    "VaePuOcc",
    "estimate_prior",
    "paper_settings",
]
