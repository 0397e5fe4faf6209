"""Small data and small networks that the tests of the estimators share."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from pu_utils.models import (
    Augmented,
    ElkanNoto,
    LabelModel,
    Lbe,
    Schedule,
    VaePu,
    VaePuBayes,
    VaePuOcc,
)

TINY = Schedule(
    pretraining_epochs=2,
    phase_epochs=(2, 2, 2, 2, 2),
    batch_size=100,
    fine_tuning_steps=3,
    autoencoder_hidden=(8, 8),
    discriminator_hidden=(8,),
    target_hidden=(8, 8),
    label_epochs=3,
)


FOREST = IsolationForest(n_estimators=10, random_state=0)


def every_estimator(**options):
    """One quickly fitted estimator of each kind."""
    return [
        LabelModel(schedule=TINY, **options),
        VaePu(prior=0.5, schedule=TINY, **options),
        VaePuBayes(prior=0.5, schedule=TINY, **options),
        VaePuOcc(prior=0.5, schedule=TINY, detector=FOREST, **options),
        Lbe(max_rounds=2, max_epochs=2, **options),
        Augmented(),
        ElkanNoto(prior=0.5),
    ]


@pytest.fixture(scope="session")
def blobs():
    """300 rows of two overlapping classes, half of the positives labelled: X, y, s."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    X = rng.normal(size=(300, 3)) + 2.0 * y[:, None]
    return X, y, y * (rng.random(300) < 0.5)


@pytest.fixture(scope="session")
def base(blobs):
    """A fitted VAE-PU that tests share and must not change."""
    X, _, s = blobs
    return VaePu(prior=0.5, schedule=TINY, random_state=0, device="cpu").fit(X, s)
