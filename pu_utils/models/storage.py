"""Storage of fitted estimators: one safetensors file, its settings beside the arrays as JSON."""

import json
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.utils.validation import check_is_fitted

from pu_utils.schedules import Schedule

FORMAT = "1"  # raise it when files of before can no longer be read
STRINGS = {"U": str, "O": object}  # types of arrays of words by their kinds


class Stored:
    """An estimator that can be written to a file and read again.

    A subclass whose fitted attributes include torch modules says how to build them anew:
    ``_restored_network(name, state)``.
    """

    _not_stored = ()  # fitted attributes that predictions do not need
    _kinds: ClassVar = {}  # by their names

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Stored._kinds[cls.__name__] = cls

    def save(self, path):
        """Write the fitted estimator to one safetensors file with its settings as JSON.

        Parameters that are estimators (such as ``base``) are stored as None: what was learnt with
        them is stored, and predictions do not ask them again.
        """
        check_is_fitted(self)
        arrays = {}
        text = json.dumps(self, default=lambda value: _to_json(value, arrays))
        save_file(arrays, Path(path), metadata={"format": FORMAT, "estimator": text})

    @classmethod
    def load(cls, path, device=None):
        """Read the estimator that ``save`` wrote to ``path``.

        ``device`` takes the place of the one it was fitted on. A file that is damaged, or from
        elsewhere, is a ValueError that says what is wrong with it; no code in it is run.
        """
        try:
            with safe_open(Path(path), framework="numpy") as file:
                facts = file.metadata() or {}
                if facts.get("format") != FORMAT:
                    raise ValueError(f"its format is {facts.get('format')!r}, not {FORMAT!r}")
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            for name, array in arrays.items():
                if array.dtype.kind == "f" and not np.isfinite(array).all():
                    raise ValueError(f"array {name} holds NaN or infinity")
            made = partial(_from_json, arrays=arrays, device=device)
            estimator = json.loads(facts["estimator"], object_hook=made)
        except OSError:
            raise
        except Exception as reason:
            raise ValueError(
                f"path {str(path)!r} holds no estimator that can be read: {reason!r}; fit and save "
                "it anew"
            ) from reason
        if not isinstance(estimator, cls):
            raise ValueError(
                f"path {str(path)!r} holds a {type(estimator).__name__}, not a {cls.__name__}; "
                f"load it with {type(estimator).__name__}.load or PUClassifier.load"
            )
        return estimator


def _to_json(value, arrays):
    """``value`` as a dictionary of simpler things; numbers go to ``arrays`` under a new name."""
    if isinstance(value, Schedule):
        return {"Schedule": value.to_json()}
    if isinstance(value, Stored):
        parameters, attributes = value.get_params(deep=False).items(), vars(value).items()
        plain = {k: None if hasattr(v, "get_params") else v for k, v in parameters}
        fitted = {k: v for k, v in attributes if k[-1] == "_" and k not in value._not_stored}
        return {"class": type(value).__name__, "parameters": plain, "fitted": fitted}
    if hasattr(value, "state_dict"):
        return {"state": {k: tensor.cpu().numpy() for k, tensor in value.state_dict().items()}}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
        arrays[name := str(len(arrays))] = np.ascontiguousarray(value)
        return {"array": name}
    if isinstance(value, np.ndarray) and value.dtype.kind in STRINGS:
        return {"strings": value.tolist(), "kind": value.dtype.kind}
    if isinstance(value, np.generic):
        return value.item()
    raise ValueError(
        f"{value!r} cannot be written as JSON; use plain numbers and strings for parameters, and "
        "estimators of this package inside others"
    )


def _from_json(value, arrays, device):
    """What ``_to_json`` made a dictionary of; what is inside it has been made already."""
    if "Schedule" in value:
        return Schedule.from_json(value["Schedule"])
    if "array" in value:
        return arrays[value["array"]]
    if "strings" in value:
        return np.array(value["strings"], dtype=STRINGS[value["kind"]])
    return _restored(value, device) if "class" in value else value


def _restored(facts, device):
    """The estimator of which ``facts`` tell the class, the parameters and what was fitted."""
    getattr(import_module("pu_utils.models"), facts["class"], None)  # imports those of networks
    kind = Stored._kinds[facts["class"]]
    estimator = kind(**facts["parameters"])
    if device is not None and hasattr(estimator, "device"):
        estimator.device = device
    fitted = facts["fitted"]
    wanted = {"classes_", "n_features_in_"} if hasattr(kind, "predict") else set()
    strange = wanted - fitted.keys()
    strange |= {k for k in fitted if k[0] == "_" or k[-1] != "_" or hasattr(type(estimator), k)}
    if strange:
        raise ValueError(f"{', '.join(strange)}: not stored, or no name of what is fitted")
    networks = {k: v for k, v in fitted.items() if isinstance(v, dict) and "state" in v}
    for name, value in fitted.items():
        setattr(estimator, name, value)
    for name, value in networks.items():  # their sizes are among the attributes set above
        setattr(estimator, name, estimator._restored_network(name, value["state"]))
    return estimator
