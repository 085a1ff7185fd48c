"""Predicates over columns of every kind, as texts, and readings that lie where they change."""

import pyarrow as pa
import sqlglot
from hypothesis import strategies as st

from skerry.model.expression import Expression
from skerry.operators.derive import Derive

SCHEMA = pa.schema(
    {
        "i": pa.int32(),
        "l": pa.int64(),
        "d": pa.float64(),
        "f": pa.float32(),
        "t": pa.timestamp("us"),
        "b": pa.bool_(),
        "s": pa.string(),
    }
)
NAN, INF = float("nan"), float("inf")
SPECIAL = {
    "i": [0, 1, 2, 3, -1, 2**31 - 1, -(2**31)],
    "l": [0, 1, 2, 2**53, 2**53 + 1, 2**63 - 1, -(2**63), -(2**63) + 1],
    "d": [0.0, -0.0, 0.1, 0.9187240447990549, 0.9187240447990548, 1.0, 1.5, 2.0, NAN, INF, -INF, 5e-324],
    "f": [0.0, -0.0, 0.1, 1.0, 1.5, 16777216.0, NAN, INF, -INF],
    "t": [0, 1, 1_700_000_000_000_000, 1_700_000_000_000_001],
    "b": [True, False],
    "s": ["", "a", "a\0", "ab", "abcdefg", "abcdefgh", "abcdefghi", "abd", "é", "b"],
}
NUMBERS = ["0", "1", "2", "-1", "1.5", "0.1", "1e0", "2147483648", "9007199254740993", "9007199254740992e0", "-3.25"]
NUMBERS += ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.00000000000000000001", "1 + 1"]
CONSTANTS = {
    "i": NUMBERS,
    "l": NUMBERS,
    "d": [
        *NUMBERS,
        "CAST('nan' AS DOUBLE)",
        "CAST('-inf' AS DOUBLE)",
        "0.1000000000000000055",
        "0.9187240447990549",
        "0.918724044799054850001",
        "5e-05",
        "CAST(0.1 AS FLOAT)",
    ],
    "f": [*NUMBERS, "CAST('nan' AS DOUBLE)", "16777217", "CAST(0.1 AS FLOAT)"],
    "t": ["'1970-01-01'", "TIMESTAMP '2023-11-14 22:13:20'", "TIMESTAMP '2023-11-14 22:13:20' + INTERVAL '1' HOUR"],
    "b": ["TRUE", "FALSE"],
    "s": ["''", "'a'", "'ab'", "'abcdefg'", "'abcdefgh'", "'abcdefghi'", "'é'", "'a' || 'b'"],
}
SIGNS = ["<", "<=", "=", ">=", ">", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]
OTHER = [
    "i > l",
    "d * 2 > 1",
    "s LIKE '%b%'",
    "s LIKE 'a_'",
    "TRUE",
    "FALSE",
    "NULL",
    "length(s) = 1",
    "s LIKE '%bcde%'",
]


@st.composite
def leaves(draw):
    """One comparison, or another predicate over one column."""
    name = draw(st.sampled_from(SCHEMA.names))
    constant = st.sampled_from([*CONSTANTS[name], "NULL"])
    kind = draw(st.sampled_from(["sign", "turned", "between", "in", "null", "other", "own"]))
    if kind == "sign":
        return f"{name} {draw(st.sampled_from(SIGNS))} {draw(constant)}"
    if kind == "turned":
        return f"{draw(constant)} {draw(st.sampled_from(SIGNS[:6]))} {name}"
    if kind == "between":
        return f"{name} {draw(st.sampled_from(['', 'NOT ']))}BETWEEN {draw(constant)} AND {draw(constant)}"
    if kind == "in":
        found = ", ".join(draw(st.lists(constant, min_size=1, max_size=4)))
        return f"{name} {draw(st.sampled_from(['', 'NOT ']))}IN ({found})"
    if kind == "null":
        return f"{name} IS {draw(st.sampled_from(['', 'NOT ']))}NULL"
    return draw(
        st.sampled_from(OTHER if kind == "other" else ["b", "b IS TRUE", "s LIKE 'ab%'", "starts_with(s, 'a')"])
    )


def join_parts(parts):
    several = st.tuples(st.sampled_from([" AND ", " OR "]), st.lists(parts, min_size=2, max_size=3))
    return several.map(lambda pair: f"({pair[0].join(pair[1])})") | parts.map(lambda text: f"(NOT {text})")


def predicates():
    return st.recursive(leaves(), join_parts, max_leaves=6)


@st.composite
def batches(draw):
    count = draw(st.integers(1, 12))
    columns = [
        pa.array(
            draw(st.lists(st.none() | st.sampled_from(SPECIAL[field.name]), min_size=count, max_size=count)), field.type
        )
        for field in SCHEMA
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def bind(text):
    return sqlglot.parse_one(text, read="risingwave").transform(
        lambda node: sqlglot.exp.column(node.name, quoted=True) if isinstance(node, sqlglot.exp.Column) else node
    )


def true_rows(tree, batch):
    """The rows for which DuckDB finds a predicate true."""
    numbered = batch.append_column("row", pa.array(range(batch.num_rows)))
    where = Expression(tree if isinstance(tree, str) else tree.sql("duckdb"), pa.bool_())
    found = Derive([("row", Expression.of("row", pa.int64()))], where).transition(numbered)
    return set(found.column("row").to_pylist())
