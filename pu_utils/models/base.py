"""The one interface of all estimators: scikit-learn's, with the label status S in place of y.

A subclass says what it estimates, ``_class_posterior(X)`` (y(x)) and ``_label_posterior(X)``
(s(x)); posteriors, decisions, checks and storage are here, once for all.
"""

import json
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from pu_utils import rules
from pu_utils.schedules import Schedule

FORGOTTEN = ("detector_",)  # fitted attributes that predictions do not need


class PUClassifier(ClassifierMixin, BaseEstimator):
    """Classifier of Y, fitted to X and the label status S, asked with S or without.

    ``classes_`` are the two values of ``s`` seen in ``fit``, in sorted order; the second means
    "labelled" for S and "class 1" for Y.
    """

    _input_dtype = (np.float64, np.float32)

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
        posterior, label_posterior, labelled = self._posteriors(X, s)
        if s is not None:
            posterior = rules.augmented_posterior(posterior, label_posterior, labelled)
        return np.column_stack([1 - posterior, posterior])

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
        posterior, label_posterior, labelled = self._posteriors(X, s)
        decision = rules.augmented_rule(posterior, label_posterior, labelled, self.odds)
        return self.classes_[decision.astype(int)]

    def predict_label_proba(self, X):
        """Probability ``s(x)`` of being labelled, one value per row of ``X``."""
        check_is_fitted(self)
        return self._label_posterior(self._rows(X))

    def _posteriors(self, X, s):
        """``y(x)``, ``s(x)`` cut down to ``y(x)``, and the label status as 0 and 1.

        Without ``s`` nothing is known of labels: the rules then see ``s(x) = 0``, unlabelled.
        """
        check_is_fitted(self)
        X = self._rows(X)
        y = self._class_posterior(X)
        if s is None:
            return y, np.zeros_like(y), 0
        return y, np.minimum(self._label_posterior(X), y), self._label_status(s)

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
        X, s = validate_data(self, X, s, dtype=self._input_dtype)
        check_classification_targets(s)
        if type_of_target(s) != "binary" and len(np.unique(s)) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(s)}; s must hold two values, unlabelled and labelled"
            )
        self.classes_ = np.unique(s)
        if len(self.classes_) == 1:
            raise ValueError(
                f"s holds one class only, {self.classes_[0]}; both labelled and unlabelled "
                "rows are needed to learn from"
            )
        return X, self._label_status(s)

    def _validation_rows(self, X, s, validation, random_state):
        """Training and validation rows, the latter given or held out of the former.

        Sets ``training_rows_``.
        """
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
        above = self._label_posterior(X) > self._class_posterior(X)
        self.diagnostics_ = {
            "rows": len(X),
            "labelled_rows": int(s.sum()),
            "rows_with_s_above_y": int(above.sum()),
            "unlabelled_rows_with_s_above_y": int(above[s == 0].sum()),
        }

    def _random_state(self):
        return check_random_state(self.random_state)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # it predicts Y, not the S it was fitted to
        tags.non_deterministic = False
        return tags

    # Storage

    def save(self, path):
        """Write the fitted estimator to one safetensors file with its settings as JSON.

        Parameters that are estimators (such as ``base``) are stored as None: what was learnt with
        them is stored, and predictions do not ask them again.
        """
        check_is_fitted(self)
        arrays, facts = _pack(self)
        save_file(arrays, Path(path), metadata={"estimator": json.dumps(facts)})

    @classmethod
    def load(cls, path):
        """The estimator that ``save`` wrote to ``path``."""
        with safe_open(Path(path), framework="numpy") as file:
            facts = json.loads(file.metadata()["estimator"])
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        estimator = _unpack(arrays, facts)
        if not isinstance(estimator, cls):
            raise ValueError(
                f"path {str(path)!r} holds a {type(estimator).__name__}, not a {cls.__name__}; "
                f"load it with {type(estimator).__name__}.load or PUClassifier.load"
            )
        return estimator


def hold_out(s, fraction, random_state):
    """Indices of training and of validation rows, the same fraction of L and of U held out.

    Where the fraction leaves either stratum of the validation part empty, all rows serve for
    both: a stopping criterion on rows seen before is better than none.
    """
    if not 0 < fraction < 1:
        raise ValueError(f"validation_fraction is {fraction}; it must lie between 0 and 1")
    held = np.zeros(len(s), dtype=bool)
    for status in (0, 1):
        rows = random_state.permutation(np.flatnonzero(s == status))
        held[rows[: int(fraction * len(rows))]] = True
    if len(np.unique(s[held])) < 2:
        return np.arange(len(s)), np.arange(len(s))
    return np.flatnonzero(~held), np.flatnonzero(held)


def _pack(estimator):
    """Arrays and JSON facts of a fitted estimator."""
    arrays, facts = {}, {"class": type(estimator).__name__, "networks": []}
    facts["parameters"] = {
        name: None if hasattr(value, "get_params") else _plain(name, value)
        for name, value in estimator.get_params(deep=False).items()
    }
    facts["fitted"], facts["estimators"] = {}, {}
    for name, value in vars(estimator).items():
        if not name.endswith("_") or name in FORGOTTEN:
            continue
        if isinstance(value, PUClassifier):
            inner, facts["estimators"][name] = _pack(value)
            arrays |= {f"{name}.{key}": array for key, array in inner.items()}
        elif hasattr(value, "state_dict"):
            facts["networks"].append(name)
            state = value.state_dict()
            arrays |= {f"{name}.{key}": tensor.cpu().numpy() for key, tensor in state.items()}
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            arrays[name] = np.ascontiguousarray(value)
        else:
            facts["fitted"][name] = _plain(name, value)
    return arrays, facts


def _plain(name, value):
    """``value`` in JSON's types."""
    if isinstance(value, Schedule):
        return {"Schedule": value.to_json()}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    try:
        json.dumps(value)
    except TypeError:
        raise ValueError(
            f"{name} is {value!r}, which cannot be written as JSON; use plain numbers and "
            "strings for parameters, and estimators of this package inside others"
        ) from None
    return value


def _unplain(value):
    if isinstance(value, dict) and "Schedule" in value:
        return Schedule.from_json(value["Schedule"])
    if isinstance(value, dict) and "array" in value:
        return np.array(value["array"], dtype=value["dtype"])
    return value


def _subclasses(cls):
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def _unpack(arrays, facts):
    """The estimator whose ``_pack`` gave ``arrays`` and ``facts``."""
    classes = {cls.__name__: cls for cls in _subclasses(PUClassifier)}
    parameters = {name: _unplain(value) for name, value in facts["parameters"].items()}
    estimator = classes[facts["class"]](**parameters)
    for name, value in facts["fitted"].items():
        setattr(estimator, name, _unplain(value))
    for name, inner in facts["estimators"].items():
        setattr(estimator, name, _unpack(_below(arrays, name), inner))
    for name in facts["networks"]:
        setattr(estimator, name, estimator._restored_network(name, _below(arrays, name)))
    for name, array in arrays.items():
        if "." not in name:
            setattr(estimator, name, array)
    return estimator


def _below(arrays, name):
    prefix = f"{name}."
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
