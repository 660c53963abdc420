"""Fit agent trajectories into a token budget before training."""
