"""Arrays as plain data: the same in every digit after JSON, and nothing larger than it says."""

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.spatial.distance import cdist

from tcbo_pyomo.errors import BadInput
from tcbo_pyomo.foundation import distances
from tcbo_pyomo.foundation.packed_arrays import packed, packed_texts, unpacked, unpacked_texts

SHAPES = arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=7)


@given(st.one_of(arrays.arrays(np.float64, SHAPES), arrays.arrays(np.int32, SHAPES), arrays.arrays(bool, SHAPES)))
def test_arrays_come_back_bit_for_bit(array):
    back = unpacked(json.loads(json.dumps(packed(array))))
    assert back.shape == array.shape and back.dtype.kind == array.dtype.kind
    assert back.tobytes() == array.astype(back.dtype).tobytes()


@given(st.lists(st.text()))
def test_texts_come_back(texts):
    assert unpacked_texts(json.loads(json.dumps(packed_texts(texts)))) == tuple(texts)


def test_an_array_that_is_larger_or_smaller_than_it_says_is_refused():
    bomb = base64.b64encode(zlib.compress(bytes(10**7))).decode()
    for data in (
        {"kind": "<f8", "shape": [3], "zlib": bomb},
        {"kind": "<f8", "shape": [10**7], "zlib": bomb},
        {"kind": "<f8", "shape": [10**12], "zlib": bomb},
        {"kind": "<f8", "shape": [-1], "zlib": bomb},
        {"kind": "object", "shape": [3], "zlib": bomb},
    ):
        with pytest.raises(BadInput, match="stored array"):
            unpacked(data)
    with pytest.raises(BadInput, match="stored"):
        unpacked_texts({"length": 5, "zlib": bomb})


@given(st.integers(1, 9), st.integers(0, 12), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_distances_are_those_of_scipy_bit_for_bit(dimension, left, right, seed):
    stream = np.random.default_rng(seed)
    one, other = stream.normal(size=(left, dimension)), stream.normal(size=(right, dimension)) * 10.0
    loaded = distances.sys
    try:
        distances.sys = type("NothingLoaded", (), {"modules": {}})
        found = distances.distances(one, other)
    finally:
        distances.sys = loaded
    assert np.array_equal(found, cdist(one, other))
