"""What a tool's description tells is kept where a later turn calls that tool."""

from __future__ import annotations

import json

from told import read

from trajcompress.outcomes.action.actions import describe

TOOLS = """success: true
matched_tools:
- server_name: ppt
  tool_name: open_it
  inputschema: {}
- server_name: ppt
  tool_name: add_chart
  tool_description: Adds a chart.
  inputschema:
    slide_index: '(integer) '
    chart_type: '(string) '
    title: (Optional, string) what
      stands: above it
- server_name: mover
  tool_name: move_it
  inputschema:
    id: '(integer) '
"""


def test_of_tools_in_yaml_the_parameters_of_the_one_that_is_called_are_told():
    said = read(TOOLS, None, later={"add_chart": 2.0}).said
    assert said == (
        "server_name: ppt, tool_name: add_chart … inputschema: slide_index, chart_type, title;"
        " ppt, open_it; mover, move_it"
    )
    passed = read(TOOLS, None, later={"ppt": 2.0, "add_chart": 2.0}).said  # the server of another as well
    assert passed.startswith("server_name: ppt, tool_name: add_chart … inputschema: slide_index, chart_type, title; ")


def test_of_a_parameter_it_is_told_how_it_is_written_and_which_values_it_may_have():
    tools = """- server_name: charts
  tool_name: draw_pie
  tool_description: "Draws it.\\n 1. draw_pie(rows, {mode: 'new'})\\n 2. draw_pie(rows, {mode: 'over'})"
  inputschema:
    rows: '(array) Such as [{ part: 4.2, label: ''a''
      }].'
    mode: '(Optional, string) '
    size:
      type: string
      enum:
      - small
      - large
    seed: (Optional, integer) Default is 3.
- server_name: charts
  tool_name: draw_line
  inputschema:
    rows: '(array) '
"""
    said = read(tools, None, later={"charts": 2.0, "draw_pie": 2.0}).said
    assert said == (
        "server_name: charts, tool_name: draw_pie … inputschema: rows … [{ part: 4.2, label: 'a' }],"
        " mode: new … over, size … enum: - small - large, seed;"
        " server_name: charts, tool_name: draw_line … inputschema: rows"
    )


def test_the_parameters_of_all_tools_that_are_called_are_told():
    later = {"ppt": 2.0, "add_chart": 2.0, "mover": 2.0, "move_it": 2.0}
    told = read(TOOLS, None, later=later, taken=later, most=600).said
    assert told.startswith("server_name: mover, tool_name: move_it … inputschema: id; server_name: ppt, ")
    assert "tool_name: add_chart … inputschema: slide_index, chart_type, title" in told


def test_of_tools_in_json_the_parameters_that_are_passed_are_told():
    schema = {"type": "object", "properties": {"slide_index": {"type": "integer"}, "x": {"type": "string"}}}
    tools = [
        {"name": name, "parameters": schema, "description": "about it " * 9} for name in ("add_chart", "move_it")
    ]
    said = read(json.dumps({"tools": tools}), None, later={"add_chart": 2.0, "slide_index": 2.0}).said
    assert "name=add_chart" in said
    assert "slide_index=" in said


def test_what_is_left_of_an_object_has_its_key():
    data = {"title": "A Phone", "facts": ["It was shown in September 2024. " * 4, "It weighs 187 g. " * 9]}
    said = read(json.dumps(data), None, later={"187": 2.0}).said
    assert "187" in said
    assert "title=A Phone" in said


def test_a_frame_is_not_told_besides_the_error_that_it_led_to():
    text = (
        "Traceback (most recent call last):\n"
        '  File "/testbed/run.py", line 23, in <module>\n    sns.pairplot(df)\n'
        '  File "/testbed/axisgrid.py", line 1504, in map_diag\n    vector = self.data[var]\n'
        "KeyError: \"['1'] not in index\"\n"
    )
    said = read(text, None, later={"1504": 2.0, "map_diag": 2.0}).said
    assert said.count("1504") == 1
    assert "(/testbed/axisgrid.py:1504)" in said


def test_what_a_result_repeats_of_the_call_is_not_told_again():
    data = {"query": "a phone of 2024", "results": [{"name": f"p{n}", "weight": 180 + n} for n in range(40)]}
    said = read(json.dumps(data), describe("search", {"query": "a phone of 2024"}), later={"187": 2.0}).said
    assert "187" in said
    assert "a phone" not in said


def test_a_tool_of_which_a_line_is_told_is_not_named_twice():
    said = read(TOOLS, None, taken={"Adds": 1.5, "chart": 2.0}, most=600).said
    assert said == (
        "server_name: ppt, tool_name: open_it; mover, move_it;"
        " - server_name: ppt; tool_name: add_chart; tool_description: Adds a chart."
    )
