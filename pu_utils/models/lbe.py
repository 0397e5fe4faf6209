r"""LBE: two logistic models, of the class and of the propensity, fitted together by EM.

Gong et al., *Instance-dependent positive and unlabeled learning with labeling bias estimation*,
IEEE TPAMI 2021, in the form the paper uses: ``y(x) = sigmoid(b'x)``, ``e(x) = sigmoid(g'x)``.

.. math::

    \text{E-step:}\quad & \tilde y_i = P(Y=1 \mid x_i, S_i)                                & (1) \\
    \text{M-step:}\quad & \max_{b, g} \sum_i \tilde y_i [\log y_i + S_i \log e_i
        + (1 - S_i) \log(1 - e_i)] + (1 - \tilde y_i) \log(1 - y_i)                        & (2) \\
    \text{released:}\quad & (2) + \sum_i (1 - \tilde y_i)(1 - S_i) \log(1 - e_i)           & (3)

(1) is the augmented posterior of Theorem 1. With (3) the propensity's part of the objective no
longer depends on the class: what the released program calls e estimates s.
"""

import copy
from functools import partial

import torch
from sklearn.linear_model import LogisticRegression
from torch.nn import functional as F

from pu_utils import rules
from pu_utils.models import networks
from pu_utils.models.base import Count, Flag, Positive, estimator
from pu_utils.models.networks import NetworkClassifier


def logistic_loss(logit, target):
    """Cross-entropy of each row against a target in [0, 1]."""
    return F.softplus(logit) - target * logit


def expected_loss(logits, s, responsibility):
    """Minus (2), per row: logits of y and e in two columns, ``responsibility`` from (1)."""
    y, e = logits.unbind(1)
    return (logistic_loss(y, responsibility) + responsibility * logistic_loss(e, s)).mean()


def released_loss(logits, s, responsibility):
    """Minus (3), per row: every row counts in the propensity's part."""
    y, e = logits.unbind(1)
    return (logistic_loss(y, responsibility) + logistic_loss(e, s)).mean()


def observed_loss(logits, s):
    """Minus the observed log-likelihood per row, ``S log(y e) + (1 - S) log(1 - y e)``."""
    s_proba = torch.sigmoid(logits).prod(1).clamp(1e-7, 1 - 1e-7)
    return F.binary_cross_entropy(s_proba, s)


@estimator
class Lbe(NetworkClassifier):
    """LBE, the paper's LBE and, asked with ``s``, LBE+S.

    y(x) starts at the logistic regression of S on x, e(x) at 1/2. Every M-step is Adam on
    minibatches, stopped when the expected log-likelihood of the validation part has not improved
    for ``patience`` epochs; EM stops when its observed log-likelihood no longer improves.

    Parameters
    ----------
    released : bool
        Do what the paper's program does: objective (3) instead of (2), and one EM round only (its
        optimiser holds on to parameters that the first early stop replaces, so that nothing
        changes after it). Of 1 to 6 rounds, one fits the published rows of Synth. 1 best; their
        agreement with this switch is therefore no independent confirmation of it.
    max_rounds : int
        Most EM rounds.
    max_epochs, patience : int
        Most epochs of an M-step, and how many without improvement end it.
    learning_rate, batch_size : float, int
        Of Adam.
    device : str
        A device of torch; the steps are too small for a GPU to be of use.
    standardise, verbose, validation_fraction, random_state, odds
        As in ``NetworkClassifier``.

    Attributes
    ----------
    network_ : torch.nn.Module
        Linear map from x to the logits of y(x) and e(x).
    history_ : list of dict
        Losses per EM round and epoch.
    training_rows_ : array of int
        Which rows of ``X`` it was trained on; the others were held out.
    diagnostics_ : dict
        Counts of rows.
    """

    released: Flag = False
    max_rounds: Count = 50
    max_epochs: Count = 100
    patience: Count = 5
    learning_rate: Positive = 1e-3
    batch_size: Count = 64
    device: str = "cpu"

    def _train(self, training, held, random_state):
        self.history_, generator = [], networks.new_generator(random_state, self._device)
        self.network_ = networks.Dense(self.n_features_in_, 2, generator)
        self._start(*training)
        x, s, x_held, s_held = self._tensors(*training, *held[:2])
        best = torch.inf
        for em_round in range(1 if self.released else self.max_rounds):
            before = copy.deepcopy(self.network_.state_dict())
            self._maximise(f"EM round {em_round}", (x, s), (x_held, s_held), generator)
            with torch.no_grad():
                observed = observed_loss(self.network_(x_held), s_held).item()
            if observed >= best:
                self.network_.load_state_dict(before)
                break
            best = observed

    @torch.no_grad()
    def _start(self, X, s):
        """y(x) at the logistic regression of S, e(x) at 1/2."""
        start, network = LogisticRegression(max_iter=1000).fit(X, s), self.network_
        network.weight.zero_()  # the bias is 0 already
        network.weight[:1], network.bias[:1] = self._tensors(start.coef_, start.intercept_)

    def _maximise(self, phase, training, held, generator):
        """The E-step, then an M-step that ends at its best epoch on the validation part."""
        training, held = ((*part, self._responsibility(*part)) for part in (training, held))
        optimizer = networks.adam([self.network_], self.learning_rate)
        minus_objective = released_loss if self.released else expected_loss

        def loss(x, s, responsibility):
            return minus_objective(self.network_(x), s, responsibility)

        def one_epoch():
            batches = networks.shuffled(len(training[0]), self.batch_size, generator)
            parts = ([values[rows] for values in training] for rows in batches)
            return [networks.descend(optimizer, loss(*part)) for part in parts]

        epochs = networks.Epochs(phase, self.max_epochs, self.history_, self.verbose)
        held_loss = partial(loss, *held)
        networks.train_with_early_stopping(
            self.network_, one_epoch, held_loss, epochs, self.patience
        )

    @torch.no_grad()
    def _responsibility(self, x, s):
        """(1), the augmented posterior of every row."""
        y_proba, e = torch.sigmoid(self.network_(x)).cpu().double().numpy().T
        s_proba = rules.label_posterior(y_proba, e)
        posterior = rules.augmented_posterior(y_proba, s_proba, s.cpu().numpy().astype(int))
        return networks.to_tensor(posterior, x.device)

    def _y_proba(self, X):
        return networks.predict_in_batches(self.network_, X)[:, 0]

    def _s_proba(self, X):
        y_proba, e = networks.predict_in_batches(self.network_, X).T
        return rules.label_posterior(y_proba, e)
