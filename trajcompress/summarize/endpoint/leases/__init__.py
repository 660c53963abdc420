"""One rate limit, and one view of the endpoint, for all workers of a run: what they lease from its driver."""
