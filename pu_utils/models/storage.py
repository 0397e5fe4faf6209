"""Storage of fitted estimators: one safetensors file, its settings beside the arrays as JSON."""

import json
from pathlib import Path

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
from sklearn.utils.validation import check_is_fitted

from pu_utils.schedules import Schedule


class Stored:
    """An estimator that can be written to a file and read again.

    A subclass whose fitted attributes include torch modules says how to build them anew:
    ``_restored_network(name, state)``.
    """

    _not_stored = ()  # fitted attributes that predictions do not need

    def save(self, path):
        """Write the fitted estimator to one safetensors file with its settings as JSON.

        Parameters that are estimators (such as ``base``) are stored as None: what was learnt with
        them is stored, and predictions do not ask them again.
        """
        check_is_fitted(self)
        arrays = {}
        text = json.dumps(self, default=lambda value: _to_json(value, arrays))
        save_file(arrays, Path(path), metadata={"estimator": text})

    @classmethod
    def load(cls, path):
        """Read the estimator that ``save`` wrote to ``path``."""
        with safe_open(Path(path), framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            text = file.metadata()["estimator"]
        estimator = json.loads(text, object_hook=lambda value: _from_json(value, arrays))
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
    if isinstance(value, np.ndarray):
        return {"strings": value.tolist(), "dtype": value.dtype.str}
    raise ValueError(
        f"{value!r} cannot be written as JSON; use plain numbers and strings for parameters, and "
        "estimators of this package inside others"
    )


def _from_json(value, arrays):
    """What ``_to_json`` made a dictionary of; what is inside it has been made already."""
    if "Schedule" in value:
        return Schedule.from_json(value["Schedule"])
    if "array" in value:
        return arrays[value["array"]]
    if "strings" in value:
        return np.array(value["strings"], dtype=value["dtype"])
    return _restored(value) if "class" in value else value


def _restored(facts):
    """The estimator of which ``facts`` tell the class, the parameters and what was fitted."""
    from pu_utils import models  # which imports an estimator when it is asked for

    kind, classes = facts["class"], {cls.__name__: cls for cls in _subclasses(Stored)}
    kind = classes[kind] if kind in classes else getattr(models, kind)
    estimator = kind(**facts["parameters"])
    networks = {k: v for k, v in facts["fitted"].items() if isinstance(v, dict) and "state" in v}
    for name, value in facts["fitted"].items():
        setattr(estimator, name, value)
    for name, value in networks.items():  # their sizes are among the attributes set above
        setattr(estimator, name, estimator._restored_network(name, value["state"]))
    return estimator


def _subclasses(cls):
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)
