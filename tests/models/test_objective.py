"""Each term of the objectives: against its formula written as loops, and its gradient."""

import math

import numpy as np
import pytest
import torch

from pu_utils.models import lbe, vae_pu
from pu_utils.models.vae_pu import Latent, Mixture

SHARES = vae_pu.ClassShares(labelled=0.2, unlabelled_positive=0.3, unlabelled=0.8)


def sigmoid(t):
    return 1 / (1 + math.exp(-t))


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def mixture():
    made = Mixture("cpu").double()
    made.weights.copy_(torch.tensor([0.7, 0.3]))
    made.means.copy_(draw(2, 10, seed=3))
    made.variances.copy_(draw(2, 10, seed=4).exp())
    return made


def test_gaussian_reconstruction():
    """(1) is half the squared error of a row, summed over features."""
    x, decoded = draw(4, 3), draw(4, 3, seed=1)
    loops = [sum((x[i, j] - decoded[i, j]).item() ** 2 / 2 for j in range(3)) for i in range(4)]
    found = vae_pu.reconstruction_error(x, decoded, "gaussian").tolist()
    assert found == pytest.approx(loops)


def test_bernoulli_reconstruction():
    """(1) for pixels is their cross-entropy, summed over the pixels of a row."""
    x, logits = torch.sigmoid(draw(4, 3)), draw(4, 3, seed=1)
    loops = [
        -sum(
            x[i, j].item() * math.log(sigmoid(logits[i, j]))
            + (1 - x[i, j].item()) * math.log(1 - sigmoid(logits[i, j]))
            for j in range(3)
        )
        for i in range(4)
    ]
    found = vae_pu.reconstruction_error(x, logits, "bernoulli").tolist()
    assert found == pytest.approx(loops)


def log_normal(h, mean_, variance):
    return -0.5 * (math.log(2 * math.pi * variance) + (h - mean_) ** 2 / variance)


def test_class_divergence(mixture):
    """(2) is E_k[log q(k) / p(k)] + E_k E_q[log q(h) / p(h | k)] with q(k) from the sample."""
    latent, h = Latent(draw(4, 10), draw(4, 10, seed=1)), draw(4, 10, seed=2)
    w, m, v = mixture.weights, mixture.means, mixture.variances
    for i, found in enumerate(vae_pu.class_divergence(latent, h, mixture).tolist()):
        total = 0.0
        joint = [
            w[k].item() * math.exp(sum(log_normal(h[i, j], m[k, j], v[k, j]) for j in range(10)))
            for k in range(2)
        ]
        for k in range(2):
            q_k = joint[k] / sum(joint)
            kl_h = 0.0
            for j in range(10):
                mu, var = latent.mean[i, j].item(), math.exp(latent.log_variance[i, j])
                m_k, v_k = m[k, j].item(), v[k, j].item()
                kl_h += 0.5 * (math.log(v_k / var) + (var + (mu - m_k) ** 2) / v_k - 1)
            total += q_k * (math.log(q_k / w[k].item()) + kl_h)
        assert found == pytest.approx(total)


def test_label_divergence():
    """(3) is the divergence from the standard normal, by numerical integration."""
    latent = Latent(draw(2, 2), draw(2, 2, seed=1))
    grid = np.linspace(-30, 30, 200_001)
    for i, found in enumerate(vae_pu.label_divergence(latent).tolist()):
        total = 0.0
        for j in range(2):
            mu, var = latent.mean[i, j].item(), math.exp(latent.log_variance[i, j])
            log_q = -0.5 * (np.log(2 * np.pi * var) + (grid - mu) ** 2 / var)
            log_p = -0.5 * (np.log(2 * np.pi) + grid**2)
            total += np.trapezoid(np.exp(log_q) * (log_q - log_p), grid)
        assert found == pytest.approx(total)


def test_label_loss():
    """(4) is the cross-entropy of the label status of a row."""
    logit, o = draw(5), torch.tensor([1.0, 0, 1, 0, 0], dtype=torch.float64)
    pairs = zip(logit, o, strict=True)
    loops = [-math.log(sigmoid(t) if k else 1 - sigmoid(t)) for t, k in pairs]
    assert vae_pu.label_loss(logit, o).tolist() == pytest.approx(loops)


def test_adversarial_terms():
    """(5), (6) and (7) are the mean losses of the discriminator and the target classifier."""
    generated, real = draw(3), draw(5, seed=1)
    five = mean(-math.log(1 - sigmoid(t)) for t in generated)
    five += mean(-math.log(sigmoid(t)) for t in real)
    assert vae_pu.discriminator_loss(generated, real).item() == pytest.approx(five)
    six = mean(-math.log(sigmoid(t)) for t in generated)
    assert vae_pu.generator_loss(generated).item() == pytest.approx(six)
    seven = mean(sigmoid(-t) for t in generated)
    assert vae_pu.target_loss(generated).item() == pytest.approx(seven)


def logistic_loss(t):
    return math.log(1 + math.exp(-t))


def test_risks():
    """(8) and (9) weigh the logistic losses of the strata by their shares."""
    labelled, generated, unlabelled = draw(3), draw(4, seed=1), draw(6, seed=2)
    eight = 0.2 * mean(map(logistic_loss, labelled)) + 0.3 * mean(map(logistic_loss, generated))
    nine = 0.8 * mean(logistic_loss(-t) for t in unlabelled)
    nine -= 0.3 * mean(logistic_loss(-t) for t in generated)
    found = vae_pu.pu_risks(labelled, generated, unlabelled, SHARES)
    assert [risk.item() for risk in found] == pytest.approx([eight, nine])


@pytest.mark.parametrize("negative, expected", [(0.25, 0.75), (-0.25, 0.25)])
def test_objective_turns_round_below_zero(negative, expected):
    """A step descends the whole risk, or climbs the negative risk out of the negative."""
    objective = vae_pu.pu_objective(torch.tensor(0.5), torch.tensor(negative))
    assert objective.item() == expected


def test_negative_risk_below_zero_stops_the_positive_gradient():
    """Where the negative risk is below 0 the positive risk has no say in the step."""
    positive = torch.tensor(0.5, requires_grad=True)
    negative = torch.tensor(-0.1, requires_grad=True)
    vae_pu.pu_objective(positive, negative).backward()
    assert (positive.grad.item(), negative.grad.item()) == (0.0, -1.0)


def test_nearest():
    """The nearest row is the one of the smallest distance, by loops."""
    queries, pool = draw(7, 4), draw(9, 4, seed=1)
    loops = [min(range(9), key=lambda j: (q - pool[j]).square().sum().item()) for q in queries]
    assert vae_pu.nearest(queries, pool).tolist() == loops


def test_lbe_losses():
    """LBE's two M-step objectives are (2) and (3), row by row."""
    logits, weight = draw(5, 2), torch.sigmoid(draw(5, seed=1))
    s = torch.tensor([1.0, 0, 0, 1, 0], dtype=torch.float64)
    weight = torch.where(s == 1, 1.0, weight)  # a labelled row is positive
    text = released = 0.0
    for (a, b), t, w in zip(logits.tolist(), s.tolist(), weight.tolist(), strict=True):
        y, e = sigmoid(a), sigmoid(b)
        row = w * (math.log(y) + t * math.log(e) + (1 - t) * math.log(1 - e))
        row += (1 - w) * math.log(1 - y)
        text -= row / 5
        released -= (row + (1 - w) * (1 - t) * math.log(1 - e)) / 5
    assert lbe.expected_loss(logits, s, weight).item() == pytest.approx(text)
    assert lbe.released_loss(logits, s, weight).item() == pytest.approx(released)


def test_observed_loss():
    """The observed log-likelihood is that of S under s = e y."""
    logits, s = draw(4, 2), torch.tensor([1.0, 0, 0, 1], dtype=torch.float64)
    posterior = [sigmoid(a) * sigmoid(b) for a, b in logits.tolist()]
    loops = mean(-math.log(p if t else 1 - p) for p, t in zip(posterior, s, strict=True))
    assert lbe.observed_loss(logits, s).item() == pytest.approx(loops)


S5 = torch.tensor([1.0, 0, 1, 0, 0], dtype=torch.float64)
TERMS = {
    "gaussian": (lambda d: vae_pu.reconstruction_error(draw(4, 3), d, "gaussian"), [(4, 3)]),
    "bernoulli": (
        lambda d: vae_pu.reconstruction_error(torch.sigmoid(draw(4, 3)), d, "bernoulli"),
        [(4, 3)],
    ),
    "label_divergence": (lambda m, v: vae_pu.label_divergence(Latent(m, v)), [(3, 2), (3, 2)]),
    "label_loss": (lambda t: vae_pu.label_loss(t, S5), [(5,)]),
    "discriminator": (vae_pu.discriminator_loss, [(3,), (5,)]),
    "generator": (vae_pu.generator_loss, [(3,)]),
    "target": (vae_pu.target_loss, [(3,)]),
    "risks": (lambda a, b, c: vae_pu.pu_risks(a, b, c, SHARES), [(3,), (4,), (5,)]),
    "lbe": (lambda t: lbe.expected_loss(t, S5, torch.sigmoid(draw(5))), [(5, 2)]),
    "lbe_released": (lambda t: lbe.released_loss(t, S5, torch.sigmoid(draw(5))), [(5, 2)]),
    "lbe_observed": (lambda t: lbe.observed_loss(t, S5), [(5, 2)]),
}


@pytest.mark.parametrize("term", TERMS)
def test_gradient(term):
    """The gradient of each term is that of finite differences."""
    function, shapes = TERMS[term]
    inputs = [draw(*shape, seed=7 + i).requires_grad_() for i, shape in enumerate(shapes)]
    assert torch.autograd.gradcheck(function, inputs)


def test_gradient_of_class_divergence(mixture):
    """The gradient of (2), through mean, log-variance and sample, is that of differences."""
    inputs = [draw(3, 10, seed=seed).requires_grad_() for seed in range(3)]
    assert torch.autograd.gradcheck(
        lambda m, v, h: vae_pu.class_divergence(Latent(m, v), h, mixture), inputs
    )
