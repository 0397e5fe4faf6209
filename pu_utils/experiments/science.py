"""What a cell computes: estimators on the training part, decisions on the test part, metrics."""

import time
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from pu_utils import rules
from pu_utils.data import load
from pu_utils.experiments.cells import THREADS
from pu_utils.experiments.provenance import provenance

RULES = {
    "x_only": lambda y, s, labelled: rules.x_only_rule(y),
    "naive": lambda y, s, labelled: rules.naive_rule(y, labelled),
    "augmented": rules.augmented_rule,
}
U_METRICS = ("u_accuracy", "u_balanced_accuracy", "u_precision", "u_recall", "u_f1")


class Decision(NamedTuple):
    """A named rule and the estimates of y(x) and s(x) it is given on the test part.

    The rules: "x_only" never looks at S, as in Table 1; "naive" says 1 where S = 1; "augmented"
    is Theorem 1's, the paper's +S.
    """

    name: str
    rule: str
    y: np.ndarray
    s: np.ndarray


class Stopwatch:
    """Seconds of named phases."""

    def __init__(self):
        self.start, self.processor_start = time.perf_counter(), time.thread_time()
        self.seconds = {}

    @contextmanager
    def phase(self, name):
        """Time what happens inside."""
        start = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)

    def total(self):
        """All phases, the time since this watch was made, and the processor's part of it.

        On a busy machine the latter is what a cell costs; both include loading torch, once.
        """
        return self.seconds | {
            "processor": round(time.thread_time() - self.processor_start, 3),
            "total": round(time.perf_counter() - self.start, 3),
        }


def compute(cell):
    """The result of a cell, in JSON's types.

    A cell that trains limits its process to one thread for good: two cells in two threads of one
    process (as Dask may run them) could not take turns at restoring what was.
    """
    return _result(cell, *_decide(cell, watch := Stopwatch()), watch)


def estimates(cell, name):
    """What a decision of a cell knows of each test row, and what is true.

    Returns the columns ``class``, ``labelled``, ``y`` and ``s`` (arrays), and the cell's result.
    """
    data, decisions = _decide(cell, watch := Stopwatch())
    (chosen,) = [d for d in decisions if d.name == name and d.rule != "x_only"]
    columns = {"class": data.test.y, "labelled": data.test.s, "y": chosen.y, "s": chosen.s}
    return columns, _result(cell, data, decisions, watch)


def _result(cell, data, decisions, watch):
    with watch.phase("metrics"):
        measured = [measure(decision, data.test) for decision in decisions]
    return {
        "settings": cell.settings,
        "settings_hash": cell.settings_hash,
        "data_fingerprint": data.fingerprint,
        **provenance(),
        "device": "cpu" if cell.family in ("reference", "elkan_noto") else _device(),
        "seconds": watch.total(),
        "metrics": measured,
    }


def _decide(cell, watch):
    """The data of a cell, and its decisions on their test part."""
    with watch.phase("data"):
        data = load(
            cell.dataset, cell.label_frequency, cell.seed, cell.design, cell.schedule == "smoke"
        )
    family = FAMILY[cell.family]
    return data, family(data, cell.settings["parameters"], cell.seed, watch)


def measure(decision, test):
    """Metrics of one decision on the test part; None where a metric is not defined.

    On unlabelled rows the naive rule *is* the x-only rule: of the latter only the accuracy on all
    rows says something new.
    """
    from pu_utils import metrics  # it loads scipy.stats, for which `status` would have to wait

    predicted = RULES[decision.rule](decision.y, decision.s, test.s).astype(int)
    values = {"accuracy": metrics.accuracy(test.y, predicted)}
    if decision.rule != "x_only":
        values |= {name: getattr(metrics, name)(test.y, predicted, test.s) for name in U_METRICS}
        values["u_auc"] = metrics.u_auc(test.y, _score(decision), test.s)
    finite = {name: value if np.isfinite(value) else None for name, value in values.items()}
    return {"decision": decision.name, "rule": decision.rule, **finite}


def _score(decision):
    """What orders the unlabelled rows."""
    if decision.rule == "augmented":
        return rules.augmented_posterior(decision.y, decision.s)
    return decision.y


# The families. torch is imported where it is needed: the reference needs none.


def _vae_pu(data, parameters, seed, watch):
    """One VAE-PU and the methods that go on from it; semi-prophets where the truth is known."""
    from pu_utils.models import VaePu

    base = _vae_pu_of(VaePu, data, parameters, seed)
    return _clean_decisions(_train_all(base, data, parameters, seed, watch), data.test)


def _replay(data, parameters, seed, watch):
    """The same of a VAE-PU trained as the program does, and the networks behind its figures."""
    from pu_utils.experiments.replay import ProgramVaePu, replay
    from pu_utils.models.networks import predict_in_batches, resolve_device

    label_frequency = data.s.mean() / data.prior
    base = _vae_pu_of(ProgramVaePu, data, parameters, seed, label_frequency=label_frequency)
    models = _train_all(base, data, parameters, seed, watch)
    with watch.phase("replay"):
        networks = replay(models, data)
    test, decisions = data.test, _clean_decisions(models, data.test)
    s = models["VP"].predict_label_proba(test.X)
    for name, network in networks.items():
        y = predict_in_batches(network, test.X, resolve_device("auto"))
        decisions += [Decision(f"{name} (replay)", rule, y, np.minimum(s, y)) for rule in RULES]
        if name == "VP-B+S":
            decisions += _semi_prophets(f"{name} (replay)", y, s, test)
    return decisions


def _choices(data, parameters, seed, watch):
    """VP-B+S, and VP-IF+S, with one choice of the authors' program at a time."""
    from pu_utils.experiments.choices import undone
    from pu_utils.models import VaePu

    base = _vae_pu_of(VaePu, data, parameters, seed)
    models = _train_all(base, data, parameters, seed, watch)
    with watch.phase("choices"):
        models |= undone(models, data, seed)
    return [
        d for name, model in models.items() for d in _with_and_without_s(name, model, data.test)
    ]


def _vae_pu_of(estimator, data, parameters, seed, **options):
    from pu_utils.schedules import Schedule

    schedule = Schedule.from_json(parameters["schedule"])
    options |= parameters["vae_pu"]
    return estimator(prior=data.prior, schedule=schedule, random_state=seed, **options)


def _train_all(vae_pu, data, parameters, seed, watch):
    """VP, VP-B and, where their options are given, VP-IF and VP-A3, each from the same VP."""
    from pu_utils.models import A3, VaePuBayes, VaePuOcc

    base = _fit("VP", vae_pu, data, watch)
    options = {"base": base, "stopping": parameters["stopping"], "random_state": seed}
    methods = {"VP-B": VaePuBayes(**options)}
    if "a3" in parameters:
        methods["VP-IF"] = VaePuOcc(**options)
        methods["VP-A3"] = VaePuOcc(**options, detector=A3(random_state=seed, **parameters["a3"]))
    return {"VP": base} | {name: _fit(name, m, data, watch) for name, m in methods.items()}


def _clean_decisions(models, test):
    decisions = [
        d for name, model in models.items() for d in _with_and_without_s(name, model, test)
    ]
    return decisions + _semi_prophets("VP-B+S", *_estimates(models["VP-B"], test), test)


def _lbe(data, parameters, seed, watch):
    from pu_utils.models import Lbe

    model = _fit("LBE", Lbe(random_state=seed, **parameters), data, watch)
    decisions = _with_and_without_s("LBE", model, data.test)
    suffix = " (released)" if parameters["released"] else ""
    return [decision._replace(name=decision.name + suffix) for decision in decisions]


def _elkan_noto(data, parameters, seed, watch):
    """Logistic regression of S and the prior: the baseline that needs no network."""
    from pu_utils.models import ElkanNoto

    _limit_threads()
    with watch.phase("EN"):
        model = ElkanNoto(prior=data.prior).fit(data.train.X, data.train.s)
    return _with_and_without_s("EN", model, data.test)


def _reference(data, parameters, seed, watch):
    """The prophets, where the truth is known, and the rule that needs no knowledge at all."""
    test, nothing = data.test, np.zeros(len(data.test))
    decisions = [Decision("all-negative", rule, nothing, nothing) for rule in ("x_only", "naive")]
    if test.y_proba is not None:
        y, s = test.y_proba, rules.label_posterior(test.y_proba, test.propensity)
        decisions += [
            Decision("S-Prophet", "augmented", y, s),
            Decision("Y-Prophet", "x_only", y, s),
            Decision("Y-Prophet", "naive", y, s),
        ]
    return decisions


def _fit(name, estimator, data, watch):
    _limit_threads()
    train, held = data.train, data.validation
    with watch.phase(name):
        return estimator.fit(train.X, train.s, validation=(held.X, held.s))


def _with_and_without_s(name, model, test):
    y, s = _estimates(model, test)
    return [
        Decision(name, "x_only", y, s),
        Decision(name, "naive", y, s),
        Decision(f"{name}+S", "augmented", y, s),
    ]


def _semi_prophets(name, y, s, test):
    """The augmented rule with one of the two estimates replaced by the truth."""
    if test.y_proba is None:
        return []
    true_y, true_s = test.y_proba, rules.label_posterior(test.y_proba, test.propensity)
    return [
        Decision(f"{name} + true s(x)", "augmented", y, np.minimum(true_s, y)),
        Decision(f"{name} + true y(x)", "augmented", true_y, np.minimum(s, true_y)),
    ]


FAMILY = {
    "vae_pu": _vae_pu,
    "replay": _replay,
    "choices": _choices,
    "lbe": _lbe,
    "lbe_released": _lbe,
    "elkan_noto": _elkan_noto,
    "reference": _reference,
}


def _estimates(model, test):
    """y(x), and s(x) cut down to it as the rules demand."""
    y = model.predict_proba(test.X)[:, 1]
    return y, np.minimum(model.predict_label_proba(test.X), y)


def _limit_threads():
    import torch

    torch.set_num_threads(THREADS)
    threadpool_limits(THREADS)


def _device():
    from pu_utils.models.networks import resolve_device

    return str(resolve_device("auto"))
