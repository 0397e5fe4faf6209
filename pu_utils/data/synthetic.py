"""The four synthetic sets: two Gaussians in 20 dimensions, logistic propensities.

Half of the rows come from N(0, Sigma), half from N(mu, Sigma) with mu_k = 1/k. Designs: the paper
*text*, and the *released* programs, which the published prophet rows fit.

============  ==========================  ====================================================
              text                        released
============  ==========================  ====================================================
gamma         (0.5, ..., 0.5)             (1, 0, ..., 0)
Sigma of 3    diag(1, 2, 1, 2, ...)       X drawn with the identity, Y with diag(1, 2, 1, 2, ...);
                                          ``y_proba``, which prophets use, with the identity
============  ==========================  ====================================================
"""

import numpy as np
import scipy

from pu_utils.data import record
from pu_utils.data.labelling import check_label_frequency, label_by_propensity, logistic_propensity
from pu_utils.data.record import DESIGNS, DataSet, PUData, check_choice

N_FEATURES = 20
MU = 1 / np.arange(1, N_FEATURES + 1)
IDENTITY = np.ones(N_FEATURES)
ALTERNATING = np.tile([1.0, 2.0], N_FEATURES // 2)
GAMMA = {"text": np.full(N_FEATURES, 0.5), "released": np.eye(N_FEATURES)[0]}
VARIANCES = {  # with which X is drawn, Y is drawn, and ``y_proba`` is computed; else the identity
    ("synth_3", "text"): (ALTERNATING, ALTERNATING, ALTERNATING),
    ("synth_3", "released"): (IDENTITY, ALTERNATING, IDENTITY),
}
SYNTHETIC = ("synth_1", "synth_2", "synth_3", "synth_scar")


def make_synthetic(name, label_frequency, seed, design="text", n=10_000):
    """One synthetic set of ``n`` rows; see :func:`pu_utils.data.load`.

    Examples
    --------
    >>> data = make_synthetic("synth_scar", 0.5, seed=0, n=1000)
    >>> data.X.shape, float(data.propensity[0])
    ((1000, 20), 0.5)
    """
    check_choice("name", name, SYNTHETIC)
    check_choice("design", design, DESIGNS)
    check_label_frequency(label_frequency)
    feature_rng, label_rng, _ = record.random_streams(name, seed)  # the split needs no shuffling
    drawn_with, y_drawn_with, y_told_with = VARIANCES.get((name, design), (IDENTITY,) * 3)
    X = _mixture(n, drawn_with, feature_rng)
    y = (feature_rng.random(n) < class_posterior(X, y_drawn_with)).astype(np.int8)
    score = _linear(X, GAMMA[design])
    propensity = _propensity(name, y, score, label_frequency)
    return PUData(
        X=X,
        y=y,
        s=label_by_propensity(y, propensity, label_rng),
        **{"name": name, "label_frequency": label_frequency, "seed": seed, "design": design},
        prior=float(y.mean()),
        feature_names=tuple(f"x{k}" for k in range(1, N_FEATURES + 1)),
        y_proba=class_posterior(X, y_told_with),
        propensity=propensity,
        score=None if name == "synth_scar" else score,
    )


def class_posterior(X, variances=IDENTITY):
    """``y(x)`` of the mixture with covariance ``Sigma = diag(variances)``.

    Examples
    --------
    >>> class_posterior(MU[None] / 2).tolist()
    [0.5]
    """
    # y(x) = sigmoid(mu' Sigma^-1 x - mu' Sigma^-1 mu / 2)
    logits = _linear(X, MU / variances) - np.sum(MU**2 / variances) / 2
    return record.same_everywhere(scipy.special.expit(logits))


def _mixture(n, variances, rng):
    """Half the rows from N(0, Sigma), half from N(mu, Sigma), shuffled; column by column."""
    component = rng.permutation(np.arange(n) % 2)
    X = np.empty((n, N_FEATURES), dtype=np.float32)
    for k in range(N_FEATURES):
        X[:, k] = MU[k] * component + np.sqrt(variances[k]) * rng.standard_normal(n)
    return X


def _linear(X, weights):
    """``X @ weights`` summed in a fixed order, which BLAS does not promise."""
    total = np.zeros(len(X))
    for column, weight in zip(X.T, weights, strict=True):
        total += weight * column.astype(float)
    return total


def _propensity(name, y, score, label_frequency):
    if name == "synth_scar":
        return np.full(len(y), label_frequency, dtype=float)
    return logistic_propensity(y, score, label_frequency, power=10 if name == "synth_2" else 1)


def _entry(name):
    """The entry of the registry; there is no smaller sample of what is made at once."""
    return DataSet(lambda c, seed, design, _: make_synthetic(name, c, seed, design), name, True)


SYNTHETIC_SETS = {name: _entry(name) for name in SYNTHETIC}
