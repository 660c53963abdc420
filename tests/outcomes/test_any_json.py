"""Whatever a result that is JSON holds, something is told of it."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from trajcompress.outcomes.records.structured import read_structured

VALUES_OF_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 99)
    | st.sampled_from(["a", "HAT1", "ORD-7", "2024-05-21", "7238", "of no use " * 20]),
    lambda inner: (
        st.lists(inner, max_size=20) | st.dictionaries(st.sampled_from(["id", "name", "price", "legs", ""]), inner)
    ),
    max_leaves=60,
)


@given(
    st.lists(VALUES_OF_JSON) | st.dictionaries(st.sampled_from(["id", "rows", "x"]), VALUES_OF_JSON),
    st.dictionaries(st.sampled_from(["HAT1", "ORD-7", "7238", "legs", "80"]), st.sampled_from([1.5, 2.0, 4.0])),
    st.sampled_from([100, 150]),
)
@example([f"ORD-{number}" for number in range(101, 118)], {"ORD-110": 4.0}, 150)
@settings(max_examples=300, deadline=None)
def test_json_of_any_shape_is_told(data, wanted, limit):
    said, _, _ = read_structured(data, wanted, limit, 900)
    assert said
    assert "\n" not in said
