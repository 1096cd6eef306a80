"""Figures of one campaign."""
