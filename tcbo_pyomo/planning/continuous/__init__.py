"""Plans on continuous plants: trajectories that keep the dynamics."""
