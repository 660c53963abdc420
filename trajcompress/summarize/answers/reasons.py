"""Why an answer of a model is no summary: the reasons, in words."""

from __future__ import annotations

from collections.abc import Mapping

NO_SUMMARY: Mapping[str, str] = {
    "empty_answer": "the model wrote nothing that could be a summary",
    "refused_answer": "the model refused",
    "call_answer": "the model wrote a call or code, no summary",
    "dialogue_answer": "the model went on with the conversation",
    "echoed_answer": "the model repeated what it was given",
    "repeated_answer": "the model wrote the same over and over",
    "garbled_answer": "the model wrote no words",
    "error_answer": "an error stands in place of the answer",
}
"""Reasons why an answer of a model is no summary, in words; the row has failed by it."""
