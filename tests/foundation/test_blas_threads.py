"""One thread in every library of linear algebra, those included that are loaded after the first plan."""

import json
import os
import subprocess
import sys

PROGRAM = """
import json
from threadpoolctl import threadpool_info
from tcbo_pyomo.foundation.blas_threads import one_blas_thread

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

import numpy
with one_blas_thread():
    first = threads()
import scipy.linalg
with one_blas_thread():
    both = threads()
print(json.dumps([first, both]))
"""


def test_a_library_that_is_loaded_later_has_one_thread_too():
    threads = {**os.environ, "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=threads, capture_output=True, text=True, check=True)
    first, both = json.loads(done.stdout)
    assert len(both) >= len(first) >= 1
    assert {*first, *both} == {1}
