"""The families of methods: what one experiment trains, and every decision that comes of it.

A family is what is trained at once, a method what the tables have a line for, and a decision the
classes that a method gives to the test rows by one rule. ``FAMILIES`` is the table of the families.
A new one is its model and one entry there; a grid runs it when asked for it by name, and its
decisions are recorded beside all others.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from pu_utils import rules
from pu_utils.data import DATASETS
from pu_utils.schedules import SCHEDULES, Schedule, paper_settings

THREADS = 1  # of each experiment: with more, sums are added up in another order, and results differ
EXACT = 5e-7  # half a unit of the last recorded digit
AS_GIVEN = {"standardise": False}  # the features of the paper's sets are what its programs see
RULES = {
    "x_only": lambda y, s, labelled: rules.x_only_rule(y),
    "naive": lambda y, s, labelled: rules.naive_rule(y, labelled),
    "augmented": rules.augmented_rule,
}


class Decision(NamedTuple):
    """A named rule, and the estimates of y(x) and s(x) that it is given on the test part.

    These are the rules that ``predict`` of every estimator follows: "x_only" is ``predict(X)``, as
    in Table 1; "naive" says 1 where S = 1 besides; "augmented" is ``predict(X, s=s)``, Theorem 1's
    rule and the paper's +S.
    """

    name: str
    rule: str
    y_proba: np.ndarray
    s_proba: np.ndarray

    def predict(self, s):
        """Whether each row is called positive, given the label status of all."""
        return RULES[self.rule](self.y_proba, self.s_proba, s)

    def score(self):
        """What orders the unlabelled rows."""
        if self.rule == "augmented":
            return rules.augmented_posterior(self.y_proba, self.s_proba)
        return self.y_proba


@dataclass(frozen=True)
class Family:
    """One entry of the table.

    Parameters
    ----------
    decide : callable
        From a :class:`pu_utils.data.PUData`, the parameters, the seed and a stopwatch, whose
        ``phase(name)`` times what happens inside, to a list of :class:`Decision`.
    parameters : callable
        From the names of data set and schedule to the options of the estimators, in JSON's types:
        all that the result depends on besides the data and the seed.
    version : int
        Raise it when a change of the program changes the numbers.
    tolerance : float
        How far a metric may lie from the recorded one on another processor, or with other versions
        of the libraries.
    schedules : tuple of str
        The schedules that the family knows; a grid of any other runs it by "paper".
    device : str
        "auto" where a GPU is used if there is one.
    """

    decide: Callable
    parameters: Callable
    version: int
    tolerance: float
    schedules: tuple = ("paper", "smoke")
    device: str = "cpu"


# Options: the estimators' own defaults, spelt out so that a change of them makes results stale

VAE_PU = {
    "epoch_scale": 1.0, "likelihood": "gaussian", "generator_weight": 1.0, "target_weight": 10.0,
    "label_weight": 1.0,
}  # fmt: skip
LBE = {
    "max_rounds": 50, "max_epochs": 100, "patience": 5, "learning_rate": 1e-3, "batch_size": 64,
}  # fmt: skip
A3 = {
    "hidden": (1000, 500, 200, 75), "epochs": 10, "batch_size": 256, "learning_rate": 1e-3,
    "alarm_learning_rate": 1e-5,
}  # fmt: skip
ELKAN_NOTO = {"model": "logistic regression of standardised features", "max_iter": 1000}
EM_CHANGES = {
    "10 neighbours": {"n_neighbours": 10}, "40 neighbours": {"n_neighbours": 40},
    "sharpness 1.5": {"sharpness": 1.5}, "sharpness 3": {"sharpness": 3.0},
    "8 rounds": {"max_rounds": 8}, "100 rounds": {"max_rounds": 100},
    "prior 20% too low": {"prior_times": 0.8}, "prior 10% too low": {"prior_times": 0.9},
    "prior 10% too high": {"prior_times": 1.1}, "prior 20% too high": {"prior_times": 1.2},
}  # fmt: skip
EM_VARIANTS = {  # facts of a family of EM, with each setting that it changes, one at a time
    "augmented_em": {"told": False},
    "augmented_em_told": {"told": True},
    # On tables whose classes overlap, is EM behind because it overfits?
    "em_ridge": {"changes": {"ridge chosen": {"ridge": "auto"}}},
    # Why is EM told short of supervised learning?
    "em_told_changes": {
        "told": True,
        "changes": {f"{n} components": {"components": n} for n in (12, 25, 100, 200)}
        | {"ridge 10": {"ridge": 10.0}},
    },
    # Why does being told cost points where what labelling depends on tells the class as well?
    "em_told_keeping": {"told": True, "changes": {"nothing taken away": {"residualise": False}}},
    # Does a class model that learns from unlabelled rows as well come nearer?
    "em_told_gaussian": {"told": True, "changes": {"two Gaussians": {"class_model": "gaussian"}}},
}
SMOKE = Schedule(
    pretraining_epochs=2, phase_epochs=(2, 2, 2, 2, 2), target_pool="batch", fine_tuning_steps=3,
    autoencoder_hidden=(8, 8), discriminator_hidden=(8,), target_hidden=(8, 8), label_epochs=2,
)  # fmt: skip


def vae_pu_parameters(dataset, schedule, one_class_methods=None):
    """Options of VAE-PU and, on real sets alone unless said otherwise, of the one-class methods."""
    entry, smoke = DATASETS[dataset], schedule == "smoke"
    if schedule == "fast" and not entry.synthetic:
        schedule = "fast_real"
    parameters = {
        "vae_pu": {**VAE_PU, **paper_settings(entry.like)},
        "schedule": (SMOKE if smoke else SCHEDULES[schedule]).to_json(),
        "stopping": "pu_risk",
    }
    if one_class_methods is None:
        one_class_methods = not entry.synthetic  # Table 1 has no synthetic set
    if one_class_methods:
        parameters["a3"] = A3 | ({"hidden": (16, 8), "epochs": 1} if smoke else {})
    return parameters


def vae_pu_bayes_parameters(dataset, schedule):
    """Options of VAE-PU, and of what recalibrates it."""
    return vae_pu_parameters(dataset, schedule, False) | em_parameters(dataset, schedule)


def em_parameters(dataset, schedule, **facts):
    """Every setting of the EM estimators, so that a change of one makes results stale."""
    from pu_utils.models.em import SETTINGS

    entry = DATASETS[dataset]
    if "estimator" in facts and not (entry.synthetic or entry.like == "cdc_diabetes"):
        facts["seeded"] = True  # sets of images are condensed: by the experiment's seed
    return {"settings": asdict(SETTINGS), **facts}


def lbe_parameters(dataset, schedule, released):
    """Options of LBE, after the paper's text or as released."""
    smaller = {"max_rounds": 1, "max_epochs": 2} if schedule == "smoke" else {}
    return {"released": released, **LBE, **smaller}


# What they train and decide. torch is imported where it is needed: the reference needs none.


def vae_pu(data, parameters, seed, watch):
    """One VAE-PU and the methods that go on from it; semi-prophets where the truth is known."""
    return _clean(_trained(data, parameters, seed, watch), data.test)


def replay(data, parameters, seed, watch):
    """The same of a VAE-PU trained as the program does, and the networks behind its numbers."""
    from pu_utils.models.networks import predict_in_batches
    from pu_utils.reproduction.replay import ProgramVaePu, replayed

    share = {"label_frequency": data.s.mean() / data.prior}
    models = _trained(data, parameters, seed, watch, ProgramVaePu, **share)
    with watch.phase("replay"):
        networks = replayed(models, data)
    test, decisions = data.test, _clean(models, data.test)
    s_proba = models["VP"].predict_label_proba(test.X)
    for name, network in networks.items():
        y_proba = predict_in_batches(network, test.X)
        below = np.minimum(s_proba, y_proba)
        decisions += [Decision(f"{name} (replay)", rule, y_proba, below) for rule in RULES]
        if name == "VP-B+S":
            decisions += _semi_prophets(f"{name} (replay)", y_proba, s_proba, test)
    return decisions


def choices(data, parameters, seed, watch):
    """VP-B+S, and VP-IF+S, with one choice of the authors' program at a time."""
    from pu_utils.reproduction.choices import undone

    models = _trained(data, parameters, seed, watch)
    with watch.phase("choices"):
        models |= undone(models, data, seed)
    return with_and_without_s(models, data.test)


def lbe(data, parameters, seed, watch):
    """LBE, whose released variant has a name of its own."""
    from pu_utils.models import Lbe

    estimator = Lbe(random_state=seed, **AS_GIVEN, **parameters)
    suffix = " (released)" if parameters["released"] else ""
    decisions = with_and_without_s({"LBE": train("LBE", estimator, data, watch)}, data.test)
    return [decision._replace(name=decision.name + suffix) for decision in decisions]


def vae_pu_bayes(data, parameters, seed, watch):
    """VP and VP-B alone, as compared with simpler methods, and VP-B recalibrated by S."""
    from sklearn.frozen import FrozenEstimator

    from pu_utils.models import Recalibrated

    models = _trained(data, parameters, seed, watch)
    estimator = Recalibrated(FrozenEstimator(models["VP-B"]), prior=data.prior, random_state=seed)
    models["VP-B recalibrated"] = train("VP-B recalibrated", estimator, data, watch)
    return with_and_without_s(models, data.test)


def em(data, parameters, seed, watch):
    """AugmentedEM, or variants of it; "told" what labelling looked at, apart from the features."""
    from pu_utils.models import AugmentedEM

    name, rows, columns = "EM", data, {}
    if parameters.get("told"):
        name, (rows, columns) = "EM told", _with_score(data)
    changes = parameters.get("changes", {})
    changes = {f"{name}, {setting}": changes[setting] for setting in changes} or {name: {}}
    least = 1.02 * data.train.s.mean()  # a prior below the labelled share would be refused
    models = {}
    for label, change in changes.items():
        options = columns | change
        prior = max(options.pop("prior_times", 1) * data.prior, least)
        model = AugmentedEM(prior=prior, random_state=seed, **options)
        models[label] = train(label, model, rows, watch)
    return with_and_without_s(models, rows.test)


def em_sensitivity(data, parameters, seed, watch):
    """Variants of EM, and EM told a score that has nothing to do with labelling."""
    decisions, shuffled = em(data, parameters, seed, watch), np.random.default_rng(seed)
    wrong = replace(data, score=shuffled.permutation(len(data)).astype(float))
    wrongly = em(wrong, {"told": True}, seed, watch)
    named = [one._replace(name=one.name.replace("EM told", "EM, told wrongly")) for one in wrongly]
    return decisions + named


def simple(name, data, parameters, seed, watch):
    """Methods that need no network: Elkan and Noto's, SAR-EM, uPU."""
    from pu_utils import models

    model = getattr(models, parameters.get("estimator", "ElkanNoto"))()
    given = {"prior": data.prior, "random_state": seed}  # SAR-EM needs no prior, EN no chance
    model.set_params(**{name: given[name] for name in given.keys() & model.get_params()})
    return with_and_without_s({name: train(name, model, data, watch)}, data.test)


def supervised(data, parameters, seed, watch):
    """Logistic regression of the true class: what could be learnt if every row were labelled."""
    from sklearn.base import clone

    from pu_utils.models.base import STANDARDISED

    with watch.phase("supervised"):
        model = clone(STANDARDISED).fit(data.train.X, data.train.y)
    y_proba = model.predict_proba(data.test.X)[:, 1]
    nothing = np.zeros_like(y_proba)  # is said of s(x)
    return [Decision("supervised", rule, y_proba, nothing) for rule in ("x_only", "naive")]


def prophets(rows):
    """Decisions of the paper's prophets, where the truth is known, and of the all-negative rule.

    Parameters
    ----------
    rows : PUData

    Returns
    -------
    list of Decision
    """
    nothing = np.zeros(len(rows))  # is known to the rule that calls no unlabelled row positive
    negative = [Decision("all-negative", rule, nothing, nothing) for rule in ("x_only", "naive")]
    if rows.y_proba is None:
        return negative
    truth = _truth(rows)
    y_prophet = [Decision("Y-Prophet", rule, *truth) for rule in ("x_only", "naive")]
    return [Decision("S-Prophet", "augmented", *truth), *y_prophet, *negative]


# What the functions above share


def train(name, estimator, data, watch):
    """Fit an estimator to the training part, by one thread, and time it under a name.

    One whose ``fit`` takes ``validation`` is given that part, to stop by it. The limit of the
    threads stays: two experiments in two threads of one process, as Dask may run them, could not
    take turns at restoring what was.
    """
    import torch
    from sklearn.utils.validation import has_fit_parameter
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(THREADS)
    threadpool_limits(THREADS)
    held_out = {"validation": (data.validation.X, data.validation.s)}
    options = held_out if has_fit_parameter(estimator, "validation") else {}
    with watch.phase(name):
        return estimator.fit(data.train.X, data.train.s, **options)


def with_and_without_s(models, test):
    """Three decisions of each model: asked without S, with S = 1 taken for class 1, and with S.

    Parameters
    ----------
    models : dict of str to PUClassifier
        Fitted models by the names of their decisions without S; "+S" is added to those with.
    test : PUData
        The rows to decide on.

    Returns
    -------
    list of Decision
    """
    decisions = []
    for name, model in models.items():
        estimates = _estimates(model, test)
        decisions += [Decision(name, rule, *estimates) for rule in ("x_only", "naive")]
        decisions.append(Decision(f"{name}+S", "augmented", *estimates))
    return decisions


def _estimates(model, test):
    """y(x), and s(x) cut down to it as the rules demand."""
    y_proba = model.predict_proba(test.X)[:, 1]
    return y_proba, np.minimum(model.predict_label_proba(test.X), y_proba)


def _with_score(data):
    """The data with what labelling looked at as a last column, and what may see which columns."""
    score = np.zeros(len(data)) if data.score is None else data.score  # SCAR looks at nothing
    features = list(range(data.X.shape[1]))
    columns = {"propensity_features": [len(features)], "class_features": features}
    return replace(data, X=np.column_stack([data.X, score])), columns


def _truth(rows):
    return rows.y_proba, rules.label_posterior(rows.y_proba, rows.propensity)


def _trained(data, parameters, seed, watch, estimator=None, **options):
    """VP, VP-B and, where their options are given, VP-IF and VP-A3, each from the same VP."""
    from pu_utils.models import A3, VaePu, VaePuBayes, VaePuOcc

    fit = partial(train, data=data, watch=watch)
    schedule = Schedule.from_json(parameters["schedule"])
    options |= {"prior": data.prior, "schedule": schedule, "random_state": seed}
    base = fit("VP", (estimator or VaePu)(**options, **AS_GIVEN, **parameters["vae_pu"]))
    purity = np.mean(base.near_positives_ == data.train.y[base.training_rows_])
    watch.diagnostics["VP"] = {"purity": float(purity)}
    options = {"base": base, "stopping": parameters["stopping"], "random_state": seed}
    methods = {"VP-B": VaePuBayes(**options)}
    if "a3" in parameters:
        methods["VP-IF"] = VaePuOcc(**options)
        methods["VP-A3"] = VaePuOcc(**options, detector=A3(random_state=seed, **parameters["a3"]))
    return {"VP": base} | {name: fit(name, method) for name, method in methods.items()}


def _clean(models, test):
    """Decisions of methods that all start from one VP, and of the semi-prophets of VP-B+S."""
    semi_prophets = _semi_prophets("VP-B+S", *_estimates(models["VP-B"], test), test)
    return with_and_without_s(models, test) + semi_prophets


def _semi_prophets(name, y_proba, s_proba, test):
    """The augmented rule with one of the two estimates replaced by the truth."""
    if test.y_proba is None:
        return []
    true_y, true_s = _truth(test)
    return [
        Decision(f"{name} + true s(x)", "augmented", y_proba, np.minimum(true_s, y_proba)),
        Decision(f"{name} + true y(x)", "augmented", true_y, np.minimum(s_proba, true_y)),
    ]


# Training differs in the last digits between processors and versions, and what it learns drifts
# apart from there: a few rows near the threshold are decided otherwise after LBE's convex steps,
# more after VAE-PU's thousands. The prophets decide by numbers that are the same everywhere.
_NETWORKS = {
    "tolerance": 0.1,
    "schedules": (
        "paper", "paper_narrow", "paper_equal", "paper_equal_narrow", "fast", "wide", "batch",
        "paper_batch", "smoke",
    ),
    "device": "auto",
}  # fmt: skip
_LOGISTIC = {"version": 1, "tolerance": 0.02}  # too small for a GPU
_SIMPLE = {"version": 1, "tolerance": 0.01}
FAMILIES = {
    "vae_pu": Family(vae_pu, vae_pu_parameters, 3, **_NETWORKS),
    "replay": Family(replay, vae_pu_parameters, 2, **_NETWORKS),
    "choices": Family(choices, partial(vae_pu_parameters, one_class_methods=True), 1, **_NETWORKS),
    "vae_pu_bayes": Family(vae_pu_bayes, vae_pu_bayes_parameters, 1, **_NETWORKS),
    "lbe": Family(lbe, partial(lbe_parameters, released=False), **_LOGISTIC),
    "lbe_released": Family(lbe, partial(lbe_parameters, released=True), **_LOGISTIC),
    "elkan_noto": Family(partial(simple, "EN"), lambda *_: ELKAN_NOTO, **_SIMPLE),
    "sar_em": Family(
        partial(simple, "SAR-EM"), partial(em_parameters, estimator="SarEm"), **_LOGISTIC
    ),
    "upu": Family(partial(simple, "uPU"), partial(em_parameters, estimator="Upu"), **_SIMPLE),
    "em_changes": Family(em_sensitivity, partial(em_parameters, changes=EM_CHANGES), **_LOGISTIC),
    "supervised": Family(supervised, lambda *_: ELKAN_NOTO, **_SIMPLE),
    "reference": Family(lambda data, *_: prophets(data.test), lambda *_: {}, 1, EXACT),
} | {
    name: Family(em, partial(em_parameters, **facts), **_LOGISTIC)
    for name, facts in EM_VARIANTS.items()
}
EXPERIMENT_SCHEDULES = _NETWORKS["schedules"]  # smoke: on samples of the real sets
