"""AugmentedEM: EM whose E-step is the paper's rule and whose class model knows the prior.

SAR-EM (Bekker, Robberechts and Davis 2019) and LBE (Gong et al. 2021) fit s(x) = y(x) e(x) by EM
with logistic models. Three things are added here: the mean of y(x) is held at the class prior, the
class model is a choice, and the propensity may see only what labelling depends on.
"""

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from pu_utils import rules
from pu_utils.models import base, class_models, em
from pu_utils.models.base import estimator, hold_out, warn_caller
from pu_utils.models.em import SETTINGS, TINY, RidgeEstimator, linear

# s = y e exceeds y nowhere, and need not be computed to be counted
NEVER_ABOVE = {"rows_with_s_above_y": 0, "unlabelled_rows_with_s_above_y": 0}
RIDGES = (1.0, 10.0, 100.0)  # what ridge="auto" chooses from
NO_FEATURES = []  # what labelling depends on if it is at random (SCAR)


@estimator
class AugmentedEM(RidgeEstimator):
    """EM for y(x) and e(x) under mean y = prior, the augmented posterior its E-step.

    A round computes every row's augmented posterior (Theorem 1), fits the class model to it, and
    fits a ridge logistic propensity to S with it as weights. Up to 100 columns are standardised;
    wider tables are condensed to principal components, for the class of rows of length 1.

    What must be known is the prior; what helps most is to know what labelling depends on. Where
    class and propensity see the same features, the likelihood of S can prefer a wrong solution:
    see ``exchange_``.

    Parameters
    ----------
    class_model : "auto", "logistic", "neighbours", "gaussian", "trees", classifier, or a list
        Ridge logistic regression; responsibilities smoothed over nearest neighbours, started by a
        flow of labels; two Gaussians with one covariance; boosted trees; or any classifier of
        scikit-learn whose ``fit`` takes ``sample_weight``, cross-fitted as the trees are. Of a list
        one is chosen by the likelihood of S on rows that it has not seen, each fitted to at most
        10,000 others. "auto" is the list of the first two. "gaussian" learns more from unlabelled
        rows, and is better with few labels if each class is one cloud; where it is not, it is much
        worse.
    propensity_features : columns or function, optional
        What labelling depends on, which is then all that the propensity sees: numbers or names of
        columns of X, a mask, or a function of X (an array) with one or several values a row. What
        is not in X is appended to it as columns, at prediction too, and kept from the class by
        ``class_features``. All columns where None; of no columns (``[]``) the propensity is
        constant, as it is if labels are given at random (SCAR).
    class_features : columns or function, optional
        What the class model sees; all columns where None.
    residualise : bool or "auto"
        Whether the class model sees its features less what a linear regression on the propensity
        features explains of them. "auto" tries both where propensity features are given, and keeps
        what has the higher likelihood of S on rows that it has not seen. Say False where what
        labelling depends on tells the class as well: with few labels the choice may go wrong.
    n_neighbours, sharpness : int, float
        Of the class model "neighbours": how many, and what the logit of their mean is multiplied
        by.
    components : int
        Principal components of tables of more than 100 columns. With few labels, fewer may be
        better: every direction that the class model sees is one more to mistake.
    ridge : float or "auto"
        Weight of the penalty on the coefficients of standardised features. "auto" tries 1, 10 and
        100 with every class model, in three times the time, and keeps what has the highest
        likelihood of S on rows that it has not seen. It helps where classes overlap and the
        labelled rows are few for the number of columns.
    choice : "most_likely" or "simplest"
        Of several candidates, the one with the highest held-out likelihood of S, or a simpler one
        within one standard error of it: with a constant propensity, unless neighbours are the most
        likely (and unless ``propensity_features`` are given); otherwise with the largest ridge.
        "simplest" tries that propensity, and ridges as "auto" does, whatever ``ridge`` says.
    max_rounds : int, optional
        Most rounds of EM (of classifiers of scikit-learn at most 6). More rounds make S more
        likely; where class and propensity can be exchanged that is not always for the better.
        Where None it is 30, and 1,000 where propensity features are given.
    tol : float
        Mean change of the responsibilities below which the rounds end.
    prior, validation_fraction, odds, random_state
        As in ``PUClassifier``. The rows held out choose among candidates; the chosen model is
        fitted to all rows of ``X``.

    Attributes
    ----------
    run_ : Run
        The fitted class model and propensity.
    chosen_ : dict
        The parameters of the chosen candidate: class model, propensity features, residualise and
        ridge.
    choice_ : list of dict
        The mean log-likelihood of S on held-out rows of every candidate, and its standard error;
        empty if there is one candidate.
    history_ : list of dict
        For every candidate and round: the mean log-likelihood of S and the mean change of the
        responsibilities.
    exchange_ : dict
        Whether class and propensity can be exchanged. The fit is repeated from y and e in each
        other's place; ``gain`` is how much more likely the fit makes S than that solution, per row,
        ``standard_error`` its standard error over rows, ``disagreement`` the share of unlabelled
        rows on which the two decide differently. A warning is given where the gain is less than
        two standard errors and more than 5% of decisions differ.
    prior_, label_frequency_, diagnostics_
        As in ``PUClassifier``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> y = rng.random(1000) < expit(3 * X[:, 0])
    >>> s = (y & (rng.random(1000) < expit(2 * X[:, 1]))).astype(int)
    >>> model = AugmentedEM("logistic", [1], prior=0.5, residualise=False).fit(X, s)
    >>> bool((model.predict(X, s=s) == y).mean() > 0.8)
    True
    """

    class_model: str | BaseEstimator | list = field(default="auto", kw_only=False)
    propensity_features: Sequence | Callable | None = field(default=None, kw_only=False)
    prior: float | None = field(default=None, kw_only=False)
    class_features: Sequence | Callable | None = None
    ridge: base.NotNegative | base.Auto = SETTINGS.ridge
    residualise: base.Flag | base.Auto = "auto"
    n_neighbours: base.Count = SETTINGS.n_neighbours
    sharpness: base.Positive = SETTINGS.sharpness
    components: base.Count = SETTINGS.components
    choice: base.one_of("most_likely", "simplest") = "most_likely"
    max_rounds: base.Count | None = None
    tol: base.NotNegative = SETTINGS.tol
    validation_fraction: base.Share = SETTINGS.validation_fraction

    @em.one_thread
    def fit(self, X, s, *, validation=None):
        """Fit to rows ``X`` and their label status ``s``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.
        validation : tuple (X, s), optional
            Rows to choose by; held out of ``X`` where not given and where there is a choice.

        Returns
        -------
        AugmentedEM
            Itself.
        """
        X, s = self._training_rows(X, s)
        if self.residualise is True and self.propensity_features is None:
            raise ValueError(
                "residualise is True, but propensity_features is None; name the features that "
                "labelling depends on, of which the class features are to be freed"
            )
        random_state = check_random_state(self.random_state)
        self._settle_prior(self.prior, X, s, random_state)
        self.history_, self.choice_ = [], []
        self.run_ = self._chosen_run(X, s, validation, random_state)
        self.training_rows_, self.chosen_ = np.arange(len(X)), self.run_.candidate
        self.exchange_ = self.run_.exchange(s)
        self.run_.forget_training_rows()
        self._warn_of_exchange()
        self.diagnostics_ = {"rows": len(X), "labelled_rows": int(s.sum())} | NEVER_ABOVE
        return self

    # Choosing among candidates

    def _candidates(self):
        """Class model, propensity features, residualise and ridge of each candidate."""
        names = self.class_model if isinstance(self.class_model, list) else [self.class_model]
        names = ["logistic", "neighbours"] if names == ["auto"] else names
        residuals = [self.residualise]
        if residuals == ["auto"]:
            residuals = [False] if self.propensity_features is None else [False, True]
        simplest = self.choice == "simplest"
        ridges = RIDGES if simplest or self.ridge == "auto" else [self.ridge]
        candidates = [*itertools.product(names, [self.propensity_features], residuals, ridges)]
        if simplest and self.propensity_features is None:
            candidates.append(("logistic", NO_FEATURES, False, SETTINGS.ridge))
        keys = ("class_model", "propensity_features", "residualise", "ridge")
        return [dict(zip(keys, candidate, strict=True)) for candidate in candidates]

    def _chosen_run(self, X, s, validation, random_state):
        """The run of the chosen candidate on all rows."""
        candidates, graphs = self._candidates(), {}
        if len(candidates) == 1:
            return self._run(candidates[0], X, s, random_state, graphs)
        training, (X_held, s_held, *_) = self._parts(X, s, validation, random_state)
        sample = self._sample(*training, random_state)
        runs = [self._run(candidate, *sample, random_state, graphs) for candidate in candidates]
        for run in runs:
            reached = em.log_likelihood(*self._y_and_e(run, X_held), s_held)
            error = float(reached.std() / np.sqrt(len(s_held)))
            score = {"log_likelihood": float(reached.mean()), "standard_error": error}
            self.choice_.append(run.candidate | score)
        chosen = self._chosen_candidate()
        if len(sample[0]) == len(X):
            return runs[chosen]
        return self._run(candidates[chosen], X, s, random_state, graphs)

    def _chosen_candidate(self):
        """The number of the most likely candidate, or of a simpler one that is nearly as likely."""
        most_likely = int(np.argmax([row["log_likelihood"] for row in self.choice_]))
        best = self.choice_[most_likely]
        if self.choice == "most_likely":
            return most_likely
        enough = best["log_likelihood"] - best["standard_error"]
        near = [k for k, row in enumerate(self.choice_) if row["log_likelihood"] >= enough]
        constant = [k for k in near if self.choice_[k]["propensity_features"] is NO_FEATURES]
        if constant and best["class_model"] != "neighbours":
            return constant[0]
        keys = "class_model", "propensity_features", "residualise"
        same = [k for k in near if all(self.choice_[k][key] is best[key] for key in keys)]
        return max(same, key=lambda k: self.choice_[k]["ridge"])

    def _sample(self, X, s, random_state):
        """At most ``choice_rows`` rows, which are enough to choose by."""
        if len(s) <= SETTINGS.choice_rows:
            return X, s
        rows = hold_out(s, SETTINGS.choice_rows / len(s), random_state)[1]
        return X[rows], s[rows]

    def _run(self, candidate, X, s, random_state, graphs):
        model = self._new_class_model(candidate, random_state, graphs)
        known = candidate["propensity_features"] is not None
        default = SETTINGS.told_rounds if known else SETTINGS.max_rounds
        rounds = min(self.max_rounds or default, model.max_rounds)
        run = Run(candidate, model, self.prior_, rounds, self.tol, self.components)
        run.fit(*self._seen(X, candidate), s, random_state)
        self.history_ += [candidate | {"rows": len(X)} | row for row in run.history]
        return run

    def _seen(self, X, candidate):
        """The columns of X that the class sees, and those that the propensity sees."""
        wanted = self.class_features, candidate["propensity_features"]
        return [self._columns(X, features) for features in wanted]

    def _new_class_model(self, candidate, random_state, graphs):
        name, ridge = candidate["class_model"], candidate["ridge"]
        if name == "neighbours":
            return class_models.NeighbourClass(self.n_neighbours, self.sharpness, graphs)
        if name == "logistic":
            return class_models.LogisticClass(ridge)
        if name == "gaussian":
            return class_models.GaussianClass(ridge)
        if name == "trees":
            return class_models.TreesClass(ridge, random_state)
        return class_models.CrossFittedClass(name, ridge, random_state)

    def _warn_of_exchange(self):
        gain, error, disagreement = self.exchange_.values()
        if gain < SETTINGS.exchange_errors * error and disagreement > SETTINGS.exchange_share:
            warn_caller(
                "class and propensity can be exchanged: a solution that starts with the two in "
                "each other's place makes S about as likely or more so, and decides "
                f"{disagreement:.0%} of the unlabelled rows differently (see exchange_). Say what "
                "labelling depends on (propensity_features), or check the predictions on some rows "
                "of known class",
                em.ExchangeWarning,
            )

    # Asking the fitted run

    def _y_and_e(self, run, X):
        return run.posteriors(*self._seen(X, run.candidate))

    def _y_and_s_proba(self, X):
        y, e = self._y_and_e(self.run_, X)
        return y, rules.label_posterior(y, e)

    def _y_proba(self, X):
        return self._y_and_e(self.run_, X)[0]

    def _s_proba(self, X):
        return self._y_and_s_proba(X)[1]


@dataclass
class Run:
    """One run of EM: a class model and a propensity, and what each of them sees of X.

    Attributes with a leading underscore serve the fit, and are dropped after it.
    """

    candidate: dict
    class_model: object
    prior: float
    max_rounds: int
    tol: float
    components: int

    def fit(self, x, z, s, random_state):
        """Look at what the class sees, x, and the propensity, z; then alternate between the two."""
        self.propensity_view = em.Representation(components=self.components).fit(z, random_state)
        self._Z = self.propensity_view.transform(z)
        y = self.class_model.start(self._class_rows(x, random_state), s, self.prior)
        e = np.full(len(s), min(s.mean() / self.prior, 1.0))
        self._iterate(y, e, s, self.max_rounds)

    def _class_rows(self, x, random_state):
        """What the class model sees of x: its representation, of residuals if asked for."""
        self.class_view = em.Representation(
            unit_rows=True, whiten=self.class_model.whiten, components=self.components
        )
        self.residual_coef = None
        if not self.candidate["residualise"]:
            return self.class_view.fit(x, random_state).transform(x)
        self.residual_coef = np.linalg.lstsq(self._Z, x - x.mean(0))[0]
        residuals = x - self._Z @ self.residual_coef
        self.class_view.fit(residuals, random_state)
        explained = residuals.std(0) < 1e-6 * x.std(0)
        self.class_view.map[explained] = 0  # what is left of them is rounding
        return self.class_view.transform(residuals)

    def _iterate(self, y, e, s, max_rounds):
        """Rounds of EM from y and e: the class is fitted to responsibilities r, then, to new ones,
        the propensity.
        """
        self.history = []
        regression = em.RidgeLogistic(self._Z, self.candidate["ridge"])
        r = em.responsibilities(y, e, s)
        for round_ in range(max_rounds):
            before, y = r, self.class_model.update(r)
            self.e_coef = regression.fit(s, em.responsibilities(y, e, s))
            e = regression.proba
            r = em.responsibilities(y, e, s)
            reached, change = em.log_likelihood(y, e, s).mean(), np.abs(r - before).mean()
            row = {"round": round_, "log_likelihood": float(reached), "change": float(change)}
            self.history.append(row)
            if change < self.tol:
                break
        self._y, self._e = y, e

    def exchange(self, s):
        """How this run compares with one that starts with class and propensity exchanged."""
        other = copy.copy(self)
        other.class_model = copy.copy(self.class_model)
        logits = logit(np.clip(self._e, TINY, 1 - TINY))
        start = expit(logits + em.shift_to_prior(logits, self.prior))
        other._iterate(start, self._y, s, min(self.max_rounds, SETTINGS.exchange_rounds))
        gain = em.log_likelihood(self._y, self._e, s) - em.log_likelihood(other._y, other._e, s)
        mine, its = (em.responsibilities(run._y, run._e, s) > 0.5 for run in (self, other))
        return {
            "gain": float(gain.mean()),
            "standard_error": float(gain.std() / np.sqrt(len(s))),
            "disagreement": float((mine != its)[s == 0].mean()),
        }

    def forget_training_rows(self):
        """Drop what served the fit alone."""
        for part in (self, self.class_model):
            for name in [name for name in vars(part) if name.startswith("_")]:
                delattr(part, name)

    def posteriors(self, x, z):
        """y and e at any rows."""
        Z = self.propensity_view.transform(z)
        if self.residual_coef is not None:
            x = x - Z @ self.residual_coef
        y = expit(self.class_model.logit(self.class_view.transform(x)))
        return y, expit(linear(Z, self.e_coef))
