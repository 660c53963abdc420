"""What bench_run.py is made of."""
