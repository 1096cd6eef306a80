"""Campaigns simulated before they are made: many at once, on functions drawn from what is believed."""
