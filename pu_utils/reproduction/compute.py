"""What an experiment computes: decisions on the test part, and their metrics."""

import time
from contextlib import contextmanager

import numpy as np

from pu_utils import metrics
from pu_utils.data import load
from pu_utils.data.record import check_choice
from pu_utils.reproduction.families import FAMILIES
from pu_utils.reproduction.provenance import provenance
from pu_utils.rules import balanced_rule

U_METRICS = ("u_accuracy", "u_balanced_accuracy", "u_precision", "u_recall", "u_f1")


class Stopwatch:
    """Seconds of named phases, and diagnostics of what was trained, which may need Y.

    ``diagnostics["VP"]["purity"]`` is the share of training rows that the prior of VAE-PU's h_y put
    on the side of their class when it was fitted. Nothing is chosen by it.
    """

    def __init__(self):
        self.start, self.processor_start = time.perf_counter(), time.thread_time()
        self.seconds, self.diagnostics = {}, {}

    @contextmanager
    def phase(self, name):
        """Time what happens inside."""
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)

    def total(self):
        """All phases, the time since this watch was made, and the processor's part of it.

        On a busy machine the latter is what an experiment costs.
        """
        return self.seconds | {
            "processor": round(time.thread_time() - self.processor_start, 3),
            "total": round(time.perf_counter() - self.start, 3),
        }


def compute(experiment):
    """The result of an experiment, in JSON's types."""
    result, _, _ = _computed(experiment, Stopwatch())
    return result


def compute_estimates(experiment, name):
    """The result of an experiment, and what the decision of a name knows of each test row.

    Parameters
    ----------
    experiment : Experiment
    name : str
        Of a decision that looks at S.

    Returns
    -------
    result : dict
        In JSON's types.
    columns : dict of arrays
        ``class`` and ``labelled``, the truth; ``y`` and ``s``, the estimated posteriors.
    """
    result, test, decisions = _computed(experiment, Stopwatch())
    found = {decision.name: decision for decision in decisions if decision.rule != "x_only"}
    check_choice("decision", name, found)
    estimates = {"y": found[name].y_proba, "s": found[name].s_proba}
    return result, {"class": test.y, "labelled": test.s, **estimates}


def _computed(experiment, watch):
    """The result, the test part, and the decisions on it."""
    family = FAMILIES[experiment.family]
    what = (experiment.label_frequency, experiment.seed, experiment.design)
    with watch.phase("data"):
        data = load(experiment.dataset, *what, sample=experiment.schedule == "smoke")
    decisions = family.decide(data, experiment.settings["parameters"], experiment.seed, watch)
    with watch.phase("metrics"):
        metrics = [measure(decision, data.test) for decision in decisions]
        for measured in metrics:
            if measured["rule"] == "x_only":
                measured |= watch.diagnostics.get(measured["decision"], {})
    result = {
        "settings": experiment.settings,
        "settings_hash": experiment.settings_hash,
        "data_fingerprint": data.fingerprint,
        **provenance(),
        "device": _device(family),
        "seconds": watch.total(),
        "metrics": metrics,
    }
    return result, data.test, decisions


def measure(decision, test):
    """Metrics of one decision on the test part; None where a metric is not defined.

    On unlabelled rows the naive rule *is* the x-only rule: of the latter only the accuracy on all
    rows says something new.
    """
    predicted = decision.predict(test.s).astype(int)
    values = {"accuracy": metrics.accuracy(test.y, predicted)}
    if decision.rule != "x_only":
        values |= {name: getattr(metrics, name)(test.y, predicted, test.s) for name in U_METRICS}
        values["u_auc"] = metrics.u_auc(test.y, decision.score(), test.s)
    if decision.rule == "augmented":
        balanced = balanced_rule(decision.y_proba, decision.s_proba, test.s)
        values["u_balanced_accuracy_of_balanced_rule"] = metrics.u_balanced_accuracy(
            test.y, balanced, test.s
        )
        values["u_log_loss"] = metrics.u_log_loss(test.y, decision.score(), test.s)
    finite = {name: value if np.isfinite(value) else None for name, value in values.items()}
    return {"decision": decision.name, "rule": decision.rule, **finite}


def _device(family):
    if family.device == "cpu":
        return "cpu"
    from pu_utils.models.networks import resolve_device

    return str(resolve_device(family.device))
