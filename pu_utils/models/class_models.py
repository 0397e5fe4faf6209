"""Class models that :class:`AugmentedEM` can fit to responsibilities.

Each has the same three methods. ``start(X, s, prior)`` gives a first y for the training rows,
``update(r)`` is the M-step of the class and gives y for the training rows again, and ``logit(X)``
is the fitted model at any rows. The mean of y over training rows is the prior throughout. ``X`` is
a representation (:class:`pu_utils.models.em.Representation`), not raw features.

Public attributes are what predictions need; those with a leading underscore serve the fit, and
are dropped after it.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from pu_utils.models.base import with_seed
from pu_utils.models.em import SETTINGS, TINY, RidgeLogistic, linear, shift_to_prior

BINS = 255  # as many as HistGradientBoostingClassifier makes


class LogisticClass:
    """Ridge logistic regression, started at the unbiased PU risk with logistic loss.

    Examples
    --------
    >>> X, s = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 0, 1])
    >>> model = LogisticClass()
    >>> bool(model.start(X, s, prior=0.5)[3] > 0.5)
    True
    """

    whiten, max_rounds = True, np.inf

    def __init__(self, ridge=SETTINGS.ridge):
        self.ridge = ridge

    def start(self, X, s, prior):
        """y by the unbiased PU risk: labelled rows stand for all positives, each 1/c times."""
        self._prior = prior
        self._regression = RidgeLogistic(X, self.ridge)
        return self.update(prior * s / s.mean())

    def update(self, r):
        """The M-step: y fitted to responsibilities ``r``."""
        self._regression.fit(r)
        self._regression.shift(shift_to_prior(self._regression.logits, self._prior))
        self.coef = self._regression.coef
        return self._regression.proba

    def logit(self, X):
        """Logit of y at rows ``X``."""
        return linear(X, self.coef)


class GaussianClass(LogisticClass):
    """Two Gaussian classes with one covariance: y is logistic, but learnt from where rows lie.

    A regression learns a row's class from its responsibility alone. This model also learns from the
    unlabelled rows, however uncertain they are, how far the classes lie apart. With T the
    covariance of all rows and d the difference of the class means, that within the classes is
    W = T - pi (1 - pi) d d', and the slope of the logit is W^-1 d, a multiple of T^-1 d.

    Examples
    --------
    >>> X, s = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 0, 1])
    >>> model = GaussianClass()
    >>> y = model.start(X, s, prior=0.5)
    >>> bool(model.update(y)[3] > 0.5)
    True
    """

    def start(self, X, s, prior):
        """y by the unbiased PU risk with logistic loss."""
        self._X, self._prior, (n, p) = X, prior, X.shape
        covariance = np.cov(X.T, bias=True).reshape(p, p)
        self._precision = np.linalg.inv(covariance + self.ridge / n * np.eye(p))
        return LogisticClass(self.ridge).start(X, s, prior)

    def update(self, r):
        """The M-step: class means weighted by ``r``, and the slope that follows from them."""
        share = r.mean()
        spread = share * (1 - share)
        difference = (r - share) @ self._X / (len(r) * spread)
        slope = self._precision @ difference
        slope /= 1 - spread * difference @ slope  # Sherman and Morrison's formula
        logits = self._X @ slope
        shift = shift_to_prior(logits, self._prior)
        self.coef = np.concatenate([[shift], slope])
        return expit(logits + shift)


class NeighbourClass:
    """Weighted means of responsibilities over nearest neighbours, sharpened.

    A row's neighbours weigh ``exp(-d^2 / (sigma_i sigma_j))`` with sigma the distance to the k-th.
    Labels first flow through the graph of neighbours, so that rows far from any label hear of it.
    ``graphs`` holds the graphs that other models of the same rows have built, for all to use.

    Examples
    --------
    >>> X = np.r_[np.arange(10.0), 100 + np.arange(10.0)][:, None]
    >>> s = np.eye(20, dtype=int)[13]
    >>> y = NeighbourClass(n_neighbours=3).start(X, s, prior=0.5)
    >>> bool(y[:10].max() < 0.5 < y[10:].min())
    True
    """

    whiten, max_rounds = False, np.inf

    def __init__(
        self, n_neighbours=SETTINGS.n_neighbours, sharpness=SETTINGS.sharpness, graphs=None
    ):
        self.n_neighbours, self.sharpness = n_neighbours, sharpness
        self._graphs = {} if graphs is None else graphs

    def start(self, X, s, prior):
        """y by the flow of labels: solve (D - flow W) f = labels, D the row sums of W."""
        self._prior, rows = prior, X.tobytes()
        if rows not in self._graphs:
            self._graphs[rows] = self._search_and_graph(X)
        self.search, self.radius, self._graph = self._graphs[rows]
        self._degree = self._graph.sum(axis=1)
        share = s.mean()
        flow = self._solve(np.where(s == 1, 1.0, -share / (1 - share)))
        deviation = flow - np.quantile(flow, 1 - prior)
        logits = SETTINGS.start_slope * deviation / max(flow.std(), TINY)
        return expit(logits + shift_to_prior(logits, prior))

    def _search_and_graph(self, X):
        """The search for neighbours, the distance to each row's k-th, and the graph."""
        # brute force goes in chunks of constant size; trees win below about ten columns only
        n_neighbours = min(self.n_neighbours, len(X) - 1)
        search = NearestNeighbors(n_neighbors=n_neighbours, algorithm="brute").fit(X)
        distance, index = search.kneighbors()
        self.radius = distance[:, -1]
        weights = self._weights(distance, self.radius, index)
        return search, self.radius, self._symmetric(weights, index)

    def _weights(self, distance, radius, index):
        scale = np.maximum(radius[:, None] * self.radius[index], TINY)
        return np.exp(-np.minimum(distance**2 / scale, SETTINGS.furthest))

    def _symmetric(self, weights, index):
        n, k = index.shape
        rows = np.repeat(np.arange(n), k)
        graph = sp.csr_array((weights.ravel(), (rows, index.ravel())), shape=(n, n))
        return graph.maximum(graph.T).tocsr()

    def _solve(self, labels):
        mean_degree = self._degree.mean()
        system = (sp.diags_array(self._degree) - SETTINGS.flow * self._graph) / mean_degree
        inverse_diagonal = sp.diags_array(mean_degree / self._degree)
        return cg(system, labels, rtol=1e-5, maxiter=1000, M=inverse_diagonal)[0]

    def update(self, r):
        """The M-step: every row's y from its neighbours' responsibilities ``r``, not its own."""
        self.responsibilities = r
        logits = self._sharpened(self._graph @ r / self._degree)
        self.shift = shift_to_prior(logits, self._prior)
        return expit(logits + self.shift)

    def _sharpened(self, mean):
        return self.sharpness * _clipped_logit(mean)

    def logit(self, X):
        """Logit of y at rows ``X``; a training row counts itself among its neighbours here."""
        distance, index = self.search.kneighbors(X)
        weights = self._weights(distance, distance[:, -1], index)
        mean = (weights * self.responsibilities[index]).sum(1) / weights.sum(1)
        return self._sharpened(mean) + self.shift


class CrossFittedClass:
    """Any classifier of scikit-learn that takes weights, fitted to one half, asked at the other.

    Every row enters the fit twice: as class 1 with weight r, as class 0 with weight 1 - r. Asked at
    new rows, the fits' logits are averaged.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, s = np.arange(40.0)[:, None], np.repeat([0, 1], [30, 10])
    >>> model = CrossFittedClass(DecisionTreeClassifier(max_depth=2))
    >>> y = model.start(X, s, prior=0.5)
    >>> bool(model.update(y)[0] < 0.5)
    True
    """

    whiten, max_rounds = True, SETTINGS.boosted_rounds

    def __init__(self, classifier, ridge=SETTINGS.ridge, random_state=None):
        self._classifier, self._ridge = classifier, ridge
        self._random_state = check_random_state(random_state)
        probabilistic = hasattr(classifier, "predict_proba")
        if not (probabilistic and has_fit_parameter(classifier, "sample_weight")):
            raise ValueError(
                f"class_model is {classifier!r}; give 'auto', 'logistic', 'neighbours', "
                "'gaussian', 'trees', or a classifier whose fit takes sample_weight"
            )

    def start(self, X, s, prior):
        """y by the unbiased PU risk with logistic loss."""
        self._X, self._prior = X, prior
        n_folds = min(SETTINGS.folds, int(s.sum()), int((1 - s).sum()))
        if n_folds < 2:  # a stratum of one row cannot be held out
            self._folds = [(np.arange(len(s)), np.arange(len(s)))]
        else:
            folds = StratifiedKFold(n_folds, shuffle=True, random_state=self._random_state)
            self._folds = list(folds.split(X, s))
        self._seeded = with_seed(self._classifier, self._random_state.randint(2**31 - 1))
        return LogisticClass(self._ridge).start(X, s, prior)

    def update(self, r):
        """The M-step: a fit to each fold's complement, asked at the fold."""
        self.models, logits = [], np.empty(len(r))
        for training, held in self._folds:
            self.models.append(self._fit(training, r[training]))
            logits[held] = _clipped_logit(self.models[-1].predict_proba(self._X[held])[:, 1])
        self.shift = shift_to_prior(logits, self._prior)
        return expit(logits + self.shift)

    def _fit(self, rows, r):
        weights = np.concatenate([r, 1 - r])
        X, labels = self._X[np.tile(rows, 2)], np.repeat([1, 0], len(rows))
        used = weights > 0
        return clone(self._seeded).fit(X[used], labels[used], sample_weight=weights[used])

    def logit(self, X):
        """Logit of y at rows ``X``, the mean over the fits."""
        logits = [_clipped_logit(model.predict_proba(X)[:, 1]) for model in self.models]
        return np.mean(logits, axis=0) + self.shift


class TreesClass(CrossFittedClass):
    """Boosted trees, cross-fitted, of columns rounded to 255 quantiles.

    scikit-learn would find such quantiles anew for every fit, which takes most of its time where
    rows have weights; of rounded columns it need not.

    Examples
    --------
    >>> X, s = np.arange(200.0)[:, None], np.repeat([0, 1], [150, 50])
    >>> model = TreesClass()
    >>> y = model.start(X, s, prior=0.5)
    >>> bool(model.update(y)[0] < 0.5)
    True
    """

    def __init__(self, ridge=SETTINGS.ridge, random_state=None):
        trees = {"max_iter": 60, "max_leaf_nodes": 15, "early_stopping": False}
        super().__init__(HistGradientBoostingClassifier(**trees), ridge, random_state)

    def start(self, X, s, prior):
        """y by the unbiased PU risk with logistic loss."""
        quantiles = np.quantile(X, np.linspace(0, 1, BINS), axis=0)
        columns = zip(quantiles.T, X.T, strict=True)
        rounded = [values[np.searchsorted(values[:-1], column)] for values, column in columns]
        return super().start(np.column_stack(rounded), s, prior)


def _clipped_logit(share):
    return logit(np.clip(share, SETTINGS.clip, 1 - SETTINGS.clip))
