r"""VAE-PU: a variational autoencoder that invents the unlabelled positives a PU risk needs.

Na et al., *Deep generative positive-unlabeled learning under selection bias*, CIKM
2020, in the form the paper uses. An example has two latents: ``h_y`` carries its class, ``h_o``
its label status. The terms below are, for one batch (L labelled rows, U unlabelled, E over both),

.. math::

    \text{negative ELBO} &= E[-\log p(x \mid h_y, h_o)]                          & (1) \\
      &+ E[KL(q(h_y, k \mid x) \,\|\, p(h_y \mid k)\, p(k))],
                                    \quad p(h_y \mid k) = N(\mu_k, \sigma_k^2)   & (2) \\
      &+ KL(q(h_o \mid x, o) \,\|\, N(0, I))                                     & (3) \\
    \text{label loss} &= E[-\log p(o \mid h_o)]                                  & (4) \\
    \text{discriminator loss} &= E_{PU}[-\log(1 - D(x))] + E_U[-\log D(x)]       & (5) \\
    \text{generator loss} &= E_{PU}[-\log D(x)]                                  & (6) \\
    \text{target loss} &= E_{PU}[\sigma(-g(x))]                                  & (7) \\
    R^+ &= \pi_{PL} E_L[\ell(g)] + \pi_{PU} E_{PU}[\ell(g)]                      & (8) \\
    R^- &= P(S=0) E_U[\ell(-g)] - \pi_{PU} E_{PU}[\ell(-g)]                      & (9)

where PU are the generated rows, ``o`` the label status, ``g`` the target classifier's logit,
``l(g) = log(1 + exp(-g))``, ``pi_PL = c pi``, ``pi_PU = pi - pi_PL`` and ``P(S=0) = 1 - pi_PL``.
(2) is the term of VaDE (Jiang et al., IJCAI 2017); (8) and (9) make the non-negative risk of Kiryo
et al. (NeurIPS 2017) without the assumption that labelled rows are like all positives.

Two things that the papers leave open are as in the authors' program,
https://github.com/wawrzenczyka/VAE-PU-Bayes: E weighs every row of a batch alike, and pretraining
decodes sampled latents.
"""

import math
from itertools import islice
from numbers import Real
from typing import Annotated, NamedTuple

import numpy as np
import torch
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted
from torch import nn
from torch.nn import functional as F

from pu_utils.models.base import NotNegative, estimator, one_of
from pu_utils.models.networks import (
    Classifier,
    Dense,
    DenseNetwork,
    Epochs,
    LabelModel,
    NetworkClassifier,
    adam,
    binary_cross_entropy,
    descend,
    dropout,
    in_parts,
    new_generator,
    permutation,
    predict_in_batches,
)
from pu_utils.schedules import Schedule, resolve_schedule

DROPOUT = 0.3  # of the discriminator's hidden units
CLASS_DIMENSION = 10  # of h_y, the latent that carries the class
LABEL_DIMENSION = 2  # of h_o, the latent that carries the label status
WEIGHT_DECAY = 1e-5  # of the label head and of the target classifier
GENERATED_AT_ONCE = 1000  # rows: distances to all unlabelled rows may fill the memory


# The networks


class Latent(NamedTuple):
    """Mean and log-variance of a diagonal Gaussian, one row per example."""

    mean: torch.Tensor  # (n, d)
    log_variance: torch.Tensor  # (n, d)

    def sample(self, generator):  # -> (n, d)
        noise = torch.randn(self.mean.shape, generator=generator, device=generator.device)
        return torch.addcmul(self.mean, noise, torch.exp(0.5 * self.log_variance))

    def rows(self, index):
        return Latent(self.mean[index], self.log_variance[index])


class Encoder(DenseNetwork):
    """x -> mean and log-variance of a latent."""

    def forward(self, x):  # (n, p) -> (n, d), (n, d)
        return Latent(*super().forward(x).chunk(2, dim=1))


class LabelEncoder(Encoder):
    """(x, o) -> mean and log-variance of h_o; the label status enters as a one-hot pair."""

    def forward(self, x, o):  # (n, p), (n,) -> (n, d), (n, d)
        return super().forward(torch.cat([x, 1 - o[:, None], o[:, None]], dim=1))


class Decoder(DenseNetwork):
    """(h_y, h_o) -> x, or the logits of x where x is made of pixels in [0, 1]."""

    def forward(self, h_y, h_o):  # (n, 10), (n, 2) -> (n, p)
        return super().forward(torch.cat([h_y, h_o], dim=1))


class Discriminator(Classifier):
    """x -> logit of being real, with dropout of the hidden units."""

    def forward(self, x, generator):  # (n, p) -> (n,)
        return self.out(dropout(self.hidden(x), DROPOUT, generator)).squeeze(1)


class Mixture(nn.Module):
    """Prior of h_y: a fixed diagonal Gaussian for each class, negative first."""

    def __init__(self, device):
        super().__init__()
        self.register_buffer("weights", torch.full((2,), 0.5, device=device))
        self.register_buffer("means", torch.zeros(2, CLASS_DIMENSION, device=device))
        self.register_buffer("variances", torch.ones(2, CLASS_DIMENSION, device=device))

    def log_joint(self, h):  # (n, 10) -> (n, 2): log weight + log density, up to a constant
        squares = (h[:, None] - self.means) ** 2 / self.variances  # (n, 2, 10)
        return self.weights.log() - 0.5 * (squares + self.variances.log()).sum(2)


class VaePuNetworks(nn.Module):
    """All that VAE-PU trains, and the prior of h_y that it fixes on the way."""

    def __init__(self, n_features, schedule, generator, likelihood="gaussian"):
        super().__init__()
        self.likelihood = likelihood
        p, d_y, d_o = n_features, CLASS_DIMENSION, LABEL_DIMENSION
        hidden = schedule.autoencoder_hidden
        self.encoder_y = Encoder((p, *hidden, 2 * d_y), generator)
        self.encoder_o = LabelEncoder((p + 2, *hidden, 2 * d_o), generator)
        self.decoder = Decoder((d_y + d_o, *hidden, p), generator)
        self.label_head = Dense(d_o, 1, generator)
        self.discriminator = Discriminator((p, *schedule.discriminator_hidden, 1), generator)
        self.target = Classifier((p, *schedule.target_hidden, 1), generator)
        self.mixture = Mixture(generator.device)

    def observed(self, decoded):
        """The decoder's output on the scale of x."""
        return decoded if self.likelihood == "gaussian" else torch.sigmoid(decoded)

    @torch.no_grad()
    def encode_all(self, labelled, unlabelled):
        """h_y of the labelled rows, h_y of the unlabelled ones, and h_o of the latter."""
        o = torch.zeros(len(unlabelled), device=unlabelled.device)
        return self.encoder_y(labelled), self.encoder_y(unlabelled), self.encoder_o(unlabelled, o)

    @torch.no_grad()
    def generate(self, q_y, q_pool, q_o, generator):
        """Artificial unlabelled positives: own h_y of a labelled row, h_o of the nearest in U.

        ``q_y`` and ``q_pool`` are h_y of the labelled rows and of the unlabelled rows that may be
        nearest; ``q_o`` is a function from indices of the latter to their h_o.
        """
        h_y, h_pool = q_y.sample(generator), q_pool.sample(generator)  # (n_L, 10), (n_U, 10)
        h_o = q_o(nearest(h_y, h_pool)).sample(generator)  # (n_L, 2)
        return self.observed(self.decoder(h_y, h_o))  # (n_L, p)


@torch.no_grad()
def nearest(queries, pool):  # (n, d), (m, d) -> (n,)
    """Index of the row of ``pool`` nearest to each row of ``queries``."""
    # |q - p|^2 = |q|^2 + |p|^2 - 2 q'p, and |q|^2 does not change the order
    return torch.addmm(pool.square().sum(1), queries, pool.T, alpha=-2).argmin(1)


# The terms of the objective


def reconstruction_error(x, decoded, likelihood):
    """(1): of each row, squared error / 2 or cross-entropy of the pixels, summed."""
    if likelihood == "gaussian":
        return 0.5 * (x - decoded).square().sum(1)
    return F.binary_cross_entropy_with_logits(decoded, x, reduction="none").sum(1)


def class_divergence(latent, h_y, mixture):
    """(2): of each row, divergence of q(h_y, k | x) from the mixture, k judged by sampled h_y."""
    log_responsibility = torch.log_softmax(mixture.log_joint(h_y), dim=1)  # (n, 2)
    responsibility = log_responsibility.exp()
    mean, variance = latent.mean[:, None], latent.log_variance.exp()[:, None]  # (n, 1, 10)
    squares = (mean - mixture.means) ** 2 + variance
    # E_q[-log p(h_y | k)] - H(q(h_y | x)): the constants in 2 pi cancel
    cross = 0.5 * (mixture.variances.log() + squares / mixture.variances).sum(2)  # (n, 2)
    entropy = 0.5 * (1 + latent.log_variance).sum(1)  # (n,)
    divergence_k = log_responsibility - mixture.weights.log()  # (n, 2)
    return (responsibility * (cross + divergence_k)).sum(1) - entropy


def label_divergence(latent):
    """(3): of each row, divergence of q(h_o | x, o) from the standard normal distribution."""
    mean, log_variance = latent
    return 0.5 * (log_variance.exp() + mean.square() - 1 - log_variance).sum(1)


def label_loss(logit, labelled):
    """(4): of each row, cross-entropy of the label status given h_o."""
    return F.binary_cross_entropy_with_logits(logit, labelled, reduction="none")


def discriminator_loss(generated, real):
    """(5): cross-entropy of telling generated rows from real unlabelled ones, given logits."""
    return binary_cross_entropy(generated, 0) + binary_cross_entropy(real, 1)


def generator_loss(generated):
    """(6): how far the discriminator is from taking generated rows for real ones."""
    return binary_cross_entropy(generated, 1)


def target_loss(generated):
    """(7): how far the target classifier is from taking generated rows for positives."""
    return torch.sigmoid(-generated).mean()


class ClassShares(NamedTuple):
    """Shares of the population: labelled, unlabelled positive, unlabelled."""

    labelled: float  # pi_PL = c pi
    unlabelled_positive: float  # pi_PU = pi - pi_PL
    unlabelled: float  # P(S=0) = 1 - pi_PL

    def batch_sizes(self, batch_size):
        """Labelled and unlabelled rows of a batch in these shares, at least one of each.

        Examples
        --------
        >>> ClassShares(0.0101, 0.4899, 0.9899).batch_sizes(1000)
        (11, 989)
        """
        labelled = max(1, math.ceil(round(batch_size * self.labelled, 6)))  # 10.000...02 is 10
        return labelled, max(1, batch_size - labelled)


def pu_risks(g_labelled, g_generated, g_unlabelled, shares):
    """(8) and (9): logistic risk of the positives, and that of the negatives as a difference."""
    pi_pl, pi_pu, p_unlabelled = shares
    loss = binary_cross_entropy
    positive = pi_pl * loss(g_labelled, 1) + pi_pu * loss(g_generated, 1)
    negative = p_unlabelled * loss(g_unlabelled, 0) - pi_pu * loss(g_generated, 0)
    return positive, negative


def pu_objective(positive, negative):
    """What a step descends: the risk, or minus the negative risk where that is below 0."""
    return torch.where(negative < 0, -negative, positive + negative)


# Batches


def equal_batches(n_labelled, n_unlabelled, batch_size, generator):
    """Indices of the labelled and of the unlabelled rows of each step of an epoch.

    The unlabelled rows are shuffled and dealt out once, to batches as equal as can be; the labelled
    ones in the proportion of the data, at least one a step, beginning again when they run out.
    """
    n_steps = round((n_labelled + n_unlabelled) / batch_size)
    n_steps = max(1, min(n_steps, n_unlabelled))  # no step without unlabelled rows
    unlabelled, labelled = permutation(n_unlabelled, generator), permutation(n_labelled, generator)
    n_dealt = n_steps * math.ceil(n_labelled / n_steps)
    cycle = torch.arange(n_dealt, device=generator.device) % n_labelled
    yield from zip(labelled[cycle].chunk(n_steps), unlabelled.tensor_split(n_steps), strict=True)


def exact_batches(labelled_cycle, n_unlabelled, size, generator):
    """The same as in the paper's program, which keeps the small last batch.

    The shuffled unlabelled rows are dealt out in batches of ``size``, and what is left over is a
    step of its own; the labelled rows come from a cycle that runs on from epoch to epoch.
    """
    for unlabelled in permutation(n_unlabelled, generator).split(size):
        yield next(labelled_cycle), unlabelled


def endless_cycle(n_rows, size, generator):
    """Indices of the next ``size`` rows of a shuffled cycle, shuffled anew when it is used up."""
    order = torch.empty(0, dtype=torch.long, device=generator.device)
    while True:
        while len(order) < size:
            order = torch.cat([order, permutation(n_rows, generator)])
        yield order[:size]
        order = order[size:]


# The phases


class Phase(NamedTuple):
    """A part of the main loop: what it trains, and whether (7) is in the objective."""

    name: str
    autoencoder: bool
    target: bool
    adversarial: bool


PHASES = (
    Phase("autoencoder", autoencoder=True, target=False, adversarial=False),
    Phase("target", autoencoder=False, target=True, adversarial=False),
    Phase("adversarial autoencoder", autoencoder=True, target=False, adversarial=True),
    Phase("autoencoder and target", autoencoder=True, target=True, adversarial=True),
    Phase("last target", autoencoder=False, target=True, adversarial=False),
)


class Trainer:
    """The state of one training: networks, optimisers, rows and random numbers."""

    def __init__(self, options, labelled, unlabelled, generator):
        self.networks, self.schedule = options.networks_, options.schedule_
        self.labelled, self.unlabelled, self.generator = labelled, unlabelled, generator
        self.shares, self.history, self.verbose = options._shares(), [], options.verbose
        self.batch_sizes = self.shares.batch_sizes(self.schedule.batch_size)
        self.labelled_cycle = endless_cycle(len(labelled), self.batch_sizes[0], generator)
        self.weights = {  # of the terms that have one
            "label": options.label_weight,
            "generator": options.generator_weight,
            "target_adversary": options.target_weight,
        }
        networks, rate = self.networks, self.schedule.learning_rate
        autoencoder = [networks.encoder_y, networks.encoder_o, networks.decoder]
        decay = [0, 0, 0, WEIGHT_DECAY]
        self.autoencoder_optimizer = adam([*autoencoder, networks.label_head], rate, decay)
        self.discriminator_optimizer = adam([networks.discriminator], rate)
        rate = self.schedule.target_learning_rate
        self.target_optimizer = adam([networks.target], rate, WEIGHT_DECAY)

    def train(self):
        """Pretraining, the prior of h_y, the main loop."""
        self.run("pretraining", self.schedule.pretraining_epochs, self.pretraining_step)
        self.fix_mixture()
        for phase, n_epochs in zip(PHASES, self.schedule.phase_epochs, strict=True):
            if n_epochs > 0:
                self.run(phase.name, n_epochs, self.step_of(phase))

    def run(self, name, n_epochs, step):
        """Epochs of steps; ``step(labelled, unlabelled)`` returns the losses of a batch."""
        epochs = Epochs(name, n_epochs, self.history, self.verbose)
        for epoch in epochs:
            steps = [step(*rows) for rows in self.batches()]
            means = {k: torch.stack([losses[k] for losses in steps]).mean() for k in steps[0]}
            epochs.record(epoch, means)

    def batches(self):
        """Indices of the rows of each step of an epoch, as the schedule deals them."""
        n_labelled, n_unlabelled = len(self.labelled), len(self.unlabelled)
        if self.schedule.last_batch == "kept":
            _, size = self.batch_sizes
            batches = exact_batches(self.labelled_cycle, n_unlabelled, size, self.generator)
        else:
            size = self.schedule.batch_size
            batches = equal_batches(n_labelled, n_unlabelled, size, self.generator)
        return islice(batches, self.schedule.epoch_steps)

    def batch(self, labelled, unlabelled):
        """Rows of a batch, labelled first, and their label status."""
        x = torch.cat([self.labelled[labelled], self.unlabelled[unlabelled]])  # (n, p)
        o = torch.zeros(len(x), device=x.device)  # (n,)
        o[: len(labelled)] = 1
        return x, o

    def pretraining_step(self, labelled, unlabelled):
        """Reconstruction alone, from sampled latents: noise forces their means apart."""
        x, o = self.batch(labelled, unlabelled)
        h_y = self.networks.encoder_y(x).sample(self.generator)
        h_o = self.networks.encoder_o(x, o).sample(self.generator)
        decoded = self.networks.decoder(h_y, h_o)
        loss = reconstruction_error(x, decoded, self.networks.likelihood).mean()
        return {"reconstruction": descend(self.autoencoder_optimizer, loss)}

    @torch.no_grad()
    def fix_mixture(self):
        """Fit the prior of h_y to the means of all rows; most labelled rows are near class 1."""
        x = torch.cat([self.labelled, self.unlabelled])
        means = self.networks.encoder_y(x).mean.cpu().double().numpy()
        seed = int(torch.randint(2**31 - 1, (), generator=self.generator, device=x.device))
        fitted = GaussianMixture(2, covariance_type="diag", random_state=seed).fit(means)
        squares = (means[:, None] - fitted.means_) ** 2 / fitted.covariances_
        nearer = (squares + np.log(fitted.covariances_)).sum(2).argmin(1)  # of -2 log density
        positive = int((nearer[: len(self.labelled)] == 1).mean() > 0.5)
        self.near_positives = nearer == positive
        order, mixture = [1 - positive, positive], self.networks.mixture
        prior = self.shares.labelled + self.shares.unlabelled_positive
        mixture.weights.copy_(torch.tensor([1 - prior, prior], device=x.device))
        mixture.means.copy_(torch.from_numpy(fitted.means_[order]))
        mixture.variances.copy_(torch.from_numpy(fitted.covariances_[order]))

    def step_of(self, phase):
        """The step of a phase of the main loop, from the rows of a batch to its losses."""
        encoded = None
        if not phase.autoencoder:  # the encoders rest: one encoding serves all steps
            encoded = self.networks.encode_all(self.labelled, self.unlabelled)

        def step(labelled, unlabelled):
            losses = {}
            if phase.autoencoder:
                losses |= self.autoencoder_step(labelled, unlabelled, phase.adversarial)
            if phase.target:
                pool = slice(None) if self.schedule.target_pool == "all" else unlabelled
                losses |= self.target_step(labelled, pool, encoded)
            return losses

        return step

    def autoencoder_step(self, labelled, unlabelled, adversarial):
        """A step of the discriminator, then one of encoders, decoder and label head."""
        networks, generator, n_labelled = self.networks, self.generator, len(labelled)
        x, o = self.batch(labelled, unlabelled)
        q_y, q_o = networks.encoder_y(x), networks.encoder_o(x, o)
        h_y, h_o = q_y.sample(generator), q_o.sample(generator)  # (n, 10), (n, 2)
        own_h_y = h_y[:n_labelled]
        match = n_labelled + nearest(own_h_y, h_y[n_labelled:])  # (n_L,)
        latents = torch.cat([h_y, own_h_y]), torch.cat([h_o, h_o[match]])
        decoded, generated = networks.decoder(*latents).split([len(x), n_labelled])
        generated = networks.observed(generated)  # (n_L, p)
        discriminator = self.discriminator_step(generated.detach(), x[n_labelled:])
        terms = {
            "reconstruction": reconstruction_error(x, decoded, networks.likelihood).mean(),  # (1)
            "class_divergence": class_divergence(q_y, h_y, networks.mixture).mean(),  # (2)
            "label_divergence": label_divergence(q_o).mean(),  # (3)
            "label": label_loss(networks.label_head(h_o).squeeze(1), o).mean(),  # (4)
            "generator": generator_loss(networks.discriminator(generated, generator)),  # (6)
        }
        if adversarial:
            terms["target_adversary"] = target_loss(networks.target(generated))  # (7)
        loss = sum(self.weights.get(name, 1.0) * term for name, term in terms.items())
        descend(self.autoencoder_optimizer, loss)
        return {"discriminator": discriminator} | {k: term.detach() for k, term in terms.items()}

    def discriminator_step(self, generated, real):
        """A step on (5), weighted like (6); returns the loss without its weight."""
        logit = self.networks.discriminator(torch.cat([generated, real]), self.generator)
        loss = discriminator_loss(*logit.split([len(generated), len(real)]))
        descend(self.discriminator_optimizer, self.weights["generator"] * loss)
        return loss.detach()

    def target_step(self, labelled, pool, encoded):
        """A step of the target classifier on labelled, generated and unlabelled rows."""
        generated = self.generate(labelled, pool, encoded)
        x = torch.cat([self.labelled[labelled], generated, self.unlabelled[pool]])  # (n, p)
        n_labelled = len(labelled)
        g = in_parts(self.networks.target, x).tensor_split((n_labelled, 2 * n_labelled))
        positive, negative = pu_risks(*g, self.shares)  # (8), (9)
        descend(self.target_optimizer, pu_objective(positive, negative))
        return {"positive_risk": positive.detach(), "negative_risk": negative.detach()}

    @torch.no_grad()
    def generate(self, labelled, pool, encoded):
        """Rows generated for labelled rows from a pool of unlabelled ones.

        Unless all rows are encoded already, h_o is encoded for the nearest rows and no others.
        """
        if encoded is None:
            x, encoder_o = self.unlabelled[pool], self.networks.encoder_o
            q_y, q_pool = map(self.networks.encoder_y, (self.labelled[labelled], x))

            def q_o(match):
                return encoder_o(x[match], torch.zeros(len(match), device=x.device))
        else:
            q_y, q_pool = encoded[0].rows(labelled), encoded[1].rows(pool)
            q_o = encoded[2].rows(pool).rows
        return self.networks.generate(q_y, q_pool, q_o, self.generator)


# The estimator


@estimator
class VaePu(NetworkClassifier):
    """VAE-PU (Na et al. 2020) with a label model beside it: the paper's VP and VP+S.

    Parameters
    ----------
    prior : float, optional
        P(Y=1), which the paper takes as known; estimated by ``estimate_prior``, with a
        warning, where None.
    label_frequency : float, optional
        c = P(S=1 | Y=1); the share of the training rows that are labelled, over the prior, where
        None. (The paper's program takes it from all rows, held out or not.)
    schedule : str or Schedule
        Sizes of the networks and of their training: a name in
        ``pu_utils.schedules.SCHEDULES`` ("brisk", "fast", "paper"...) or a schedule of your own.
    epoch_scale : float
        Factor of the epochs of VAE-PU; the paper halves them for synthetic data
        (``paper_settings`` knows what it sets for each dataset).
    likelihood : {"gaussian", "bernoulli"}
        What the decoder makes: features, or pixels in [0, 1].
    label_weight, generator_weight, target_weight : float
        Weights of the terms (4), of (5) and (6), and of (7).
    standardise, device, verbose, validation_fraction, random_state, odds
        As in ``NetworkClassifier``.

    Attributes
    ----------
    networks_ : VaePuNetworks
        The trained networks.
    schedule_ : Schedule
        The schedule they were trained by.
    label_model_ : LabelModel
        The fitted label model, of the same schedule.
    prior_, label_frequency_ : float
        P(Y=1), given or estimated, and P(S=1 | Y=1) that follows from it.
    history_ : list of dict
        Losses per phase and epoch, each without its weight.
    training_rows_ : array of int
        Which rows of ``X`` it was trained on; the others were held out.
    near_positives_ : array of bool
        Whether each of them lay nearer to the positive component of the prior of h_y when it was
        fitted, after pretraining. How far this split is that of the classes decides much.
    diagnostics_ : dict
        Counts of rows, among them those whose estimate of s(x) exceeds that of y(x); such
        rows, if unlabelled, count as ``ytilde = 0``.

    Examples
    --------
    One epoch of each phase, to see how it is asked; a real training takes minutes.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[0], [2]], 100, axis=0)
    >>> s = np.repeat([0, 1], 100) * (rng.random(200) < 0.5)
    >>> once = Schedule(pretraining_epochs=1, phase_epochs=(1, 1, 1, 1, 1), label_epochs=1)
    >>> model = VaePu(prior=0.5, schedule=once, random_state=0).fit(X, s)
    >>> bool(model.predict(X, s=s)[s == 1].all())  # a label proves the class
    True
    """

    prior: float | None = None
    label_frequency: Annotated[float, Interval(Real, 0, 1, closed="right")] | None = None
    schedule: str | Schedule = "brisk"
    epoch_scale: NotNegative = 1.0
    likelihood: one_of("gaussian", "bernoulli") = "gaussian"
    label_weight: NotNegative = 1.0
    generator_weight: NotNegative = 1.0
    target_weight: NotNegative = 10.0

    def _learn_scale(self, X):
        super()._learn_scale(X)
        if self.likelihood == "bernoulli":  # pixels stay pixels
            self.centre_ = self.scale_ = None

    def _train(self, training, held, random_state):
        X, s = training
        if self.likelihood == "bernoulli" and (X.min() < 0 or X.max() > 1):
            raise ValueError(
                f"likelihood is 'bernoulli' but X runs from {X.min()} to {X.max()}; scale the "
                "features to [0, 1] or use likelihood='gaussian'"
            )
        options = {"schedule": self.schedule, "device": self.device, "verbose": self.verbose}
        self.label_model_ = LabelModel(random_state=random_state.randint(2**31 - 1), **options)
        self.label_model_.fit(X, s, validation=held[:2])
        self._settle_prior(self.prior, X, s, random_state)
        if self.label_frequency is not None:
            self.label_frequency_ = float(self.label_frequency)
        self.schedule_ = resolve_schedule(self.schedule).scaled(self.epoch_scale)
        generator = new_generator(random_state, self._device)
        sizes = self.n_features_in_, self.schedule_
        self.networks_ = VaePuNetworks(*sizes, generator, self.likelihood)
        trainer = self._new_trainer(X, s, generator)
        trainer.train()
        self.history_ = trainer.history
        self.near_positives_ = np.empty(len(s), dtype=bool)
        self.near_positives_[np.argsort(s == 0, kind="stable")] = trainer.near_positives

    def _new_trainer(self, X, s, generator):
        return Trainer(self, *self._tensors(X[s == 1], X[s == 0]), generator)

    def _shares(self):
        labelled = self.label_frequency_ * self.prior_
        return ClassShares(labelled, self.prior_ - labelled, 1 - labelled)

    def _y_proba(self, X):
        return predict_in_batches(self.networks_.target, X)

    def _s_proba(self, X):
        return self.label_model_.predict_label_proba(X)

    # Looking inside

    @torch.inference_mode()
    def latent_means(self, X, s):
        """Means of the two latents.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            Their label status.

        Returns
        -------
        h_y : array of shape (n, 10)
            The latent that carries the class.
        h_o : array of shape (n, 2)
            The latent that carries the label status.
        """
        check_is_fitted(self)
        x, o = self._tensors(rows := self._rows(X), self._label_status(s, len(rows)))
        h_y, h_o = self.networks_.encoder_y(x).mean, self.networks_.encoder_o(x, o).mean
        return h_y.cpu().numpy(), h_o.cpu().numpy()

    def generate(self, X, s, random_state=None):
        """Artificial unlabelled positives, one for each labelled row of ``X``.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows.
        s : array of shape (n,)
            Their label status.
        random_state : int, RandomState or None
            Source of the noise in the latents; the estimator's own where None.

        Returns
        -------
        array of shape (number of labelled rows, p)
            Rows made of the labelled row's h_y and the h_o of the unlabelled row nearest to it.
        """
        check_is_fitted(self)
        seed = self.random_state if random_state is None else random_state
        rows = self._rows(X)
        status = self._label_status(s, len(rows))
        generated = self._generated(rows, status, check_random_state(seed))
        return generated if self.centre_ is None else generated * self.scale_ + self.centre_

    def _generated(self, X, s, random_state):
        """The same for rows as the networks see them and a label status of 0 and 1."""
        if len(np.unique(s)) < 2:
            raise ValueError("s holds one status only; give labelled and unlabelled rows")
        generator, networks = new_generator(random_state, self._device), self.networks_
        q_y, q_pool, q_o = networks.encode_all(*self._tensors(X[s == 1], X[s == 0]))
        parts = [
            networks.generate(q_y.rows(rows), q_pool, q_o.rows, generator)
            for rows in torch.arange(len(q_y.mean), device=self._device).split(GENERATED_AT_ONCE)
        ]
        return torch.cat(parts).cpu().numpy()
