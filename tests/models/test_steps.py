"""Whole steps of the training, computed by hand on tiny networks in double precision.

The terms of the objective and their gradients, their weights, label status, which rows meet which
network, noise and dropout, and what Adam makes of the gradient. Nothing below calls the functions
it checks: networks are written out from their parameters, divergences and likelihoods are those of
``torch.distributions``, and Adam is five lines.
"""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Categorical, Normal, kl_divergence
from torch.nn.functional import leaky_relu

from pu_utils.models import Schedule, VaePu, VaePuBayes, networks
from pu_utils.models.vae_pu import ClassShares, Trainer, VaePuNetworks

SCHEDULE = Schedule(
    autoencoder_hidden=(4, 3),
    discriminator_hidden=(5,),
    target_hidden=(4, 3),
    learning_rate=0.02,
    target_learning_rate=0.03,
)
OPTIONS = {"label_weight": 0.7, "generator_weight": 0.3, "target_weight": 2.0}
LABELLED, UNLABELLED = torch.tensor([4, 0, 2]), torch.tensor([1, 6, 3, 5, 7])
EXACT = {"rtol": 1e-9, "atol": 1e-12}  # the order of additions is all that may differ


@pytest.fixture(autouse=True)
def double_precision(monkeypatch):
    """Steps that differ in one term of 1e-5 differ here, and would not in single precision."""
    monkeypatch.setattr(
        networks, "to_tensor", lambda array, device: torch.as_tensor(np.array(array)).double()
    )
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.fixture(params=["gaussian", "bernoulli"])
def trainer(request):
    """A training in its middle: no parameter, and no part of the prior, where it began."""
    generator = torch.Generator().manual_seed(0)
    options = VaePu(likelihood=request.param, device="cpu", **OPTIONS)
    options.prior_, options.label_frequency_, options.schedule_ = 0.4, 0.5, SCHEDULE
    options.networks_ = VaePuNetworks(2, SCHEDULE, generator, request.param).double()
    with torch.no_grad():
        for value in options.networks_.parameters():
            value.add_(0.3 * torch.randn(value.shape, generator=generator))
        mixture = options.networks_.mixture
        mixture.weights.copy_(torch.tensor([0.6, 0.4]))
        mixture.means.normal_(generator=generator)
        mixture.variances.uniform_(0.5, 2, generator=generator)
    x = torch.rand(14, 2, generator=generator)
    return Trainer(options, x[:6], x[6:], torch.Generator().manual_seed(1))


# The same by hand


class Adam:
    """Adam with weight decay in the gradient, on named parameters."""

    def __init__(self, rate, decay=()):
        self.rate, self.decay, self.steps, self.moments = rate, decay, 0, {}

    def step(self, parameters, loss):
        self.steps += 1
        for name, gradient in zip(
            parameters, torch.autograd.grad(loss, list(parameters.values())), strict=True
        ):
            value = parameters[name]
            gradient = gradient + 1e-5 * value.detach() * name.startswith(self.decay)
            first, second = self.moments.get(name, (0, 0))
            first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
            self.moments[name] = first, second
            first, second = first / (1 - 0.9**self.steps), second / (1 - 0.999**self.steps)
            value.data -= self.rate * first / (second.sqrt() + 1e-7)


def parameters_of(network, *prefixes):
    """Copies of the parameters whose names begin with one of the prefixes."""
    return {
        name: value.detach().clone().requires_grad_()
        for name, value in network.named_parameters()
        if name.startswith(prefixes)
    }


def dense(p, name, x, dropped=None):
    """Hidden layers with their scale and shift, LeakyReLU, and the linear map at the end."""
    k = 0
    while f"{name}hidden.{k}.weight" in p:
        layer = f"{name}hidden.{k}."
        x = (x @ p[layer + "weight"].T + p[layer + "bias"]) * p[layer + "scale"] + p[
            layer + "shift"
        ]
        x, k = leaky_relu(x, 0.2), k + 2
    if dropped is not None:
        x = x * ~dropped / 0.7
    return x @ p[name + "out.weight"].T + p[name + "out.bias"]


def latent(p, name, x):
    mean, log_variance = dense(p, name, x).chunk(2, dim=1)
    return Normal(mean, (0.5 * log_variance).exp())


def cross_entropy(logit, label):
    return -Bernoulli(logits=logit).log_prob(torch.full_like(logit, label)).mean()


def normal(generator, *shape):
    return torch.randn(*shape, generator=generator)


def dropped(generator, *shape):
    return torch.rand(*shape, generator=generator) < 0.3


def encodings(p, x, o):
    """The two latents of rows x with label status o."""
    one_hot = torch.nn.functional.one_hot(o, 2).double()
    return latent(p, "encoder_y.", x), latent(p, "encoder_o.", torch.cat([x, one_hot], dim=1))


def samples(q_y, q_o, generator):
    noise_y, noise_o = normal(generator, len(q_y.mean), 10), normal(generator, len(q_o.mean), 2)
    return q_y.mean + q_y.stddev * noise_y, q_o.mean + q_o.stddev * noise_o


def decode(p, h_y, h_o):
    return dense(p, "decoder.", torch.cat([h_y, h_o], dim=1))


def reconstruction(x, decoded, likelihood):
    if likelihood == "bernoulli":
        log_probability = Bernoulli(logits=decoded, validate_args=False).log_prob(x)
    else:
        log_probability = -((x - decoded) ** 2) / 2
    return -log_probability.sum(1).mean()


def seen(decoded, likelihood):
    return decoded.sigmoid() if likelihood == "bernoulli" else decoded


def divergence_from_mixture(q_y, h_y, mixture):
    """E_k[log q(k) / p(k)] + E_k[KL(q(h_y | x) || p(h_y | k))], q(k) judged by the sample."""
    components = Normal(mixture.means, mixture.variances.sqrt())
    log_density = components.log_prob(h_y[:, None]).sum(2)
    q_k = Categorical((log_density + mixture.weights.log()).softmax(1))
    of_k = kl_divergence(q_k, Categorical(mixture.weights))
    of_h = kl_divergence(Normal(q_y.mean[:, None], q_y.stddev[:, None]), components).sum(2)
    return (of_k + (q_k.probs * of_h).sum(1)).mean()


def batch(trainer):
    x = torch.cat([trainer.labelled[LABELLED], trainer.unlabelled[UNLABELLED]])
    return x, torch.tensor([1] * len(LABELLED) + [0] * len(UNLABELLED))


AUTOENCODER = ("encoder_y.", "encoder_o.", "decoder.", "label_head.")


def assert_equal_parameters(network, by_hand):
    for name, value in by_hand.items():
        torch.testing.assert_close(network.get_parameter(name), value, **EXACT, msg=name)


def test_pretraining_steps(trainer):
    """Three steps on the reconstruction from sampled latents; all but the autoencoder rests."""
    before = parameters_of(trainer.networks, "")
    p = {name: value for name, value in before.items() if name.startswith(AUTOENCODER[:3])}
    adam, generator, likelihood = Adam(0.02), torch.Generator(), trainer.networks.likelihood
    generator.set_state(trainer.generator.get_state())
    x, o = batch(trainer)
    for _ in range(3):
        loss = reconstruction(x, decode(p, *samples(*encodings(p, x, o), generator)), likelihood)
        found = trainer.pretraining_step(LABELLED, UNLABELLED)["reconstruction"]
        assert found.item() == pytest.approx(loss.item(), rel=1e-9)
        adam.step(p, loss)
    assert_equal_parameters(trainer.networks, before)  # p is among them; the rest stays


@pytest.mark.parametrize("adversarial", [False, True])
def test_autoencoder_steps(trainer, adversarial):
    """Three steps of the discriminator, and of encoders, decoder and label head, by hand."""
    before, n = parameters_of(trainer.networks, ""), len(LABELLED)
    p = {name: value for name, value in before.items() if name.startswith(AUTOENCODER)}
    d = {name: value for name, value in before.items() if name.startswith("discriminator.")}
    optimizer, d_optimizer = Adam(0.02, decay=("label_head.",)), Adam(0.02)
    generator, likelihood = torch.Generator(), trainer.networks.likelihood
    generator.set_state(trainer.generator.get_state())
    x, o = batch(trainer)
    for _ in range(3):
        q_y, q_o = encodings(p, x, o)
        h_y, h_o = samples(q_y, q_o, generator)
        match = torch.cdist(h_y[:n], h_y[n:]).argmin(1)
        generated = seen(decode(p, h_y[:n], h_o[n:][match]), likelihood)
        rows = torch.cat([generated.detach(), x[n:]])
        logit = dense(d, "discriminator.", rows, dropped(generator, len(rows), 5)).squeeze(1)
        of_discriminator = cross_entropy(logit[:n], 0.0) + cross_entropy(logit[n:], 1.0)
        d_optimizer.step(d, 0.3 * of_discriminator)

        logit = dense(d, "discriminator.", generated, dropped(generator, n, 5)).squeeze(1)
        label_logit = (h_o @ p["label_head.weight"].T + p["label_head.bias"]).squeeze(1)
        terms = {
            "reconstruction": reconstruction(x, decode(p, h_y, h_o), likelihood),
            "class_divergence": divergence_from_mixture(q_y, h_y, trainer.networks.mixture),
            "label_divergence": kl_divergence(q_o, Normal(0.0, 1.0)).sum(1).mean(),
            "label": -Bernoulli(logits=label_logit).log_prob(o.double()).mean(),
            "generator": cross_entropy(logit, 1.0),
        }
        if adversarial:
            terms["target_adversary"] = (-dense(before, "target.", generated)).sigmoid().mean()
        weights = {"label": 0.7, "generator": 0.3, "target_adversary": 2.0}
        optimizer.step(p, sum(weights.get(name, 1) * term for name, term in terms.items()))

        found = trainer.autoencoder_step(LABELLED, UNLABELLED, adversarial)
        expected = terms | {"discriminator": of_discriminator}
        assert {k: v.item() for k, v in found.items()} == pytest.approx(
            {k: v.item() for k, v in expected.items()}, rel=1e-9
        )
    assert_equal_parameters(trainer.networks, before)  # p and d are among them; the rest stays


def logistic(t):
    return torch.log1p(torch.exp(-t)).mean()


def risk_to_descend(g_labelled, g_positive, g_unlabelled, shares):
    """The risk, or minus the negative risk where that is below 0."""
    pi_pl, pi_pu, p_unlabelled = shares
    positive = pi_pl * logistic(g_labelled) + pi_pu * logistic(g_positive)
    negative = p_unlabelled * logistic(-g_unlabelled) - pi_pu * logistic(-g_positive)
    return -negative if negative < 0 else positive + negative


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize(
    "shares", [(0.2, 0.2, 0.8), (0.2, 3.0, 0.8)], ids=["whole risk", "negative risk below 0"]
)
def test_target_steps(trainer, shares, cached):
    """Three steps of the target classifier on labelled, generated and pooled rows, by hand."""
    trainer.shares = ClassShares(*shares)
    p, t = parameters_of(trainer.networks, ""), parameters_of(trainer.networks, "target.")
    optimizer, generator = Adam(0.03, decay=("target.",)), torch.Generator()
    generator.set_state(trainer.generator.get_state())
    x_labelled, pool = trainer.labelled[LABELLED], trainer.unlabelled[UNLABELLED]
    cache = None
    if cached:  # what is cached counts, not what the encoders would say now
        cache = trainer.networks.encode_all(trainer.labelled, trainer.unlabelled)
        for encoder in (trainer.networks.encoder_y, trainer.networks.encoder_o):
            encoder.out.weight.data.zero_()
    for _ in range(3):
        with torch.no_grad():
            q_labelled = latent(p, "encoder_y.", x_labelled)
            q_pool, q_o = encodings(p, pool, torch.zeros(len(pool), dtype=torch.long))
            h_y = q_labelled.mean + q_labelled.stddev * normal(generator, len(LABELLED), 10)
            pool_y = q_pool.mean + q_pool.stddev * normal(generator, len(pool), 10)
            match = torch.cdist(h_y, pool_y).argmin(1)
            h_o = q_o.mean[match] + q_o.stddev[match] * normal(generator, len(LABELLED), 2)
            generated = seen(decode(p, h_y, h_o), trainer.networks.likelihood)
        g = [dense(t, "target.", rows).squeeze(1) for rows in (x_labelled, generated, pool)]
        optimizer.step(t, risk_to_descend(*g, shares))
        trainer.target_step(LABELLED, UNLABELLED, cache)
    assert_equal_parameters(trainer.networks, t)
    resting = ("decoder.", "label_head.", "discriminator.")
    resting = {name: value for name, value in p.items() if name.startswith(resting)}
    assert_equal_parameters(trainer.networks, resting)


@pytest.fixture(scope="module")
def rows():
    """60 rows, half of the positives labelled."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = (rng.normal(size=(60, 2)) + y[:, None]).astype(np.float32)
    return X, y * (rng.random(60) < 0.5)


@pytest.mark.parametrize("rate", [None, 0.2], ids=["the target's rate", "a rate of its own"])
def test_fine_tuning_steps(rows, rate):
    """Full-batch steps with the rows of highest odds for positives; the best one is kept."""
    X, s = rows
    schedule = replace(
        SCHEDULE,
        pretraining_epochs=1,
        phase_epochs=(0, 1, 0, 0, 0),
        label_epochs=1,
        fine_tuning_steps=4,
        fine_tuning_learning_rate=rate,
    )
    base = VaePu(prior=0.5, schedule=schedule, random_state=0, device="cpu").fit(X, s)
    for network in (base.networks_, base.label_model_.network_):
        network.double()
    model = VaePuBayes(base, random_state=0, device="cpu").fit(X, s, validation=(X[::2], s[::2]))

    t, optimizer = parameters_of(base.networks_.target, ""), Adam(rate or 0.03, decay=("",))
    pi_pl = base.label_frequency_ * 0.5
    shares = (pi_pl, 0.5 - pi_pl, 1 - pi_pl)

    def logits_and_chosen(X, s):
        """Logits of labelled, chosen and unlabelled rows; rows are chosen by VAE-PU itself."""
        x, unlabelled = torch.as_tensor(X).double(), np.flatnonzero(s == 0)
        y_proba, s_proba = base.predict_proba(X)[:, 1], base.predict_label_proba(X)
        odds = ((y_proba - np.minimum(s_proba, y_proba)) / (1 - y_proba))[unlabelled]
        n_chosen = round(len(unlabelled) * shares[1] / shares[2])
        chosen = unlabelled[np.argsort(odds)[-n_chosen:]]
        g = dense(t, "", x).squeeze(1)
        return g[np.flatnonzero(s == 1)], g[chosen], g[unlabelled]

    kept, lowest = None, np.inf
    for _ in range(4):
        optimizer.step(t, risk_to_descend(*logits_and_chosen(X, s), shares))
        g_labelled, g_chosen, g_unlabelled = logits_and_chosen(X[::2], s[::2])
        negative = shares[2] * logistic(-g_unlabelled) - shares[1] * logistic(-g_chosen)
        positive = shares[0] * logistic(g_labelled) + shares[1] * logistic(g_chosen)
        held = (positive + max(negative, torch.tensor(0.0))).item()
        if held < lowest:
            kept, lowest = copy.deepcopy({k: v.detach() for k, v in t.items()}), held
    assert_equal_parameters(model.target_, kept)
    assert min(row["validation"] for row in model.history_[-4:]) == pytest.approx(lowest, rel=1e-9)
