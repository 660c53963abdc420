"""What ``eval_trainers.py`` is made of, and the loaders that run in each trainer's own environment."""
