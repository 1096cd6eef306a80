"""The check of the ODE kernel (appendix, "Kernel for ODE Knorr pyrazole synthesis"): `python ode_kernel_check.py FILE.png`.

Draws the feature of the kernel, made of exponentials, over the numerical solution of the two linearised systems.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp

from tcbo_pyomo.surrogate.kernels.reaction_kinetics import ReactionKinetics

RATIOS = (0.1, 0.3, 0.5, 0.7, 0.9)


def integrated(kernel: ReactionKinetics, ratio: float, times: np.ndarray) -> np.ndarray:
    """The same feature by a stiff integrator: y1 of y' = J y at both points of equilibrium, mixed by the sigmoid."""
    share = 1.0 / (1.0 + np.exp(-kernel.sigmoid_steepness * (ratio - 0.5)))
    found = np.zeros(len(times))
    for point, weight in ((0, 1.0 - share), (1, share)):
        # Where y3 (or y2) is used up, the other reactant and water are left.
        y2, y3 = (kernel.reactants[0], 0.0) if point == 0 else (0.0, kernel.reactants[1])
        first = np.array([0.0, kernel.k1 * y3, kernel.k1 * y2, -kernel.k2 * kernel.water[point], 0.0])
        second = np.array([0.0, 0.0, 0.0, kernel.k3, 0.0])
        matrix = np.array([second, -first, -first, first - second, first + second])
        start = [0.0, 1.0 - ratio, ratio, 0.0, 0.0]
        options = {"method": "LSODA", "rtol": 1e-11, "atol": 1e-14}
        solved = solve_ivp(lambda _, y, matrix=matrix: matrix @ y, (0.0, times[-1]), start, t_eval=times, **options)
        found += weight * solved.y[0]
    return found


def main(file: Path) -> None:
    """Draw both, and print the largest difference."""
    kernel, times = ReactionKinetics(), np.linspace(0.0, 40.0, 41)
    _, axes = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
    worst = 0.0
    for ratio in RATIOS:
        exact = kernel.feature(np.column_stack([times / 40.0 - 0.5, np.full(len(times), ratio - 0.5)]))
        numerical = integrated(kernel, ratio, times)
        worst = max(worst, float(np.abs(exact - numerical).max()))
        (line,) = axes.plot(times, exact, label=f"B = {ratio:g}")
        axes.plot(times[::4], numerical[::4], "o", color=line.get_color(), markersize=4)
    axes.set(
        xlabel="residence time (min)", ylabel="feature of the ODE kernel", title="lines: closed form, dots: integrated"
    )
    axes.legend()
    plt.savefig(file, dpi=120)
    print(f"largest difference {worst:.1e}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "ode-kernel.png"))
