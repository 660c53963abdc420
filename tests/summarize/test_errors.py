"""Error lines in what a tool printed."""

from __future__ import annotations

from trajcompress.summarize.extractive.errors import errors


def test_an_error_whose_message_begins_below_it_is_told_with_it():
    text = (
        'Traceback (most recent call last):\n  File "/x/utils.py", line 840, in f\n    raise AssertionError(msg)\n'
        "AssertionError: \nArrays are not equal\n\nMismatched elements: 862 / 1000 (86.2%)\n"
        "\nDuring handling of the above exception, another exception occurred:\n"
    )
    (told,) = errors(text)
    assert told == "AssertionError: Arrays are not equal; Mismatched elements: 862 / 1000 (86.2%) (/x/utils.py:840)"
    assert errors("ValueError:\n\n\n") == ["ValueError:"]
