"""Tiny and strange data: every fit ends in sound probabilities or in a ValueError.

``make fuzz`` has 300 fits of each estimator.
"""

import os
import warnings

import numpy as np
import pytest
from sklearn.base import clone

from pu_utils.models import AugmentedEM, ElkanNoto, Recalibrated, SarEm, Upu

from .conftest import every_estimator

ROUNDS = int(os.environ.get("ROUNDS", 1))
FITS = 12 if ROUNDS == 1 else 30 * ROUNDS
ESTIMATORS = every_estimator(random_state=0, device="cpu")
ESTIMATORS += [AugmentedEM(), SarEm(), Upu(prior=0.5), Recalibrated(ElkanNoto(prior=0.5))]


def strange_data(rng):
    """Few rows of few features of any size, some constant, repeated or not to be had."""
    n_rows, n_features = rng.integers(1, 25), rng.integers(1, 5)
    X = rng.normal(size=(n_rows, n_features))
    X *= rng.choice([0, 1e-30, 1, 1, 1, 1e4, 1e20, 1e300], size=n_features)
    if rng.random() < 0.3:
        X = X[rng.integers(0, n_rows, size=n_rows)].round(1)
    if rng.random() < 0.1:
        X[rng.integers(n_rows), 0] = rng.choice([np.nan, np.inf])
    s = (rng.random(n_rows) < rng.choice([0.02, 0.3, 0.9])).astype(int)
    s[0] = 1
    return X, s if rng.random() < 0.8 else s == 1


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_fits(estimator):
    """Whatever the rows: probabilities that are some, classes that were seen, or a ValueError."""
    rng, fitted = np.random.default_rng(0), 0
    for _ in range(FITS):
        X, s = strange_data(rng)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                model = clone(estimator).fit(X, s)
            except ValueError as error:
                assert len(str(error)) > 15
                continue
            fitted += 1
            for known in ({}, {"s": s}):
                proba = model.predict_proba(X, **known)
                assert proba.shape == (len(X), 2) and np.allclose(proba.sum(axis=1), 1)
                assert (proba >= 0).all() and (proba <= 1).all(), "NaN is neither"
                assert set(model.predict(X, **known)) <= set(s)
    assert fitted > FITS // 20, "not all data are beyond hope"
