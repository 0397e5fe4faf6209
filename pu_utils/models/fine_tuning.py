"""VAE-PU-Bayes and VAE-PU+OCC: VAE-PU fine-tuned on unlabelled rows taken for positives.

The two differ in how they select these rows: by the augmented rule (the paper's VP-B), or by a
one-class model of generated rows (VP-IF and VP-A3; Mielniczuk and Wawrzeńczyk, *One-class
classification approach to variational learning from biased positive unlabelled data*, ECAI 2023).
"""

import copy
import math
from dataclasses import field
from typing import NamedTuple

import numpy as np
import torch
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score
from sklearn.utils.validation import _check_n_features

from pu_utils import rules
from pu_utils.models import networks
from pu_utils.models.a3 import A3
from pu_utils.models.base import estimator, hold_out, one_of, with_seed
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
    selected: torch.Tensor  # indices into the latter


def selected_risks(target, strata, shares):
    """Positive and negative risk with the selected rows for the unlabelled positives."""
    labelled, unlabelled, selected = strata
    g = networks.in_parts(target, torch.cat([labelled, unlabelled]))  # (n,)
    g_labelled, g_unlabelled = g.split([len(labelled), len(unlabelled)])
    return pu_risks(g_labelled, g_unlabelled[selected], g_unlabelled, shares)


@estimator
class FineTunedVaePu(networks.NetworkClassifier):
    """A VAE-PU whose target classifier goes on to learn from selected unlabelled rows.

    A subclass says which rows are the likely positives: ``_selector(X, s, random_state)`` returns
    a function from rows to scores.
    """

    base: VaePu | FrozenEstimator | None = field(default=None, kw_only=False)
    prior: float | None = None
    schedule: str | Schedule = "brisk"
    stopping: one_of("pu_risk", "oracle") = "pu_risk"

    def _train(self, training, held, random_state):
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
        self._fit_base(training, held, random_state)
        rows, (X, s) = self._some_rows(training, random_state)
        _, held = self._some_rows(held, random_state)
        score = self._selector(X, s, random_state)
        self.unlabelled_rows_ = self.training_rows_[rows][s == 0]
        self.selection_scores_ = score(X[s == 0])
        self.selected_ = self.unlabelled_rows_[self._likely(self.selection_scores_)]
        self._fine_tune(self._strata(X, s, self.selection_scores_), held, score)

    def _fine_tune(self, strata, held, score):
        """Full-batch steps; the best one by the PU risk, or by F1, is kept."""
        schedule, shares = self.base_.schedule_, self.base_._shares()
        self.target_ = target = copy.deepcopy(self.base_.networks_.target).to(self._device)
        rate = schedule.fine_tuning_learning_rate or schedule.target_learning_rate
        optimizer = networks.adam([target], rate, WEIGHT_DECAY)
        X_held, s_held, *y_held = held
        held_strata = self._strata(X_held, s_held, score(X_held[s_held == 0]))
        self.history_ = [*self.base_.history_]

        def one_step():
            objective = pu_objective(*selected_risks(target, strata, shares))
            return [networks.descend(optimizer, objective)]

        def pu_risk():
            positive, negative = selected_risks(target, held_strata, shares)
            return positive + negative.clamp(min=0)

        def oracle():
            decision = networks.predict_in_batches(target, X_held) > 0.5
            return torch.tensor(1 - f1_score(*y_held, decision), device=self._device)

        held_loss, n_steps = {"oracle": oracle, "pu_risk": pu_risk}, schedule.fine_tuning_steps
        steps = networks.Epochs("fine-tuning", n_steps, self.history_, self.verbose)
        networks.train_with_early_stopping(
            target, one_step, held_loss[self.stopping], steps, patience=n_steps
        )

    def _learn_scale(self, X):
        """Scale columns as the base does, which learns it from ``X`` if it is not fitted yet."""
        self.base_ = self._given_base()
        if hasattr(self.base_, "networks_"):
            _check_n_features(self.base_, X, reset=False)
        else:
            self.base_._learn_scale(X)
        self.centre_, self.scale_ = self.base_.centre_, self.base_.scale_

    def _given_base(self):
        """The given base where it is fitted, else a new one to train."""
        base = self.base.estimator if isinstance(self.base, FrozenEstimator) else self.base
        if base is None:
            options = {"standardise": self.standardise, "verbose": self.verbose}
            base = VaePu(prior=self.prior, schedule=self.schedule, device=self.device, **options)
        if not isinstance(base, VaePu):
            raise ValueError(f"base is {base!r}; it must be a VaePu, fitted or not, or None")
        return base if hasattr(base, "networks_") else clone(base)

    def _fit_base(self, training, held, random_state):
        """Train the base, unless it is fitted, on rows that are scaled already."""
        base = self.base_
        if self.base is None:
            base.set_params(random_state=random_state.randint(2**31 - 1))
        if not hasattr(base, "networks_"):
            base.set_params(standardise=False).fit(*training, validation=held[:2])
            base.centre_, base.scale_ = self.centre_, self.scale_  # whoever asks it has raw rows
        self.prior_, self.label_frequency_ = base.prior_, base.label_frequency_

    def _some_rows(self, part, random_state):
        """Indices of the rows of a part that the schedule lets fine-tuning see, and these rows."""
        n_rows, limit = len(part[1]), self.base_.schedule_.fine_tuning_rows or np.inf
        rows = np.arange(n_rows)
        if n_rows > limit:
            _, rows = hold_out(part[1], limit / n_rows, random_state)
        return rows, [values[rows] for values in part]

    def _likely(self, scores):
        """Which unlabelled rows are taken for positives: the n_U pi_PU / P(S=0) likeliest."""
        shares = self.base_._shares()
        n_selected = round(len(scores) * shares.unlabelled_positive / shares.unlabelled)
        return highest(scores, max(1, n_selected))

    def _strata(self, X, s, scores):
        """Labelled rows, unlabelled rows, and which of the latter are taken for positives."""
        selected = torch.as_tensor(self._likely(scores), device=self._device)
        return Strata(*self._tensors(X[s == 1], X[s == 0]), selected)

    def _y_proba(self, X):
        return networks.predict_in_batches(self.target_, X)

    def _s_proba(self, X):
        return self.base_._s_proba(X)


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
        One that is fitted stays as it is, and ``fit`` wants the rows it was fitted to; one that is
        not is copied and trained first. (``clone`` forgets a fit: wrap a fitted base in
        scikit-learn's ``FrozenEstimator`` to carry it through ``GridSearchCV``.)
    prior, schedule
        Those of the ``VaePu`` that is trained where ``base`` is None.
    stopping : {"pu_risk", "oracle"}
        Criterion on the validation part: the PU risk, which needs no Y, or F1 against the true
        Y, as in the paper's program, which exists only to compare with the published tables.
    standardise, device, verbose, validation_fraction, random_state, odds
        As in ``NetworkClassifier``.

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
    detector : {"isolation_forest", "a3"} or scikit-learn outlier detector
        The one-class model; one that has no seed of its own is given one.
    base, prior, schedule, stopping
        As in ``VaePuBayes``.
    standardise, device, verbose, validation_fraction, random_state, odds
        As in ``NetworkClassifier``.

    Attributes
    ----------
    detector_ : outlier detector
        The fitted one-class model.
    base_, target_, unlabelled_rows_, selection_scores_, selected_
        As in ``VaePuBayes``; the scores are p-values.
    prior_, label_frequency_, history_, training_rows_, diagnostics_
        As in ``VaePu``.
    """

    detector: str | BaseEstimator = "isolation_forest"

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
        named = {"isolation_forest": IsolationForest(), "a3": A3(device=self.device)}
        detector = named.get(self.detector, self.detector)
        if not hasattr(detector, "score_samples"):
            raise ValueError(
                f"detector is {self.detector!r}; give 'isolation_forest', 'a3' or a scikit-learn "
                "outlier detector with score_samples (LocalOutlierFactor needs novelty=True)"
            )
        return with_seed(detector, random_state.randint(2**31 - 1))
