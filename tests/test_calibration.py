"""Calibration: what a perfect estimate scores, and what calibrating repairs."""

import numpy as np
import pytest

from pu_utils.calibration import calibrate, calibration_error, reliability

rng = np.random.default_rng(0)
true_y = rng.random(20_000)
positive = (rng.random(20_000) < true_y).astype(int)
overconfident = 1 / (1 + ((1 - true_y) / true_y) ** 3)


def test_the_truth_is_calibrated():
    """Its error is the noise of ten shares of 2,000 rows each, about 0.008 on average."""
    assert calibration_error(positive, true_y) < 0.02
    assert calibration_error(positive, overconfident) > 0.1


def test_reliability_keeps_all_rows():
    """The bins are equally large, so their means average to the overall ones."""
    estimated, observed = reliability(positive, overconfident, bins=8)
    assert observed.mean() == pytest.approx(positive.mean())
    assert estimated.mean() == pytest.approx(overconfident.mean())
    assert (np.diff(estimated) > 0).all()


def test_calibrating_undoes_an_increasing_distortion():
    """Isotonic regression finds the way back to the truth."""
    calibrated = calibrate(positive, overconfident)
    assert calibration_error(positive, calibrated) < 0.02
    assert np.abs(calibrated - true_y).mean() < 0.02


def test_calibration_does_not_see_the_row_it_changes():
    """Pure noise stays useless: a map fitted to the same rows would look better than it is."""
    noise = rng.random(2000)
    classes = rng.integers(0, 2, 2000)
    calibrated = calibrate(classes, noise)
    assert abs(np.corrcoef(calibrated, classes)[0, 1]) < 0.1  # 4 standard errors
