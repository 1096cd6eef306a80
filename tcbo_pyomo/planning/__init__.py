"""Planning: the utility, Frank-Wolfe over the polytope, policies, and the two exact oracles (LP, dynamic programming)."""
