"""The one interface of all estimators: scikit-learn's, with the label status S in place of y.

A subclass says what it estimates, ``_y_proba(X)`` for y(x) and ``_s_proba(X)`` for s(x);
posteriors, decisions and checks are here, once for all.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from pu_utils import rules
from pu_utils.models.storage import Stored

# The fields of an estimator are its parameters: `__init__` stores them and does nothing else
estimator = dataclass(kw_only=True, repr=False, eq=False)

POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="neither")
COUNT = Interval(Integral, 1, None, closed="left")


@estimator
class PUClassifier(Stored, ClassifierMixin, BaseEstimator):
    """Classifier of Y, fitted to X and the label status S, asked with S or without.

    ``classes_`` are the two values of ``s`` seen in ``fit``, in sorted order; the second means
    "labelled" for S and "class 1" for Y.
    """

    odds: float = 1.0

    _parameter_constraints: ClassVar = {"odds": [POSITIVE]}
    _input_dtype: ClassVar = (np.float64, np.float32)

    def predict_proba(self, X, s=None):
        """Posterior probabilities of the two classes.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows to classify.
        s : array of shape (n,), optional
            Their label status.

        Returns
        -------
        array of shape (n, 2)
            Column 1 is ``y(x)`` without ``s``, and the augmented posterior ``ytilde(x, s)`` with.
        """
        y_proba, s_proba, labelled = self._posteriors(X, s)
        if s is not None:
            y_proba = rules.augmented_posterior(y_proba, s_proba, labelled)
        return np.column_stack([1 - y_proba, y_proba])

    def predict(self, X, s=None):
        """Class 1 where the odds of class 1 exceed ``odds`` (Theorem 1 with ``s``).

        Parameters
        ----------
        X : array of shape (n, p)
            Rows to classify.
        s : array of shape (n,), optional
            Their label status.

        Returns
        -------
        array of shape (n,)
            Values of ``classes_``.
        """
        decision = rules.augmented_rule(*self._posteriors(X, s), self.odds)
        return self.classes_[decision.astype(int)]

    def predict_label_proba(self, X):
        """Probability ``s(x)`` of being labelled, one value per row of ``X``."""
        check_is_fitted(self)
        return self._s_proba(self._rows(X))

    def _posteriors(self, X, s):
        """``y(x)``, ``s(x)`` cut down to ``y(x)``, and the label status as 0 and 1.

        Without ``s`` nothing is known of labels: the rules then see ``s(x) = 0``, unlabelled.
        """
        check_is_fitted(self)
        X = self._rows(X)
        y_proba = self._y_proba(X)
        if s is None:
            return y_proba, np.zeros_like(y_proba), 0
        return y_proba, np.minimum(self._s_proba(X), y_proba), self._label_status(s)

    def _rows(self, X):
        return validate_data(self, X, reset=False, dtype=self._input_dtype)

    def _label_status(self, s):
        """``s`` as 0 and 1, or a clear error."""
        s = np.asarray(s)
        strange = ~np.isin(s, self.classes_)
        if strange.any():
            raise ValueError(
                f"s holds {s[strange].flat[0]}; it must hold the values seen in fit, "
                f"{self.classes_[0]} (unlabelled) and {self.classes_[1]} (labelled)"
            )
        return (s == self.classes_[1]).astype(int)

    def _training_rows(self, X, s):
        """``X`` and ``s`` checked, ``s`` as 0 and 1; sets ``classes_``."""
        self._validate_params()
        X, s = validate_data(self, X, s, dtype=self._input_dtype)
        check_classification_targets(s)
        self.classes_ = np.unique(s)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(s)}; s must hold two values, unlabelled and labelled"
            )
        if len(self.classes_) == 1:
            raise ValueError(
                f"s holds one class only, {self.classes_[0]}; both labelled and unlabelled "
                "rows are needed to learn from"
            )
        return X, self._label_status(s)

    def _parts(self, X, s, validation, random_state):
        """Training and validation part, the latter given or held out; sets ``training_rows_``."""
        if validation is None:
            self.training_rows_, held = hold_out(s, self.validation_fraction, random_state)
            return (X[self.training_rows_], s[self.training_rows_]), (X[held], s[held])
        self.training_rows_ = np.arange(len(X))
        X_held, *statuses = validation
        held = self._rows(X_held), *(self._label_status(values) for values in statuses)
        lengths = [len(part) for part in held]
        if len(set(lengths)) > 1:
            raise ValueError(f"validation has parts of lengths {lengths}; give one value per row")
        return (X, s), held

    def _keep_prior(self, prior, labelled_share):
        """Set ``prior_`` and the ``label_frequency_`` that follows from it."""
        if not labelled_share <= prior < 1:
            raise ValueError(
                f"prior is {prior}; it must be at least the share of labelled rows, "
                f"{labelled_share:.4g}, and below 1"
            )
        self.prior_, self.label_frequency_ = float(prior), float(labelled_share / prior)

    def _diagnose(self, X, s):
        """Set ``diagnostics_``: how often the plug-in estimates break s(x) <= y(x) on ``X``."""
        above = self._s_proba(X) > self._y_proba(X)
        self.diagnostics_ = {
            "rows": len(X),
            "labelled_rows": int(s.sum()),
            "rows_with_s_above_y": int(above.sum()),
            "unlabelled_rows_with_s_above_y": int(above[s == 0].sum()),
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # it predicts Y, not the S it was fitted to
        return tags


def hold_out(s, fraction, random_state):
    """Indices of training and of validation rows, the same fraction of L and of U held out.

    Where the fraction leaves either stratum of the validation part empty, all rows serve for
    both: a stopping criterion on rows seen before is better than none.
    """
    held = np.zeros(len(s), dtype=bool)
    for status in (0, 1):
        rows = random_state.permutation(np.flatnonzero(s == status))
        held[rows[: int(fraction * len(rows))]] = True
    if len(np.unique(s[held])) < 2:
        return np.arange(len(s)), np.arange(len(s))
    return np.flatnonzero(~held), np.flatnonzero(held)
