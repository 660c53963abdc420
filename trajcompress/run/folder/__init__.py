"""The folder of a run: what lies in it besides its parts, and who holds it."""
