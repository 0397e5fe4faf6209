"""Fine-tuning VAE-PU on unlabelled rows taken for positives: what VP-B, VP-IF and VP-A3 share."""

import copy

import numpy as np
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score
from sklearn.utils.validation import check_is_fitted

from pu_utils.models.networks import Classifier
from pu_utils.models.training import (
    History,
    NetworkClassifier,
    adam,
    in_parts,
    predict_in_batches,
    resolve_device,
    to_tensor,
    train_while_improving,
)
from pu_utils.models.vae_pu import (
    WEIGHT_DECAY,
    VaePu,
    negative_risk,
    positive_risk,
    pu_objective,
)

STOPPING = ("pu_risk", "oracle")


def highest(scores, n):
    """Indices of the ``n`` highest scores, in the order of the rows.

    Examples
    --------
    >>> highest(np.array([0.1, 0.9, 0.3, 0.8]), 2).tolist()
    [1, 3]
    """
    return np.sort(np.argsort(-scores, kind="stable")[:n])


class FineTunedVaePu(NetworkClassifier):
    """A VAE-PU whose target classifier goes on to learn from selected unlabelled rows.

    A subclass says which rows are the likely positives: ``_selector(X, s, random_state)`` returns
    a function from rows to scores.
    """

    def __init__(
        self,
        base=None,
        *,
        prior=None,
        schedule="paper",
        stopping="pu_risk",
        validation_fraction=0.15,
        odds=1.0,
        random_state=None,
        device="auto",
        verbose=False,
    ):
        self.base = base
        self.prior = prior
        self.schedule = schedule
        self.stopping = stopping
        self.validation_fraction = validation_fraction
        self.odds = odds
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X, s, *, validation=None):
        """Fit to rows ``X`` and their label status ``s``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows; those of ``base`` where a fitted one is given.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.
        validation : tuple (X, s) or (X, s, y), optional
            Rows to stop by; held out of ``X`` where not given. The true classes ``y`` are used
            by ``stopping="oracle"`` alone.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, s = self._training_rows(X, s)
        random_state = self._random_state()
        training, held = self._validation_rows(X, s, validation, random_state)
        if validation is not None and len(np.unique(held[1])) < 2:
            raise ValueError(
                "validation holds one label status only; give labelled and unlabelled rows, or "
                "leave validation out, and rows of both are held out of X"
            )
        self._check_stopping(held)
        self.base_ = self._fitted_base(training, held, random_state)
        self.prior_, self.label_frequency_ = self.base_.prior_, self.base_.label_frequency_
        score = self._selector(*training, random_state)
        self._fine_tune(training, held, score)
        self._diagnose(X, s)
        return self

    def _check_stopping(self, held):
        if self.stopping not in STOPPING:
            raise ValueError(f"stopping is {self.stopping!r}; give one of {STOPPING}")
        if self.stopping == "oracle" and len(held) < 3:
            raise ValueError(
                "stopping is 'oracle' but validation holds no true classes; give "
                "fit(..., validation=(X, s, y)), or stop by 'pu_risk', which needs none"
            )

    def _fitted_base(self, training, held, random_state):
        """The given base where it is fitted, else one trained here."""
        base = self.base.estimator if isinstance(self.base, FrozenEstimator) else self.base
        if base is None:
            base = VaePu(
                prior=self.prior,
                schedule=self.schedule,
                random_state=random_state.randint(2**31 - 1),
                device=self.device,
                verbose=self.verbose,
            )
        if not isinstance(base, VaePu):
            raise ValueError(f"base is {base!r}; it must be a VaePu, fitted or not, or None")
        try:
            check_is_fitted(base)
        except NotFittedError:
            X, s = training[0], self.classes_[training[1]]
            base = clone(base).fit(X, s, validation=(held[0], self.classes_[held[1]]))
        if base.n_features_in_ != self.n_features_in_:
            raise ValueError(
                f"base was fitted to {base.n_features_in_} features and X has "
                f"{self.n_features_in_}; give fit the rows that base was fitted to"
            )
        return base

    def _fine_tune(self, training, held, score):
        """Steps on the PU risk with selected rows; keeps the best by the stopping criterion."""
        device, shares = resolve_device(self.device), self.base_._shares()
        scores, held_scores = (score(X[s == 0]) for X, s, *_ in (training, held))
        parts = self._parts(*training, scores, device)
        held_parts = self._parts(*held[:2], held_scores, device)
        target = copy.deepcopy(self.base_.networks_.target).to(device)
        schedule, history = self.base_.schedule_, History(self.verbose)
        rate = schedule.fine_tuning_learning_rate or schedule.target_learning_rate
        train_while_improving(
            target,
            adam([target], rate, WEIGHT_DECAY),
            lambda: ["all rows"],  # one full batch
            lambda _: pu_objective(*risks(target, *parts, shares)),
            lambda: self._criterion(target, held, held_parts),
            history,
            ("fine-tuning", schedule.fine_tuning_steps, schedule.fine_tuning_steps),
        )
        self.target_, self.history_ = target, self.base_.history_ + history.rows
        self.unlabelled_rows_ = self.training_rows_[training[1] == 0]
        self.selection_scores_ = scores
        self.selected_ = self.unlabelled_rows_[parts[2].cpu().numpy()]

    def _parts(self, X, s, scores, device):
        """Labelled rows, unlabelled rows, and which of the latter are taken for positives."""
        unlabelled = X[s == 0]
        shares = self.base_._shares()
        n_chosen = round(len(unlabelled) * shares.unlabelled_positive / shares.unlabelled)
        chosen = highest(scores, max(1, n_chosen))
        return (
            to_tensor(X[s == 1], device),
            to_tensor(unlabelled, device),
            torch.as_tensor(chosen, device=device),
        )

    def _criterion(self, target, held, parts):
        """What stopping minimises on the validation part."""
        if self.stopping == "pu_risk":
            positive, negative = risks(target, *parts, self.base_._shares())
            return positive + negative.clamp(min=0)
        decision = predict_in_batches(target, held[0], resolve_device(self.device)) > 0.5
        return torch.tensor(1 - f1_score(held[2], decision))

    def _class_posterior(self, X):
        return predict_in_batches(self.target_, X, resolve_device(self.device))

    def _label_posterior(self, X):
        return self.base_._label_posterior(X)

    def _new_network(self, name, generator):
        return Classifier(self.n_features_in_, self.base_.schedule_.target_hidden, generator)


def risks(target, labelled, unlabelled, chosen, shares):
    """Positive and negative risk with ``unlabelled[chosen]`` for the unlabelled positives."""
    g_labelled, g_unlabelled = in_parts(target, torch.cat([labelled, unlabelled])).split(
        [len(labelled), len(unlabelled)]
    )
    g_chosen = g_unlabelled[chosen]
    return (
        positive_risk(g_labelled, g_chosen, shares),
        negative_risk(g_unlabelled, g_chosen, shares),
    )
