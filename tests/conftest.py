"""Settings shared by all tests: the same examples on every run, no time limit per example on a busy machine."""

import os
import signal
import sys
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings

# One BLAS thread: small matrices are slower with two, and workers run side by side.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# quantecon compiles with numba, which refuses to go on when a test has changed the number of threads meanwhile.
os.environ.setdefault("NUMBA_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parent))
# Jobs that a script starts in the background ignore Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What this user has trusted is not for tests to change.
_state = tempfile.TemporaryDirectory(prefix="tcbo-state-")
os.environ["XDG_STATE_HOME"] = _state.name

settings.register_profile("repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")

# After the path was set: finished campaigns made by hand, for the tests of reports and run folders.
from finished_campaigns import finish, knorr_result  # noqa: E402, F401
