"""Which inputs of runs are the same: pure cases of names and contents."""

from __future__ import annotations

from trajcompress.results.compare.inputs import NamedInputs, changed, numbered


def test_the_same_name_is_the_same_input_whatever_its_content():
    runs = [NamedInputs(["a", "b"], {"a": "1", "b": "2"}), NamedInputs(["b", "a"], {"a": "9", "b": "2"})]
    assert numbered(runs) == [{"a": 0, "b": 1}, {"b": 1, "a": 0}]
    assert changed(runs) == ("a",)


def test_the_same_content_is_the_same_input_under_another_name():
    runs = [NamedInputs(["x/a", "x/b"], {"x/a": "1", "x/b": "2"}), NamedInputs(["b", "c"], {"b": "2", "c": "3"})]
    first, second = numbered(runs)
    assert second["b"] == first["x/b"]
    assert second["c"] not in first.values()
    assert changed(runs) == ()


def test_two_inputs_of_one_content_stay_two():
    one = NamedInputs(["a", "copy"], {"a": "1", "copy": "1"})
    other = NamedInputs(["b", "copy"], {"b": "1", "copy": "1"})
    for numbers in numbered([one, other]):
        assert len(set(numbers.values())) == 2


def test_unknown_content_is_known_by_name_alone():
    assert numbered([NamedInputs(["-"], {}), NamedInputs(["-", "a"], {})]) == [{"-": 0}, {"-": 0, "a": 1}]
