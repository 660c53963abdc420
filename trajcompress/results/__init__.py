"""What reads a run or a dataset: audit, report, show, check."""
