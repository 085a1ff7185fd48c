"""CREATE SOURCE and CREATE TABLE."""

import re
from collections.abc import Sequence

import duckdb
import pyarrow as pa
from sqlglot import exp

from skerry.catalog import Source
from skerry.errors import Location, OptionError, SqlError, UnknownColumn
from skerry.lang.sql.generated_columns import bind_generated, find_generated, is_generated
from skerry.lang.sql.scalar import Scope
from skerry.lang.sql.statements import Statement, location_of
from skerry.model.dialect import write_expression
from skerry.model.duckdb_session import open_duckdb
from skerry.model.history_options import HISTORY_OPTIONS
from skerry.model.network_options import NETWORK_OPTIONS
from skerry.model.options import Option, Owner, parse_option, parse_options, span_of_time
from skerry.model.sampling import BATTERY_LIFETIME
from skerry.model.time import MICROS, Micros
from skerry.model.types import SQL_TYPES, TIMESTAMP, TIMESTAMPTZ, parse_field, sql_name

__all__ = ["CLOCK_OPTIONS", "check_name", "identifier", "interval", "options_of", "read_source"]

_LONGEST_US = 2**60
_LONGEST_PATIENCE_US = 36_500 * MICROS["DAY"]
CLOCK_OPTIONS = (
    Option("max_ahead", span_of_time(0, _LONGEST_PATIENCE_US), help="How far a reading may be ahead of the others."),
    Option(
        "idle_timeout", span_of_time(1, _LONGEST_PATIENCE_US), help="How long it may be quiet and hold others back."
    ),
    Option("sample_period", span_of_time(1, _LONGEST_PATIENCE_US), help="How often each sensor takes a reading."),
)
"""What every stream may say of its clock, whatever its connector."""
_SYNONYMS = {
    "CHAR": "VARCHAR",
    "DATETIME": "TIMESTAMP",
    "JSONB": "JSON",
    "REAL": "FLOAT",
    "TEXT": "VARCHAR",
    "TIMESTAMPLTZ": "TIMESTAMPTZ",
    "UINT": "UINTEGER",
}
_SIZED = ("CHAR", "TEXT", "TIME", "TIMESTAMP", "TIMESTAMPLTZ", "TIMESTAMPTZ", "VARCHAR")
"""Types of which a size may be given, and does not matter."""
_KNOWN_TYPES = f"{', '.join(SQL_TYPES)}, DECIMAL(p, s), INTERVAL, JSON, UTINYINT to UBIGINT, and lists of them: INT[]"


def identifier(node: exp.Expr) -> str:
    """A name as SQL reads it: lower case, unless quoted."""
    named = node.this if isinstance(node, exp.Table | exp.Column) else node
    return str(named.name if named.args.get("quoted") else named.name.lower())


def check_name(name: str, location: Location | None = None) -> str:
    """A name that can be a folder's, since answers are written under it."""
    if not re.fullmatch(r"\w[\w .-]*", name):
        raise SqlError(f"{name!r} cannot be a name; it holds more than letters, digits, blanks and _ . -", location)
    return name


def read_source(statement: Statement) -> Source:
    """What a CREATE SOURCE or CREATE TABLE declares."""
    tree = statement.tree
    assert isinstance(tree, exp.Create)
    if not isinstance(tree.this, exp.Schema):
        raise SqlError(
            f"{tree.kind} {tree.this.name!r} needs its columns: CREATE {tree.kind} name (column TYPE, ...)",
            location_of(tree),
        )
    if tree.expression:
        raise SqlError(f"CREATE {tree.kind} takes no query; write CREATE MATERIALIZED VIEW", location_of(tree))
    parts = [part for part in tree.this.expressions if not isinstance(part, exp.WatermarkColumnConstraint)]
    schema, generated = _read_columns(parts, statement)
    _check_names(schema, tree)
    event_time, delay_us = _watermark(tree.this, schema)
    if event_time is not None:  # event times are in UTC: a zone would say nothing more
        schema = schema.set(schema.get_field_index(event_time), pa.field(event_time, TIMESTAMP))
    options = options_of(tree)
    if "connector" not in options:
        raise OptionError(
            f"{tree.this.this.name!r} needs WITH (connector = ...); known are file, folder, mqtt, sim, spark"
        )
    connector = options.pop("connector")
    is_table = tree.kind == "TABLE"
    if tree.this.this.args.get("db"):
        raise SqlError(f"{tree.this.this.sql('risingwave')!r} has a name in two parts", location_of(tree))
    name = check_name(identifier(tree.this.this), location_of(tree.this.this))
    clock = _read_clock_options(name, options, is_timed=event_time is not None)
    lifetime_us = _take_lifetime(name, options)
    network = _take(NETWORK_OPTIONS, name, options)
    history = {} if is_table else _take(HISTORY_OPTIONS, name, options)
    return Source(
        *(name, schema, connector, options, event_time, delay_us, is_table, statement.text),
        *clock,
        lifetime_us,
        network,
        generated,
        history,
    )


def _read_columns(parts: Sequence[exp.Expr], statement: Statement) -> tuple[pa.Schema, tuple[tuple[str, str], ...]]:
    """The columns in their order, and what computes those that are not stored."""
    texts = find_generated(statement.text) if any(map(is_generated, parts)) else {}
    stored = [_field(part) for part in parts if not is_generated(part)]
    scope, fields, generated = Scope("the source", pa.schema(stored)), iter(stored), []
    found = []
    for part in parts:
        if not is_generated(part):
            found.append(next(fields))
            continue
        name = identifier(part.this)
        declared = _typed_field(part) if part.args.get("kind") else None
        field, sql = bind_generated(part, texts.get(name, ""), scope, declared)
        found.append(field.with_name(name))
        generated.append((name, sql))
    return pa.schema(found), tuple(generated)


def _read_clock_options(
    name: str, options: dict[str, str], *, is_timed: bool
) -> tuple[Micros | None, Micros | None, Micros | None]:
    """Take what is said of the source's clock out of its options: how far ahead, how long quiet, how often."""
    given = {option.name: options.pop(option.name) for option in CLOCK_OPTIONS if option.name in options}
    found = parse_options(given, CLOCK_OPTIONS, Owner(f"source {name!r}"))
    if given and not is_timed:
        message = f"option {next(iter(given))} of source {name!r} needs event times; declare WATERMARK FOR ts AS ts"
        raise OptionError(message)
    return found["max_ahead"], found["idle_timeout"], found["sample_period"]


def _take_lifetime(name: str, options: dict[str, str]) -> Micros | None:
    """Take what is said of the sensors' batteries out of a source's options."""
    found: Micros | None = parse_option(
        options.pop(BATTERY_LIFETIME.name, None), BATTERY_LIFETIME, Owner(f"source {name!r}")
    )
    return found


def _take(declared: Sequence[Option], name: str, options: dict[str, str]) -> dict[str, str]:
    """Take what is not the connector's out of a source's options, once it can be read."""
    given = {option.name: options.pop(option.name) for option in declared if option.name in options}
    if given:
        parse_options(given, declared, Owner(f"source {name!r}"))
    return given


def options_of(tree: exp.Expr) -> dict[str, str]:
    """The options behind WITH, in lower case but for their values.

    An option may be quoted or dotted ('spark.maxFilesPerTrigger').
    """
    found: dict[str, str] = {}
    properties = tree.args.get("properties")
    for part in properties.expressions if properties else []:
        if isinstance(part, exp.MaterializedProperty):
            continue
        name = _name(part)
        if name in found:
            raise OptionError(f"option {name!r} is given twice")
        found[name] = _value(part)
    return found


_SHORT = {"lifetime": BATTERY_LIFETIME.name}
"""Names that are understood as well."""


def _name(option: exp.Expr) -> str:
    """The name of an option. Some words, such as FORMAT, are options of other databases to the parser."""
    if not isinstance(option, exp.Property):
        raise OptionError(f"cannot read the option {option.sql('risingwave')!r}; write name = 'value'")
    word = exp.Properties.PROPERTY_TO_NAME.get(type(option))
    if word is not None:
        return word.lower()
    if option.args.get("value") is None or option.this is None:
        raise OptionError(f"cannot read the option {option.sql('risingwave')!r}; write name = 'value'")
    name = option.name if not isinstance(option.this, exp.Dot) else option.this.sql("risingwave")
    return name if "." in name else _SHORT.get(name.lower(), name.lower())


def _value(option: exp.Expr) -> str:
    value = option.args.get("value", option.this)
    if isinstance(value, exp.Boolean):
        return "true" if value.this else "false"
    if not isinstance(value, exp.Literal | exp.Var | exp.Identifier | exp.Column) or not value.name:
        raise OptionError(f"cannot read the option {option.sql('risingwave')!r}; write name = 'value'")
    return str(value.name)


def interval(node: exp.Expr) -> Micros:
    """A span of fixed length: INTERVAL '30' SECOND, INTERVAL '1 minute'."""
    if not isinstance(node, exp.Interval):
        raise SqlError(f"expected an INTERVAL, got {node.sql('risingwave')}", location_of(node))
    text, unit = node.this.name if node.this else "", str(node.args.get("unit") or "").upper()
    words = text.split()
    if len(words) == 2:
        text, unit = words[0], words[1].upper()
    unit = unit.removesuffix("S")
    try:
        span = Micros(round(float(text) * MICROS[unit]))
    except (ValueError, KeyError, OverflowError):
        span = _compute_interval(node)
    if abs(span) > _LONGEST_US:
        raise SqlError(f"{node.sql('risingwave')} is too long", location_of(node))
    return span


def _compute_interval(node: exp.Interval) -> Micros:
    """A span in several units, computed by DuckDB; months and years have no fixed length."""
    try:
        found = open_duckdb().sql(f"SELECT ({write_expression(node)})").to_arrow_table().column(0)[0].as_py()
    except duckdb.Error:
        found = None
    if not isinstance(found, pa.MonthDayNano):
        message = f"cannot read {write_expression(node)}; write INTERVAL '5' SECOND, with one of {', '.join(MICROS)}"
        raise SqlError(message, location_of(node))
    if found.months:
        instead = "write INTERVAL '30' DAY, or take windows of a day and select date_trunc('month', window_start)"
        raise SqlError(f"{write_expression(node)} has no fixed length; {instead}", location_of(node))
    return Micros(found.days * MICROS["DAY"] + found.nanoseconds // 1000)


def _field(column: exp.Expr) -> pa.Field:
    if isinstance(column, exp.Identifier):
        raise SqlError(f"column {column.name!r} has no type; known are {_KNOWN_TYPES}", location_of(column))
    if not isinstance(column, exp.ColumnDef) or column.args.get("constraints"):
        message = f"cannot read {column.sql('risingwave')!r}; a column is written: name TYPE"
        raise SqlError(message, location_of(column))
    return _typed_field(column)


def _typed_field(column: exp.Expr) -> pa.Field:
    kind = column.args.get("kind")
    found = parse_field(identifier(column.this), _name_type(kind))
    if found is None:
        written = kind.sql("risingwave") if kind is not None else "none"
        raise SqlError(f"column {column.name!r} has type {written}; known are {_KNOWN_TYPES}", location_of(column))
    return found


def _name_type(kind: exp.Expr | None) -> str:
    """A declared type by the name that it has here; '' if it has none."""
    if not isinstance(kind, exp.DataType):
        return ""
    name = kind.this.value if isinstance(kind.this, exp.DType) else ""
    if kind.this == exp.DType.USERDEFINED:
        name = kind.sql("duckdb").upper()
    if name == "ARRAY":
        return f"{_name_type(kind.expressions[0] if kind.expressions else None)}[]"
    sizes = [part.name for part in kind.expressions]
    if name == "DECIMAL":
        precision, scale = [*sizes, "0"][:2] if sizes else ("18", "3")
        return f"DECIMAL({precision}, {scale})"
    return "" if sizes and name not in _SIZED else _SYNONYMS.get(name, name)


def _check_names(schema: pa.Schema, tree: exp.Expr) -> None:
    folded = [name.lower() for name in schema.names]
    twice = [name for name in schema.names if folded.count(name.lower()) > 1]
    if twice:
        raise SqlError(f"column {twice[0]!r} is declared twice", location_of(tree))
    if not schema.names:
        raise SqlError("no column is declared", location_of(tree))


def _watermark(declaration: exp.Schema, schema: pa.Schema) -> tuple[str | None, Micros | None]:
    """WATERMARK FOR ts AS ts - INTERVAL ..."""
    found = [part for part in declaration.expressions if isinstance(part, exp.WatermarkColumnConstraint)]
    if not found:
        return None, None
    if len(found) > 1:
        raise SqlError("a source has one watermark", location_of(found[1]))
    mark = found[0]
    if not isinstance(mark.this, exp.Column):
        raise SqlError("a watermark is written WATERMARK FOR ts AS ts - INTERVAL '5' SECOND", location_of(mark))
    name = identifier(mark.this)
    if name not in schema.names:
        raise UnknownColumn(name, declaration.this.name, schema.names, location_of(mark))
    if schema.field(name).type not in (TIMESTAMP, TIMESTAMPTZ):
        raise SqlError(
            f"a watermark needs a TIMESTAMP; {name!r} is {sql_name(schema.field(name).type)}", location_of(mark)
        )
    return name, _delay(mark, name)


def _delay(mark: exp.WatermarkColumnConstraint, name: str) -> Micros:
    expression = mark.args["expression"].unnest()
    if isinstance(expression, exp.Column) and identifier(expression) == name:
        return Micros(0)
    if (
        isinstance(expression, exp.Sub)
        and isinstance(expression.this, exp.Column)
        and identifier(expression.this) == name
    ):
        delay = interval(expression.expression)
        if delay >= 0:
            return delay
    raise SqlError(f"a watermark is written WATERMARK FOR {name} AS {name} - INTERVAL '5' SECOND", location_of(mark))
