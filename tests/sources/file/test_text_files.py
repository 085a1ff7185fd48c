"""Nasty text files, against the slow reader in ``tests.oracles.text_files``."""

import json
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import text_files
from tests.sources.file.stored import COLUMNS, HEADER, read_bytes

TIMES = [
    *("2026-01-01 00:00:00", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00+02:00", "2026-01-01", "2026-01-01 00:00"),
    *("2026-01-01 00:00:00.1234567", "2026-01-01 00:00:00.5-0330", "9999-01-01", "0001-01-01 00:00", "2026-02-30"),
    *("2026-01-01 00", "2026-01-01T10Z", "1700000000", "20260101", "now-ish", " 2026-01-01 00:00:00 ", "1899-12-31"),
    *("2262-12-31 23:59:59.999999", "2263-01-01 00:00:00", "2026-01-01 00:00:00+00", "2026-01-01T00:00:00-00:30"),
]
NUMBERS = [
    *("0", "-7", "+7", "007", "12.0", "12.7", "12.", ".5", "1e3", "1e-3", "0x10", "1_000", "--1", "nan", "NaN", "-inf"),
    *(
        "Infinity",
        "nan(7)",
        "infinit",
        "1e400",
        " 5 ",
        "5 5",
        "2147483648",
        "9" * 25,
        "١٢",
        "true",
        "-0.0",
        "1.5f",
        "e5",
    ),
]
LONGEST = "skerry.sources.file.csv_records.LONGEST_RECORD_BYTES"
TRUTHS = ["true", "FALSE", "0", "1", "t", "no", "on", " true", "2"]
WORDS = [
    "",
    "a",
    "s,1",
    'say "hi"',
    '"',
    "é",
    "\0",
    "x\r",
    "\r",
    " ",
    "'",
    "\\",
    "a" * 90,
    "\u2028",
    "two\nlines",
    '\r\n"\n\n',
]
values = st.sampled_from(TIMES + NUMBERS + TRUTHS + WORDS) | st.text('",\r\0é 0a', max_size=6)
good_values = {
    "VARCHAR": st.sampled_from(WORDS),
    "TIMESTAMP": st.sampled_from(TIMES),
    "INT": st.sampled_from(NUMBERS),
    "DOUBLE": st.sampled_from(NUMBERS),
    "BOOLEAN": st.sampled_from(TRUTHS),
}
rows = st.fixed_dictionaries({name: good_values[type_] | values for name, type_ in COLUMNS.items()})
garbage = st.lists(st.sampled_from([b'"', b",", b"\r", b"\0", b"\xff", b"\xc3", b"0", b"{", b"}", b"aaaaaaaa"])).map(
    b"".join
)


def quoted(field: str) -> str:
    return '"' + field.replace('"', '""') + '"'


csv_lines = st.tuples(rows, st.lists(st.booleans(), min_size=5, max_size=5)).map(
    lambda drawn: ",".join(
        quoted(field) if quote else field for field, quote in zip(drawn[0].values(), drawn[1], strict=True)
    ).encode()
)
json_values = values | st.sampled_from([None, True, False, 0, 12, -3, 0.5, 2**40, [1, 2], {"a": None}])
json_objects = st.dictionaries(st.sampled_from([*COLUMNS, "more", "TS", "Lane", "lANE", "Sensor"]), json_values) | rows
json_lines = st.tuples(json_objects | json_values, st.booleans()).map(
    lambda drawn: json.dumps(drawn[0], ensure_ascii=drawn[1]).encode()
)


@st.composite
def files(draw, lines, line_feed=b""):
    """Lines with garbage among them, ended in all ways; line feeds inside become something else."""
    drawn = draw(st.lists(st.one_of(lines, lines, garbage), max_size=12))
    ends = draw(st.lists(st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n"]), min_size=len(drawn), max_size=len(drawn)))
    data = b"".join(line.replace(b"\n", line_feed) + end for line, end in zip(drawn, ends, strict=True))
    return data if draw(st.booleans()) else data.removesuffix(b"\n")


marks = st.sampled_from([b"", b"\xef\xbb\xbf"])
block_sizes = st.sampled_from([9, 64, 1 << 20])
longest_lines = st.sampled_from([80, 1 << 20])


def assert_same(found, expected):
    assert [str(row) for row in found[0]] == [str(row) for row in expected[0]]
    assert sorted(found[1]) == sorted(expected[1])


@settings(max_examples=150, deadline=None)
@given(data=files(csv_lines) | files(csv_lines, b"\n"), mark=marks, block_bytes=block_sizes, longest=longest_lines)
def test_every_line_of_a_csv_file_is_a_reading_or_a_dead_letter(data, mark, block_bytes, longest):
    whole = mark + HEADER.encode() + b"\n" + data
    fields = text_files.csv_fields(",", list(COLUMNS))
    expected = text_files.read(whole, COLUMNS, "ts", longest, fields, skip=1, delimiter=",")
    assert_same(read_bytes("a.csv", whole, block_bytes=block_bytes, max_line_bytes=str(longest)), expected)


@settings(max_examples=100, deadline=None)
@given(data=files(json_lines), mark=marks, block_bytes=block_sizes, longest=longest_lines)
def test_every_line_of_a_json_file_is_a_reading_or_a_dead_letter(data, mark, block_bytes, longest):
    expected = text_files.read(mark + data, COLUMNS, "ts", longest, text_files.json_fields(list(COLUMNS)))
    assert_same(read_bytes("a.jsonl", mark + data, block_bytes=block_bytes, max_line_bytes=str(longest)), expected)


@settings(max_examples=150, deadline=None)
@given(data=files(csv_lines, b"\n"), block_bytes=st.integers(1, 100), longest=st.integers(4, 40))
def test_records_do_not_depend_on_blocks_where_these_are_longer_than_records(data, block_bytes, longest):
    whole = HEADER.encode() + b"\n" + data
    with patch("skerry.sources.file.csv.LONGEST_RECORD_BYTES", longest), patch(LONGEST, longest):
        expected = read_bytes("a.csv", whole)
        assert_same(read_bytes("a.csv", whole, block_bytes=block_bytes), expected)
