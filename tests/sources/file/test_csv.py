from datetime import datetime

import pytest

from skerry.errors import SourceError
from tests.sources.file.stored import HEADER, opened, readings, reasons

GOOD = "s1,2026-01-01 00:00:00,1,61.5,true\n"


def written(tmp_path, text, name="a.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_are_found_by_name_and_others_are_passed_over(tmp_path):
    path = written(tmp_path, "note,SPEED,ts,speed2\nx,1.5,2026-01-01,2\n")
    columns = {"ts": "TIMESTAMP", "speed": "DOUBLE"}
    assert readings(opened(path, columns)) == [{"ts": datetime(2026, 1, 1), "speed": 1.5}]


def test_an_exact_name_comes_before_one_in_another_case(tmp_path):
    path = written(tmp_path, "Speed,speed\n1,2\n")
    assert readings(opened(path, {"speed": "INT"}, event_time=None)) == [{"speed": 2}]


def test_a_missing_column_is_told_when_the_source_is_opened(tmp_path):
    path = written(tmp_path, "sensor,ts\n")
    with pytest.raises(SourceError, match=r"a\.csv has no column 'lane'; it has sensor, ts"):
        opened(path)


def test_a_column_that_stands_twice_is_told_when_the_source_is_opened(tmp_path):
    path = written(tmp_path, "lane,lane\n")
    with pytest.raises(SourceError, match="has more than one column 'lane'; it has lane, lane"):
        opened(path, {"lane": "INT"}, event_time=None)


def test_without_a_header_fields_are_the_declared_columns(tmp_path):
    path = written(tmp_path, "1;2\n3;4;5\n")
    connector = opened(path, {"a": "INT", "b": "INT"}, event_time=None, header="false", delimiter=";")
    assert readings(connector) == [{"a": 1, "b": 2}]
    assert reasons(connector) == ["has 3 fields, expected 2"]


def test_a_tab_may_be_the_delimiter(tmp_path):
    path = written(tmp_path, "a\tb\n1\t2\n")
    assert readings(opened(path, {"b": "INT"}, event_time=None, delimiter=r"\t")) == [{"b": 2}]


def test_an_empty_field_is_null_and_a_quoted_one_is_empty(tmp_path):
    path = written(tmp_path, 'a,b\n,""\n')
    assert readings(opened(path, {"a": "VARCHAR", "b": "VARCHAR"}, event_time=None)) == [{"a": None, "b": ""}]


def test_a_quote_that_is_never_closed_does_not_swallow_the_next_line(tmp_path):
    path = written(tmp_path, f'{HEADER}\n{GOOD}"s1,2026-01-01 00:00:00,1,61.5,true\n{GOOD}{GOOD[:-5]}"true')
    connector = opened(path)
    assert len(readings(connector)) == 2
    assert reasons(connector) == ["quote that is never closed"] * 2


def test_the_reason_names_the_first_wrong_column(tmp_path):
    path = written(tmp_path, f"{HEADER}\ns1,2026-01-01,12.7,abc,true\ns1,,1,abc,true\ns1,2026-01-01,1,abc,\n")
    assert reasons(opened(path)) == [
        "column lane: '12.7' is not INT",
        "ts is missing",
        "column speed: 'abc' is not DOUBLE",
    ]


def test_a_value_in_a_reason_is_cut_short(tmp_path):
    path = written(tmp_path, "a\n" + "x" * 600 + "\n")
    connector = opened(path, {"a": "INT"}, event_time=None)
    assert reasons(connector) == [f"column a: '{'x' * 80}' is not INT"]


def test_an_offset_is_honoured_and_a_time_without_one_is_in_utc(tmp_path):
    path = written(tmp_path, "ts\n2026-01-01T00:00:00+02:00\n2026-01-01 00:00:00\n2026-01-01T00:00:00.25Z\n")
    times = [row["ts"] for row in readings(opened(path, {"ts": "TIMESTAMP"}))]
    assert times == [datetime(2025, 12, 31, 22), datetime(2026, 1, 1), datetime(2026, 1, 1, 0, 0, 0, 250_000)]


@pytest.mark.parametrize("text", ["infinity", "9999-12-31", "1899-12-31 23:59:59", "294247-01-01 00:00:00"])
def test_a_time_out_of_range_is_rejected(tmp_path, text):
    path = written(tmp_path, f"ts\n{text}\n")
    assert reasons(opened(path, {"ts": "TIMESTAMP"})) == [f"column ts: '{text}' is out of range, 1900 to 2262"]


def test_a_garbled_header_is_told_when_the_source_is_opened(tmp_path):
    with pytest.raises(SourceError, match=r"a\.csv' is not UTF-8 but LATIN1"):
        opened(written(tmp_path, b"sensor,\xff\n"))


def test_an_endless_header_is_told_when_the_source_is_opened(tmp_path):
    with pytest.raises(SourceError, match=r"the header of .*a\.csv has more than 100 bytes"):
        opened(written(tmp_path, "x" * 101 + "\n"), max_line_bytes="100")


@pytest.mark.parametrize("text", ["", HEADER, HEADER + "\n", HEADER + "\r\n\r\n"])
def test_a_file_without_readings_has_none(tmp_path, text):
    connector = opened(written(tmp_path, text))
    assert readings(connector) == reasons(connector) == []


def test_columns_may_have_any_name(tmp_path):
    names = ['it"s', "a b", "1", "select", "c0", "'; DROP TABLE unit; --"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    path = written(tmp_path, f"{header}\n1,2,3,4,5,6.5\n")
    connector = opened(path, dict.fromkeys(names, "INT"), event_time=None)
    assert reasons(connector) == [f"column {names[-1]}: '6.5' is not INT"]


@pytest.mark.parametrize(("delimiter", "written"), [(";", ";"), ("\t", r"\\t"), ("|", "\\|")])
def test_file_with_another_delimiter_is_pointed_out(tmp_path, delimiter, written):
    path = tmp_path / "a.csv"
    path.write_text(delimiter.join(["sensor", "speed"]) + "\n")
    with pytest.raises(SourceError, match=f"then set delimiter='{written}'"):
        opened(path, {"sensor": "VARCHAR", "speed": "INT"}, event_time=None)


@pytest.mark.parametrize(("number", "unit"), [("1777622400", "s"), ("1777622400000", "ms"), ("1777622400.5", "s")])
def test_times_that_are_numbers_are_rejected_with_the_option_that_reads_them(tmp_path, number, unit):
    path = tmp_path / "a.csv"
    path.write_text(f"ts,speed\n{number},1\nsoon,1\n12,1\n")
    first, *others = reasons(opened(path, {"ts": "TIMESTAMP", "speed": "INT"}))
    assert first == f"column ts: '{number}' is not TIMESTAMP; if it counts since 1970, set event_time_unit='{unit}'"
    assert others == ["column ts: 'soon' is not TIMESTAMP", "column ts: '12' is not TIMESTAMP"]
    read = readings(opened(path, {"ts": "TIMESTAMP", "speed": "INT"}, event_time_unit=unit))
    assert read[0]["ts"].year == 2026


def test_decimal_comma_is_pointed_out(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ts;speed\n2026-01-01;1,5\n2026-01-01;fast\n")
    first, other = reasons(opened(path, {"ts": "TIMESTAMP", "speed": "DOUBLE"}, delimiter=";"))
    assert (
        first == "column speed: '1,5' is not DOUBLE; skerry sensors discover FILE proposes how to read a decimal comma"
    )
    assert other == "column speed: 'fast' is not DOUBLE"
