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


def test_an_exception_is_told_with_the_frame_of_the_code_at_hand_and_not_of_a_library():
    trace = (
        'Traceback (most recent call last):\n  File "/repo/run.py", line 4, in <module>\n    plot()\n'
        '  File "/repo/lib/art.py", line 174, in plot\n    np.broadcast_to(zs, 3)\n'
        '  File "/opt/lib/python3.11/site-packages/numpy/lib/stride.py", line 349, in broadcast_to\n    it = x(\n'
    )
    assert errors(f"{trace}ValueError: wrong shape\n") == ["ValueError: wrong shape (/repo/lib/art.py:174)"]


def test_what_ends_a_traceback_is_told_whatever_its_name():
    trace = 'started\nTraceback (most recent call last):\n  File "/repo/run.py", line 4, in <module>\n    f()\n'
    (told,) = errors(f"{trace}django.core.exceptions.ImproperlyConfigured: no settings\nmore: of it\n")
    assert told == "django.core.exceptions.ImproperlyConfigured: no settings (/repo/run.py:4)"
    assert errors(f"{trace}no exception at all\nvalue: 3\n") == []
