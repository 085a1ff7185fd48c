"""Text files read slowly and obviously: a line at a time, a character at a time, by Python's own types."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

Row = dict[str, Any]
Letter = tuple[str, str, int]
Fields = Callable[[str], dict[str, str | None] | str]

WHOLE = re.compile(r"[ \t\n\r\f]*[+-]?[0-9]+(\.0*)?[ \t\n\r\f]*")
NUMBER = re.compile(
    r"[ \t\n\r\f]*[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|nan|inf|infinity)[ \t\n\r\f]*", re.IGNORECASE
)
TIME = re.compile(
    r" *(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?)? *",
    re.ASCII,
)
INFINITIES = ("inf", "infinity", "-inf", "-infinity")
BITS = {"INT": 32, "BIGINT": 64, "SMALLINT": 16}
TRUTHS = {"true": True, "t": True, "1": True, "yes": True, "y": True}
_WITH_FRACTIONS = ("DOUBLE", "FLOAT", "REAL", "DECIMAL")
_UNITS = {10: "s", 13: "ms", 16: "us", 19: "ns"}
LIES = {"false": False, "f": False, "0": False, "no": False, "n": False}


def read(
    data: bytes,
    columns: dict[str, str],
    event_time: str | None,
    longest: int,
    fields: Fields,
    skip: int = 0,
    delimiter: str | None = None,
):
    """Give the readings and the dead letters of a file, ``skip`` lines of which are a header.

    With a delimiter, line ends inside quotes belong to a record.
    """
    rows: list[Row] = []
    letters: list[Letter] = []
    lines = list(_lines(data))[skip:]
    for line, offset in _join_lines(lines, delimiter, len(columns), longest) if delimiter else lines:
        if line in (b"", b"\r"):
            continue
        found = _reading(line, columns, event_time, longest, fields)
        if isinstance(found, str):
            letters.append((found, line.decode("utf-8", "replace").rstrip("\r\n")[:500], offset))
        else:
            rows.append(found)
    return rows, letters


def _advise(text: str, type_: str, *, is_time: bool) -> str:
    """What to do about a decimal comma, and a number as a time, as long as one of today's that counts since 1970."""
    if type_.startswith(_WITH_FRACTIONS) and re.fullmatch(r"[+-]?[0-9]*,[0-9]+", text.strip()):
        return "; skerry sensors discover FILE proposes how to read a decimal comma"
    digits = text.strip().partition(".")[0]
    is_number = re.fullmatch(r"[0-9]+(\.[0-9]+)?", text.strip()) is not None
    if not is_time or type_ != "TIMESTAMP" or len(digits) not in _UNITS or not is_number:
        return ""
    return f"; if it counts since 1970, set event_time_unit='{_UNITS[len(digits)]}'"


def _lines(data: bytes) -> Iterator[tuple[bytes, int]]:
    offset = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    for line in data[offset:].split(b"\n"):
        yield line, offset
        offset += len(line) + 1


def _join_lines(
    lines: list[tuple[bytes, int]], delimiter: str, width: int, longest: int
) -> Iterator[tuple[bytes, int]]:
    """One line for each record: an open line with those behind it, if the record is short, and right or clearly one."""
    while lines:
        (line, offset), lines, joined = lines[0], lines[1:], lines[0][0]
        for taken, (more, _) in enumerate(lines if count_fields(line, delimiter) is None else [], 1):
            joined += b"\n" + more
            if len(joined) > min(longest, 65_536):
                break
            if (found := count_fields(joined, delimiter)) is not None:
                is_one = found == width or is_strict(joined, delimiter)
                line, lines = (joined, lines[taken:]) if is_one else (line, lines)
                break
        yield line, offset


def count_fields(record: bytes, delimiter: str) -> int | None:
    """How many fields a record has, None if it ends inside quotes."""
    count, state = 1, "start"
    for character in record.decode("latin-1"):
        if state == "quoted":
            state = "closed" if character == '"' else state
        elif character == '"' and state in ("start", "closed"):
            state = "quoted"
        elif character == delimiter:
            count, state = count + 1, "start"
        else:
            state = "plain"
    return None if state == "quoted" else count


def is_strict(record: bytes, delimiter: str) -> bool:
    """Whether nothing stands behind a closing quote."""
    field = f'(?:"(?:[^"]|"")*"(?:\r[^{delimiter}]*)?|[^"{delimiter}][^{delimiter}]*|)'
    return re.fullmatch(f"{field}(?:{delimiter}{field})*", record.decode("latin-1")) is not None


def _reading(line: bytes, columns: dict[str, str], event_time: str | None, longest: int, fields: Fields) -> Row | str:
    if len(line) > longest:
        return f"line of {len(line)} bytes, at most {longest}"
    try:
        found = fields(line.decode().removesuffix("\r"))
    except UnicodeDecodeError:
        return "not valid UTF-8"
    return found if isinstance(found, str) else typed(found, columns, event_time)


def typed(texts: dict[str, str | None], columns: dict[str, str], event_time: str | None) -> Row | str:
    row: Row = {}
    for name, type_ in columns.items():
        text = texts[name]
        value = None if text is None else READERS[type_](text)
        if text is None and name == event_time:
            return f"{name} is missing"
        if text is not None and value is None:
            advice = _advise(text[:80], type_, is_time=name == event_time)
            return f"column {name}: '{text[:80]}' is not {type_}{advice}"
        if isinstance(value, datetime) and not 1900 <= value.year <= 2262:
            return f"column {name}: '{text[:80]}' is out of range, 1900 to 2262"
        row[name] = value
    return row


def csv_fields(delimiter: str, header: list[str]) -> Fields:
    """Take a line apart, one character after the other."""

    def fields(line: str) -> dict[str, str | None] | str:
        if "\r" in line.replace("\r\n", ""):
            return "carriage return inside the line"
        found: list[str | None] = []
        text, quoted, inside, place = "", False, False, 0
        while place <= len(line):
            character = line[place] if place < len(line) else None
            if inside and character is None:
                return "quote that is never closed"
            if inside and line[place : place + 2] == '""':
                text, place = text + '"', place + 1
            elif inside and character == '"':
                inside = False
            elif inside:
                text += str(character)
            elif character is None or character == delimiter:
                found.append(None if text == "" and not quoted else text)
                text, quoted = "", False
            elif character == '"' and text == "" and not quoted:
                quoted = inside = True
            else:
                text += character
            place += 1
        if len(found) != len(header):
            return f"has {len(found)} fields, expected {len(header)}"
        return dict(zip(header, found, strict=True))

    return fields


def json_fields(names: list[str]) -> Fields:
    """Take an object apart; of keys that stand twice, the first counts, and the right case before any other."""

    def fields(line: str) -> dict[str, str | None] | str:
        try:
            found = json.loads(line, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
        except ValueError:
            return "not a JSON object"
        if not isinstance(found, dict):
            return "not a JSON object"
        return {name: _json_text(found.get(_key(found, name))) for name in names}

    return fields


def _key(found: dict[str, Any], name: str) -> str:
    """The key of a column. An object's keys are in reverse order here."""
    alike = [key for key in found if key.casefold() == name.casefold()]
    return name if name in found or not alike else alike[-1]


def _json_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _whole(bits: int) -> Callable[[str], int | None]:
    def read_whole(text: str) -> int | None:
        if not WHOLE.fullmatch(text):
            return None
        value = int(text.strip().partition(".")[0])
        return value if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1) else None

    return read_whole


def _number(text: str) -> float | None:
    return float(text) if NUMBER.fullmatch(text) else None


def _single(text: str) -> float | None:
    value = _number(text)
    return None if value is None else pa.array([value]).cast(pa.float32(), safe=False)[0].as_py()


def _time(text: str) -> datetime | None:
    if text.lower() in INFINITIES:
        return datetime.max
    found = TIME.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, _, sign, ahead_hours, ahead_minutes = found.groups()
    micros = int(((fraction or "") + "000000")[:6])
    try:
        local = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), micros)
    except ValueError:
        return None
    ahead = timedelta(hours=int(ahead_hours or 0), minutes=int(ahead_minutes or 0))
    return local + ahead if sign == "-" else local - ahead


READERS: dict[str, Callable[[str], Any]] = {
    "VARCHAR": lambda text: text,
    "DOUBLE": _number,
    "FLOAT": _single,
    "BOOLEAN": lambda text: {**TRUTHS, **LIES}.get(text.lower()),
    "TIMESTAMP": _time,
    **{name: _whole(bits) for name, bits in BITS.items()},
}
