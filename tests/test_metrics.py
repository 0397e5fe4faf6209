"""Metrics agree with scikit-learn on the unlabelled rows, and with closed forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk

from pu_utils import metrics

rng = np.random.default_rng(0)
Y = rng.integers(0, 2, 400)
S = Y * rng.integers(0, 2, 400)
SCORE = rng.integers(0, 20, 400) / 20 + Y / 5  # with ties
PREDICTED = (SCORE > 0.5).astype(int)
U = S == 0
PAIRS = {
    metrics.u_accuracy: sk.accuracy_score,
    metrics.u_balanced_accuracy: sk.balanced_accuracy_score,
    metrics.u_precision: sk.precision_score,
    metrics.u_recall: sk.recall_score,
    metrics.u_f1: sk.f1_score,
}


@pytest.mark.parametrize("ours", PAIRS, ids=lambda f: f.__name__)
def test_u_metric_is_scikit_learns_on_unlabelled_rows(ours):
    """Each U-metric is scikit-learn's metric on the rows with s = 0."""
    assert ours(Y, PREDICTED, S) == pytest.approx(PAIRS[ours](Y[U], PREDICTED[U]), rel=1e-12)


def test_u_auc_is_scikit_learns_with_ties():
    """U-AUC counts ties half, as scikit-learn does."""
    assert metrics.u_auc(Y, SCORE, S) == pytest.approx(sk.roc_auc_score(Y[U], SCORE[U]), rel=1e-12)


def test_accuracy_counts_labelled_rows_too():
    """Accuracy is over all rows."""
    assert metrics.accuracy(Y, PREDICTED) == np.mean(Y == PREDICTED)


def test_nothing_called_positive():
    """With no row called positive precision, recall and F1 are 0, balanced accuracy 1/2."""
    y, predicted, s = [1, 0, 0], [0, 0, 0], [0, 0, 0]
    assert metrics.u_precision(y, predicted, s) == 0
    assert metrics.u_recall(y, predicted, s) == 0
    assert metrics.u_f1(y, predicted, s) == 0
    assert metrics.u_balanced_accuracy(y, predicted, s) == 0.5


def test_no_unlabelled_positive_is_undefined():
    """Without unlabelled positives recall, balanced accuracy and AUC are NaN, not a number."""
    y, s = [1, 0], [1, 0]
    assert np.isnan(metrics.u_recall(y, [1, 0], s))
    assert np.isnan(metrics.u_balanced_accuracy(y, [1, 0], s))
    assert np.isnan(metrics.u_auc(y, [0.2, 0.1], s))


@given(prior=st.floats(0.01, 0.99), c=st.floats(0, 1))
def test_all_negative_is_one_minus_the_prior_among_unlabelled(prior, c):
    """The closed form is 1 - pi_U with pi_U = pi (1 - c) / (1 - pi c)."""
    prior_u = prior * (1 - c) / (1 - prior * c)
    assert metrics.all_negative_u_accuracy(prior, c) == pytest.approx(1 - prior_u, abs=1e-12)


@pytest.mark.parametrize(("prior", "c"), [(0, 0.5), (1, 0.5), (0.5, 1.1), (0.5, -0.1)])
def test_all_negative_rejects_what_is_no_prior_or_frequency(prior, c):
    """Prior and label frequency out of range are named."""
    with pytest.raises(ValueError, match="prior"):
        metrics.all_negative_u_accuracy(prior, c)


@pytest.mark.parametrize(
    ("y", "predicted", "s", "message"),
    [
        ([1, 0], [1], [0, 0], "one value per row"),
        ([1, 0], [0.7, 0.2], [0, 0], "predicted must hold 0 and 1"),
        ([1, 0], [1, 0], [1, 1], "at least one unlabelled row"),
        ([1, 0], [np.nan, 0], [0, 0], "predicted holds nan"),
        (1, 1, 0, "one value per row"),
    ],
)
def test_bad_input_is_named(y, predicted, s, message):
    """Lengths that differ, probabilities for decisions, no unlabelled row: each says so."""
    with pytest.raises(ValueError, match=message):
        metrics.u_accuracy(y, predicted, s)
