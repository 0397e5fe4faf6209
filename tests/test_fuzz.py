"""Strange input to rules, risks and metrics: the right answer or a ValueError, nothing else.

Right is what the definition gives in floating point, row by row; what is not made of real numbers,
whole and in step, must be refused. ``make fuzz`` tries 1,000 of each kind, 18,000 in all.
"""

import os
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from numbers import Real

import numpy as np
import pandas as pd
import pytest
import sympy
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pu_utils import metrics, risk, rules

ROUNDS = int(os.environ.get("ROUNDS", 1))
many = settings(  # simplifying what fails would take minutes
    max_examples=50 if ROUNDS == 1 else 100 * ROUNDS,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)

AMISS = [nan, inf, None, pd.NA, 1j, 0.5 + 0j, "0.5", Decimal("0.5"), [], [[0.5]], {}, -0.1, 1.1, 2]
AMISS += [sympy.nan, sympy.oo, sympy.I, np.ma.masked, 1e308, np.datetime64("2020-01-01")]
share = st.floats(0, 1) | st.fractions(0, 1, max_denominator=50)
share |= st.sampled_from([0, 1, True, np.float16(0.3), 5e-324, sympy.Rational(1, 3)])
label = st.sampled_from([0, 1, True, False, 1.0, np.int8(1), Fraction(0)])


def as_array(values):
    """An array of the type that numpy finds, or the list where it finds none."""
    try:
        return np.array(values)
    except (ValueError, TypeError):
        return values


def column(data, entry, n_rows):
    """Rows in a container that people use, or one value for all; every third has some amiss."""
    entry = data.draw(st.sampled_from([entry, entry, entry | st.sampled_from(AMISS)]))
    values = data.draw(st.lists(entry, min_size=n_rows, max_size=n_rows))
    kind = data.draw(st.sampled_from(["list", "array", "array", "series", "masked", "scalar"]))
    if kind == "scalar":
        return data.draw(entry)
    if kind == "series":
        index = data.draw(st.sampled_from([range(n_rows), range(n_rows)[::-1]]))
        return pd.Series(values, index=index, dtype=None if values else float)
    if kind == "masked":
        array = as_array(values)
        mask = data.draw(st.booleans())
        return np.ma.masked_array(array, mask) if isinstance(array, np.ndarray) else array
    return as_array(values) if kind == "array" else values


def columns(data, **entries):
    """Arguments of one length by name."""
    n_rows = data.draw(st.integers(0, 4))
    return {name: column(data, entry, n_rows) for name, entry in entries.items()}


def plain(value):
    """The entries as floats where all are real numbers and there are some; else None."""
    try:
        entries = np.array(value, dtype=object)
    except (ValueError, TypeError):
        return None
    real = all(isinstance(entry, Real) for entry in entries.flat) and not np.ma.is_masked(value)
    floats = entries.astype(float) if real else np.array([])
    return None if floats.size == 0 or np.isnan(floats).any() else floats


def in_step(given, ndim=None):
    """All arguments as floats of one shape, scalars among them, or None where they are not."""
    found = {name: plain(value) for name, value in given.items()}
    indexes = [list(value.index) for value in given.values() if hasattr(value, "iloc")]
    if any(value is None for value in found.values()) or any(i != indexes[0] for i in indexes):
        return None
    shapes = {value.shape for value in found.values()} - (set() if ndim else {()})
    return None if len(shapes) > 1 or (ndim and {len(s) for s in shapes} != {ndim}) else found


def probable(found, names):
    """Whether these are probabilities, or 0 and 1 where they are a label's."""
    values = {name: found[name] for name in names if name in found}
    labels = [values.pop(name) for name in ("labelled", "predicted") if name in values]
    low = all(((v >= 0) & (v <= 1)).all() for v in values.values())
    return low and all(np.isin(v, (0, 1)).all() for v in labels)


def asked(function, given):
    """What a function answers, None for a ValueError that says something; others are raised."""
    try:
        return function(**given)
    except ValueError as error:
        assert len(str(error)) > 15
        return None


def ratio(over, under):
    """With 0/0 = 0."""
    with np.errstate(all="ignore"):
        return np.where((under == 0) & (over == 0), 0.0, over / under)


RULES = {
    rules.label_posterior: lambda y, e: y * e,
    rules.propensity: lambda y, s: ratio(s, y),
    rules.augmented_posterior: lambda y, s, labelled: np.where(
        labelled == 1, 1.0, ratio(y - s, 1 - s)
    ),
    rules.augmented_odds: lambda y, s: ratio(y - s, 1 - y),
    rules.augmented_threshold: lambda s: (1 + s) / 2,
    rules.odds_ratio: lambda e: 1 - e,
    rules.x_only_rule: lambda y: y - 1 / 2,
    rules.naive_rule: lambda y, labelled: np.where(labelled == 1, 1, y - 1 / 2),
    rules.augmented_rule: lambda y, s, labelled: np.where(labelled == 1, 1, y - (1 + s) / 2),
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
@many
@given(data=st.data())
def test_rules(rule, data):
    """Each rule is its formula on real numbers in [0, 1] with s <= y, and refuses the rest."""
    names = RULES[rule].__code__.co_varnames[: RULES[rule].__code__.co_argcount]
    given = columns(data, **{name: label if name == "labelled" else share for name in names})
    found, answer = in_step(given), asked(rule, given)
    if found is None:
        assert answer is None
        return
    beyond = found["s"] - found["y"] if {"s", "y"} <= set(found) else np.array(-1.0)
    if not probable(found, names) or (beyond > 1e-8).any():
        assert answer is None
    elif (beyond <= 0).all() and (
        found.get("labelled", np.array(0)).shape in ((), found["y"].shape)
        if "labelled" in found
        else True
    ):
        expected = RULES[rule](**found)
        if rule.__name__.endswith("rule"):
            clear = np.abs(expected) > 1e-9  # a tie of fractions is none of floats
            assert (np.asarray(answer)[clear] == (expected > 0)[clear]).all()
        else:
            np.testing.assert_allclose(
                np.asarray(answer, dtype=float), expected, rtol=1e-7, atol=1e-12
            )


RISKS = {
    risk.bayes_risk: lambda y, w: np.sum(w * np.minimum(y, 1 - y)),
    risk.augmented_bayes_risk: lambda y, s, w: np.sum(w * np.minimum(y - s, 1 - y)),
    risk.excess_risk: lambda y, s, w: np.sum(w * (np.minimum(y, 1 - y) - np.minimum(y - s, 1 - y))),
}


@pytest.mark.parametrize("function", RISKS, ids=lambda function: function.__name__)
@many
@given(data=st.data())
def test_risks(function, data):
    """Each risk is its expectation where the weights are a distribution, and refuses the rest."""
    names = ("y",) if function is risk.bayes_risk else ("y", "s")
    given = columns(data, **dict.fromkeys((*names, "weights"), share))
    if data.draw(st.booleans()):
        given["weights"] = None
    elif data.draw(st.booleans()) and (y := plain(given["y"])) is not None:
        given["weights"] = np.full(np.atleast_1d(y).shape, 1 / y.size)
    counted = {
        name: value for name, value in given.items() if value is not None or name != "weights"
    }
    found, answer = in_step(counted), asked(function, given)
    if found is None or not probable(found, names):
        assert answer is None
        return
    shape = np.broadcast_shapes(*(np.atleast_1d(found[name]).shape for name in names))
    weights = np.atleast_1d(found.get("weights", np.full(shape, 1 / np.prod(shape))))
    fair = weights.shape == shape and (weights >= 0).all() and abs(weights.sum() - 1) < 1e-9
    if not fair or (found.get("s", found["y"]) - found["y"] > 1e-8).any():
        assert answer is None or abs(weights.sum() - 1) < 1e-8
    elif answer is not None:
        total = answer.total if function is risk.excess_risk else answer
        expected = RISKS[function](*(found[name] for name in names), weights)
        assert float(total) == pytest.approx(expected, abs=1e-8)
    else:
        assert (found["s"] > found["y"]).any()


METRICS = {
    metrics.u_accuracy: lambda y, predicted: np.mean(y == predicted),
    metrics.u_precision: lambda y, predicted: y[predicted == 1].mean() if predicted.any() else 0,
    metrics.u_recall: lambda y, predicted: predicted[y == 1].mean() if y.any() else nan,
    metrics.u_f1: lambda y, predicted: ratio(2 * (y @ predicted), y.sum() + predicted.sum()),
    metrics.u_auc: lambda y, score: ratio(
        np.sum(np.sign(score[y == 1][:, None] - score[y == 0]) / 2 + 1 / 2),
        np.sum(y == 1) * np.sum(y == 0),
    ),
}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@many
@given(data=st.data())
def test_metrics(metric, data):
    """Each metric is its count over the unlabelled rows, and refuses all but rows in step."""
    what = "score" if metric is metrics.u_auc else "predicted"
    given = columns(data, y=label, s=label, **{what: share if what == "score" else label})
    found, answer = in_step(given, ndim=1), asked(metric, given)
    flags = found and [found[name] for name in ("y", "s", "predicted") if name in found]
    if found is None or not np.isin(flags, (0, 1)).all() or found["s"].all():
        assert answer is None
        return
    unlabelled = found["s"] == 0
    y, other = found["y"][unlabelled], found[what][unlabelled]
    if metric is metrics.u_auc and len(np.unique(y)) < 2:
        assert np.isnan(answer)
    else:
        assert answer == pytest.approx(float(METRICS[metric](y, other)), nan_ok=True)


@many
@given(data=st.data())
def test_accuracy_of_all_negative(data):
    """The U-accuracy of calling nobody is its formula of prior and label frequency, or refused."""
    prior, frequency = (column(data, share, 1) for _ in range(2))
    given = {"prior": prior, "label_frequency": frequency}
    found, answer = in_step(given), asked(metrics.all_negative_u_accuracy, given)
    single = found is not None and not np.ndim(prior) and not np.ndim(frequency)
    if not single or not probable(found, given) or found["prior"] in (0, 1):
        assert answer is None
    else:
        pi, c = found["prior"], found["label_frequency"]
        assert answer == pytest.approx(float((1 - pi) / (1 - pi * c)), rel=1e-3)  # of a float16
