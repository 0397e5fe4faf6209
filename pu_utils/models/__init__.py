"""Estimators with one interface: ``fit(X, s)``, then ask with S or without."""

from pu_utils.models.a3 import A3
from pu_utils.models.augmented_em import AugmentedEM
from pu_utils.models.base import PUClassifier
from pu_utils.models.bayes import VaePuBayes
from pu_utils.models.em import ExchangeWarning, PriorWarning
from pu_utils.models.label_model import LabelModel
from pu_utils.models.lbe import Lbe
from pu_utils.models.occ import VaePuOcc
from pu_utils.models.prior import estimate_prior
from pu_utils.models.recalibrated import Recalibrated
from pu_utils.models.sar_em import SarEm
from pu_utils.models.simple import AllNegative, Augmented, ElkanNoto, Prophet
from pu_utils.models.training import TrainingDiverged
from pu_utils.models.upu import Upu
from pu_utils.models.vae_pu import VaePu
from pu_utils.schedules import Schedule, paper_settings

__all__ = [
    "A3",
    "AllNegative",
    "Augmented",
    "AugmentedEM",
    "ElkanNoto",
    "ExchangeWarning",
    "LabelModel",
    "Lbe",
    "PUClassifier",
    "PriorWarning",
    "Prophet",
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
