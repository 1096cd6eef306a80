"""Kernels, one per file; the file name is the name in settings and saved files, the class is its CamelCase.

`KERNELS.load("squared_exponential")` gives `SquaredExponential` of squared_exponential.py; a user's own class
is found as "my_study.kernels:MyKernel". Adding a kernel means adding one file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from tcbo_pyomo.errors import BadInput, suggestion
from tcbo_pyomo.surrogate.kernels.kernel import KERNELS, Kernel

__all__ = ["KERNELS", "Kernel", "kernel_from_dict"]


def kernel_from_dict(data: Mapping[str, Any]) -> Kernel:
    """A kernel from data such as `{"name": "matern_five_halves", "variance": 1.0, "lengthscale": 0.2}`."""
    if not isinstance(data, Mapping) or "name" not in data:
        raise BadInput(f"kernel {data!r} must be a mapping with a 'name'; {suggestion('', KERNELS.names())}")
    found: Any = KERNELS.load(data["name"])
    required = {field.name: field.default is MISSING for field in fields(found)}
    for key in data:
        if key != "name" and key not in required:
            hint = suggestion(str(key), required)
            raise BadInput(f"kernel '{data['name']}': unknown field '{key}'; {hint}")
    missing = [name for name in required if required[name] and name not in data]
    if missing:
        raise BadInput(f"kernel '{data['name']}': missing field(s) {', '.join(missing)}")
    return found(**{key: _value(value) for key, value in data.items() if key != "name"})


def _value(value: Any) -> Any:
    """A field's value: kernels from mappings, tuples from lists."""
    if isinstance(value, Mapping):
        return kernel_from_dict(value)
    return tuple(_value(entry) for entry in value) if isinstance(value, list) else value
