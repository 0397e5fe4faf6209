"""VAE-PU-Bayes and VAE-PU+OCC: VAE-PU fine-tuned on unlabelled rows taken for positives.

The two differ in how they select these rows: by the augmented rule (the paper's VP-B), or by a
one-class model of generated rows (VP-IF and VP-A3; Mielniczuk and Wawrzeńczyk, *One-class
classification approach to variational learning from biased positive unlabelled data*, ECAI 2023).
"""

import copy
import math
from dataclasses import field
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score
from sklearn.utils._param_validation import StrOptions

from pu_utils import rules
from pu_utils.models.a3 import A3
from pu_utils.models.base import estimator, hold_out, with_seed
from pu_utils.models.networks import (
    Classifier,
    History,
    NetworkClassifier,
    Training,
    adam,
    in_parts,
)
from pu_utils.models.vae_pu import WEIGHT_DECAY, VaePu, pu_objective, pu_risks
from pu_utils.schedules import Schedule


def highest(scores, n):
    """Indices of the ``n`` highest scores, in the order of the rows.

    Examples
    --------
    >>> highest(np.array([0.1, 0.9, 0.3, 0.8]), 2).tolist()
    [1, 3]
    """
    return np.sort(np.argsort(-scores, kind="stable")[:n])


def conformal_p_values(calibration, scores):
    """Conformal p-value of each score: (1 + calibration scores <= it) / (1 + their number).

    Examples
    --------
    >>> conformal_p_values(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 5.0])).tolist()
    [0.25, 0.75, 1.0]
    """
    not_above = np.searchsorted(np.sort(calibration), scores, side="right")
    return (1 + not_above) / (1 + len(calibration))


class Strata(NamedTuple):
    """Rows of a part, and which of the unlabelled ones are taken for positives."""

    labelled: torch.Tensor  # (n_L, p)
    unlabelled: torch.Tensor  # (n_U, p)
    chosen: torch.Tensor  # indices into the latter
    all_labelled: slice = slice(None)
    all_unlabelled: slice = slice(None)


class FineTuning(Training):
    """The state of one fine-tuning: the network, the training part, the validation part."""

    def __init__(self, target, shares, strata=None, held=None, history=None):
        self.network, self.shares = target, shares
        self.strata, self.held, self.history = strata, held, history

    def train(self, optimizer, n_steps, criterion=None, seeds=None):
        """Full-batch steps; the best one by the criterion, or by the PU risk, is kept."""
        self.optimizer, self.validation_loss = optimizer, criterion or self.pu_risk
        self.improve("fine-tuning", n_steps, n_steps, seeds)

    def batches(self):
        """One full batch."""
        return ["all rows"]

    def loss(self, _):
        """What a step descends."""
        return pu_objective(*self.risks(self.strata))

    def pu_risk(self):
        """The non-negative risk on the validation part."""
        positive, negative = self.risks(self.held)
        return positive + negative.clamp(min=0)

    def risks(self, strata):
        """Positive and negative risk with the chosen rows for the unlabelled positives."""
        labelled, unlabelled, chosen, *rows = strata
        g = in_parts(self.network, torch.cat([labelled, unlabelled], dim=-2))
        g_labelled, g_unlabelled = g.split([labelled.shape[-2], unlabelled.shape[-2]], dim=-1)
        g_chosen = self.weigh(self.take(g_unlabelled, chosen), chosen)
        g_labelled, g_unlabelled = map(self.weigh, (g_labelled, g_unlabelled), rows)
        return pu_risks(g_labelled, g_chosen, g_unlabelled, self.shares)


@estimator
class FineTunedVaePu(NetworkClassifier):
    """A VAE-PU whose target classifier goes on to learn from selected unlabelled rows.

    A subclass says which rows are the likely positives: ``_selector(X, s, random_state)`` returns
    a function from rows to scores.
    """

    base: VaePu | FrozenEstimator | None = field(default=None, kw_only=False)
    prior: float | None = None
    schedule: str | Schedule = "brisk"
    stopping: str = "pu_risk"

    _parameter_constraints: ClassVar = NetworkClassifier._parameter_constraints | {
        "stopping": [StrOptions({"pu_risk", "oracle"})],
    }

    def _train(self, training, held, random_state):
        self._check_validation(held)
        base = self._new_base(random_state)
        if not hasattr(base, "networks_"):
            base.fit(*training, validation=held[:2])
        tuning, criterion = self._fine_tuning(base, training, held, random_state)
        tuning.train(self._adam(adam, tuning.network), base.schedule_.fine_tuning_steps, criterion)

    def _check_validation(self, held):
        if len(np.unique(held[1])) < 2:
            raise ValueError(
                "validation holds one label status only; give labelled and unlabelled rows, or "
                "leave validation out, and rows of both are held out of X"
            )
        if self.stopping == "oracle" and len(held) < 3:
            raise ValueError(
                "stopping is 'oracle' but validation holds no true classes; give "
                "fit(..., validation=(X, s, y)), or stop by 'pu_risk', which needs none"
            )

    def _some_rows(self, training, held, random_state):
        """Both parts cut down to what the schedule allows, and which rows of ``X`` are left."""
        parts, limit = [training, held], self.base_.schedule_.fine_tuning_rows or np.inf
        rows = self.training_rows_
        for k, part in enumerate(parts):
            if len(part[1]) > limit:
                kept = hold_out(part[1], limit / len(part[1]), random_state)[1]
                parts[k] = tuple(values[kept] for values in part)
                rows = rows[kept] if k == 0 else rows
        return parts, rows

    def _learn_scale(self, X):
        """As the base does, or did when it was fitted."""
        base = self._given_base()
        if not hasattr(base, "networks_"):
            base._learn_scale(X)
        self.centre_, self.scale_ = base.centre_, base.scale_

    def _given_base(self):
        """The given base where it is fitted, else a new one to train."""
        base = self.base.estimator if isinstance(self.base, FrozenEstimator) else self.base
        if base is None:
            base = VaePu(
                prior=self.prior,
                schedule=self.schedule,
                standardise=self.standardise,
                device=self.device,
                verbose=self.verbose,
            )
        if not isinstance(base, VaePu):
            raise ValueError(f"base is {base!r}; it must be a VaePu, fitted or not, or None")
        if not hasattr(base, "networks_"):
            return clone(base)
        if base.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"base was fitted to {base.n_features_in_} features and X has "
                f"{self.n_features_in_}; give fit the rows that base was fitted to"
            )
        return base

    def _new_base(self, random_state):
        """The given base where it is fitted, else one to train here, on rows scaled already."""
        base = self._given_base()
        if self.base is None:
            base.set_params(random_state=random_state.randint(2**31 - 1))
        return base if hasattr(base, "networks_") else base.set_params(standardise=False)

    def _fine_tuning(self, base, training, held, random_state):
        """A fine-tuning about to begin, and its criterion where that is not its own."""
        self.base_ = base
        self.prior_, self.label_frequency_ = base.prior_, base.label_frequency_
        (training, held), rows = self._some_rows(training, held, random_state)
        score = self._selector(*training, random_state)
        X, s = training
        self.target_ = target = copy.deepcopy(base.networks_.target).to(self._device)
        self.unlabelled_rows_ = rows[s == 0]
        self.selection_scores_ = score(X[s == 0])
        strata = self._strata(X, s, self.selection_scores_)
        self.selected_ = self.unlabelled_rows_[strata.chosen.cpu().numpy()]
        held_strata = self._strata(*held[:2], score(held[0][held[1] == 0]))
        history = History(self.verbose)
        history.rows = self.history_ = [*base.history_]

        def oracle():
            decision = self._sigmoid(target, held[0]) > 0.5
            return torch.tensor(1 - f1_score(held[2], decision), device=self._device)

        tuning = FineTuning(target, base._shares(), strata, held_strata, history)
        return tuning, oracle if self.stopping == "oracle" else None

    def _adam(self, adam, target):
        schedule = self.base_.schedule_
        rate = schedule.fine_tuning_learning_rate or schedule.target_learning_rate
        return adam([target], rate, WEIGHT_DECAY)

    def _strata(self, X, s, scores):
        """Labelled rows, unlabelled rows, and which of the latter are taken for positives."""
        labelled, unlabelled = self._tensors(X[s == 1], X[s == 0])
        shares = self.base_._shares()
        n_chosen = round(len(unlabelled) * shares.unlabelled_positive / shares.unlabelled)
        chosen = torch.as_tensor(highest(scores, max(1, n_chosen)), device=self._device)
        return Strata(labelled, unlabelled, chosen)

    def _y_proba(self, X):
        return self._sigmoid(self.target_, X)

    def _s_proba(self, X):
        return self.base_._s_proba(X)

    def _new_network(self, name, generator):
        hidden = self.base_.schedule_.target_hidden
        return Classifier((self.n_features_in_, *hidden, 1), generator)


@estimator
class VaePuBayes(FineTunedVaePu):
    """VAE-PU-Bayes: the paper's VP-B and, asked with ``s``, VP-B+S.

    The unlabelled rows with the highest odds ``(y - s) / (1 - y)`` of class 1, by VAE-PU's y(x) and
    the label model's s(x), stand in for the unlabelled positives (Section 4 of the paper); there
    are ``n_U pi_PU / P(S=0)`` of them. Up to ``Schedule.fine_tuning_steps`` full-batch steps follow
    on the PU risk, and the best by ``stopping`` is kept.

    Parameters
    ----------
    base : VaePu, optional
        Trained where it is not fitted; where it is, it is shared, not changed, and ``fit`` wants
        the rows it was fitted to. (``clone`` forgets a fit: wrap a fitted base in scikit-learn's
        ``FrozenEstimator`` to carry it through ``GridSearchCV``.)
    prior, schedule
        Those of the ``VaePu`` that is trained where ``base`` is None.
    stopping : {"pu_risk", "oracle"}
        Criterion on the validation part: the PU risk, which needs no Y, or F1 against the true
        Y, as in the paper's program, which exists only to compare with the published tables.
    validation_fraction : float
        Part of the rows held out for stopping where ``fit`` is not given a validation part.
    standardise : bool or "auto"
        Whether the networks see standardised columns; "auto": where X is far from unit scale.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.
    positive : object, optional
        The value of ``s`` that means labelled, where it is not plain: see ``PUClassifier``.
    random_state : int, RandomState or None
        Source of all random numbers.
    device : str
        "auto" or a device of torch.
    verbose : bool
        Whether to show progress.

    Attributes
    ----------
    base_ : VaePu
        The fitted VAE-PU; its own target classifier is the one before fine-tuning.
    target_ : torch.nn.Module
        The target classifier after fine-tuning; it gives logits.
    unlabelled_rows_, selection_scores_ : arrays
        Which rows of ``X`` were unlabelled training rows, and the score of each.
    selected_ : array of int
        Which rows of ``X`` were taken for positives.
    prior_, label_frequency_, history_, training_rows_, diagnostics_
        As in ``VaePu``.

    Examples
    --------
    One epoch of each phase, to see how it is asked; a real training takes minutes.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[0], [2]], 100, axis=0)
    >>> s = np.repeat([0, 1], 100) * (rng.random(200) < 0.5)
    >>> epochs = {"pretraining_epochs": 1, "phase_epochs": (1, 1, 1, 1, 1), "label_epochs": 1}
    >>> once = Schedule(**epochs, fine_tuning_steps=1)
    >>> base = VaePu(prior=0.5, schedule=once, random_state=0).fit(X, s)
    >>> model = VaePuBayes(base, random_state=0).fit(X, s)
    >>> bool((s[model.selected_] == 0).all())  # of the unlabelled rows, the likely positives
    True
    """

    def _selector(self, X, s, random_state):
        def augmented_odds(rows):
            y_proba = self.base_._y_proba(rows)
            return rules.augmented_odds(y_proba, np.minimum(self.base_._s_proba(rows), y_proba))

        return augmented_odds


@estimator
class VaePuOcc(FineTunedVaePu):
    """VAE-PU+OCC: the paper's VP-IF and VP-A3 and, asked with ``s``, their +S.

    At least as many unlabelled positives as there are rows are generated; one half of them trains
    a one-class model, the other calibrates it. The unlabelled rows with the highest conformal
    p-values stand in for the unlabelled positives, as many as in ``VaePuBayes``.

    Parameters
    ----------
    base : VaePu, optional
        Trained where it is not fitted; where it is, it is shared, not changed, and ``fit`` wants
        the rows it was fitted to. (``clone`` forgets a fit: wrap a fitted base in scikit-learn's
        ``FrozenEstimator`` to carry it through ``GridSearchCV``.)
    detector : {"isolation_forest", "a3"} or scikit-learn outlier detector
        The one-class model; one that has no seed of its own is given one.
    prior, schedule
        Those of the ``VaePu`` that is trained where ``base`` is None.
    stopping : {"pu_risk", "oracle"}
        Criterion on the validation part: the PU risk, which needs no Y, or F1 against the true
        Y, as in the paper's program, which exists only to compare with the published tables.
    validation_fraction : float
        Part of the rows held out for stopping where ``fit`` is not given a validation part.
    standardise : bool or "auto"
        Whether the networks see standardised columns; "auto": where X is far from unit scale.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.
    positive : object, optional
        The value of ``s`` that means labelled, where it is not plain: see ``PUClassifier``.
    random_state : int, RandomState or None
        Source of all random numbers.
    device : str
        "auto" or a device of torch.
    verbose : bool
        Whether to show progress.

    Attributes
    ----------
    detector_ : outlier detector
        The fitted one-class model (not saved by ``save``: predictions do not need it).
    base_, target_, unlabelled_rows_, selection_scores_, selected_
        As in ``VaePuBayes``; the scores are p-values.
    prior_, label_frequency_, history_, training_rows_, diagnostics_
        As in ``VaePu``.
    """

    detector: str | BaseEstimator = "isolation_forest"

    _not_stored = ("detector_",)

    def _selector(self, X, s, random_state):
        generated = self._generate(X, s, random_state)
        half = len(generated) // 2
        self.detector_ = self._new_detector(random_state).fit(generated[:half])
        calibration = self.detector_.score_samples(generated[half:])
        return lambda rows: conformal_p_values(calibration, self.detector_.score_samples(rows))

    def _generate(self, X, s, random_state):
        """At least as many artificial unlabelled positives as ``X`` has rows, or the schedule's."""
        n_rows = self.base_.schedule_.generated_rows
        times = math.ceil(min(len(X), n_rows or len(X)) / s.sum())
        parts = [self.base_._generated(X, s, random_state) for _ in range(times)]
        return random_state.permutation(np.concatenate(parts))[:n_rows]

    def _new_detector(self, random_state):
        seed = random_state.randint(2**31 - 1)
        if self.detector == "isolation_forest":
            return IsolationForest(random_state=seed)
        if self.detector == "a3":
            return A3(random_state=seed, device=self.device)
        if not hasattr(self.detector, "score_samples"):
            raise ValueError(
                f"detector is {self.detector!r}; give 'isolation_forest', 'a3' or a scikit-learn "
                "outlier detector with score_samples (LocalOutlierFactor needs novelty=True)"
            )
        return with_seed(self.detector, seed)
