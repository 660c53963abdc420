"""What came of an action whose result is JSON."""
