"""A study that is told to end, or is killed, leaves no process behind; told to end, it keeps what it has."""

import os
import signal
import subprocess
import sys

import psutil
import pytest
from study_process import process_of
from waiting import PATIENCE, until

from tcbo_pyomo.foundation.parent_process import end_with_parent


@pytest.mark.parametrize("engine", ["processes", "dask"])
@pytest.mark.parametrize("request_", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_workers_end_with_their_study(study, tmp_path, request_, engine):
    folder = tmp_path / "out"
    options = ("--workers", "2", "--engine", engine, "--seeds", "1..500")
    process = process_of(study, folder, *options, TINY_SECONDS="0.4")
    until(lambda: list(folder.glob("runs/*.json")) or process.poll() is not None, PATIENCE)
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) >= 2
    process.send_signal(getattr(signal, request_))
    _, errors = process.communicate(timeout=PATIENCE)
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert not alive
    if request_ == "SIGKILL":
        return
    assert process.returncode == 130, errors
    assert errors.strip().endswith("interrupted") and "Traceback" not in errors
    made = len(list(folder.glob("runs/*.json")))
    assert 0 < made < 500 and (folder / "runs.csv").read_text().count("\n") == 1 + 6 * made


def test_workers_that_are_no_copies_end_with_a_killed_parent(tmp_path):
    code = """
import os, sys, time
from tcbo_pyomo.studies import worker_pool
worker_pool.may_be_copied = lambda: False
with worker_pool.worker_pool(2) as pool:
    waiting = [pool.submit(time.sleep, 600) for _ in range(2)]
    print(pool.submit and "ready", flush=True)
    waiting[0].result()
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    until(lambda: len(psutil.Process(process.pid).children()) >= 2, PATIENCE)
    children = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.communicate(timeout=PATIENCE)
    _, alive = psutil.wait_procs(children, timeout=PATIENCE)
    assert not alive


@pytest.mark.parametrize("kernel", [True, False])
def test_where_the_kernel_does_not_help_a_thread_looks(kernel):
    code = f"""
import os, sys, time
from tcbo_pyomo.foundation import parent_process
parent_process.SECONDS_BETWEEN_LOOKS = 0.01
{"" if kernel else "parent_process._by_the_kernel = lambda: False"}
here = os.getpid()
child = os.fork()
if child == 0:
    parent_process.end_with_parent(here)
    print(os.getpid(), flush=True)
    while True:
        time.sleep(1)
time.sleep(600)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child = psutil.Process(int(process.stdout.readline()))
    process.kill()
    process.communicate(timeout=PATIENCE)
    _, alive = psutil.wait_procs([child], timeout=PATIENCE)
    assert not alive


def test_a_parent_that_is_gone_already_is_seen(monkeypatch):
    ended = []
    monkeypatch.setattr("tcbo_pyomo.foundation.parent_process._by_the_kernel", lambda: True)
    monkeypatch.setattr(os, "_exit", ended.append)
    end_with_parent(os.getppid())
    assert not ended
    end_with_parent(1_000_000_000)
    assert ended == [1]
