"""Pyomo formulations: the state-action polytope, the Frank-Wolfe subproblem, and the constraints of the plant.

This package imports Pyomo and plain data types only, never the surrogate, a solver or the campaign.
"""
