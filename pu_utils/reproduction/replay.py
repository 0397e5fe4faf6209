"""The authors' programs replayed, to tell what the published tables compare.

This file serves that comparison and nothing else. In the released programs (VAE-PU-Bayes for
Table 1, VP-Bayes-S for Tables 2 to 5 and A2 to A5) fine-tuning acts on *one* network throughout,
with one state of Adam, and the best step is never restored: each published number is that of a
network trained further than the one before it,

    Table 1:     VP -> VP-IF -> VP-A3 -> VP-B
    the others:  VP -> VP-B -> VP-B+S -> all rows with odds above 1 (twice) -> VP+S

where steps are stopped by the *true* classes of the validation part, when F1 (of y(x) > 1/2 for
Table 1, of the naive rule for the others) or, in the second of each pair, U-F1 of the augmented
rule has been lower than before ten times in a row. Rows are selected by the network as it is when a
selector is first used. Besides, the prior odds enter the mixture's
responsibilities to the power of the latent's dimension, and class shares are those of all rows.

Of the last network the tables know nothing: the published VP+S behaves as VP itself does.

A schedule with fewer steps than the paper's is patient in proportion.
"""

import copy

import numpy as np
import torch
from sklearn.metrics import f1_score

from pu_utils import rules
from pu_utils.metrics import u_f1
from pu_utils.models.fine_tuning import Strata, highest, selected_risks
from pu_utils.models.networks import adam, descend, predict_in_batches, resolve_device, to_tensor
from pu_utils.models.vae_pu import CLASS_DIMENSION, WEIGHT_DECAY, Mixture, VaePu


class ProgramMixture(Mixture):
    """The prior of h_y, its weights counted once per dimension of the latent."""

    def log_joint(self, h):
        return super().log_joint(h) + (CLASS_DIMENSION - 1) * self.weights.log()


class ProgramVaePu(VaePu):
    """VAE-PU with the program's responsibilities; it remembers the optimiser of its target."""

    def _new_trainer(self, X, s, generator):
        self.networks_.mixture = ProgramMixture(generator.device)
        trainer = super()._new_trainer(X, s, generator)
        self.target_optimizer_ = trainer.target_optimizer
        return trainer


def replayed(models, data):
    """The networks behind the published numbers, in the order of the programs.

    Parameters
    ----------
    models : dict
        Fitted to the training part of ``data``: "VP", a ``ProgramVaePu``, and "VP-B" and, where
        Table 1 is replayed too, "VP-IF" and "VP-A3", which lend the rows they selected.
    data : PUData

    Returns
    -------
    dict of str to torch.nn.Module
        Target classifiers by the name of the published numbers: "VP-B", "VP-B+S" and "VP+S" and,
        of Table 1, "VP-IF", "VP-A3" and "VP-B of Table 1".
    """
    network, found = OneNetwork(models["VP"], data), {}
    selected = models["VP-B"].selected_
    found["VP-B"] = network.fine_tune(selected, network.naive_f1)
    found["VP-B+S"] = network.fine_tune(selected, network.augmented_u_f1)
    likely = network.unlabelled_rows[network.odds() >= 1]
    network.fine_tune(likely, network.naive_f1)
    found["VP+S"] = network.fine_tune(likely, network.augmented_u_f1)
    if "VP-IF" in models:
        network = OneNetwork(models["VP"], data)
        for name in ("VP-IF", "VP-A3"):
            found[name] = network.fine_tune(models[name].selected_, network.x_only_f1)
        likely = network.unlabelled_rows[highest(network.odds(), len(selected))]
        found["VP-B of Table 1"] = network.fine_tune(likely, network.x_only_f1)
    return found


class OneNetwork:
    """The target classifier of a VAE-PU, and its optimiser, handed on from method to method."""

    def __init__(self, base, data):
        train = data.train
        self.base, self.held = base, data.validation
        self.device, schedule = resolve_device(base.device), base.schedule_
        self.target = copy.deepcopy(base.networks_.target).to(self.device)
        rate = schedule.fine_tuning_learning_rate or schedule.target_learning_rate
        self.optimizer = adam([self.target], rate, WEIGHT_DECAY)
        state = copy.deepcopy(base.target_optimizer_.state_dict())
        for group in state["param_groups"]:
            group["lr"] = rate
        self.optimizer.load_state_dict(state)
        self.n_steps = schedule.fine_tuning_steps
        self.patience = max(1, self.n_steps // 10)  # 10 of the paper's 100
        self.unlabelled_rows = np.flatnonzero(train.s == 0)
        self.rows = train.X[self.unlabelled_rows]
        self.unlabelled = to_tensor(self.rows, self.device)
        self.labelled = to_tensor(train.X[train.s == 1], self.device)
        self.label_posterior = base.predict_label_proba(self.rows)
        self.held_label_posterior = base.predict_label_proba(self.held.X)

    def fine_tune(self, selected, score):
        """Full-batch steps with the selected rows for positives until ``score(y)`` falls for long.

        A score that stays as it was counts as a gain. Returns a copy of the network as the last
        step leaves it.
        """
        rows = np.searchsorted(self.unlabelled_rows, selected)
        best, waited, shares = 0, 0, self.base._shares()
        strata = Strata(self.labelled, self.unlabelled, torch.as_tensor(rows, device=self.device))
        for _ in range(self.n_steps if len(selected) else 0):
            positive, negative = selected_risks(self.target, strata, shares)
            descend(self.optimizer, torch.where(negative < 0, positive, positive + negative))
            reached = score(predict_in_batches(self.target, self.held.X))
            best, waited = (reached, 0) if reached >= best else (best, waited + 1)
            if waited >= self.patience:
                break
        return copy.deepcopy(self.target)

    def x_only_f1(self, y):
        """F1 of y(x) > 1/2 on the validation part."""
        return f1_score(self.held.y, y > 0.5)

    def naive_f1(self, y):
        """The same with labelled rows called positive."""
        return f1_score(self.held.y, rules.naive_rule(y, self.held.s))

    def augmented_u_f1(self, y):
        """F1 of the augmented rule on the unlabelled rows of the validation part."""
        s = np.minimum(self.held_label_posterior, y)
        return u_f1(self.held.y, rules.augmented_rule(y, s, self.held.s), self.held.s)

    def odds(self):
        """Augmented odds of the unlabelled training rows, by the network as it is."""
        y = predict_in_batches(self.target, self.rows)
        return rules.augmented_odds(y, np.minimum(self.label_posterior, y))
