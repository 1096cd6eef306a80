"""Reference pages that are written from the code at every build, so that they cannot go stale."""
