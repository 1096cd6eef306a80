"""Linear programmes behind one small contract: compiled for HiGHS, or through any Pyomo solver."""
