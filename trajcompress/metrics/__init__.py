"""One row of metrics for each input row, and their totals."""
