"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_info


def described() -> dict[str, str | int]:
    """Processor, cores, memory, and the versions that decide the speed."""
    blas = [f"{pool['internal_api']} {pool['version']}, {pool['num_threads']} thread" for pool in _blas_pools()]
    packages = ("numpy", "scipy", "highspy", "casadi", "pyomo")
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "memory": _memory(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "blas": "; ".join(sorted(set(blas))),
        **{package: version(package) for package in packages},
    }


def _blas_pools() -> list[dict]:
    import numpy as np
    import scipy.linalg  # noqa: F401  # Brings a BLAS of its own.

    np.eye(2) @ np.eye(2)
    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB"
    except (ValueError, OSError, AttributeError):
        return "unknown"
