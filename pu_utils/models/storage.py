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
    ``_restored_network(name, arrays)``.
    """

    _not_stored = ()  # fitted attributes that predictions do not need

    def save(self, path):
        """Write the fitted estimator to one safetensors file with its settings as JSON.

        Parameters that are estimators (such as ``base``) are stored as None: what was learnt with
        them is stored, and predictions do not ask them again.
        """
        check_is_fitted(self)
        arrays, facts = _pack(self)
        save_file(arrays, Path(path), metadata={"estimator": json.dumps(facts, default=_to_json)})

    @classmethod
    def load(cls, path):
        """Read the estimator that ``save`` wrote to ``path``."""
        with safe_open(Path(path), framework="numpy") as file:
            facts = json.loads(file.metadata()["estimator"], object_hook=_from_json)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        estimator = _unpack(arrays, facts)
        if not isinstance(estimator, cls):
            raise ValueError(
                f"path {str(path)!r} holds a {type(estimator).__name__}, not a {cls.__name__}; "
                f"load it with {type(estimator).__name__}.load or PUClassifier.load"
            )
        return estimator


def _pack(estimator):
    """Arrays and JSON facts of a fitted estimator."""
    parameters = estimator.get_params(deep=False).items()
    plain = {name: None if hasattr(value, "get_params") else value for name, value in parameters}
    arrays, fitted, estimators, networks = {}, {}, {}, []
    for name, value in vars(estimator).items():
        if not name.endswith("_") or name in estimator._not_stored:
            continue
        if isinstance(value, Stored):
            inner, estimators[name] = _pack(value)
            arrays |= {f"{name}.{key}": array for key, array in inner.items()}
        elif hasattr(value, "state_dict"):
            networks.append(name)
            state = value.state_dict()
            arrays |= {f"{name}.{key}": tensor.cpu().numpy() for key, tensor in state.items()}
        elif isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            arrays[name] = np.ascontiguousarray(value)
        else:
            fitted[name] = value
    for name, value in (plain | fitted).items():
        _check_plain(name, value)
    return arrays, {
        "class": type(estimator).__name__,
        "parameters": plain,
        "fitted": fitted,
        "estimators": estimators,
        "networks": networks,
    }


def _unpack(arrays, facts):
    """The estimator whose ``_pack`` gave ``arrays`` and ``facts``."""
    classes = {cls.__name__: cls for cls in _subclasses(Stored)}
    estimator = classes[facts["class"]](**facts["parameters"])

    def below(name):
        prefix = f"{name}."
        return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}

    fitted = facts["fitted"] | {name: array for name, array in arrays.items() if "." not in name}
    fitted |= {name: _unpack(below(name), inner) for name, inner in facts["estimators"].items()}
    for name, value in fitted.items():
        setattr(estimator, name, value)
    for name in facts["networks"]:  # their sizes are among the attributes set above
        setattr(estimator, name, estimator._restored_network(name, below(name)))
    return estimator


def _subclasses(cls):
    for child in cls.__subclasses__():
        yield child
        yield from _subclasses(child)


def _check_plain(name, value):
    try:
        json.dumps(value, default=_to_json)
    except TypeError:
        raise ValueError(
            f"{name} is {value!r}, which cannot be written as JSON; use plain numbers and "
            "strings for parameters, and estimators of this package inside others"
        ) from None


def _to_json(value):
    """What JSON has no type for: schedules, and arrays of strings."""
    if isinstance(value, Schedule):
        return {"Schedule": value.to_json()}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": value.dtype.str}
    raise TypeError


def _from_json(value):
    if "Schedule" in value:
        return Schedule.from_json(value["Schedule"])
    if "dtype" in value:
        return np.array(value["array"], dtype=value["dtype"])
    return value
