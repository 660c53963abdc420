"""One row of a run, from what was read to what is written."""
