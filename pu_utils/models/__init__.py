"""Estimators with one interface: ``fit(X, s)``, then ask with S or without."""

from pu_utils.models.base import PUClassifier
from pu_utils.models.bayes import VaePuBayes
from pu_utils.models.label_model import LabelModel
from pu_utils.models.prior import estimate_prior
from pu_utils.models.schedules import Schedule, paper_settings
from pu_utils.models.training import TrainingDiverged
from pu_utils.models.vae_pu import VaePu

__all__ = [
    "LabelModel",
    "PUClassifier",
    "Schedule",
    "TrainingDiverged",
    "VaePu",
    "VaePuBayes",
    "estimate_prior",
    "paper_settings",
]
