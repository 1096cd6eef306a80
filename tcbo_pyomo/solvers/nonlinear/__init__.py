"""Trajectory programmes behind one small contract: IPOPT on compiled derivatives, or any Pyomo solver."""
