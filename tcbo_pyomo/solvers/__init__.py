"""Solvers: linear programmes compiled for HiGHS or through Pyomo, nonlinear ones for IPOPT; each in a file of its own."""
