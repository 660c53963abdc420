"""One row of a run before and after, for people and programs.

``load`` reads it, ``view`` says what there is to see, and ``terminal``, ``html`` and ``data`` show that.
"""
