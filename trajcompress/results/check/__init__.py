"""Checking a dataset: the rules of a target, what its template makes of a row, and what differs between rows."""
