"""Every type that an expression can have leaves it in a type that all formats of answers have."""

import json

import pyarrow as pa
import pyarrow.parquet
import pytest

from skerry.sinks.files import FileSink
from skerry.sinks.formats import FORMATS
from tests.lang.sql.scripts import answers, view

CARRIED = [
    ("union_value(k := segment)", "5", "string"),
    ("row(segment, 1)", "(5, 1)", "string"),
    ("'0101'::BIT", "0101", "string"),
    ("'a'::ENUM('a', 'b')", "a", "string"),
    ("'00000000-0000-0000-0000-000000000001'::UUID", "00000000-0000-0000-0000-000000000001", "string"),
    ("12::BIGNUM", "12", "string"),
    ("'POINT(1 2)'::GEOMETRY", "POINT (1 2)", "string"),
    ("segment::HUGEINT * 2", 10, "decimal128(38, 0)"),
    ("segment::UTINYINT", 5, "uint8"),
    ("NULL", None, "int32"),
    ("ts::TIMESTAMP_NS", "1970-01-01 00:00:00.000000", "timestamp[us]"),
    ("struct_pack(a := segment, b := ['1'::BIT])", {"a": 5, "b": ["1"]}, "struct<a: int32, b: list<element: string>>"),
    ("MAP {sensor: INTERVAL 2 MONTH}", {"i80": "2 months 00:00:00.000000"}, None),
    ("[INTERVAL 1 DAY, NULL]", ["24:00:00.000000", None], None),
    ("{'a': {'b': INTERVAL 1 YEAR}}", {"a": {"b": "12 months 00:00:00.000000"}}, None),
    ("INTERVAL 1 MONTH", "1 months 00:00:00.000000", "month_day_nano_interval"),
    ("ts - TIMESTAMP '1969-12-31 12:00:00'", "12:00:00.000000", "month_day_nano_interval"),
    ("ts + INTERVAL 1 MONTH", "1970-02-01 00:00:00.000000", "timestamp[us]"),
    ("array_value(segment, 2)", [5, 2], "fixed_size_list<: int32>[2]"),
    ("'\\xAB!'::BLOB", "\\xAB!", "binary"),
    ("ts::TIME", "00:00:00.000000", "time64[us]"),
    ("ts::TIMESTAMPTZ", "1970-01-01 00:00:00.000000", None),
    ("list_transform([1, 2], lambda x: x + segment)", [6, 7], None),
    ("md5_number('d')", "230713871354714643831115714448100194178", "string"),
]


@pytest.fixture(scope="module")
def rows():
    """All of these expressions in one view, over one reading."""
    columns = ", ".join(f"{expression} AS c{number}" for number, (expression, _, _) in enumerate(CARRIED))
    schema = view(f"SELECT {columns} FROM traffic").root.schema
    given = answers(f"SELECT {columns} FROM traffic", {"sensor": "i80", "segment": 5})
    return pa.RecordBatch.from_pylist(given, schema)


def test_types_are_those_that_arrow_has(rows):
    known = [(str(field.type), type_) for field, (_, _, type_) in zip(rows.schema, CARRIED, strict=True) if type_]
    assert [got for got, expected in known if got.replace("l:", "element:") != expected] == []


def test_json_lines_hold_every_type(rows, tmp_path):
    row = json.loads(written(rows, "jsonl", tmp_path).read_text())
    assert list(row.values()) == [expected for _, expected, _ in CARRIED]


def test_csv_holds_every_type(rows, tmp_path):
    text = written(rows, "csv", tmp_path).read_text()
    assert '"{""a"": 5, ""b"": [""1""]}"' in text
    assert ',"1 months 00:00:00.000000","12:00:00.000000",' in text


def test_parquet_holds_every_type(rows, tmp_path):
    table = pyarrow.parquet.read_table(written(rows, "parquet", tmp_path))
    assert table.num_columns == len(CARRIED)
    assert [span.days for span in table.column("c15").to_pylist()] == [30]


def written(rows, format_, folder):
    sink = FileSink(folder, format_)
    sink.open({"v": rows.schema}, resume=False)
    sink.write("v", 0, rows)
    return folder / "v" / f"part-00000000.{format_}"


def test_all_formats_are_tried():
    assert set(FORMATS) == {"csv", "jsonl", "parquet"}
