"""The number of cores is that of joblib, and a container's share of the machine counts."""

import sys

import joblib
import pytest

from tcbo_pyomo.studies import cores

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere joblib itself is asked")


def test_it_is_what_joblib_says(monkeypatch):
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    assert cores.usable_cores() == joblib.cpu_count()
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert cores.usable_cores() == 1


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["150000 100000\n"], 2),
        (["100000 100000\n"], 1),
        (["max 100000\n"], 64),
        (["250000\n", "100000\n"], 3),
        (["-1\n", "100000\n"], 64),
        (["\n"], 64),
    ],
)
def test_a_container_has_its_quota_rounded_up(tmp_path, monkeypatch, texts, expected):
    files = [tmp_path / f"file_{number}" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    monkeypatch.delenv("LOKY_MAX_CPU_COUNT", raising=False)
    monkeypatch.setattr(cores, "QUOTAS", ((tmp_path / "absent",), tuple(files)))
    monkeypatch.setattr(cores.os, "cpu_count", lambda: 64)
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda process: set(range(64)))
    assert cores.usable_cores() == expected
