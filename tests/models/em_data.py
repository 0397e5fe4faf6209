"""Small data that the tests of the EM estimators share."""

import numpy as np
from scipy.special import expit

TAKES_S = {"check_fit_score_takes_y": "the second argument of fit is S, and is called s"} | {
    name: "codes the classes as 1 and 2, or by name: S is 0 or 1"
    for name in (
        "check_classifier_data_not_an_array",
        "check_classifiers_classes",
        "check_estimators_dtypes",
        "check_fit2d_1feature",
    )
}


def product_of_logistics(n, seed):
    """Rows of two features, one for the class and one for the labelling: X, y(x), e(x), y, s."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    posterior, propensity = expit(3 * X[:, 0]), expit(1 + 2 * X[:, 1])
    y = (rng.random(n) < posterior).astype(int)
    return X, posterior, propensity, y, y * (rng.random(n) < propensity)


def exchangeable(n, seed):
    """The same with y(x) and e(x) alike, each in a feature of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    posterior, propensity = expit(3 * X).T
    y = (rng.random(n) < posterior).astype(int)
    return X, y, y * (rng.random(n) < propensity)


def ring_and_core(n, seed):
    """Negatives in a core, positives in a ring around it, the right half of them labelled: X, y, s.

    No straight line separates the classes; neighbours do.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    angle, radius = rng.uniform(0, 2 * np.pi, n), 3 * y + 0.4 * rng.normal(size=n)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, y, y * (rng.random(n) < expit(X[:, 0] - 1))
