"""Campaigns: ask, tell, simulate."""
