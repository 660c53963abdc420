"""What ``eval_images.py`` is made of: made rows, and loaders that run in each trainer's own environment."""
