"""Stacked training: several seeds at once, each to the result of its own training.

Small networks leave a GPU waiting for its next kernel. Here the networks of several seeds are one,
whose parameters have a leading dimension, so that a kernel serves all seeds. Random numbers come
from each seed's own generator, in the order in which its own training draws them. Seeds have
unequal numbers of rows: these are padded to equal number, and what is padded has weight 0 in every
mean and is nobody's nearest row. The steps and their formulas are those of a single training.
"""

import copy
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector
from torch.nn.utils.rnn import pad_sequence

from pu_utils.models.fine_tuning import FineTuning, Strata, VaePuBayes, VaePuOcc
from pu_utils.models.networks import History, LabelModel, LabelTraining, Training, adam, draw
from pu_utils.models.vae_pu import ClassShares, Trainer, VaePu

ALIKE = ("schedule", "epoch_scale", "likelihood", "label_weight", "generator_weight")
ALIKE += ("target_weight", "device")  # parameters that stacked estimators share


def fit_stacked(estimators, rows, validations=None):
    """Fit estimators that differ in their seeds, rows and priors alone, all at once.

    Each is then what its own ``fit`` would have made of it, to rounding. One-class models are
    fitted one by one, and so are label models where the seeds have unequal numbers of rows.

    Parameters
    ----------
    estimators : list of LabelModel, of VaePu, of VaePuBayes or of VaePuOcc
        Those to fit, all of one kind.
    rows : list of tuple (X, s)
        What each is fitted to.
    validations : list of tuple (X, s) or (X, s, y), optional
        What each is stopped by; held out of its rows where not given.

    Returns
    -------
    list
        The estimators, fitted.
    """
    kinds = {type(one) for one in estimators}
    if len(kinds) > 1 or not kinds <= {*TRAIN}:
        known = ", ".join(kind.__name__ for kind in TRAIN)
        raise ValueError(
            f"estimators are {sorted(kind.__name__ for kind in kinds)}; give some of one kind, of "
            f"{known}, and fit others one by one"
        )
    for name in ALIKE:
        _check_alike(name, [getattr(one, name, None) for one in estimators])
    validations = validations or [None] * len(estimators)
    begun = [
        one._begin(*own, validation)
        for one, own, validation in zip(estimators, rows, validations, strict=True)
    ]
    TRAIN[type(estimators[0])](estimators, [parts for _, *parts in begun])
    for one, (own, *_) in zip(estimators, begun, strict=True):
        one._diagnose(*own)
    return estimators


def _check_alike(name, values):
    if any(value != values[0] for value in values):
        raise ValueError(f"{name} differs: {values}; give one, or fit the estimators one by one")


# Rows of unequal number


class Rows:
    """Indices of rows of each seed, padded to equal number; all rows where there is no index."""

    def __init__(self, sizes, index=None):
        self.sizes, self.index = tuple(sizes), index  # (seeds, longest)

    @classmethod
    def of(cls, indices):
        """From the indices of each seed."""
        return cls(map(len, indices), pad_sequence(indices, batch_first=True))

    def __len__(self):
        return max(self.sizes)


class Layout(NamedTuple):
    """Which places of padded parts, one part after another, hold a row."""

    weights: torch.Tensor  # (seeds, n): of the rows in a mean, 0 where padded
    padding: torch.Tensor  # (seeds, n): the places that hold none
    places: torch.Tensor  # those that hold one, all seeds in one line
    counts: list  # of rows of each seed


@lru_cache(1024)  # few are needed, over and over, and none then waits for a GPU
def layout(parts, device):
    """The layout of parts, each given by its sizes."""
    cpu = torch.device("cpu")  # whence they are sent once
    held = [
        torch.arange(max(sizes), device=cpu) < torch.tensor(sizes, device=cpu)[:, None]
        for sizes in parts
    ]
    held = torch.cat(held, dim=1)
    weights = held / held.sum(1, keepdim=True).clamp(min=1)
    places = held.flatten().nonzero().squeeze(1)
    tensors = (x.to(device) for x in (weights, ~held, places))
    return Layout(*tensors, held.sum(1).tolist())


class Weighted:
    """One value per row, and weights that make a sum the mean over the rows of a seed.

    Functions of torch act on the values, by its protocol ``__torch_function__``.
    """

    def __init__(self, values, weights):
        self.values, self.weights = values, weights

    def __neg__(self):
        return Weighted(-self.values, self.weights)

    def mean(self):
        """Of each seed."""
        return (self.values * self.weights).sum(-1)

    @classmethod
    def __torch_function__(cls, function, types, arguments, options=None):
        one, *others = arguments
        if function is F.binary_cross_entropy_with_logits:  # which would take the mean itself
            return cls(function(one.values, *others, reduction="none"), one.weights).mean()
        return cls(function(one.values, *others, **(options or {})), one.weights)


class Noise(NamedTuple):
    """A source of random numbers for rows of a layout; see ``draw`` in ``networks``."""

    generators: list
    layout: Layout

    def draw(self, distribution, shape):
        """Numbers of each seed from its own generator, and 0 where padded."""
        counted = zip(self.layout.counts, self.generators, strict=True)
        drawn = torch.cat([draw(distribution, (n, *shape[2:]), own) for n, own in counted if n])
        numbers = drawn.new_zeros(shape)
        numbers.view(-1, *shape[2:])[self.layout.places] = drawn
        return numbers


# Networks and steps


def stacked(modules):
    """One module with the parameters and buffers of all, which become views of its own.

    Its ``vectors`` are the parameters once more, one vector per seed.
    """
    joint = copy.deepcopy(modules[0])
    if parameters := list(joint.parameters()):
        joint.vectors = torch.stack(
            [parameters_to_vector(m.parameters()) for m in modules]
        ).detach()
        blocks = joint.vectors.split([one.numel() for one in parameters], dim=1)
        for block, one, *own in zip(
            blocks, parameters, *(m.parameters() for m in modules), strict=True
        ):
            one.data = block.view(len(modules), *one.shape)
            for parameter, values in zip(own, one.data, strict=True):
                parameter.data = values
    for one, *own in zip(joint.modules(), *(m.modules() for m in modules), strict=True):
        for name, _ in list(one.named_buffers(recurse=False)):
            setattr(one, name, torch.stack([getattr(module, name) for module in own]))
            for module, values in zip(own, getattr(one, name), strict=True):
                setattr(module, name, values)
    return joint


def part(modules):
    """Give modules that were stacked memory of their own again."""
    for module in modules:
        for value in (*module.parameters(), *module.buffers()):
            value.data = value.data.clone()
        module.eval()


class StackedAdam:
    """Adam of each seed, on one vector of parameters per module; seeds without a batch rest."""

    def __init__(self, modules, learning_rate, weight_decay=0.0):
        self.modules, self.resting = modules, ()
        self.param_groups = [{"params": list(module.parameters())} for module in modules]
        vectors = [nn.ParameterList(module.vectors.unbind()) for module in modules]
        self.seeds = adam(vectors, learning_rate, weight_decay)

    def zero_grad(self):
        """Forget gradients."""
        for module in self.modules:
            module.zero_grad()

    def step(self):
        """One step of every seed that does not rest, on the modules that have gradients."""
        for module, group in zip(self.modules, self.seeds.param_groups, strict=True):
            gradients = [parameter.grad for parameter in module.parameters()]
            if gradients[0] is None:
                continue
            gradients = torch.cat([values.flatten(1) for values in gradients], dim=1)
            for seed, vector in enumerate(group["params"]):
                vector.grad = None if seed in self.resting else gradients[seed]
        self.seeds.step()
        self.seeds.zero_grad()


# Trainings


class Stack(Training):
    """What a training does with its rows, for all seeds at once; some may rest."""

    resting = ()

    def __init__(self, trainings):
        self.trainings, first = trainings, trainings[0]
        self.history = History(first.history.verbose)

    def take(self, x, rows):
        index = rows.index if isinstance(rows, Rows) else rows
        return x if index is None else x[torch.arange(len(x), device=x.device)[:, None], index]

    def weigh(self, values, *rows):
        return Weighted(values, self.layout(*rows).weights)

    def noise(self, *rows):
        sources = [one.generator for one in self.trainings]
        for seed in self.resting:  # a batch that it does not have costs it no number
            sources[seed] = torch.Generator(self.device)
        return Noise(sources, self.layout(*rows))

    def padding(self, rows):
        return self.layout(rows).padding

    def layout(self, *rows):
        """Of parts that lie one after another."""
        return layout(tuple(one.sizes for one in rows), self.device)

    def padded(self, parts):
        """A tensor of the rows of all seeds, and all of them as rows to take."""
        self.device = parts[0].device
        return pad_sequence(parts, batch_first=True), Rows(map(len, parts))

    def joint_shares(self):
        """The shares of each seed, as tensors."""
        shares = zip(*(one.shares for one in self.trainings), strict=True)
        return ClassShares(*(torch.tensor(share, device=self.device) for share in shares))


class StackedLabelTraining(Stack, LabelTraining):
    """Label models of several seeds with equal numbers of rows: their batches are never padded."""

    def __init__(self, trainings):
        super().__init__(trainings)
        self.network, self.schedule = stacked([t.network for t in trainings]), trainings[0].schedule
        training, held = (
            [self.padded(values) for values in zip(*(t.parts[k] for t in trainings), strict=True)]
            for k in range(2)
        )
        self.parts, self.all_held = [[x for x, _ in training], [x for x, _ in held]], held[0][1]
        self.optimizer = StackedAdam([self.network], self.schedule.label_learning_rate)

    def batches(self):
        return [
            Rows.of(dealt) for dealt in zip(*(t.batches() for t in self.trainings), strict=True)
        ]


class StackedTrainer(Stack, Trainer):
    """VAE-PU of several seeds."""

    def __init__(self, trainings):
        super().__init__(trainings)
        self.schedule, self.weights = trainings[0].schedule, trainings[0].weights
        networks = [one.networks for one in trainings]
        self.networks = copy.deepcopy(networks[0])
        for name, _ in list(self.networks.named_children()):
            setattr(self.networks, name, stacked([getattr(one, name) for one in networks]))
        mixture = self.networks.mixture
        for name, values in list(mixture.named_buffers()):
            setattr(mixture, name, values.unsqueeze(1))  # one for all rows of a seed
        self.labelled, _ = self.padded([one.labelled for one in trainings])
        self.unlabelled, self.pool = self.padded([one.unlabelled for one in trainings])
        self.shares = self.joint_shares()
        self.set_optimizers(StackedAdam)

    def run(self, name, n_epochs, step):
        for epoch in self.history.epochs(name, n_epochs):
            losses, taken = [], []
            for labelled, unlabelled in self.batches():
                losses.append(step(labelled, unlabelled))
                taken.append(unlabelled.sizes)
            taken = torch.tensor(taken, device=self.device) > 0  # (steps, seeds)
            means = {
                key: ((torch.stack([one[key] for one in losses]) * taken).sum(0) / taken.sum(0))
                for key in losses[0]
            }
            means = {key: values.tolist() for key, values in means.items()}
            for seed, one in enumerate(self.trainings):
                one.history.keep(name, epoch, {key: values[seed] for key, values in means.items()})

    def batches(self):
        none = torch.empty(0, dtype=torch.long, device=self.device)
        for dealt in zip_longest(*(one.batches() for one in self.trainings)):
            self.resting = [seed for seed, rows in enumerate(dealt) if rows is None]
            for name in ("autoencoder", "discriminator", "target"):
                getattr(self, f"{name}_optimizer").resting = self.resting
            yield map(Rows.of, zip(*(rows or (none, none) for rows in dealt), strict=True))

    def fix_mixture(self):
        for one in self.trainings:
            one.fix_mixture()


class StackedFineTuning(Stack, FineTuning):
    """Fine-tunings of several seeds."""

    def __init__(self, trainings):
        super().__init__(trainings)
        self.network = stacked([one.network for one in trainings])
        self.strata = self.joint_strata([one.strata for one in trainings])
        self.held = self.joint_strata([one.held for one in trainings])
        self.shares = self.joint_shares()

    def joint_strata(self, strata):
        """The strata of all seeds."""
        labelled, all_labelled = self.padded([one.labelled for one in strata])
        unlabelled, all_unlabelled = self.padded([one.unlabelled for one in strata])
        chosen = Rows.of([one.chosen for one in strata])
        return Strata(labelled, unlabelled, chosen, all_labelled, all_unlabelled)


# Estimators; parts are those that ``_train`` of each is given


def train_label_models(models, parts):
    """Label models; one by one where the seeds have unequal numbers of rows."""
    if len({len(s) for (_, s), *_ in parts}) > 1:  # batch normalisation knows no padding
        for model, own in zip(models, parts, strict=True):
            model._train(*own)
        return
    trainings = [model._label_training(*own) for model, own in zip(models, parts, strict=True)]
    StackedLabelTraining(trainings).train([(one.network, one.history) for one in trainings])
    part([one.network for one in trainings])


def train_vae_pu(models, parts):
    """The label models, then the networks of VAE-PU."""
    training, held, random_states = zip(*parts, strict=True)
    for model, rows, random_state in zip(models, training, random_states, strict=True):
        model.label_model_ = model._new_label_model(rows, random_state)
    fit_stacked([model.label_model_ for model in models], training, [rows[:2] for rows in held])
    trainers = [
        model._new_trainer(rows, random_state)
        for model, rows, random_state in zip(models, training, random_states, strict=True)
    ]
    StackedTrainer(trainers).train()
    part([one.networks for one in trainers])


def fine_tune(models, parts):
    """The bases that are not fitted, then the target classifiers."""
    training, held, random_states = zip(*parts, strict=True)
    for model, rows in zip(models, held, strict=True):
        model._check_validation(rows)
    bases = [model._new_base(own) for model, own in zip(models, random_states, strict=True)]
    if not all(hasattr(base, "networks_") for base in bases):
        fit_stacked(bases, training, [rows[:2] for rows in held])
    _check_alike("the schedule of the bases", [base.schedule_ for base in bases])
    begun = zip(models, bases, parts, strict=True)
    tunings, criteria = zip(
        *(one._fine_tuning(base, *own) for one, base, own in begun), strict=True
    )
    stack = StackedFineTuning(tunings)
    stack.train(
        models[0]._adam(StackedAdam, stack.network),
        bases[0].schedule_.fine_tuning_steps,
        (lambda: torch.stack([oracle() for oracle in criteria])) if criteria[0] else None,
        [(one.network, one.history) for one in tunings],
    )
    part([one.network for one in tunings])


TRAIN = {
    LabelModel: train_label_models,
    VaePu: train_vae_pu,
    VaePuBayes: fine_tune,
    VaePuOcc: fine_tune,
}
