"""Who chooses the move: the paper's method and its rivals, one per file; the file name is the name in settings."""
