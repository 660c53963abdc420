"""The report of a run: its metrics added up, drawn, and put on one page that needs nothing else."""
