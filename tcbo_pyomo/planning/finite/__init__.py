"""Plans on finite plants: visitations inside the state-action polytope."""
