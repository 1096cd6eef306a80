"""What the plant can do: processes, grids, dynamics, actions, and where it is within an episode."""
