"""The label model: a network for s(x) = P(S=1 | x), which the paper trains beside VAE-PU."""

from torch.nn import functional as F

from pu_utils.models.networks import Classifier, NormalisedDense
from pu_utils.models.training import (
    History,
    NetworkClassifier,
    adam,
    new_generator,
    predict_in_batches,
    resolve_device,
    shuffled,
    to_tensor,
    train_while_improving,
)
from pu_utils.schedules import resolve_schedule


class LabelModel(NetworkClassifier):
    """Network that estimates ``s(x)``, the probability of being labelled.

    A dense network with batch normalisation, trained on the cross-entropy of S, and stopped when
    the cross-entropy on the validation part has not improved for ``label_patience`` epochs; the
    best epoch is kept.

    As a classifier of Y it is the non-traditional one: it takes every unlabelled row for a
    negative, ``y(x) = s(x)``.

    Parameters
    ----------
    schedule : str or Schedule
        Size of the network and of its training: a name in
        ``pu_utils.schedules.SCHEDULES`` ("paper", "fast", "small"...) or a schedule of your own.
    validation_fraction : float
        Part of the rows held out for stopping where ``fit`` is not given a validation part.
    odds : float
        What the odds of class 1 must exceed for class 1 to be predicted.
    random_state : int, RandomState or None
        Source of the initial weights and of the order of the rows.
    device : str
        "auto" or a device of torch.
    verbose : bool
        Whether to show progress.

    Attributes
    ----------
    network_ : torch.nn.Module
        The trained network; it gives logits.
    history_ : list of dict
        Cross-entropy per epoch, on the training and the validation part.
    training_rows_ : array of int
        Which rows of ``X`` it was trained on; the others were held out.
    diagnostics_ : dict
        Counts of rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> s = (X[:, 0] > 0).astype(int)
    >>> model = LabelModel(schedule="fast", random_state=0).fit(X, s)
    >>> model.predict_label_proba(X).shape
    (200,)
    """

    def __init__(
        self,
        *,
        schedule="paper",
        validation_fraction=0.15,
        odds=1.0,
        random_state=None,
        device="auto",
        verbose=False,
    ):
        self.schedule = schedule
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
            Rows.
        s : array of shape (n,)
            1 where labelled, 0 elsewhere.
        validation : tuple (X, s), optional
            Rows to stop by; held out of ``X`` where not given.

        Returns
        -------
        LabelModel
            Itself.
        """
        X, s = self._training_rows(X, s)
        random_state = self._random_state()
        training, held = self._validation_rows(X, s, validation, random_state)
        self._train(training, held[:2], random_state)
        self._diagnose(X, s)
        return self

    def _train(self, training, validation, random_state):
        schedule, device = resolve_schedule(self.schedule), resolve_device(self.device)
        generator, history = new_generator(random_state, device), History(self.verbose)
        x, s = (to_tensor(array, device) for array in training)
        x_held, s_held = (to_tensor(array, device) for array in validation)
        network = self._new_network("network_", generator)
        train_while_improving(
            network,
            adam([network], schedule.label_learning_rate),
            lambda: shuffled(len(x), schedule.label_batch_size, generator),
            lambda rows: F.binary_cross_entropy_with_logits(network(x[rows]), s[rows]),
            lambda: F.binary_cross_entropy_with_logits(network(x_held), s_held),
            history,
            ("label model", schedule.label_epochs, schedule.label_patience),
        )
        self.network_, self.history_ = network, history.rows

    def _label_posterior(self, X):
        return predict_in_batches(self.network_, X, resolve_device(self.device))

    _class_posterior = _label_posterior

    def _new_network(self, name, generator):
        hidden = resolve_schedule(self.schedule).target_hidden
        return Classifier(self.n_features_in_, hidden, generator, NormalisedDense)
