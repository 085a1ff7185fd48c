import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from skerry.catalog import Source, Subscription
from skerry.errors import InputError
from skerry.lang.sql.predicates import Predicates
from skerry.model.dialect import Dialect
from skerry.model.types import TIMESTAMP

SCHEMA = pa.schema(
    {"speed": pa.float64(), "lane": pa.int32(), "sensor": pa.string(), "ts": TIMESTAMP, "o2": pa.int64()}
)
STREAMS = {
    "road": Source("road", SCHEMA, "file"),
    "sites": Source("sites", SCHEMA, "file", is_table=True),
}
FORMS = [
    "speed < {n}",
    "{n} <= speed AND NOT lane = {i}",
    "lane IN ({i}, {i}, {i}) OR sensor = {s}",
    "speed BETWEEN {n} AND {n} AND o2 > {i}",
    "speed > -{n} AND (lane = {i} OR lane = {i} + {i})",
    "sensor LIKE {s} AND sensor <> {s}",
    "ts < TIMESTAMP {t} - INTERVAL '{i}' SECOND",
    'speed * {n} > lane AND "lane" = {i}',
    "speed < {n} -- {i}",
    "speed < {n} /* {i} */ AND lane = {i}",
    "speed < {n}e2",
    "lane IN ({i}, {i}) AND sensor not in({s},{s} , {s})",
    "lane IN ({i},{i},{i},{i},{i}) OR speed IN ({n}, 1.5)",
    "SPEED < {n} AND road.lane = {i}",
]
constants = st.fixed_dictionaries(
    {
        "n": st.integers(0, 10**9).map(str)
        | st.decimals(0, 999, places=3).map(str)
        | st.floats(0, 1e6).map(str)
        | st.decimals(0, 1, places=25).map(lambda number: f"{number:f}"),
        "i": st.integers(0, 10**6).map(str),
        "s": st.text("ab'#0 7", max_size=5).map(lambda text: "'" + text.replace("'", "''") + "'"),
        "t": st.just("'2026-01-01 00:00:00'"),
    }
)


def read(text, stream="road", predicates=None):
    return (predicates or Predicates(STREAMS)).form(Subscription("q1", stream, text)).write()


def bind(tree):
    spelled = {name.lower(): name for name in SCHEMA.names}
    return tree.transform(
        lambda node: exp.column(spelled[node.name.lower()], quoted=True) if isinstance(node, exp.Column) else node
    )


@given(forms=st.lists(st.tuples(st.sampled_from(FORMS), constants), min_size=1, max_size=6))
def test_tree_is_as_if_read_alone(forms):
    predicates = Predicates(STREAMS)
    for form, values in forms:
        text = form.format(**values)
        assert read(text, predicates=predicates) == bind(sqlglot.condition(text, dialect=Dialect))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sped < 3", "subscription 'q1': line 1, column 1: unknown column 'sped'; road has speed, lane"),
        ("speed <", "subscription 'q1': cannot read the predicate 'speed <'"),
        ("speed + 1", "a condition must be BOOLEAN; this is DOUBLE"),
        ("speed < (SELECT 1)", "subscription 'q1'"),
        ("read_text('/etc/passwd') = ''", "subscription 'q1'"),
        ("", "cannot read the predicate ''"),
        ("speed < 1 AND " * 9_000 + "TRUE", "a predicate has 100000 characters at the most"),
        ("(" * 5_000 + "TRUE" + ")" * 5_000, "cannot read the predicate"),
    ],
)
def test_wrong_predicate_is_told(text, message):
    with pytest.raises(InputError, match="subscription 'q1'") as caught:
        read(text)
    assert message in str(caught.value)


@pytest.mark.parametrize("stream", ["rode", "sites"])
def test_only_streams_can_be_subscribed_to(stream):
    with pytest.raises(InputError, match=f"for stream '{stream}', which is not there; known are road"):
        read("speed < 3", stream)


def test_lists_of_any_length_share_a_form():
    predicates = Predicates(STREAMS)
    forms = [predicates.form(Subscription("q1", "road", f"lane IN ({', '.join('7' * n)})")) for n in (2, 3, 90)]
    assert forms[0] is forms[1] is forms[2]


@pytest.mark.parametrize(
    ("form", "is_shared"),
    [
        ("speed > {}", True),
        ("speed BETWEEN {} AND {}", True),
        ("speed * 3.6 > {}", True),
        ("speed IN ({}, {})", True),
        ("lane > {}", False),  # a whole number and a long fraction are compared in one type or in another
        ("speed > lane * {}", False),
    ],
)
def test_numbers_as_programs_write_them_share_a_form(form, is_shared):
    predicates = Predicates(STREAMS)
    long = ["0.028093590905478638", "53.723097772279441", "0.9187240447990549211"]
    forms = [
        predicates.form(Subscription("q", "road", form.format(*pair))) for pair in zip(long, long[::-1], strict=True)
    ]
    assert forms[1].is_shared == is_shared
    assert (forms[1] is forms[2]) == is_shared


def test_numbers_with_exponents_share_a_form():
    predicates = Predicates(STREAMS)
    forms = [predicates.form(Subscription("q", "road", f"speed > {number}")) for number in ("5e-05", "1.5e7")]
    assert forms[0] is forms[1]
    assert read("speed > 1.5e7").sql() == '"speed" > 1.5e7'


@pytest.mark.parametrize(
    ("text", "constants"),
    [
        ("sensor = 'it''s, 12' AND lane=3", ["'it''s, 12'", "3"]),
        ("sensor IN ( 'a' ,'b, c''' ) OR o2<7", [("'a'", "'b, c'''"), "7"]),
        ("speed not in(1.5 , 2.25) AND o2 IN\t(1,\n2)", [("1.5", "2.25"), ("1", "2")]),
        ("sensor = '123456789012345678901' AND speed < 1.5E3", ["'123456789012345678901'", "1.5E3"]),
    ],
)
def test_constants_are_found_as_they_are_written(text, constants):
    form = Predicates(STREAMS).form(Subscription("q", "road", text))
    assert form.is_shared
    assert form.constants == constants


@pytest.mark.parametrize("text", ["o2 = 123456789012345678", "o2 IN (1, 123456789012345678)"])
def test_long_whole_numbers_share_no_form(text):
    assert not Predicates(STREAMS).form(Subscription("q", "road", text)).is_shared
