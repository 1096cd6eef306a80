"""The history of a campaign and what follows from it."""
