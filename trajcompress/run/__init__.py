"""A whole run: pipeline, run folder, totals."""
