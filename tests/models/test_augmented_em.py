"""AugmentedEM: its E-step, its class models, its choice, what it is told and what it warns of."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from pu_utils import metrics, rules
from pu_utils.models import augmented_em
from pu_utils.models.augmented_em import AugmentedEM
from pu_utils.models.class_models import (
    CrossFittedClass,
    GaussianClass,
    LogisticClass,
    NeighbourClass,
    TreesClass,
)
from pu_utils.models.em import ExchangeWarning, log_likelihood, ridge_logistic

from .em_data import TAKES_S, exchangeable, product_of_logistics, ring_and_core

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
KINDS = [
    *(LogisticClass, GaussianClass, NeighbourClass, TreesClass),
    lambda: CrossFittedClass(TREE),
]


@parametrize_with_checks(
    [
        AugmentedEM(max_rounds=2),  # which estimates the prior, too
        AugmentedEM("logistic", [0], prior=0.9, max_rounds=2),
        AugmentedEM("neighbours", prior=0.9, max_rounds=2),
        AugmentedEM(TREE, prior=0.9, max_rounds=2),
    ],
    expected_failed_checks=lambda _: TAKES_S,
)
def test_scikit_learn(estimator, check):
    """scikit-learn's own checks pass with S in the role of y."""
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return product_of_logistics(2000, seed=0)


@pytest.fixture(scope="module")
def ring():
    return ring_and_core(1500, seed=0)


@pytest.fixture(params=["logistic", "gaussian", "neighbours", TREE], ids=str)
def fitted(request, rows):
    X, _, _, _, s = rows
    return AugmentedEM(request.param, prior=0.5, random_state=0).fit(X, s)


def test_posteriors_are_products(fitted, rows):
    """s(x) = y(x) e(x), and asked with S the posterior is Theorem 1's."""
    X, _, _, _, s = rows
    y, e = fitted.predict_proba(X)[:, 1], fitted.predict_propensity(X)
    np.testing.assert_array_equal(fitted._y_proba(X), y)
    np.testing.assert_allclose(fitted.predict_label_proba(X), y * e, atol=1e-12)
    expected = rules.augmented_posterior(y, y * e, s)
    np.testing.assert_allclose(fitted.predict_proba(X, s=s)[:, 1], expected, atol=1e-12)
    np.testing.assert_array_equal(fitted.predict(X, s=s), expected > 0.5)
    assert fitted.diagnostics_["rows_with_s_above_y"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_rows_that_were_not_fitted_keep_the_prior(kind, rows):
    """However far the prior is from the mean responsibility, so is the model at other rows."""
    X, _, _, _, s = rows
    half = len(X) // 2
    model = kind()
    model.start(X[:half], s[:half], prior=0.2)
    model.update(np.linspace(0.3, 0.9, half)[np.argsort(np.argsort(X[:half, 0]))])
    assert expit(model.logit(X[half:])).mean() == pytest.approx(0.2, abs=0.05)


def test_two_gaussians_are_the_linear_discriminant(rows):
    """Given true classes the slope is that of linear discriminant analysis."""
    X, _, _, y, s = rows
    correlated = X @ np.array([[1.0, 0.6], [0.0, 1.0]])
    model = GaussianClass(ridge=0.0)
    model.start(correlated, s, prior=y.mean())
    model.update(y.astype(float))
    discriminant = LinearDiscriminantAnalysis(solver="lsqr").fit(correlated, y)
    np.testing.assert_allclose(model.coef[1:], discriminant.coef_[0], rtol=1e-6)


def test_logistic_history_ends_with_the_fitted_likelihood(rows):
    """The last entry of ``history_`` is about the model that is kept."""
    X, _, _, _, s = rows
    model = AugmentedEM("logistic", prior=0.5).fit(X, s)
    y, e = model.predict_proba(X)[:, 1], model.predict_propensity(X)
    reached = log_likelihood(y, e, s).mean()
    assert model.history_[-1]["log_likelihood"] == pytest.approx(reached, abs=1e-10)


def test_learns_its_own_model(rows):
    """Told what labelling depends on, it ranks y(x) and e(x) apart, each by its own feature."""
    X, y, e, _, s = rows
    model = AugmentedEM("logistic", [1], 0.5, residualise=False).fit(X, s)
    assert np.corrcoef(model.predict_proba(X)[:, 1], y)[0, 1] > 0.98
    assert np.corrcoef(model.predict_propensity(X), e)[0, 1] > 0.95


# Neighbours


def test_neighbours_follow_a_ring(ring):
    """Where no line separates the classes, labels on one side of a ring flow around it."""
    X, _, s = ring
    new_X, new_y, new_s = ring_and_core(1500, seed=1)
    neighbours, line = (
        AugmentedEM(name, prior=0.5).fit(X, s) for name in ("neighbours", "logistic")
    )
    assert metrics.u_accuracy(new_y, neighbours.predict(new_X, s=new_s), new_s) > 0.97
    far = (new_X[:, 0] < -2) & (new_y == 1)  # where next to nothing is labelled
    assert s[X[:, 0] < -2].mean() < 0.05
    assert neighbours.predict(new_X[far]).mean() > 0.75 > 0.25 > line.predict(new_X[far]).mean()


def test_neighbours_of_a_row_exclude_it():
    """A row's own responsibility does not enter its y."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    s = np.eye(60, dtype=int)[0]
    model = NeighbourClass(n_neighbours=5)
    model.start(X, s, prior=0.5)
    r = np.random.default_rng(1).random(60)
    logits = []
    for own in (0.0, 1.0):
        r[7] = own
        model.update(r)
        logits.append(model._sharpened(model._graph @ r / model._degree)[7])
    assert logits[0] == logits[1]


def test_graph_is_symmetric_and_sparse():
    """Weights are symmetric, positive, at most 2 k a row on average, and every row has some."""
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[0] = 1e4  # far from all others
    model = NeighbourClass(n_neighbours=7)
    model.start(X, np.eye(400, dtype=int)[1], prior=0.5)
    graph = model._graph
    assert abs(graph - graph.T).max() == 0 and graph.nnz <= 2 * 7 * 400
    assert model._degree.min() > 0 and graph.diagonal().max() == 0


def test_copies_of_rows():
    """Rows that occur many times, as in surveys, have distance 0 and do no harm."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(600, 3)).astype(float)
    y = X[:, 0].astype(int)
    s = y * (rng.random(600) < 0.5)
    model = AugmentedEM("neighbours", prior=0.5).fit(X, s)
    np.testing.assert_array_equal(model.predict(X), y)


# Classifiers of scikit-learn


def test_cross_fitting_asks_rows_that_were_not_fitted(rows):
    """A tree that learns its rows by heart would give them back; cross-fitted it does not."""
    X, _, _, _, s = rows
    model = CrossFittedClass(DecisionTreeClassifier(random_state=0), random_state=0)
    model.start(X, s, prior=0.5)
    r = (np.random.default_rng(0).random(len(s)) < 0.5).astype(float)
    assert abs(np.corrcoef(model.update(r), r)[0, 1]) < 0.1


def test_cross_fitting_weighs_rows_by_their_responsibilities(rows):
    """A logistic regression fitted so is that of the soft targets themselves, fold by fold."""
    X, _, _, _, s = rows
    model = CrossFittedClass(LogisticRegression(tol=1e-8), random_state=0)
    r = model.start(X, s, prior=0.5)
    model.update(r)
    for (training, _), fitted in zip(model._folds, model.models, strict=True):
        expected = ridge_logistic(X[training], r[training])
        found = [*fitted.intercept_, *fitted.coef_[0]]
        np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("class_model", [GaussianProcessClassifier(), "forest", 3])
def test_class_models_that_cannot_be(class_model, rows):
    """A classifier without sample_weight, and what is none, is refused with what to give."""
    X, _, _, _, s = rows
    with pytest.raises(ValueError, match=r"class_model is .* takes sample_weight"):
        AugmentedEM(class_model, prior=0.5).fit(X, s)


# The choice


def test_auto_keeps_the_more_likely(rows, ring):
    """It keeps a logistic model where that is true, and neighbours where it is not."""
    for data, expected in ((rows, "logistic"), (ring, "neighbours")):
        model = AugmentedEM(prior=0.5, random_state=0).fit(data[0], data[-1])
        scores = {row["class_model"]: row["log_likelihood"] for row in model.choice_}
        assert model.chosen_["class_model"] == max(scores, key=scores.get) == expected


def test_a_ridge_is_chosen_by_the_same_likelihood():
    """One of sixty columns tells the class, and rows are few: a weak penalty overfits."""
    rng = np.random.default_rng(0)
    X, new_X = rng.normal(size=(2, 1000, 60))
    y, new_y = ((rng.random(1000) < expit(2 * rows[:, 0])).astype(int) for rows in (X, new_X))
    s = y * (rng.random(1000) < 0.5)
    model = AugmentedEM("logistic", prior=0.5, ridge="auto", random_state=0).fit(X, s)
    tried = {row["ridge"]: row["log_likelihood"] for row in model.choice_}
    assert list(tried) == [1, 10, 100]
    assert model.chosen_["ridge"] == max(tried, key=tried.get) > 1
    weak, alone = (
        AugmentedEM("logistic", prior=0.5, ridge=ridge).fit(X, s)
        for ridge in (1, model.chosen_["ridge"])
    )
    np.testing.assert_array_equal(model.predict_proba(X, s=s), alone.predict_proba(X, s=s))
    assert (model.predict(new_X) == new_y).mean() > (weak.predict(new_X) == new_y).mean() + 0.03


def test_the_choice_is_by_rows_not_seen(rows):
    """Given validation rows choose, by their likelihood; nothing is held out or refitted then."""
    X, _, _, _, s = rows
    new_X, _, _, _, new_s = product_of_logistics(1000, seed=1)
    model = AugmentedEM(prior=0.5).fit(X, s, validation=(new_X, new_s))
    alone = AugmentedEM("logistic", prior=0.5).fit(X, s)
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
    y, e = alone.predict_proba(new_X)[:, 1], alone.predict_propensity(new_X)
    assert model.choice_[0]["log_likelihood"] == pytest.approx(log_likelihood(y, e, new_s).mean())
    assert {row["rows"] for row in model.history_} == {len(X)}


def test_the_choice_is_made_on_a_sample(rows, monkeypatch):
    """Of many rows a sample with the same share of labels chooses; all of them are fitted to."""
    X, _, _, _, s = rows
    monkeypatch.setattr(augmented_em, "SETTINGS", replace(augmented_em.SETTINGS, choice_rows=500))
    model = AugmentedEM(prior=0.5, random_state=0).fit(X, s)
    sizes = [row["rows"] for row in model.history_]
    assert sizes[-1] == 2000 and 498 <= min(sizes) <= 500
    sample = model._sample(X, s, np.random.RandomState(0))
    assert sample[1].mean() == pytest.approx(s.mean(), abs=2 / 500)


def candidate(class_model, ridge, log_likelihood, features=None, error=0.1):
    """A line of ``choice_``."""
    kind = {"class_model": class_model, "propensity_features": features, "residualise": False}
    return kind | {"ridge": ridge, "log_likelihood": log_likelihood, "standard_error": error}


@pytest.mark.parametrize(
    "best, constant, chosen",
    [
        (candidate("logistic", 1.0, -1.00), -1.09, 3),  # near enough, and simpler
        (candidate("logistic", 1.0, -1.00), -1.11, 1),  # the largest ridge that is near enough
        (candidate("logistic", 1.0, -1.00, error=0.01), -1.09, 0),
        (candidate("neighbours", 1.0, -1.00), -1.00, 0),  # no propensity is as good as neighbours
        (candidate("logistic", 1.0, -1.00), -0.99, 3),
    ],
)
def test_the_simplest_candidate_within_a_standard_error(best, constant, chosen):
    """A constant propensity unless neighbours are most likely, then the largest ridge."""
    model = AugmentedEM(choice="simplest")
    model.choice_ = [
        best,
        candidate("logistic", 10.0, -1.08),
        candidate("logistic", 100.0, -1.20),
        candidate("logistic", 1.0, constant, augmented_em.NO_FEATURES),
    ]
    assert model._chosen_candidate() == chosen
    model.set_params(choice="most_likely")
    assert model._chosen_candidate() == (3 if constant > -1 else 0)


def test_labels_at_random_are_recognised(monkeypatch):
    """The constant propensity is chosen, ``chosen_`` gives that model, and one graph will do."""
    X, _, _, y, _ = product_of_logistics(2000, seed=0)
    s = y * (np.random.default_rng(0).random(2000) < 0.3)
    built, build = [], NeighbourClass._search_and_graph
    monkeypatch.setattr(
        NeighbourClass, "_search_and_graph", lambda *given: built.append(given) or build(*given)
    )
    model = AugmentedEM(prior=y.mean(), choice="simplest", random_state=0).fit(X, s)
    assert len(model.choice_) == 7 and len(built) == 1
    assert model.chosen_["propensity_features"] == []
    np.testing.assert_allclose(model.predict_propensity(X), 0.3, atol=0.04)
    alone = AugmentedEM(prior=y.mean(), **model.chosen_).fit(X, s)
    np.testing.assert_array_equal(alone.predict_proba(X, s=s), model.predict_proba(X, s=s))


def test_trees_see_interactions():
    """Where the class needs two features at once, trees are the most likely of three models."""
    rng = np.random.default_rng(0)
    X, new_X = rng.normal(size=(2, 3000, 6))
    y, new_y = ((rows[:, :2] > -0.3).all(axis=1).astype(int) for rows in (X, new_X))
    s = y * (rng.random(3000) < expit(2 * X[:, 2]))
    models = ["logistic", "neighbours", "trees"]
    model = AugmentedEM(models, prior=y.mean(), max_rounds=3, random_state=0).fit(X, s)
    assert model.chosen_["class_model"] == "trees"
    assert (model.predict(new_X) == new_y).mean() > 0.85


# What labelling depends on


@pytest.fixture(scope="module")
def red():
    """Five features of the class, all tinged by a sixth, which labelling looks at: X, y, s.

    The sixth says nothing about the class; the reddest tenth of the positives is labelled.
    """
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 4000)
    redness = rng.normal(size=4000)
    X = rng.normal(size=(4000, 5)) + 1.2 * y[:, None] + 2 * redness[:, None]
    s = y * (redness > np.quantile(redness[y == 1], 0.9))
    return np.column_stack([X, redness]), y, s


def u_accuracy(model, X, y, s):
    return metrics.u_accuracy(y, model.fit(X, s).predict(X, s=s), s)


def test_knowing_what_labelling_depends_on(red):
    """Where labels follow a feature that tinges all others, knowing it is worth 20 points."""
    X, y, s = red
    options = {"class_features": range(5), "random_state": 0}
    knowing = AugmentedEM("logistic", [5], 0.5, **options)
    unknowing = AugmentedEM("logistic", None, 0.5, **options)
    assert u_accuracy(knowing, X, y, s) > u_accuracy(unknowing, X, y, s) + 0.2
    assert knowing.chosen_["residualise"]


def test_the_propensity_sees_its_features_alone(red):
    """e(x) changes with its feature and with nothing else; y(x) with the class features alone."""
    X, _, s = red
    model = AugmentedEM("logistic", [5], 0.5, class_features=range(5), residualise=False).fit(X, s)
    others, own = X.copy(), X.copy()
    others[:, :5] += 1
    own[:, 5] += 1
    propensity = model.predict_propensity(X)  # s(x) / y(x), which rounds
    np.testing.assert_allclose(model.predict_propensity(others), propensity, rtol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(own), model.predict_proba(X))
    assert (np.abs(model.predict_propensity(own) / propensity - 1) > 1e-9).all()


def test_residuals_do_not_see_the_propensity_feature(red):
    """A residual is what is left when rows are moved along the regression on the feature."""
    X, _, s = red
    model = AugmentedEM("logistic", [5], 0.5, class_features=range(5), residualise=True).fit(X, s)
    moved = X.copy()
    moved[:, 5] += 1
    slope = model.run_.residual_coef[0] / X[:, 5].std()
    moved[:, :5] += slope
    error = (1 + 1.2**2 / 4) ** 0.5 / 4000**0.5  # deviation of a feature at given redness
    np.testing.assert_allclose(slope, 2, atol=5 * error)
    np.testing.assert_allclose(model.predict_proba(moved), model.predict_proba(X), atol=1e-9)


# Warnings and errors


def test_exchange_is_noticed():
    """Where y and e have one form and one level, a warning says that they can be exchanged."""
    X, _, s = exchangeable(2000, seed=0)
    with pytest.warns(ExchangeWarning, match="class and propensity can be exchanged") as caught:
        model = AugmentedEM("logistic", prior=0.5).fit(X, s)
    assert caught.pop(ExchangeWarning).filename == __file__  # the line of the caller
    assert model.exchange_["disagreement"] > 0.05
    assert abs(model.exchange_["gain"]) < 2 * model.exchange_["standard_error"] + 1e-3


@pytest.mark.parametrize(
    "option, message",
    [
        ({"prior": 0.1}, "at least the share of labelled rows"),
        ({"residualise": "some"}, r"'residualise' .* must be .*'auto'.*Got 'some'"),
        ({"residualise": True}, "name the features that labelling depends on"),
        ({"n_neighbours": 0}, r"'n_neighbours' .* must be an int in the range \[1, inf\)"),
        ({"max_rounds": 0}, r"'max_rounds' .* must be an int in the range \[1, inf\)"),
        ({"validation_fraction": 2}, r"'validation_fraction' .* must be .*Got 2"),
    ],
)
def test_bad_options(option, message, rows):
    """A bad option is named with its value and the remedy."""
    X, _, _, _, s = rows
    with pytest.raises(ValueError, match=message):
        AugmentedEM(**{"prior": 0.5} | option).fit(X, s)


DEGENERATE = {
    "fewer rows than neighbours": (slice(0, 15), 4),
    "one labelled row": (slice(0, 300), 1),
    "two labelled rows": (slice(0, 300), 2),
}


@pytest.mark.parametrize(
    "class_model", ["auto", "logistic", "gaussian", "neighbours", TREE], ids=str
)
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_data(class_model, case, rows):
    """Few rows, few labels: it works."""
    part, n_labelled = DEGENERATE[case]
    X, s = rows[0][part], rows[4][part].copy()
    s[np.flatnonzero(s)[n_labelled:]] = 0
    model = AugmentedEM(class_model, prior=0.5, random_state=0).fit(X, s)
    assert np.isfinite(model.predict_proba(X, s=s)).all()


# Seeds, and the class that nobody may see


def test_a_fitted_model_is_small_and_survives_pickle(fitted, rows):
    """Of the training rows neighbours alone are kept; restored, the model predicts as before."""
    X, _, _, _, s = rows
    stored = pickle.dumps(fitted)
    assert len(stored) < 60_000 or fitted.chosen_["class_model"] == "neighbours"
    restored = pickle.loads(stored)
    np.testing.assert_array_equal(restored.predict_proba(X, s=s), fitted.predict_proba(X, s=s))
    assert restored.exchange_ == fitted.exchange_


def test_float32_and_wide_tables():
    """A wide table in single precision: condensed, fitted, asked in parts."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = (rng.random((500, 150)) + 0.5 * y[:, None] * (np.arange(150) < 40)).astype(np.float32)
    s = y * (rng.random(500) < expit(2 * (X[:, :5].sum(1) - X[:, :5].sum(1).mean())))
    model = AugmentedEM(prior=0.5, random_state=0).fit(X, s)
    whole = model.predict_proba(X, s=s)
    parts = np.vstack(
        [model.predict_proba(X[i : i + 100], s=s[i : i + 100]) for i in range(0, 500, 100)]
    )
    np.testing.assert_allclose(np.vstack(parts), whole, atol=1e-6)
    assert metrics.u_accuracy(y, model.predict(X, s=s), s) > 0.9


def test_a_classifier_without_a_seed_is_given_one(rows):
    """The same random_state, the same predictions, though a forest is random by itself."""
    X, _, _, _, s = rows
    forest = RandomForestClassifier(n_estimators=3, max_depth=3)
    fits = [AugmentedEM(forest, prior=0.5, max_rounds=2, random_state=0) for _ in range(2)]
    first, second = (model.fit(X, s).predict_proba(X) for model in fits)
    np.testing.assert_array_equal(first, second)
