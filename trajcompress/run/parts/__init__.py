"""The parts of a run: cut by the input alone, written, and committed."""
