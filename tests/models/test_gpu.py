"""A fit on a GPU, of which none is at hand: made-up tensors tell whether devices are mixed.

They have a device and a shape and no numbers, and refuse to meet tensors of another device. What a
fit asks for as a number, a loss or a posterior, is put in its place.
"""

from functools import partial

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from pu_utils.models import VaePu, VaePuBayes, networks, vae_pu

from .conftest import TINY

_setup_privateuseone_for_python_backend("made_up_gpu")


class OnGpu(torch.Generator):
    """A generator that says that it draws on the GPU."""

    device = torch.device("made_up_gpu", 0)


@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")  # to copy it
@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli"])
def test_a_whole_fit_on_a_gpu(likelihood, blobs, monkeypatch):
    """The label model, every phase of VAE-PU and fine-tuning keep to their device."""
    X, _, s = blobs
    phases = set()

    def record(epochs, epoch, losses):
        assert {loss.device for loss in losses.values()} == {OnGpu.device}
        phases.add(epochs.phase)
        return {"validation": -epoch}

    def fix_mixture(trainer):
        trainer.near_positives = np.ones(len(trainer.labelled) + len(trainer.unlabelled))

    for module in (networks, vae_pu):
        monkeypatch.setattr(module, "new_generator", lambda *_: OnGpu())
        monkeypatch.setattr(module, "predict_in_batches", lambda _, X: np.full(len(X), 0.5))
    monkeypatch.setattr(networks.Epochs, "record", record)
    monkeypatch.setattr(vae_pu.Trainer, "fix_mixture", fix_mixture)
    # what torch cannot do without numbers: a counter's first one, copies, moves to the same device
    monkeypatch.setattr(torch, "tensor", partial(torch.full, ()))
    monkeypatch.setattr(FakeTensorMode, "__deepcopy__", lambda mode, _: mode, raising=False)
    monkeypatch.setattr(torch.nn.Module, "to", lambda network, _: network)
    options = {"prior": 0.5, "schedule": TINY, "device": OnGpu.device}
    with FakeTensorMode():
        base = VaePu(likelihood=likelihood, **options)
        VaePuBayes(base, **options).fit(1 / (1 + np.exp(-X)), s)
    names = {phase.name for phase in vae_pu.PHASES}
    assert phases == names | {"label model", "pretraining", "fine-tuning"}
