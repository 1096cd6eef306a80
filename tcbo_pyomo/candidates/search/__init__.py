"""Searches for maxima over a box, many at once."""
