"""The study of the tests as a process of its own, and waiting for what it does."""

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def command(study, folder, *options, file="tiny.yaml"):
    file = Path(study.problems[0].problem).with_name(file)
    return [sys.executable, "-m", "tcbo_pyomo", "study", str(file), "--output", str(folder), *options]


def environment(**extra):
    return {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", **extra}


def process_of(study, folder, *options, **extra):
    return subprocess.Popen(
        command(study, folder, *options),
        env=environment(**extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_ordinary_signals,
    )


def _ordinary_signals():
    """Tests may run where requests to end are ignored, which children inherit."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for request in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(request, signal.SIG_DFL)
