"""Choices of the authors' program, undone or taken up one at a time, to see what each does."""

import copy

from torch import nn

from pu_utils.models import LabelModel, VaePuBayes, VaePuOcc


class LastBatch(LabelModel):
    """The s(x) network, its batch normalisation remembering the last batch alone."""

    def _new_network(self, generator):
        network = super()._new_network(generator)
        for layer in network.modules():
            if isinstance(layer, nn.BatchNorm1d):
                layer.momentum = 0.99
        return network


class OnLabelled(VaePuOcc):
    """VAE-PU+OCC whose one-class model is trained on labelled rows, as the paper's text has it."""

    def _generate(self, X, s, random_state):
        return random_state.permutation(X[s == 1])


def undone(models, data, seed):
    """VP-B and VP-IF, each with one choice made otherwise.

    Parameters
    ----------
    models : dict
        "VP", "VP-IF" and "VP-A3", fitted to the training part of ``data``.
    data : PUData
    seed : int

    Returns
    -------
    dict of str to estimator
        By the name of the method and, in brackets, of the choice.
    """
    train, held, base = data.train, data.validation, models["VP"]

    def fit(model, *true_classes):  # validation: X and S; the oracle wants Y as well
        return model.fit(train.X, train.s, validation=(held.X, held.s, *true_classes))

    occ = VaePuOcc(_with_target(base, models["VP-IF"]), detector=models["VP-A3"].detector)
    after = _with_target(base, fit(occ.set_params(random_state=seed)))
    other_s = copy.copy(base)
    other_s.label_model_ = fit(LastBatch(schedule=base.schedule, random_state=seed))
    oracle = VaePuBayes(base, stopping="oracle", random_state=seed)
    return {
        "VP-B (stopped by true classes)": fit(oracle, held.y),
        "VP-B (after VP-IF and VP-A3)": fit(VaePuBayes(after, random_state=seed)),
        "VP-B (momentum 0.99)": fit(VaePuBayes(other_s, random_state=seed)),
        "VP-IF (of labelled rows)": fit(OnLabelled(base, random_state=seed)),
    }


def _with_target(base, model):
    """A copy of a VAE-PU with the target classifier of a fine-tuned model."""
    base = copy.deepcopy(base)
    base.networks_.target = model.target_
    return base
