"""What Python programs use: compress trajectories and data sets, count tokens.

Options have the names of the command line's, with underscores. Nothing is read from the environment but the API key.
"""
