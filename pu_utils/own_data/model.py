"""A model of a reader's table: fitted to it, asked for a ranking."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from tqdm import tqdm

from pu_utils import rules
from pu_utils.calibration import reliability
from pu_utils.models import AugmentedEM, ElkanNoto, SarEm, Upu
from pu_utils.models.base import estimator, hold_out
from pu_utils.own_data import table as tables

METHODS = {
    "augmented-em": partial(AugmentedEM, ridge="auto"),  # in tables classes overlap
    "elkan-noto": ElkanNoto,
    "sar-em": SarEm,
    "upu": Upu,
}
FIT_ROWS = {"neighbours": 20_000, "logistic": 100_000}  # most rows a model is fitted to
BAND_ROWS = 20_000  # most rows that questions about the model are answered with
CHUNK = 50_000  # rows made numbers at a time
LIST = 100  # rows of the list that the band is about, where no budget is given
DEFAULT_FREQUENCIES = 0.8, 0.5, 0.2  # of labels among positives, where no prior is given
AROUND = 0.8, 1.25  # what a given prior is multiplied by for the band
PROPENSITY = "--propensity-columns"
LEAST_PROPENSITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@estimator
class TableModel(BaseEstimator):
    """From a table with a label column to a ranking of its unlabelled rows.

    Parameters
    ----------
    label, positive, id : str, optional
        The label column, the value that means "labelled", the column that names rows.
    prior : float, optional
        P(Y=1), the share of positives among all rows.
    prior_range : tuple of two floats, optional
        Between which the prior lies; its middle then ranks. With neither, half of the positives
        are taken to be labelled, and the range is that of four fifths to one fifth.
    propensity_columns : list of str, optional
        What labelling depends on.
    method : str
        A key of ``METHODS``.
    odds : float
        Cost of a false positive over that of a false negative.
    list_size : int
        Rows of the list that ``band_`` is about.
    seed : int
        Source of all randomness.

    Attributes
    ----------
    columns_ : list of dict
        What was learnt of every column; see :mod:`pu_utils.own_data.table`.
    estimator_ : PUClassifier
        The fitted estimator.
    prior_, range_ : float, list
        The prior that ranks, and the range.
    counts_ : dict
        Numbers of rows: all, labelled, and those the estimator was fitted to.
    band_ : list of dict
        For priors in the range: what follows for the unlabelled rows.
    drivers_ : list of dict
        For every column, how far y(x) and e(x) move when it is shuffled.
    calibration_ : dict
        s(x) estimated and observed on rows that the fit for it has not seen.
    certified_ : list of dict
        For a least propensity: the share of unlabelled rows that are then negative.
    remarks_ : list of str
        Warnings.
    """

    label: str | None = None
    positive: str | None = None
    id: str | None = None
    prior: float | None = None
    prior_range: tuple | None = None
    propensity_columns: list | None = None
    method: str = "augmented-em"
    odds: float = 1.0
    list_size: int = LIST
    seed: int = 0

    def fit(self, table):
        """Fit to the table; see the class."""
        used = {"--label": self.label, "--id": self.id}
        tables.check_columns(table, **used, **{PROPENSITY: self.propensity_columns})
        s, self.positive_, self.label_values_ = tables.label_status(
            table[self.label], self.positive
        )
        tables.check_counts(self.label, s)
        self.range_, self.prior_ = assumed_priors(self.prior, self.prior_range, s.mean())
        self.id_ = self.id or tables.find_id(table, self.label)
        tables.row_names(table, self.id_)
        self.columns_ = tables.describe_columns(table, s, {self.label, self.id_})
        self._check_propensity_columns()
        numbers = [fact for fact in self.columns_ if fact["kind"] != "category"]
        self.remarks_ = tables.unfamiliar(table, numbers)
        vars(self).pop("estimator_", None)  # whose choice an earlier fit would pass on
        with tqdm(total=7, desc="fitting", disable=None) as self._progress:
            self._learn(table, s)
        del self._progress
        return self

    def _check_propensity_columns(self):
        for fact in self.columns_:
            if fact["name"] in (self.propensity_columns or []) and fact["kind"] == "dropped":
                raise ValueError(
                    f"{PROPENSITY} names {fact['name']!r}, which is dropped: "
                    f"{fact['reason']}; leave it out"
                )

    def _learn(self, table, s):
        rows = self._sample(s, BAND_ROWS)
        X, status = tables.design_matrix(table.iloc[rows], self.columns_), s[rows]
        self.counts_ = {"rows": len(s), "labelled": int(s.sum()), "band": len(rows)}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.estimator_ = self._fitted(X, status, self.prior_)
            self._settle(table, s)
            said = sorted({str(warning.message) for warning in caught})
            self.remarks_ += [text.replace("propensity_features", PROPENSITY) for text in said]
            if self.method == "sar-em":
                self._take_its_prior(X[status == 0])
            self.band_ = self._band(X, status)
            self.calibration_ = self._calibration(X, status)
        self.drivers_ = self._drivers(X)
        s_proba = _posteriors(self.estimator_, X[status == 0])[1]
        self.certified_ = [
            {"least_propensity": eps, "share": float(rules.certified_negative(s_proba, eps).mean())}
            for eps in LEAST_PROPENSITIES
        ]

    # Fits

    def _sample(self, s, most):
        """Numbers of at most ``most`` rows, labelled and unlabelled as in the table."""
        if len(s) <= most:
            return np.arange(len(s))
        return hold_out(s, most / len(s), np.random.RandomState(self.seed))[1]

    def _fitted(self, X, s, prior):
        """An estimator fitted to rows; the choice that the first one made is kept."""
        kind = METHODS[self.method]
        options = {"random_state": self.seed, "prior": max(prior, s.mean())}
        if self.propensity_columns:
            seen = np.isin(tables.owners(self.columns_), self.propensity_columns)
            options["propensity_features"] = np.flatnonzero(seen).tolist()
        options |= getattr(getattr(self, "estimator_", None), "chosen_", {})
        known = kind().get_params()
        fitted = kind(**{k: value for k, value in options.items() if k in known}).fit(X, s)
        self._progress.update()
        return fitted

    def _settle(self, table, s):
        """Fit once more, to more rows, where there are more and the model is quick."""
        chosen = getattr(self.estimator_, "chosen_", {}).get("class_model", "logistic")
        rows = self._sample(s, FIT_ROWS[chosen])
        if len(rows) > self.estimator_.diagnostics_["rows"]:
            X = tables.design_matrix(table.iloc[rows], self.columns_)
            self.estimator_ = self._fitted(X, s[rows], self.prior_)

    def _take_its_prior(self, unlabelled):
        """SAR-EM is told no prior: the one that follows from it replaces what was assumed."""
        rows, labelled = self.counts_["rows"], self.counts_["labelled"]
        score = rules.augmented_posterior(*_posteriors(self.estimator_, unlabelled))
        self.prior_ = float(labelled + score.mean() * (rows - labelled)) / rows
        self.range_ = [self.prior_, self.prior_]

    # Questions about the model

    def _band(self, X, s):
        """What follows from priors in the range for the unlabelled rows."""
        X_u, rows, labelled = X[s == 0], self.counts_["rows"], self.counts_["labelled"]
        (low, high), prior = self.range_, self.prior_
        listed, band = None, []
        for value in np.unique([prior, *np.linspace(low, prior, 3), *np.linspace(prior, high, 3)]):
            model = self.estimator_ if value == prior else self._fitted(X, s, value)
            y, s_proba = _posteriors(model, X_u)
            score, called = rules.augmented_posterior(y, s_proba), self._called(y, s_proba)
            first = self._order(y, s_proba)[: self.list_size]
            listed = first if value == prior else listed
            hidden = value * rows - labelled
            band.append({
                "prior": float(value), "hidden": float(hidden), "first": first,
                "all_negative": float(1 - hidden / (rows - labelled)),
                "called": round(called.mean() * (rows - labelled)),
                "right": float(np.where(called, score, 1 - score).mean()),
                "precision": float(score[first].mean()),
            })  # fmt: skip
        for row in band:
            row["same"] = int(np.isin(row.pop("first"), listed).sum())
        return band

    def _calibration(self, X, s):
        """s(x) against S on three tenths of the rows, by a fit to the others."""
        training, held = hold_out(s, 0.3, np.random.RandomState(self.seed))
        model = self._fitted(X[training], s[training], self.prior_)
        estimated, observed = reliability(s[held], _posteriors(model, X[held])[1])
        return {"estimated": estimated.tolist(), "observed": observed.tolist(), "rows": len(held)}

    def _drivers(self, X):
        """How far y(x) and e(x) move, on average, when a column of the table is shuffled."""
        rng, belongs = np.random.default_rng(self.seed), tables.owners(self.columns_)
        X = X[rng.permutation(len(X))[: 1000 if len(belongs) <= 100 else 200]]
        drivers = []
        for name in dict.fromkeys(belongs):
            shuffled, mine = X.copy(), belongs == name
            shuffled[:, mine] = X[rng.permutation(len(X))][:, mine]
            (y, s), (y_after, s_after) = (_posteriors(self.estimator_, x) for x in (X, shuffled))
            moved = np.abs(rules.propensity(y, s) - rules.propensity(y_after, s_after)).mean()
            drivers.append(
                {"name": str(name), "y": float(np.abs(y - y_after).mean()), "e": float(moved)}
            )
        return sorted(drivers, key=lambda row: -row["y"])

    # The ranking

    def _order(self, y, s):
        """Rows from the top down, as :meth:`PUClassifier.ranking_score` orders them."""
        told = getattr(self.estimator_, "propensity_features", None) is not None
        return np.argsort(-(rules.augmented_posterior(y, s) if told else y), kind="stable")

    def _called(self, y, s):
        return rules.augmented_rule(y, s, 0, self.odds)

    def rank(self, table, budget=None, recalibrated=None):
        """The unlabelled rows of a table, most likely positive first.

        Parameters
        ----------
        table : pandas.DataFrame
            With the columns that the model was fitted with, in any order. Where it lacks the label
            column every row is ranked, by y(x).
        budget : int, optional
            How many rows to call positive: the first ones. Where None, those whose odds of being
            positive exceed ``odds``.
        recalibrated : callable, optional
            From the augmented posterior to a better one; see :mod:`pu_utils.own_data.audit`.

        Returns
        -------
        pandas.DataFrame
            The identifier or number of the row, ``y``, ``e``, ``s``, ``augmented`` (missing where
            the label status is unknown) and ``decision``.
        """
        known, kept = self.label in table.columns, np.arange(len(table))
        if known:
            values = table[self.label]
            status = tables.label_status(values, self.positive_, self.label_values_)[0]
            kept = np.flatnonzero(status == 0)
        if not 1 <= (1 if budget is None else budget) <= len(kept):
            raise ValueError(
                f"there are {len(kept):,} rows to rank and --budget is {budget}; give a file with "
                "unlabelled rows, and at most their number"
            )
        y, s = self._posteriors(table, kept)
        if recalibrated is not None:
            y = s + (1 - s) * recalibrated(rules.augmented_posterior(y, s))
        unseen = s if known else np.zeros_like(s)
        order, called = self._order(y, unseen), self._called(y, unseen)
        if budget is not None:
            called = np.isin(np.arange(len(kept)), order[:budget])
        ranked = {
            "row" if self.id_ is None else "id": tables.row_names(table, self.id_).to_numpy()[kept],
            "y": y,
            "e": rules.propensity(y, s),
            "s": s,
            "augmented": rules.augmented_posterior(y, s) if known else np.nan,
            "decision": called.astype(int),
        }
        return pd.DataFrame(ranked).iloc[order].reset_index(drop=True)

    def _posteriors(self, table, rows):
        """y(x) and s(x) of some rows of the table."""
        parts = []
        for start in tqdm(range(0, len(rows), CHUNK), desc="ranking", disable=None):
            chunk = table.iloc[rows[start : start + CHUNK]]
            X = tables.design_matrix(chunk, self.columns_)
            parts.append(_posteriors(self.estimator_, X))
        return np.concatenate(parts, axis=1)


def assumed_priors(prior, prior_range, labelled_share):
    """The range of priors and the one that ranks, or a clear error.

    Examples
    --------
    >>> (low, high), prior = assumed_priors(None, None, labelled_share=0.1)
    >>> round(low, 3), round(prior, 3), round(high, 3)
    (0.125, 0.2, 0.5)
    """
    share = float(labelled_share)
    ends = list(prior_range or ([] if prior is None else [prior]))
    if not all(share < end < 1 for end in ends) or ends != sorted(set(ends)):
        raise ValueError(
            f"the prior is {' to '.join(map(repr, ends))}; it is the share of positives among all "
            f"rows, labelled or not: above the share of labelled rows, {share:.4g}, and below 1 "
            "(10% is 0.1), the lower end of a range first"
        )
    if prior_range is not None:
        return ends, sum(ends) / 2
    if prior is not None:
        low, high = (factor * prior for factor in AROUND)
        return [max(low, (share + prior) / 2), min(high, (1 + prior) / 2)], prior
    most = (1 + share) / 2
    low, middle, high = (min(share / frequency, most) for frequency in DEFAULT_FREQUENCIES)
    return [low, high], middle


def _posteriors(model, X):
    """y(x), and s(x) cut down to it, from one look at the rows."""
    return model._posteriors(X, np.zeros(len(X), dtype=int))[:2]
