"""Rows worked on in several processes of one run, each with a tokenizer of its own.

Reading, calls of a model and writing stay in the run's own process, and so do order, limits and stores.
"""
