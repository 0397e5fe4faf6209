"""VAE-PU-Bayes: the augmented rule chooses the rows that VAE-PU is fine-tuned on."""

import numpy as np

from pu_utils import rules
from pu_utils.models.fine_tuning import FineTunedVaePu


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
    >>> from pu_utils.models import VaePu
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[0], [2]], 100, axis=0)
    >>> s = np.repeat([0, 1], 100) * (rng.random(200) < 0.5)
    >>> base = VaePu(prior=0.5, schedule="fast", random_state=0).fit(X, s)
    >>> VaePuBayes(base=base, random_state=0).fit(X, s).predict(X, s=s).shape
    (200,)
    """

    def _selector(self, X, s, random_state):
        return self._augmented_odds

    def _augmented_odds(self, X):
        y = self.base_._class_posterior(X)
        return rules.augmented_odds(y, np.minimum(self.base_._label_posterior(X), y))
