"""The synthetic sets follow the specification, in both designs, on every machine."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2

from pu_utils.data import NAMES, load, make_synthetic
from pu_utils.data.synthetic import ALTERNATING, MU, SYNTHETIC, class_posterior
from pu_utils.reproduction.prophets import (
    beside_published,
    prophet_numbers,
)

DESIGNS = ("text", "released")
FREQUENCIES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", SYNTHETIC)
@pytest.mark.parametrize("c", FREQUENCIES)
def test_label_frequency_is_met_in_expectation(name, design, c):
    """The mean propensity of the positives is c to 1e-6; s = 1 only where y = 1."""
    data = load(name, c, seed=1, design=design)
    assert data.propensity[data.y == 1].mean() == pytest.approx(c, abs=1e-6)
    assert np.all(data.s <= data.y)
    positives = data.y.sum()
    # the labels are drawn: 5 standard deviations of the mean of independent Bernoullis
    assert abs(data.s.sum() / positives - c) < 5 * np.sqrt(c * (1 - c) / positives)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("name", SYNTHETIC)
def test_shape_and_moments(name, design):
    """10,000 x 20 float32, half of the rows with mean mu, the covariance of the design."""
    X = load(name, 0.5, seed=0, design=design).X
    assert X.shape == (10_000, 20)
    assert X.dtype == np.float32
    variances = ALTERNATING if (name, design) == ("synth_3", "text") else np.ones(20)
    # of a mixture: mean mu / 2, variance Sigma + mu^2 / 4; 5 standard errors
    assert np.abs(X.mean(axis=0) - MU / 2).max() < 5 * np.sqrt(2.3 / 10_000)
    assert np.abs(X.var(axis=0) / (variances + MU**2 / 4) - 1).max() < 5 * np.sqrt(2 / 10_000)


def test_posterior_is_the_formula():
    """y(x) is sigmoid(mu' Sigma^-1 x - mu' Sigma^-1 mu / 2), to float32's precision."""
    X = np.random.default_rng(0).normal(size=(50, 20))
    inverse = np.diag(1 / ALTERNATING)
    expected = expit(X @ inverse @ MU - MU @ inverse @ MU / 2)
    assert class_posterior(X, ALTERNATING) == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(
    ("name", "design"),
    [
        (name, design)
        for name in SYNTHETIC
        for design in DESIGNS
        if (name, design) != ("synth_3", "released")
    ],
)
def test_y_proba_is_calibrated(name, design):
    """Within ten bands of y(x) the share of positives is the mean of y(x), to 5 deviations."""
    data = make_synthetic(name, 0.5, seed=2, design=design, n=100_000)
    bands = np.array_split(np.argsort(data.y_proba), 10)
    for rows in bands:
        y_proba = data.y_proba[rows]
        deviation = np.sqrt(np.sum(y_proba * (1 - y_proba))) / len(rows)
        assert abs(data.y[rows].mean() - y_proba.mean()) < 5 * deviation


def test_released_synth_3_tells_the_prophets_another_posterior():
    """The third released set draws Y with diag(1, 2, ...) and gives y(x) with the identity."""
    data = make_synthetic("synth_3", 0.5, seed=0, design="released", n=200_000)
    assert np.array_equal(data.y_proba, class_posterior(data.X))
    truth = class_posterior(data.X, ALTERNATING)
    surely = data.y_proba > 0.9
    error = 5 * np.sqrt(np.mean(truth[surely] * (1 - truth[surely])) / surely.sum())
    assert abs(data.y[surely].mean() - truth[surely].mean()) < error
    assert abs(data.y[surely].mean() - data.y_proba[surely].mean()) > error


@pytest.mark.parametrize(
    ("name", "design", "power", "gamma"),
    [
        ("synth_1", "text", 1, np.full(20, 0.5)),
        ("synth_1", "released", 1, np.eye(20)[0]),
        ("synth_2", "text", 10, np.full(20, 0.5)),
        ("synth_2", "released", 10, np.eye(20)[0]),
        ("synth_3", "text", 1, np.full(20, 0.5)),
    ],
)
def test_propensity_is_the_formula(name, design, power, gamma):
    """The logit of e^(1/power) is gamma'x plus one and the same intercept for all rows."""
    data = load(name, 0.5, seed=0, design=design)
    root = data.propensity ** (1 / power)
    middle = (root > 1e-3) & (root < 0.999)  # where float32's rounding is harmless
    intercept = np.log(root / (1 - root))[middle] - (data.X @ gamma)[middle]
    assert np.ptp(intercept) < 1e-3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("synth_5", 0.5, 0), "name is 'synth_5'.*" + ", ".join(NAMES)),
        (("synth_1", 0.5, 0, "paper"), "design is 'paper'.*text, released"),
        (("synth_1", 0.0, 0), r"label_frequency is 0.0.*\(0, 1\]"),
        (("synth_1", 1.5, 0), r"label_frequency is 1.5.*\(0, 1\]"),
        (("synth_1", 0.5, -1), "seed is -1"),
        (("synth_1", 0.5, 0.5), "seed is 0.5"),
        (("synth_scar", 1e-9, 0), "no row was labelled"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    """Unknown names list the known ones; frequencies and seeds say their range."""
    with pytest.raises(ValueError, match=message):
        load(*arguments)


def test_published_prophet_rows_fit_the_released_design():
    """Of their 96 published numbers at least 90% lie within 3 combined standard errors."""
    z = beside_published(prophet_numbers("released"))["z"]
    assert len(z) == 96
    assert np.mean(np.abs(z) <= 3) >= 0.9
    assert np.sum(z**2) < chi2.ppf(0.999, df=96)


def test_published_prophet_rows_reject_the_text_design():
    """In balanced accuracy on Synth 1 and 2 chi-square is beyond any chance (p < 1e-9)."""
    rows = beside_published(prophet_numbers("text")).query("metric == 'u_balanced_accuracy'")
    for name in ("synth_1", "synth_2"):
        z = rows.loc[rows["dataset"] == name, "z"]
        assert np.sum(z**2) > chi2.isf(1e-9, df=len(z))
