"""Networks and what their trainings share: layers, batches, epochs, early stopping, devices."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from pu_utils.models import Schedule
from pu_utils.models.base import hold_out
from pu_utils.models.networks import (
    GRADIENT_BATCH,
    Classifier,
    Dense,
    Epochs,
    NormalisedDense,
    TrainingDiverged,
    descend,
    dropout,
    in_parts,
    predict_in_batches,
    resolve_device,
    shuffled,
    train_with_early_stopping,
)
from pu_utils.models.vae_pu import (
    ClassShares,
    Latent,
    VaePuNetworks,
    endless_cycle,
    equal_batches,
    exact_batches,
)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


# Layers


def test_paper_sizes():
    """The default schedule builds the networks of the specification."""
    networks = VaePuNetworks(20, Schedule(), generator())

    def widths(network):
        return [m.out_features for m in network.modules() if isinstance(m, nn.Linear)]

    assert widths(networks.encoder_y) == [500, 500, 20]  # mean and log-variance of 10
    assert widths(networks.encoder_o) == [500, 500, 4]
    assert widths(networks.decoder) == [500, 500, 20]
    assert widths(networks.discriminator) == [256, 1]
    assert widths(networks.target) == [300, 300, 300, 300, 1]
    assert networks.encoder_o.hidden[0].in_features == 22


def test_normalised_dense_remembers_slowly():
    """A batch is normalised by its own moments and moves the running ones by a hundredth."""
    layer = NormalisedDense(4, 6, generator()).train()
    x = torch.randn(50, 4, generator=generator(1))
    linear = x @ layer[0].weight.T + layer[0].bias
    expected = (linear - linear.mean(0)) / (linear.var(0, correction=0) + 1e-5).sqrt()
    torch.testing.assert_close(layer(x), expected)
    torch.testing.assert_close(layer[1].running_mean, 0.01 * linear.mean(0))


def test_dense_starts_as_the_specification_says():
    """Weights are Xavier-uniform, biases zero."""
    layer = Dense(30, 50, generator())
    bound = (6 / 80) ** 0.5
    assert 0.99 * bound < layer.weight.abs().max() <= bound
    assert torch.count_nonzero(layer.bias) == 0


def test_parts_are_the_whole():
    """A network asked part by part says what it says of all rows."""
    network = Classifier((3, 4, 1), generator())
    x = torch.randn(2500, 3, generator=generator(1))
    torch.testing.assert_close(in_parts(network, x), network(x))
    X = x.numpy()
    np.testing.assert_allclose(
        predict_in_batches(network, X), torch.sigmoid(network(x)).detach(), atol=1e-6
    )
    sizes = []
    for device, expected in (("cpu", [GRADIENT_BATCH, 2000 - GRADIENT_BATCH]), ("meta", [2000])):
        in_parts(lambda part: sizes.append(len(part)) or part, torch.zeros(2000, 1, device=device))
        assert sizes == expected, "a GPU is not fed in parts: it would wait for each"
        sizes.clear()


# Batches


def test_an_epoch_is_one_pass_over_the_unlabelled():
    """Every unlabelled row comes once, every step has the same share of labelled rows."""
    steps = list(equal_batches(35, 65, 25, generator()))
    assert sorted(torch.cat([u for _, u in steps]).tolist()) == list(range(65))
    assert [len(labelled) for labelled, _ in steps] == [9, 9, 9, 9]
    assert set(torch.cat([labelled for labelled, _ in steps]).tolist()) == set(range(35))


def test_few_labelled_rows_are_cycled():
    """Two labelled rows serve five steps, one at a time."""
    labelled = [rows.tolist() for rows, _ in equal_batches(2, 48, 10, generator())]
    assert labelled[0] == labelled[2] == labelled[4] != labelled[1] == labelled[3]


@pytest.mark.parametrize(
    "n_unlabelled, n, batch_size, steps", [(5250, 7000, 1000, 7), (20, 30, 1000, 1), (2, 90, 10, 2)]
)
def test_steps_of_an_epoch(n_unlabelled, n, batch_size, steps):
    """As many as batches fit, at least one, and never one without unlabelled rows."""
    batches = list(equal_batches(n - n_unlabelled, n_unlabelled, batch_size, generator()))
    assert len(batches) == steps and all(len(unlabelled) for _, unlabelled in batches)


@pytest.mark.parametrize("n_rows, size, sizes", [(10, 4, [4, 4, 2]), (8, 4, [4, 4]), (3, 4, [3])])
def test_exact_batches_keep_what_is_left_over(n_rows, size, sizes):
    """Batches hold exactly ``size`` rows, the last one the rest; each row comes once, shuffled."""
    cycle = itertools.count()
    labelled, batches = zip(*exact_batches(cycle, n_rows, size, generator()), strict=True)
    assert [len(rows) for rows in batches] == sizes
    order = torch.cat(batches).tolist()
    assert sorted(order) == list(range(n_rows)) != order
    assert labelled == tuple(range(len(sizes))) and next(cycle) == len(sizes)  # none is drawn idly


@pytest.mark.parametrize("n_rows, size", [(7, 3), (2, 5), (4, 4)])
def test_the_cycle_of_labelled_rows_never_ends(n_rows, size):
    """One after the other, batches run through shuffled passes over all rows, cut anywhere."""
    cycle = endless_cycle(n_rows, size, generator())
    drawn = [next(cycle) for _ in range(6 * n_rows)]
    assert {len(rows) for rows in drawn} == {size}
    passes = torch.cat(drawn).split(n_rows)
    assert all(sorted(rows.tolist()) == list(range(n_rows)) for rows in passes)
    assert len({tuple(rows.tolist()) for rows in passes}) > 1  # shuffled anew


def test_shuffled_batches_are_as_equal_as_can_be():
    """Ten rows in batches of about four are five and five, each row once, in another order."""
    batches = shuffled(10, 4, generator())
    assert [len(rows) for rows in batches] == [5, 5]
    order = torch.cat(batches).tolist()
    assert sorted(order) == list(range(10)) != order
    assert len(shuffled(3, 100, generator())) == 1


@pytest.mark.parametrize(
    "c_pi, batch_size, sizes",
    [
        (0.02 * 0.5, 1000, (10, 990)),
        (0.0101, 1000, (11, 989)),
        (0.1 * 3 * 0.5, 20, (3, 17)),  # 0.15000000000000002 of 20 rows are 3, not 4
        (0.999, 3, (3, 1)),
        (1e-9, 4, (1, 3)),
    ],
)
def test_batch_sizes(c_pi, batch_size, sizes):
    """A batch holds ceil(b c pi) labelled rows, for the rest unlabelled ones, and some of both."""
    assert ClassShares(c_pi, 0.5 - c_pi, 1 - c_pi).batch_sizes(batch_size) == sizes


def test_rows_are_held_out_of_both_strata():
    """The same part of labelled and unlabelled rows, drawn at random, is in one part alone."""
    s = np.repeat([0, 1, 0], [30, 20, 10])
    training, held = hold_out(s, 0.25, np.random.RandomState(0))
    assert (s[held] == 0).sum() == 10 and (s[held] == 1).sum() == 5
    assert sorted([*training, *held]) == list(range(60))
    assert held.tolist() != hold_out(s, 0.25, np.random.RandomState(1))[1].tolist()


@pytest.mark.parametrize("n_labelled", [1, 3])
def test_too_few_rows_to_hold_out_serve_for_both(n_labelled):
    """Where a stratum of the validation part would be empty, all rows are in both parts."""
    s = np.repeat([0, 1], [40, n_labelled])
    training, held = hold_out(s, 0.25, np.random.RandomState(0))
    assert training.tolist() == held.tolist() == list(range(40 + n_labelled))


# Random numbers and devices

DRAWS = {
    "equal_batches": lambda g: torch.cat([torch.cat(rows) for rows in equal_batches(5, 9, 5, g)]),
    "exact_batches": lambda g: torch.cat([u for _, u in exact_batches(iter("123"), 9, 4, g)]),
    "endless_cycle": lambda g: torch.cat(list(itertools.islice(endless_cycle(5, 3, g), 4))),
    "shuffled": lambda g: torch.cat(shuffled(9, 4, g)),
    "dropout": lambda g: dropout(torch.ones(9, device=g.device), 0.5, g),
    "sample": lambda g: Latent(*torch.zeros(2, 9, 1, device=g.device)).sample(g),
    "weights": lambda g: Dense(3, 4, g).weight,
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_random_numbers_come_from_the_generator_and_its_device(draw):
    """One seed, one result, on the generator's device, whatever torch's own state and device."""
    before = torch.get_rng_state()
    with torch.device("meta"):  # which holds no numbers
        first, again, other = (draw(generator(seed)) for seed in (0, 0, 1))
    assert first.device.type == "cpu" and torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), before)


def test_devices(monkeypatch):
    """A named device is taken at its word; "auto" takes the fastest that is present."""
    assert resolve_device("meta").type == "meta"
    for cuda, mps, expected in ((False, False, "cpu"), (False, True, "mps"), (True, True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda cuda=cuda: cuda)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda mps=mps: mps)
        assert resolve_device("auto").type == expected


# Epochs


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_divergence_names_phase_epoch_and_remedy(loss):
    """A loss that is not finite stops the training with an error that says where and what to do."""
    with pytest.raises(TrainingDiverged, match="'target', epoch 3; scale the features"):
        Epochs("target", 9, []).record(3, {"risk": torch.tensor(loss)})


def test_progress_is_shown_only_if_asked_for(capsys):
    """The progress bar names the phase, and keeps silent by default."""
    assert list(Epochs("target", 2, [])) == [0, 1]
    assert capsys.readouterr().err == ""
    assert list(Epochs("target", 2, [], verbose=True)) == [0, 1]
    assert "target" in capsys.readouterr().err


@pytest.mark.parametrize(
    "validation, patience, n_epochs, kept",
    [
        ([3.0, 2.0, 2.5, 2.5, 1.0], 2, 4, 1),  # two epochs without gain end it
        ([3.0, 2.0, 2.5, 2.5, 1.0], 3, 5, 4),  # three would have waited long enough
        ([2.0, 2.0, 2.0], 9, 3, 0),  # of equals the first
        ([1.0, 2.0], 1, 2, 0),
    ],
)
def test_the_best_epoch_is_kept(validation, patience, n_epochs, kept):
    """Training ends ``patience`` epochs after the best one, whose network is kept."""
    layer, history = Dense(1, 1, generator()), []
    layer.weight.data.fill_(0.0)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    held, modes = iter(map(torch.tensor, validation)), []

    def one_epoch():
        modes.append(layer.training)
        return [descend(optimizer, -step * layer.weight.sum()) for step in (0.25, 0.75)]

    def validation_loss():
        modes.append(layer.training)
        return next(held)

    epochs = Epochs("a phase", len(validation), history)
    train_with_early_stopping(layer, one_epoch, validation_loss, epochs, patience)
    assert layer.weight.item() == kept + 1  # every epoch adds one to the weight
    # weight 0 before the first step and 0.25 before the second, each step with its own factor
    loss = pytest.approx((0 - 0.75 * 0.25) / 2)
    first = {"phase": "a phase", "epoch": 0, "loss": loss, "validation": validation[0]}
    assert history[0] == first
    assert [row["validation"] for row in history] == validation[:n_epochs]
    assert modes == [True, False] * n_epochs
