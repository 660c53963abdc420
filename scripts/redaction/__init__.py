"""The parts of ``eval_redact.py``: the set, the judge, and what other scanners find."""
