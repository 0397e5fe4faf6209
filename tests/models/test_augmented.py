"""Augmented: two models joined, but not two that were both fitted to S."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pu_utils.models.simple import Augmented, ElkanNoto

SEARCH = {"C": [1.0]}


@pytest.mark.parametrize(
    "y_model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), SEARCH),
    ],
    ids=["classifier", "pipeline", "search"],
)
def test_two_models_of_s_are_refused(y_model, blobs):
    """A plain classifier as y_model would learn S; the error names what to use."""
    X, _, s = blobs
    remedy = (
        r"Use ElkanNoto\(classifier, prior=...\) in place of Augmented.* knows the prior, such as "
        r"AugmentedEM\(prior=...\), or a classifier fitted to Y in FrozenEstimator$"
    )
    with pytest.raises(ValueError, match=remedy):
        Augmented(y_model, LogisticRegression()).fit(X, s)


def test_models_of_y_are_taken(blobs):
    """Estimators for PU data, in pipelines and searches too, and fitted classifiers."""
    X, y, s = blobs
    fitted = LogisticRegression().fit(X, y)
    models = [
        ElkanNoto(prior=0.5),
        make_pipeline(StandardScaler(), StandardScaler(), ElkanNoto(prior=0.5)),
        GridSearchCV(ElkanNoto(prior=0.5), {"odds": [1.0]}),
        FrozenEstimator(fitted),
    ]
    for y_model in models:
        found = Augmented(y_model).fit(X, s).predict(X, s=s)
        assert found[s == 0].any() and found[s == 1].all()


def test_the_default_is_elkan_and_noto_s(blobs):
    """Without a y_model the prior is estimated, and y(x) is that of ElkanNoto."""
    X, _, s = blobs
    expected = ElkanNoto(random_state=0).fit(X, s).predict_proba(X)
    np.testing.assert_array_equal(Augmented().fit(X, s).predict_proba(X), expected)
