"""What AutoGen prints of calls and their results, in the words of the tools."""

from __future__ import annotations

import pytest
from told import read

from trajcompress.outcomes.steps import action_of, label_of
from trajcompress.transcript.observations import read_observations
from trajcompress.transcript.trajectory import Turn

CALL = '[FunctionCall(id=\'c1\', arguments=\'{"pump": "N7", "unit": "l/s"}\', name=\'flow_of\')]'
RESULT = "[FunctionExecutionResult(content='{}', name='flow_of', call_id='c1', is_error={})]"


def test_a_call_is_told_by_its_own_name_and_its_result_by_what_it_holds():
    turns = [Turn("user", "How much does it move?", {}), Turn("assistant", CALL, {})]
    turns.append(Turn("user", RESULT.format("12 l/s\\nat night 3", False), {}))
    _, called, result = read_observations(turns)
    assert label_of(action_of(called, 0), "") == "flow_of pump=N7, unit=l/s"
    assert read(result.text, None).said == "12 l/s at night 3"


def test_results_that_failed_say_so():
    assert read(RESULT.format("no pump N7", True), None).failed
    two = f"[{RESULT.format('12', False)[1:-1]}, {RESULT.format('no pump N8', True)[1:-1]}]"
    assert read(two, None).said == "Error: no pump N8"


@pytest.mark.parametrize("text", [RESULT[:40], "[FunctionExecutionResult(name='x')]", "[FunctionExecutionResult(1)"])
def test_what_is_no_whole_list_of_results_stays_as_it_is(text: str):
    assert read(text, None).said.startswith("[FunctionExecutionResult(")
