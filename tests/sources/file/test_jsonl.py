import json

import pytest

from tests.sources.file.stored import opened, readings, reasons

NAMES = ["a", 'it"s', "a.b", "a/b", "a~b", "$", "0", "é", "'; DROP TABLE unit; --", "*", " "]


def written(tmp_path, *lines):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def read(tmp_path, line, type_):
    return readings(opened(written(tmp_path, line), {"a": type_}, event_time=None))


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        ('"12"', "INT", 12),
        ("12.0", "INT", 12),
        ("1e3", "BIGINT", 1000),
        ("12", "VARCHAR", "12"),
        ("true", "BOOLEAN", True),
        ('{"b": [1, 2]}', "VARCHAR", '{"b":[1,2]}'),
        ("null", "INT", None),
        ("NaN", "VARCHAR", "NaN"),
        ('"x\\u0000\\n"', "VARCHAR", "x\0\n"),
        ("9007199254740993", "BIGINT", 9007199254740993),
    ],
)
def test_a_value_is_read_by_its_text(tmp_path, value, type_, expected):
    assert read(tmp_path, f'{{"a": {value}}}', type_) == [{"a": expected}]


def test_a_missing_key_is_null(tmp_path):
    assert read(tmp_path, '{"b": 1}', "INT") == [{"a": None}]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"A": 1}', 1),
        ('{"A": 1, "a": 2}', 2),
        ('{"A": 1, "a": null}', None),
        ('{"b": 3, "A": null}', None),
    ],
)
def test_keys_are_found_in_any_case(tmp_path, line, expected):
    assert read(tmp_path, line, "INT") == [{"a": expected}]


def test_of_keys_in_other_cases_the_first_counts(tmp_path):
    path = written(tmp_path, '{"AB": 1, "Ab": 2}', '{"Ab": 3, "AB": 4}', '{"ab": 5}')
    assert [row["ab"] for row in readings(opened(path, {"ab": "INT"}, event_time=None))] == [1, 3, 5]


@pytest.mark.parametrize("line", ["[1]", "3", '"a"', "{", '{"a": 1} x', "{'a': 1}", "nul", '{"a": 1', "[" * 100_000])
def test_what_is_not_an_object_is_rejected(tmp_path, line):
    path = written(tmp_path, '{"a": 1}', line, '{"a": 2}')
    connector = opened(path, {"a": "INT"}, event_time=None)
    assert reasons(connector) == ["not a JSON object"]
    assert readings(connector) == [{"a": 1}, {"a": 2}]


def test_columns_may_have_any_name(tmp_path):
    path = written(tmp_path, json.dumps({name: index for index, name in enumerate(NAMES)}))
    assert list(readings(opened(path, dict.fromkeys(NAMES, "INT"), event_time=None))[0].values()) == list(
        range(len(NAMES))
    )


def test_deep_objects_are_passed_over(tmp_path):
    path = written(tmp_path, '{"a": 1, "b": ' + "[" * 10_000 + "]" * 10_000 + "}")
    assert readings(opened(path, {"a": "INT"}, event_time=None)) == [{"a": 1}]
