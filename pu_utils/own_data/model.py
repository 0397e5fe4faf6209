"""A model of a reader's table: fitted to it, asked for a ranking, stored without pickle."""

import warnings

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from tqdm.auto import tqdm

from pu_utils import rules
from pu_utils.calibration import reliability
from pu_utils.models import AugmentedEM, ElkanNoto, SarEm, Upu
from pu_utils.models.base import estimator, hold_out
from pu_utils.models.storage import Stored
from pu_utils.own_data import table as tables

METHODS = {"augmented-em": AugmentedEM, "elkan-noto": ElkanNoto, "sar-em": SarEm, "upu": Upu}
FIT_ROWS = {"neighbours": 20_000, "logistic": 100_000}  # most rows a model is fitted to
BAND_ROWS = 20_000  # most rows that questions about the model are answered with
CHUNK = 50_000  # rows made numbers at a time
LIST = 100  # rows of the list that the band is about, where no budget is given
DEFAULT_FREQUENCIES = 0.8, 0.5, 0.2  # of labels among positives, where no prior is given
AROUND = 0.8, 1.25  # what a given prior is multiplied by for the band
MANY_ABOVE = 0.05  # share of rows with s above y beyond which y ranks better
LEAST_PROPENSITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


@estimator
class TableModel(Stored, BaseEstimator):
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
        tables.check_columns(
            table, **{"--label": self.label, "--id": self.id},
            **{"--propensity-columns": self.propensity_columns},
        )  # fmt: skip
        s, self.positive_, self.label_values_ = tables.label_status(
            table[self.label], self.positive
        )
        tables.check_counts(self.label, s)
        self.range_, self.prior_ = assumed_priors(self.prior, self.prior_range, s.mean())
        self.id_ = self.id or tables.find_id(table, self.label)
        tables.row_names(table, self.id_)
        self.columns_ = tables.describe_columns(table, s, {self.label, self.id_})
        self.remarks_ = tables.unfamiliar(table, self.columns_)
        with tqdm(total=8, desc="fitting", disable=None) as self._progress:
            self._learn(table, s)
        return self

    def _learn(self, table, s):
        rows = self._sample(s, BAND_ROWS)
        X = tables.design_matrix(table.iloc[rows], self.columns_)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.estimator_ = self._fitted(X, s[rows], self.prior_)
            self._settle(table, s)
        self.remarks_ += sorted({str(warning.message) for warning in caught})
        labelled = int(s.sum())
        self.counts_ = {"rows": len(s), "labelled": labelled, "unlabelled": len(s) - labelled}
        self.counts_ |= {"fitted": self.estimator_.diagnostics_["rows"], "band": len(rows)}
        if self.method == "sar-em":
            self._take_its_prior(X[s[rows] == 0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.band_ = self._band(X, s[rows])
            self.calibration_ = self._calibration(X, s[rows])
        self.drivers_ = self._drivers(X)
        self.certified_ = self._certified(X[s[rows] == 0])
        self._remark_on_fit()

    # Fits

    def _sample(self, s, most):
        """Numbers of at most ``most`` rows, labelled and unlabelled as in the table."""
        if len(s) <= most:
            return np.arange(len(s))
        return hold_out(s, most / len(s), np.random.RandomState(self.seed))[1]

    def _fitted(self, X, s, prior):
        """An estimator fitted to rows; the choice that the first one made is kept."""
        options = {"random_state": self.seed}
        if self.method != "sar-em":
            options["prior"] = max(prior, s.mean())
        if self.method in ("augmented-em", "sar-em") and self.propensity_columns:
            seen = np.isin(tables.owners(self.columns_), self.propensity_columns)
            self._check_propensity_columns()
            options["propensity_features"] = np.flatnonzero(seen).tolist()
        if self.method == "augmented-em" and hasattr(self, "estimator_"):
            options |= self.estimator_.chosen_
        fitted = METHODS[self.method](**options).fit(X, s)
        self._progress.update()
        return fitted

    def _check_propensity_columns(self):
        for fact in self.columns_:
            if fact["name"] in self.propensity_columns and fact["kind"] == "dropped":
                raise ValueError(
                    f"--propensity-columns names {fact['name']!r}, which tells nothing: "
                    f"{fact['reason']}; leave it out"
                )

    def _settle(self, table, s):
        """Fit once more, to more rows, where there are more and the model is quick."""
        chosen = getattr(self.estimator_, "chosen_", {}).get("class_model", "logistic")
        rows = self._sample(s, FIT_ROWS[chosen])
        if len(rows) > self.estimator_.diagnostics_["rows"]:
            X = tables.design_matrix(table.iloc[rows], self.columns_)
            self.estimator_ = self._fitted(X, s[rows], self.prior_)

    def _take_its_prior(self, unlabelled):
        """SAR-EM is told no prior: the one that follows from it replaces what was assumed."""
        hidden = self._scores(self.estimator_, unlabelled).mean() * self.counts_["unlabelled"]
        self.prior_ = float((self.counts_["labelled"] + hidden) / self.counts_["rows"])
        self.range_ = [self.prior_, self.prior_]
        self.remarks_.append(
            "--method sar-em takes no prior: the prior below is its own estimate, which leans on "
            "logistic models of class and propensity; --method augmented-em shows a band of priors"
        )

    # Questions about the model

    def _band(self, X, s):
        """What follows from priors in the range for the unlabelled rows."""
        (low, high), prior, rows = self.range_, self.prior_, self.counts_["rows"]
        unlabelled, of = X[s == 0], self.counts_["unlabelled"]
        size = min(self.list_size, len(unlabelled))
        first = self._scores(self.estimator_, unlabelled)
        listed = set(_descending(first)[:size])
        band = []
        for value in np.unique([*np.linspace(low, prior, 3), *np.linspace(prior, high, 3)]):
            same = value == prior
            score = first if same else self._scores(self._fitted(X, s, value), unlabelled)
            order, called = _descending(score)[:size], self._called(score)
            hidden = value * rows - self.counts_["labelled"]
            band.append({
                "prior": float(value),
                "hidden": float(hidden),
                "all_negative": float(1 - hidden / of),
                "called": round(called.mean() * of),
                "right": float(np.where(called, score, 1 - score).mean()),
                "precision": float(score[order].mean()),
                "same": len(listed & set(order)),
            })  # fmt: skip
        return band

    def _scores(self, model, X):
        return rules.augmented_posterior(*_posteriors(model, X))

    def _called(self, score):
        """The rows whose odds of being positive exceed ``odds``."""
        return score * (1 + self.odds) > self.odds

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
        before = _class_and_propensity(self.estimator_, X)
        drivers = []
        for name in dict.fromkeys(belongs):
            shuffled, mine = X.copy(), belongs == name
            shuffled[:, mine] = X[rng.permutation(len(X))][:, mine]
            after = _class_and_propensity(self.estimator_, shuffled)
            moved = [float(np.abs(a - b).mean()) for a, b in zip(after, before, strict=True)]
            drivers.append({"name": str(name), "y": moved[0], "e": moved[1]})
        return sorted(drivers, key=lambda row: -row["y"])

    def _certified(self, X):
        s = _posteriors(self.estimator_, X)[1]
        shares = [(eps, certified_negative(s, eps).mean()) for eps in LEAST_PROPENSITIES]
        return [{"least_propensity": eps, "share": float(share)} for eps, share in shares]

    def _remark_on_fit(self):
        above = self.share_above()
        if above > 0:
            does = "; the ranking is by y(x)" if above > MANY_ABOVE else ""
            self.remarks_.append(
                f"s(x) exceeds y(x) in {above:.1%} of the unlabelled rows, which no truth can: "
                f"the two were fitted apart (--method augmented-em fits them together){does}"
            )
        main = next(row for row in self.band_ if row["prior"] == self.prior_)
        if main["called"] == 0:
            self.remarks_.append(
                "no unlabelled row is more likely positive than not: the best decision without "
                "costs is to call none; rank with --budget or --cost"
            )

    def share_above(self):
        """The share of unlabelled rows whose s(x) was estimated above y(x)."""
        facts = self.estimator_.diagnostics_
        above = facts["unlabelled_rows_with_s_above_y"]
        return above / (facts["rows"] - facts["labelled_rows"])

    # The ranking

    def label_status(self, table):
        """The label status of rows, or None where the table has no label column."""
        if self.label not in table.columns:
            return None
        return tables.label_status(table[self.label], self.positive_, self.label_values_)[0]

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
        status = self.label_status(table)
        names = tables.row_names(table, self.id_)
        kept = np.arange(len(table)) if status is None else np.flatnonzero(status == 0)
        if not len(kept):
            raise ValueError("every row of the file is labelled; there is nothing to rank")
        if budget is not None and not 1 <= budget <= len(kept):
            raise ValueError(
                f"--budget is {budget}; it must be between 1 and the number of rows to rank, "
                f"{len(kept):,}"
            )
        y, s = self._posteriors(table, kept)
        if recalibrated is not None:
            y = s + (1 - s) * recalibrated(rules.augmented_posterior(y, s))
        score = y if status is None else rules.augmented_posterior(y, s)
        order = np.lexsort((-y, -score))
        if status is not None and self.share_above() > MANY_ABOVE:
            order = _descending(y)
        called = self._called(score)
        if budget is not None:
            called = np.isin(np.arange(len(kept)), order[:budget])
        columns = {
            "row" if self.id_ is None else "id": names.to_numpy()[kept],
            "y": y,
            "e": rules.propensity(y, s),
            "s": s,
            "augmented": np.nan if status is None else score,
            "decision": called.astype(int),
        }
        return pd.DataFrame(columns).iloc[order].reset_index(drop=True)

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
    given = {"--prior": [prior], "--prior-range": prior_range}
    for option, values in given.items():
        for value in values or []:
            if value is not None and not labelled_share < value < 1:
                raise ValueError(
                    f"{option} is {value!r}; the prior is the share of positives among all rows, "
                    f"labelled or not: a number above the share of labelled rows, "
                    f"{labelled_share:.4g}, and below 1 (write 10% as 0.1)"
                )
    most = (1 + labelled_share) / 2
    if prior is not None:
        low, high = (factor * prior for factor in AROUND)
        return [max(low, (labelled_share + prior) / 2), min(high, (1 + prior) / 2)], prior
    if prior_range is not None:
        low, high = prior_range
        if low >= high:
            raise ValueError(f"--prior-range is {low!r} {high!r}; give the lower end first")
        return [low, high], (low + high) / 2
    low, middle, high = (min(labelled_share / c, most) for c in DEFAULT_FREQUENCIES)
    return [low, high], middle


def certified_negative(s, least_propensity):
    """Rows that are negative for the best rule if every positive's propensity is at least so."""
    # y <= s / eps, and y <= (1 + s) / 2 follows from s <= eps / (2 - eps)
    return s <= least_propensity / (2 - least_propensity)


def _posteriors(model, X):
    """y(x), and s(x) cut down to it, from one look at the rows."""
    y, s, _ = model._posteriors(X, np.zeros(len(X), dtype=int))
    return y, s


def _class_and_propensity(model, X):
    y, s = _posteriors(model, X)
    return y, rules.propensity(y, s)


def _descending(score):
    return np.argsort(-score, kind="stable")
