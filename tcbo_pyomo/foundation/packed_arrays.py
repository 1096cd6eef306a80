"""Arrays and long lists of texts as plain data: compressed, in base64, the same in every digit when unpacked.

What is unpacked may come from a stranger: no array becomes larger than its shape says, nor than `LARGEST` bytes.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tcbo_pyomo.errors import BadInput

LARGEST = 2**30
"""Bytes of one unpacked array."""
KINDS = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "bits"}


def packed(array: Any) -> dict[str, Any]:
    """An array of numbers or truth values as plain data."""
    values = np.asarray(array)
    kind = KINDS[values.dtype.kind]
    content = np.packbits(values) if kind == "bits" else np.ascontiguousarray(values, dtype=kind)
    return {"kind": kind, "shape": list(values.shape), "zlib": _squeezed(content.tobytes())}


def unpacked(data: Mapping[str, Any]) -> Any:
    """The array that `packed` turned into data."""
    kind, shape = data["kind"], [int(size) for size in data["shape"]]
    number = math.prod(shape)
    if kind not in KINDS.values() or min(shape, default=0) < 0 or number * 8 > LARGEST:
        raise BadInput(f"a stored array of kind {kind!r} and shape {shape} was not written by this version")
    content = _restored(data["zlib"], -(-number // 8) if kind == "bits" else 8 * number)
    if kind == "bits":
        return np.unpackbits(np.frombuffer(content, dtype=np.uint8), count=number).astype(bool).reshape(shape)
    return np.frombuffer(content, dtype=kind).astype(kind[1:]).reshape(shape)


def packed_texts(texts: Sequence[str]) -> dict[str, Any]:
    """Many texts as plain data."""
    content = json.dumps(list(texts)).encode()
    return {"length": len(content), "zlib": _squeezed(content)}


def unpacked_texts(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts that `packed_texts` turned into data."""
    length = int(data["length"])
    if not 0 <= length <= LARGEST:
        raise BadInput(f"stored texts of {length} bytes were not written by this version")
    return tuple(map(str, json.loads(_restored(data["zlib"], length))))


def _squeezed(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content, 6)).decode("ascii")


def _restored(text: str, length: int) -> bytes:
    """So many bytes, no more and no fewer."""
    opened = zlib.decompressobj()
    content = opened.decompress(base64.b64decode(text), length + 1)
    if len(content) != length:
        raise BadInput(f"a stored array lacks the {length} bytes that its shape needs")
    return content
