"""Which states a path went through, where several states have the same coordinates: those that moves connect."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def connected_states(options: Sequence[Sequence[int]], leads: Callable[[int, int], bool]) -> list[int | None]:
    """One of the states of each point, so that moves lead from one to the next as far as any do; None where there is none.

    Parameters
    ----------
    options
        The states of each point of a path.
    leads
        Whether some move leads from one state to another.
    """
    alive: list[list[int]] = []
    for states in options:
        before = alive[-1] if alive else []
        met = [state for state in states if any(leads(earlier, state) for earlier in before)]
        alive.append(met or list(states))
    found: list[int | None] = []
    for states in reversed(alive):
        after = found[-1] if found else None
        fitting = states if after is None else [state for state in states if leads(state, after)] or states
        found.append(fitting[0] if fitting else None)
    return found[::-1]
