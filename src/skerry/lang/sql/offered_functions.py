"""Which functions an expression may call, asked of DuckDB's own reading of the text that it will run.

An answer must follow from the readings alone, so that a run can be repeated: no clock, no dice, no settings, no files.
"""

import difflib
import json
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from sqlglot import exp

from skerry.errors import InputError, Location, SqlError, UnknownFunction
from skerry.lang.sql.statements import location_of
from skerry.model.dialect import Dialect
from skerry.model.duckdb_session import open_duckdb
from skerry.model.functions import functions_version, list_functions

__all__ = ["check_calls_around", "check_function_name", "check_functions", "check_query_functions"]

Syntax = dict[str, Any]
"""A node of DuckDB's syntax tree."""

_MACROS = {
    *("date_add", "days_in_month", "fdiv", "fmod", "if", "json", "md5_number_lower", "md5_number_upper"),
    *("nullif", "split_part"),
}
"""DuckDB's macros that are plain functions of their arguments, beside those over lists and maps."""
_CLOCKS = {"ago", "localtime", "localtimestamp", "version"}
_INNER = ("__", "pg_", "json_serialize", "json_deserialize", "current_", "parse_duckdb_log")
_INNER_NAMES = {"alias", "combine", "finalize", "index_key", "stats", "to_aggregate_state", "version"}
_REFUSED_KINDS = {"SUBQUERY": "a subquery", "WINDOW": "OVER (...)", "PARAMETER": "a parameter", "STAR": "COLUMNS"}


def check_functions(sql: str, columns: Collection[str], tree: exp.Expr) -> None:
    """Refuse an expression that calls what is not offered. ``tree`` is where it was read, for the location."""
    root = _read_syntax(sql)
    if root is None:
        return  # DuckDB says what is wrong when it is asked for the type
    for node in _walk(root):
        if node.get("class") in _REFUSED_KINDS:
            raise SqlError(f"{_REFUSED_KINDS[node['class']]} cannot stand here", location_of(tree))
        if node.get("class") == "FUNCTION":
            _check_call(node, tree)
    _check_names(root, columns, tree)


def check_query_functions(sql: str, columns: Collection[str], tree: exp.Expr) -> None:
    """Refuse a query over tables that calls what is not offered; it may aggregate, rank and nest."""
    (text,) = open_duckdb().execute("SELECT json_serialize_sql(?)", [sql]).fetchall()[0]
    found = json.loads(text)
    if found["error"]:
        return  # DuckDB says what is wrong when it is asked for the types
    root = found["statements"][0]["node"]
    known = _list_functions()[2] | {"error"}
    for node in _walk(root):
        if node.get("class") == "FUNCTION" and str(node["function_name"]).lower() not in known:
            _check_call(node, tree)
    _check_names(root, columns, tree)


def _read_syntax(sql: str) -> Syntax | None:
    """The expression as DuckDB reads it."""
    statement = "SELECT (" + sql + ")"
    (text,) = open_duckdb().execute("SELECT json_serialize_sql(?)", [statement]).fetchall()[0]
    found = json.loads(text)
    return None if found["error"] else found["statements"][0]["node"]["select_list"][0]


def _walk(node: object) -> Iterator[Syntax]:
    if isinstance(node, dict):
        if "class" in node:
            yield node
        for part in node.values():
            yield from _walk(part)
    elif isinstance(node, list):
        for part in node:
            yield from _walk(part)


def check_function_name(name: str) -> None:
    """Refuse a name for a function of the program's that means something already."""
    offered, unsteady, aggregates = _list_functions()
    taken = {*offered, *unsteady, *aggregates} - {function.name for function in list_functions()}
    if name in taken or name.upper() in Dialect.Tokenizer.KEYWORDS:
        raise InputError(f"function {name!r} cannot be created: SQL has something of that name; choose another")


def check_calls_around(node: exp.Expr) -> None:
    """Refuse what stands inside a call that is not known: the call may be meant to be an aggregate."""
    offered, unsteady, aggregates = _list_functions()
    above = node.parent
    while above is not None:
        name = above.name.lower() if isinstance(above, exp.Anonymous) else ""
        if name in aggregates:
            raise SqlError(f"the aggregate {name.upper()} is not available", location_of(above))
        if name and name not in offered | unsteady | {"unnest"}:
            raise UnknownFunction(name, difflib.get_close_matches(name, offered | aggregates, 3), location_of(above))
        above = above.parent


def _list_functions() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What can be called by now: functions that are offered, those that may differ each time, and aggregates."""
    return _list_known(functions_version())


@lru_cache(maxsize=1)
def _list_known(version: int) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    rows = open_duckdb().sql("SELECT lower(function_name), function_type, stability, internal FROM duckdb_functions()")
    offered, unsteady, aggregates = set(_MACROS), set(_CLOCKS), set()
    for name, kind, stability, internal in rows.fetchall():
        if kind == "aggregate":
            aggregates.add(name)
        elif kind == "scalar":
            (offered if stability == "CONSISTENT" else unsteady).add(name)
        elif kind == "macro" and internal and re.fullmatch("(list|array|map)_.*", name):
            offered.add(name)
    inner = {name for name in offered if name.startswith(_INNER)} | _INNER_NAMES
    return frozenset(offered - inner), frozenset(unsteady), frozenset(aggregates - offered)


def _check_call(node: Syntax, tree: exp.Expr) -> None:
    name = str(node["function_name"]).lower()
    offered, unsteady, aggregates = _list_functions()
    since_now = name == "age" and len(node["arguments"]) == 1
    if since_now or name in unsteady or (name.startswith("current_") and name not in offered):
        raise _refuse_unsteady(name, tree)
    if name == "unnest":
        raise SqlError("UNNEST cannot stand here", _locate_function(tree, name))
    if name in aggregates:
        raise SqlError(f"the aggregate {name.upper()} cannot stand here", _locate_function(tree, name))
    if name not in offered:
        raise UnknownFunction(name, difflib.get_close_matches(name, offered, 3), _locate_function(tree, name))


def _check_names(root: Syntax, columns: Collection[str], tree: exp.Expr) -> None:
    """DuckDB takes CURRENT_DATE for a column first: what is neither a column nor a variable is one of its clocks."""
    lambdas = [node for node in _walk(root) if node.get("syntax_type") == "LAMBDA_KEYWORD"]
    variables = {name for each in lambdas for name in _list_names(each["lhs"])}
    for name in _list_names(root) - variables - set(columns):
        if name.lower() in _list_functions()[1] or name.lower().startswith("current_"):
            raise _refuse_unsteady(name.lower(), tree)


def _list_names(root: Syntax) -> set[str]:
    return {str(node["column_names"][0]) for node in _walk(root) if node["class"] == "COLUMN_REF"}


def _refuse_unsteady(name: str, tree: exp.Expr) -> SqlError:
    message = f"the function {name!r} is not available: an answer must follow from the readings alone"
    return SqlError(message, _locate_function(tree, name))


def _locate_function(tree: exp.Expr, name: str) -> Location | None:
    for node in tree.find_all(exp.Func):
        if name.lower() in (node.name.lower(), node.sql_name().lower()):
            return location_of(node)
    return location_of(tree)
