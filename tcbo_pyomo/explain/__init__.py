"""Why this move, what the limits cost, what if."""
