"""The parts of ``compare_versions.py``."""
