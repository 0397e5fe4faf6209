"""VAE-PU+OCC: a one-class model of generated rows chooses the rows that VAE-PU is fine-tuned on.

Mielniczuk and Wawrzeńczyk, *One-class classification approach to variational learning from biased
positive unlabelled data*, ECAI 2023.
"""

import math

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest

from pu_utils.models.a3 import A3
from pu_utils.models.fine_tuning import FineTunedVaePu

DETECTORS = ("isolation_forest", "a3")


def conformal_p_values(calibration, scores):
    """Conformal p-value of each score: (1 + calibration scores <= it) / (1 + their number).

    Examples
    --------
    >>> conformal_p_values(np.array([1.0, 2.0, 3.0]), np.array([0.0, 2.0, 5.0])).tolist()
    [0.25, 0.75, 1.0]
    """
    not_above = np.searchsorted(np.sort(calibration), scores, side="right")
    return (1 + not_above) / (1 + len(calibration))


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
        The one-class model.
    prior, schedule
        Those of the ``VaePu`` that is trained where ``base`` is None.
    stopping : {"pu_risk", "oracle"}
        Criterion on the validation part: the PU risk, which needs no Y, or F1 against the true
        Y, as in the paper's program, which exists only to compare with the published tables.
    validation_fraction : float
        Part of the rows held out for stopping where ``fit`` is not given a validation part.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.
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

    Examples
    --------
    >>> from pu_utils.models import VaePu
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[0], [2]], 100, axis=0)
    >>> s = np.repeat([0, 1], 100) * (rng.random(200) < 0.5)
    >>> base = VaePu(prior=0.5, schedule="fast", random_state=0).fit(X, s)
    >>> VaePuOcc(base=base, random_state=0).fit(X, s).predict(X, s=s).shape
    (200,)
    """

    def __init__(
        self,
        base=None,
        *,
        detector="isolation_forest",
        prior=None,
        schedule="paper",
        stopping="pu_risk",
        validation_fraction=0.15,
        odds=1.0,
        random_state=None,
        device="auto",
        verbose=False,
    ):
        super().__init__(
            base,
            prior=prior,
            schedule=schedule,
            stopping=stopping,
            validation_fraction=validation_fraction,
            odds=odds,
            random_state=random_state,
            device=device,
            verbose=verbose,
        )
        self.detector = detector

    def _selector(self, X, s, random_state):
        generated = self._generate(X, s, random_state)
        half = len(generated) // 2
        self.detector_ = self._new_detector(random_state).fit(generated[:half])
        calibration = self.detector_.score_samples(generated[half:])
        return lambda rows: conformal_p_values(calibration, self.detector_.score_samples(rows))

    def _generate(self, X, s, random_state):
        """At least as many artificial unlabelled positives as ``X`` has rows, or the schedule's."""
        status, n_rows = self.classes_[s], self.base_.schedule_.generated_rows
        times = math.ceil(min(len(X), n_rows or len(X)) / s.sum())
        parts = [self.base_.generate(X, status, random_state) for _ in range(times)]
        return random_state.permutation(np.concatenate(parts))[:n_rows]

    def _new_detector(self, random_state):
        seed = random_state.randint(2**31 - 1)
        if self.detector == "isolation_forest":
            return IsolationForest(random_state=seed)
        if self.detector == "a3":
            return A3(random_state=seed, device=self.device)
        if not isinstance(self.detector, BaseEstimator) or not hasattr(
            self.detector, "score_samples"
        ):
            raise ValueError(
                f"detector is {self.detector!r}; give one of {DETECTORS} or a scikit-learn "
                "outlier detector with score_samples (LocalOutlierFactor needs novelty=True)"
            )
        return clone(self.detector)
