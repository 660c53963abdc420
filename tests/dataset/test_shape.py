"""The algebra of shapes, and whether values fit them."""

from __future__ import annotations

import datetime as dt
from functools import reduce

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajcompress.dataset.fits import acceptor, is_json, unrepresentable
from trajcompress.dataset.shape import List, Opaque, Scalar, Struct, merge, merge_rows, shape_of, shape_of_arrow
from trajcompress.json_values import MAX_DEPTH

TEXTS = st.text(max_size=4) | st.sampled_from(["\ud800", "a\udfffé", "\0"])
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.integers(-9, 9) | st.floats() | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", "é", "\ud800"]), inner, max_size=2)
    ),
    max_leaves=8,
)
NATIVE = [
    pa.int32(),
    pa.uint64(),
    pa.float32(),
    pa.large_string(),
    pa.binary(),
    pa.timestamp("us"),
    pa.decimal128(5, 2),
]
NATIVE += [pa.list_(pa.binary()), pa.struct([("a", pa.int8()), ("b", pa.binary())]), pa.list_(pa.list_(pa.int32()))]
SHAPES = VALUES.map(shape_of) | st.sampled_from([shape_of_arrow(arrow) for arrow in NATIVE]) | st.sampled_from(Scalar)


@given(SHAPES, SHAPES, SHAPES)
def test_merging_is_associative_commutative_and_idempotent_with_null_as_identity(a, b, c):
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    assert merge(a, b) == merge(b, a)
    assert merge(a, a) == a
    assert merge(a, Scalar.NULL) == merge(Scalar.NULL, a) == a


@given(st.lists(VALUES, min_size=1, max_size=4))
def test_the_merged_shape_holds_every_value_merged(values):
    accepts = acceptor(reduce(merge, map(shape_of, values)))
    assert all(map(accepts, values))


@given(VALUES, SHAPES)
def test_a_value_that_fits_does_not_widen_the_shape(value, shape):
    if acceptor(shape)(value) and not isinstance(shape, Opaque):
        held = merge(shape, shape_of(value))
        assert held == shape or "Opaque" in repr(shape)


@given(SHAPES, SHAPES)
def test_json_stands_only_where_datasets_decodes_it(a, b):
    def nested(shape, depth=0):
        match shape:
            case List(item):
                return nested(item, depth + 1)
            case Struct(fields):
                return any(nested(field, depth + 2) for _, field in fields)
        return depth > 1 and shape in (Scalar.JSON, Scalar.MIXED)

    assert not nested(merge(a, b))


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        ([None], Scalar.NULL),
        ([1, None], Scalar.INT),
        ([1, 2**53 + 1], Scalar.BIG_INT),
        ([1, 0.5], Scalar.FLOAT),
        ([2**53 + 1, 0.5], Scalar.JSON),
        ([1, True], Scalar.JSON),
        ([2**63], Scalar.JSON),
        (["a", 1], Scalar.JSON),
        (["a", "\ud800"], Scalar.JSON),
        ([[]], List(Scalar.NULL)),
        ([[], ["a"]], List(Scalar.STR)),
        ([{}], Scalar.JSON),
        ([[{"from": "a", "value": "b"}]], List(Struct((("from", Scalar.STR), ("value", Scalar.STR))))),
        ([[{"from": "a"}, {"from": "a", "loss": 1}]], List(Scalar.JSON)),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], Scalar.JSON),  # a template may render keys in their order
        ([{"a": 1}, {"a": "1"}], Scalar.JSON),
        ([{"a": {"b": 1}}], Scalar.JSON),
        ([[[{}]]], List(Scalar.JSON)),
        ([[[[[[1]]]]]], List(Scalar.JSON)),
    ],
)
def test_shapes_of_values(values, shape):
    assert reduce(merge, map(shape_of, values)) == shape


def test_columns_keep_the_order_in_which_they_are_seen():
    merged = merge_rows({"b": Scalar.STR, "a": Scalar.NULL}, {"c": Scalar.INT, "a": Scalar.BOOL})
    assert list(merged.items()) == [("b", Scalar.STR), ("a", Scalar.BOOL), ("c", Scalar.INT)]


def test_native_types_join_what_their_values_would_be():
    int32, binary = shape_of_arrow(pa.int32()), shape_of_arrow(pa.binary())
    assert merge(int32, int32) == int32
    assert merge(int32, Scalar.INT) is Scalar.INT
    assert merge(shape_of_arrow(pa.large_string()), Scalar.STR) is Scalar.STR
    assert merge(binary, Scalar.STR) is Scalar.MIXED
    assert shape_of_arrow(pa.timestamp("s")) == shape_of_arrow(pa.timestamp("ms"))  # as Parquet stores it
    assert shape_of_arrow(pa.large_list(pa.string())) == List(Scalar.STR)


@pytest.mark.parametrize(
    ("arrow", "good", "bad"),
    [
        (pa.int8(), 127, 128),
        (pa.float32(), 0.5, 0.1),
        (pa.timestamp("us"), dt.datetime(2024, 1, 1), "2024-01-01"),  # noqa: DTZ001 - the column has no zone
        (pa.binary(), b"\xff", "a"),
        (pa.large_string(), "é", "\ud800"),
    ],
)
def test_native_columns_take_only_what_they_give_back(arrow, good, bad):
    accepts = acceptor(shape_of_arrow(arrow))
    assert accepts(good)
    assert accepts(None)
    assert not accepts(bad)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"messages": [{}, {"score": 2**64}]}, "messages[1].score: integer beyond 64 bits"),
        ({"n": -(2**63) - 1}, "n: integer beyond 64 bits"),
        ({"a\ud800": 1}, "column 'a\\ud800': its name holds NUL or lone surrogates"),
        ({"n": 2**64 - 1, "s": "\ud800", "f": 1e300}, None),
    ],
)
def test_what_parquet_cannot_carry_is_named(row, reason):
    assert unrepresentable(row) == reason


def test_too_deep_a_value_is_named():
    value = []
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    assert is_json(value)
    assert unrepresentable({"a": value}) is None
    for _ in range(100_000):
        value = [value]
    assert str(unrepresentable({"a": value})).endswith(f"nested deeper than {MAX_DEPTH} levels")
