"""Regions of the search space, and how a trajectory stays out of them."""
