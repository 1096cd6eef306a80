"""How many cores this process may use, as joblib says it, without the time that joblib takes to load."""

from __future__ import annotations

import os
import sys
from math import ceil
from pathlib import Path

QUOTAS = (
    ("/sys/fs/cgroup/cpu.max",),
    ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "/sys/fs/cgroup/cpu/cpu.cfs_period_us"),
)
"""Where Linux says which share of the machine a container has: quota and period, in versions 2 and 1 of control groups."""


def usable_cores() -> int:
    """The cores of this machine that this process is allowed to use and its container has time for."""
    if sys.platform != "linux" or "LOKY_MAX_CPU_COUNT" in os.environ:
        from joblib import cpu_count

        return int(cpu_count())
    return min(os.cpu_count() or 1, len(os.sched_getaffinity(0)), _container_cores() or sys.maxsize)


def _container_cores() -> int | None:
    """The quota of the container, rounded up; None where it has none."""
    for files in QUOTAS:
        try:
            quota, period = " ".join(Path(file).read_text() for file in files).split()
        except (OSError, ValueError):
            continue
        return ceil(int(quota) / int(period)) if quota != "max" and int(quota) > 0 else None
    return None
