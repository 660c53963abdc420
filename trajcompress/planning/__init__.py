"""What a run would do, without doing it: rows by outcome, tokens, calls, cost and time."""
