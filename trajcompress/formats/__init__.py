"""Row to trajectory and back, one adapter per format."""
