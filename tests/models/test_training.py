"""What the training loops share: batches, devices, steps, history, divergence."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

import pu_utils.models
from pu_utils.models.networks import Classifier
from pu_utils.models.training import (
    History,
    TrainingDiverged,
    adam,
    count_steps,
    descend,
    epoch_batches,
    new_generator,
    predict_in_batches,
    resolve_device,
)


def test_an_epoch_is_one_pass_over_the_unlabelled():
    """Every unlabelled row comes once, every step has the same share of labelled rows."""
    steps = list(epoch_batches(35, 65, 4, torch.Generator().manual_seed(0)))
    assert sorted(torch.cat([u for _, u in steps]).tolist()) == list(range(65))
    assert [len(labelled) for labelled, _ in steps] == [9, 9, 9, 9]
    assert set(torch.cat([labelled for labelled, _ in steps]).tolist()) == set(range(35))


def test_few_labelled_rows_are_cycled():
    """Two labelled rows serve five steps, one at a time."""
    steps = list(epoch_batches(2, 50, 5, torch.Generator().manual_seed(0)))
    labelled = [rows.tolist() for rows, _ in steps]
    assert labelled[0] == labelled[2] == labelled[4] != labelled[1] == labelled[3]


@pytest.mark.parametrize(
    "n_unlabelled, n, batch_size, steps", [(5250, 7000, 1000, 7), (20, 30, 1000, 1), (2, 90, 10, 2)]
)
def test_count_steps(n_unlabelled, n, batch_size, steps):
    """As many steps as batches fit, at least one, and never one without unlabelled rows."""
    assert count_steps(n_unlabelled, n, batch_size) == steps


def test_descend_leaves_other_networks_alone():
    """A step computes gradients for the optimiser's own network and for no other."""
    generator = torch.Generator().manual_seed(0)
    moved, rests = (Classifier(3, (4,), generator) for _ in range(2))
    before = [p.clone() for p in rests.parameters()]
    x = torch.randn(5, 3, generator=generator)
    descend(adam([moved], 0.1), (moved(x) * rests(x)).sum())
    assert all(p.grad is None for p in rests.parameters())
    assert all(torch.equal(p, q) for p, q in zip(rests.parameters(), before, strict=True))
    assert all(p.grad is not None for p in moved.parameters())


def test_history_keeps_means():
    """An epoch's row holds the phase, the epoch and the mean of each loss."""
    history = History(verbose=False)
    history.record("target", 3, [{"risk": torch.tensor(1.0)}, {"risk": torch.tensor(2.0)}])
    assert history.rows == [{"phase": "target", "epoch": 3, "risk": 1.5}]


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_divergence_names_phase_epoch_and_remedy(loss):
    """A loss that is not finite stops the training with an error that says where and what to do."""
    with pytest.raises(TrainingDiverged, match="'target', epoch 3; scale the features"):
        History(verbose=False).record("target", 3, [{"risk": torch.tensor(loss)}])


def test_progress_is_shown_only_if_asked_for(capsys):
    """The progress bar names the phase, and keeps silent by default."""
    list(History(verbose=False).epochs("target", 2))
    assert capsys.readouterr().err == ""
    list(History(verbose=True).epochs("target", 2))
    assert "target" in capsys.readouterr().err


def test_prediction_in_batches_is_prediction():
    """Cutting rows into batches changes no prediction beyond rounding."""
    network = Classifier(3, (4,), torch.Generator().manual_seed(0))
    X = np.random.default_rng(0).normal(size=(9000, 3)).astype(np.float32)
    whole = torch.sigmoid(network(torch.as_tensor(X))).detach().numpy()
    np.testing.assert_allclose(predict_in_batches(network, X, "cpu"), whole, atol=1e-6)


def test_devices(monkeypatch):
    """A named device is taken at its word; "auto" takes the fastest that is present."""
    assert resolve_device("meta").type == "meta"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert resolve_device("auto").type == "cpu"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert resolve_device("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert resolve_device("auto").type == "cuda"


def test_no_device_is_wired_in():
    """Only ``resolve_device`` names devices."""
    for path in Path(pu_utils.models.__file__).parent.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name == "training.py":
            text = re.sub(r"def resolve_device.*?\n\n\n", "", text, flags=re.DOTALL)
        assert not re.search(r"""["'](cuda|mps|cpu)["':]|\.cuda\(""", text), path.name
        assert ".double().cpu()" not in text, path.name  # Apple's GPUs have no double precision


def test_generators_follow_the_seed():
    """Equal random states give equal generators; torch's own is not touched."""
    before = torch.get_rng_state()
    draws = [
        torch.rand(3, generator=new_generator(np.random.RandomState(seed), "cpu"))
        for seed in (0, 0, 1)
    ]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert torch.equal(torch.get_rng_state(), before)
