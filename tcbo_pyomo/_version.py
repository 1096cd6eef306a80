"""The version, in one place; setup.cfg reads it from here."""

__version__ = "0.2.0"

MOVES_SINCE = "0.1.0"
"""The version since which the same settings give the same moves; raise it whenever a change alters moves. Finished runs of a
study are known by it, so that a folder goes on after an update that left the moves as they were."""

REACHABLE_SINCE = "0.2.0"
"""The version since which the maximum is sought only where an episode can go under all rules: where that is less than before,
the moves are other ones since then."""
