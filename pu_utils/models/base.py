"""The one interface of all estimators: scikit-learn's, with the label status S in place of y.

A subclass says how it learns, ``_fit(X, s, random_state)`` (or it has a ``fit`` of its own), and
what it estimates, ``_y_proba(X)`` for y(x) and ``_s_proba(X)`` for s(x); posteriors, decisions and
checks are here, once for all.
"""

import sys
import warnings
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Annotated, ClassVar, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from pu_utils import rules


def one_of(*names):
    """The type of a parameter that is one of these words."""
    return Annotated[str, StrOptions(set(names))]


# What `fit` checks of other parameters
Positive = Annotated[float, Interval(Real, 0, None, closed="neither")]
NotNegative = Annotated[float, Interval(Real, 0, None, closed="left")]
Share = Annotated[float, Interval(Real, 0, 1, closed="neither")]
Count = Annotated[int, Interval(Integral, 1, None, closed="left")]
Flag = Annotated[bool, "boolean"]
Auto = one_of("auto")
Seed = Annotated[int | np.random.RandomState | None, "random_state"]
STANDARDISED = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
MANY = 1 / 3  # ours: the share of unlabelled rows with s(x) > y(x) that is worth a warning


def estimator(cls):
    """A class whose fields are an estimator's parameters: `__init__` stores them, and no more.

    Where the type of a field says what is allowed, scikit-learn checks it.
    """
    cls, checks = dataclass(kw_only=True, repr=False, eq=False)(cls), {}
    for parameter in fields(cls):
        alternatives = [parameter.type, *get_args(parameter.type)]
        found = [check for one in alternatives for check in getattr(one, "__metadata__", ())]
        if found:
            checks[parameter.name] = found + [None] * (type(None) in alternatives)
    cls._parameter_constraints = checks
    return cls


class PriorWarning(UserWarning):
    """The class prior was estimated, and the estimate leans on assumptions."""


class ConflictWarning(UserWarning):
    """The estimates of s(x) and y(x) contradict each other on many rows."""


def warn_caller(message, category=UserWarning):
    """Warn of ``message`` at the nearest line outside this package."""
    frame, stacklevel = sys._getframe(), 1
    # a decorator around a fit adds a frame of contextlib
    while frame.f_globals["__name__"].startswith(("pu_utils.", "contextlib")):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)


def with_seed(model, seed):
    """A clone of a model of scikit-learn that has ``seed`` wherever it has no seed of its own."""
    model = clone(model)
    names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    return model.set_params(**{name: seed for name in names if model.get_params()[name] is None})


@estimator
class PUClassifier(ClassifierMixin, BaseEstimator):
    """Classifier of Y, fitted to X and the label status S, asked with S or without.

    Several estimators share the parameters below; each has those of its signature.

    Parameters
    ----------
    prior : float, optional
        P(Y=1), the share of positives among all rows. Where None it is estimated by
        ``estimate_prior``, with a warning.
    odds : float
        The odds of class 1 that a row must exceed for class 1 to be predicted.
    propensity_features : columns or function, optional
        What labelling depends on: numbers or names of columns, a mask, or a function of X (an
        array) that gives one or several values a row. All columns where None.
    ridge : float
        Weight of the penalty on the coefficients of standardised features.
    validation_fraction : float
        Part of the rows that is held out where ``fit`` is not given a validation part.
    random_state : int, RandomState or None
        Source of all random numbers.

    Attributes
    ----------
    classes_ : array of two values
        The two values of ``s`` in ``fit``, 0 and 1 or False and True.
    prior_, label_frequency_ : float
        P(Y=1), given or estimated, and ``c = P(S=1) / P(Y=1)`` that follows from it.
    diagnostics_ : dict
        Counts of rows, among them those whose estimate of s(x) exceeds that of y(x). If they are
        unlabelled, their augmented posterior is 0.
    """

    odds: Positive = 1.0

    _input_dtype: ClassVar = (np.float64, np.float32)

    def fit(self, X, s):
        """Fit to rows ``X`` and their label status ``s``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.

        Returns
        -------
        PUClassifier
            The estimator itself.
        """
        X, s = self._training_rows(X, s)
        self._fit(X, s, check_random_state(getattr(self, "random_state", None)))
        self._diagnose(X, s)
        return self

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

    def ranking_score(self, X, s):
        """What orders rows, the most likely positives first: for a list, not a probability.

        The order of the augmented posterior is the best there is if e(x) is known. Otherwise it is
        as good as the estimate of e(x). So the augmented posterior ranks where
        ``propensity_features`` were given, and y(x) elsewhere, which is its order for a constant e.
        That is a rule of thumb, found on the recorded estimates of this book: there y(x) had the
        highest mean U-AUC of fifteen scores, but not on every set.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows to rank.
        s : array of shape (n,)
            Their label status.

        Returns
        -------
        array of shape (n,)
            1 where labelled.
        """
        y_proba, s_proba, labelled = self._posteriors(X, s)
        if getattr(self, "propensity_features", None) is None:
            s_proba = np.zeros_like(s_proba)
        return rules.augmented_posterior(y_proba, s_proba, labelled)

    def predict_label_proba(self, X):
        """Probability ``s(x)`` of being labelled, one value per row of ``X``."""
        check_is_fitted(self)
        return self._s_proba(self._rows(X))

    def predict_propensity(self, X):
        """Probability ``e(x) = s(x) / y(x)`` that a positive is labelled, one value per row."""
        check_is_fitted(self)
        y_proba, s_proba = self._y_and_s_proba(self._rows(X))
        return rules.propensity(y_proba, np.minimum(s_proba, y_proba))

    def _posteriors(self, X, s):
        """``y(x)``, ``s(x)`` cut down to ``y(x)``, and the label status as 0 and 1.

        Without ``s`` nothing is known of labels: the rules then see ``s(x) = 0``, unlabelled.
        """
        check_is_fitted(self)
        X = self._rows(X)
        if s is None:
            y_proba = self._y_proba(X)
            return y_proba, np.zeros_like(y_proba), 0
        y_proba, s_proba = self._y_and_s_proba(X)
        return y_proba, np.minimum(s_proba, y_proba), self._label_status(s, len(X))

    def _y_and_s_proba(self, X):
        return self._y_proba(X), self._s_proba(X)

    def _rows(self, X):
        return validate_data(self, X, reset=False, dtype=self._input_dtype)

    def _label_status(self, s, n_rows):
        """``s`` as 0 and 1, one value per row."""
        if len(s) != n_rows:
            raise ValueError(f"s has {len(s)} values, X has {n_rows} rows; give one value per row")
        return label_status(s)

    def _training_rows(self, X, s):
        """``X`` and ``s`` checked, ``s`` as 0 and 1; sets ``classes_``."""
        self._validate_params()
        X, s = validate_data(self, X, s, dtype=self._input_dtype)
        labelled, self.classes_ = label_status(s), np.unique(s)
        if len(self.classes_) < 2:
            raise ValueError(f"s holds one class only, {s[0]}; give labelled and unlabelled rows")
        prior, share = getattr(self, "prior", None), labelled.mean()
        if prior is not None and not share <= prior < 1:
            raise ValueError(
                f"prior is {prior}; it must be at least the share of labelled rows of X, "
                f"{share:.4g}, and below 1: every labelled row is positive"
            )
        return X, labelled

    def _parts(self, X, s, validation, random_state):
        """Training and validation part, the latter given or held out; sets ``training_rows_``."""
        if validation is None:
            self.training_rows_, held = hold_out(s, self.validation_fraction, random_state)
            return (X[self.training_rows_], s[self.training_rows_]), (X[held], s[held])
        self.training_rows_ = np.arange(len(X))
        X_held, *statuses = validation
        X_held = self._rows(X_held)
        return (X, s), (X_held, *(self._label_status(values, len(X_held)) for values in statuses))

    def _settle_prior(self, prior, X, s, random_state):
        """Set ``prior_``, given or else estimated, and the ``label_frequency_`` that follows.

        Of rows held out more or fewer may be labelled than of all: at most all positives are.
        """
        if prior is None:
            prior = estimate_prior(X, s, random_state)
            warn_caller(
                f"prior is None: P(Y=1) was estimated as {prior:.3f} by estimate_prior (Elkan and "
                "Noto 2008). It assumes that labelled rows are drawn at random from the positives "
                "and that the classes do not overlap; where they overlap it comes out too high, "
                "and under selection bias it may err either way. Give the prior where it is known, "
                "and look at the predictions for a band of priors around it",
                PriorWarning,
            )
        self.prior_, self.label_frequency_ = float(prior), float(min(s.mean() / prior, 1))

    def _diagnose(self, X, s):
        """Set ``diagnostics_``: how often the plug-in estimates break s(x) <= y(x) on ``X``."""
        above = self._s_proba(X) > self._y_proba(X)
        if (share := above[s == 0].mean()) > MANY:
            warn_caller(
                f"s(x) exceeds y(x) on {share:.0%} of the unlabelled rows, which no model of the "
                "labelling allows: with S they all count as certain negatives. Rank rows by "
                "ranking_score, or use an estimator that fits the two together (AugmentedEM, "
                "Recalibrated)",
                ConflictWarning,
            )
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


def label_status(s):
    """``s`` as an array of 0 and 1, or an error that says how to make one."""
    s = column_or_1d(s, warn=True)
    values = set(s.tolist())
    if not values <= {0, 1}:
        raise ValueError(
            f"s holds {list(values)[:5]}; it must hold 1 or True where a row is labelled, and 0 or "
            'False elsewhere: give s == "yes" for words. Only binary classification is supported. '
            f"The type of the target is {type_of_target(s, raise_unknown=False)}"
        )
    return s.astype(int)


def estimate_prior(X, s, random_state=None):
    """Class prior by the estimator of Elkan and Noto.

    The label frequency is the mean of an estimate of s(x) over labelled rows, ``c = E[s(X) | S=1]``
    (their e1; *Learning classifiers from only positive and unlabeled data*, KDD 2008), and
    the prior is ``P(S=1) / c``. s(x) is a logistic regression, each row's estimate made by a fit
    that has not seen it.

    It assumes that labelled rows are drawn at random from the positives (SCAR) and that
    classes do not overlap. Where they overlap it comes out too high, and under selection bias it
    may err either way: give the prior wherever it is known.

    Parameters
    ----------
    X : array of shape (n, p)
        Rows.
    s : array of shape (n,)
        1 where labelled, 0 elsewhere.
    random_state : int, RandomState or None
        Source of the folds.

    Returns
    -------
    float
        Between ``P(S=1)`` and 0.99.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [600, 400])
    >>> X = rng.normal(size=(1000, 2)) + 6 * y[:, None]
    >>> s = y * (rng.random(1000) < 0.5)
    >>> round(estimate_prior(X, s, random_state=0), 1)
    0.4
    """
    s = label_status(s)
    n_folds = min(5, int(s.sum()), int((1 - s).sum()))
    if n_folds < 2:  # a stratum of one row cannot be held out
        estimate = clone(STANDARDISED).fit(X, s).predict_proba(X)[:, 1]
    else:
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
        estimate = cross_val_predict(STANDARDISED, X, s, cv=folds, method="predict_proba")[:, 1]
    label_frequency = estimate[s == 1].mean()
    return float(np.clip(s.mean() / label_frequency, s.mean(), max(0.99, s.mean())))


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
