"""Which unknowns a set of equations determines, by their structure: who occurs where (a maximum matching)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyomo.core.expr import identify_variables
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import maximum_bipartite_matching


@dataclass(frozen=True)
class Determined:
    """What equations determine.

    Attributes
    ----------
    rows, unknowns
        The equations that are needed for the targets, and the unknowns in them.
    undetermined, orphans
        Unknowns that the targets depend on and that no equation is left for, and the first targets that need them.
    contradictory
        Equations that are left over and speak only of what is determined already.
    """

    rows: list[Any]
    unknowns: list[Any]
    undetermined: list[Any]
    orphans: list[Any]
    contradictory: list[Any]


def free_variables(row: Any) -> list[Any]:
    """The variables of a row that are not fixed."""
    return list(identify_variables(row.body, include_fixed=False))


def determine(rows: Sequence[Any], known: Iterable[Any], targets: Iterable[Any]) -> Determined:
    """The part of a system of equations that determines the targets from what is known.

    Parameters
    ----------
    rows
        Pyomo equality constraints.
    known
        Variables that are given.
    targets
        Variables that are wanted.
    """
    given = {id(variable) for variable in known}
    position: dict[int, int] = {}
    variables: list[Any] = []
    members: list[list[int]] = []
    for row in rows:
        members.append([])
        for variable in free_variables(row):
            if id(variable) in given:
                continue
            if id(variable) not in position:
                position[id(variable)] = len(variables)
                variables.append(variable)
            members[-1].append(position[id(variable)])
    row_of = _matching(members, len(variables))
    wanted = [target for target in targets if id(target) not in given]
    undetermined = [target for target in wanted if id(target) not in position]
    needed: set[int] = set()
    orphans: list[Any] = list(undetermined)
    for target in (target for target in wanted if id(target) in position):
        followed = _follow(position[id(target)], members, row_of, needed)
        needed |= followed
        missing = [variables[unknown] for unknown in followed if row_of[unknown] < 0]
        undetermined += missing
        orphans += [target] if missing else []
    used = {int(row_of[unknown]) for unknown in needed}
    matched = set(row_of.tolist())
    spare = [i for i in range(len(rows)) if i not in matched and set(members[i]) <= needed]
    return Determined(
        [row for i, row in enumerate(rows) if i in used],
        [variables[i] for i in sorted(needed)],
        undetermined,
        orphans,
        [rows[i] for i in spare],
    )


def _follow(first: int, members: Sequence[Sequence[int]], row_of: Any, known: set[int]) -> set[int]:
    """The unknowns that one depends on, by the rows they are matched with; those followed before are left out."""
    found, waiting = set[int](), [first]
    while waiting:
        unknown = waiting.pop()
        if unknown not in known and unknown not in found:
            found.add(unknown)
            waiting.extend(members[row_of[unknown]] if row_of[unknown] >= 0 else ())
    return found


def _matching(members: Sequence[Sequence[int]], unknowns: int) -> Any:
    """For each unknown the row that is matched with it, or -1."""
    if not unknowns:
        return np.full(0, -1)
    pairs = [(row, unknown) for row, inside in enumerate(members) for unknown in inside]
    first, second = np.array(pairs).T
    incidence = coo_matrix((np.ones(len(pairs)), (first, second)), shape=(len(members), unknowns)).tocsr()
    return maximum_bipartite_matching(incidence, perm_type="row")
