"""SELECT: selections, projections, window aggregates over one stream; joins of several."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from skerry.catalog.arrow_tables import is_catalog_table
from skerry.errors import OptionError, SqlError
from skerry.lang.sql.absence import absence_node, split_absence
from skerry.lang.sql.aggregates import AggregateBinder
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.fallback import add_taken_by, fallback_node, refuse_fallback
from skerry.lang.sql.from_clause import LOOKED_UP, From, read_from
from skerry.lang.sql.gather import gather_node, is_gather
from skerry.lang.sql.joins import JoinBinder, from_of
from skerry.lang.sql.left_join import refuse_overload
from skerry.lang.sql.overload import OVERLOAD_OPTIONS, number_option, overload
from skerry.lang.sql.samples import asks_for_samples, read_samples, refuse_samples
from skerry.lang.sql.scalar import Scope, check_condition, condition, scalar
from skerry.lang.sql.silence import is_silence, silence_node
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.model.expression import Expression
from skerry.plan.aggregate import Grouping
from skerry.plan.join import MOST_COMBINATIONS, Join
from skerry.plan.node import Node
from skerry.plan.overload import Overload
from skerry.plan.project import Project
from skerry.plan.scan import Scan
from skerry.plan.select import Select

__all__ = ["query_plan"]

_KNOWN = ("expressions", "from_", "from", "joins", "where", "group", "having")
_OF_JOINS = ("join", "max_combinations", *OVERLOAD_OPTIONS)
_VIEWS = "make a view of each part; FROM names a view as it names a source"
_MOVING = "a moving aggregate is written FROM HOP(stream, ts, slide, size) GROUP BY key, window_start"
_LATER = {
    "order": ("ORDER BY", "answers come as their windows end; sort them where they are read"),
    "limit": ("LIMIT", "all answers are given; cut them where they are read"),
    "offset": ("OFFSET", "all answers are given; cut them where they are read"),
    "distinct": ("SELECT DISTINCT", "GROUP BY key, window_start over TUMBLE gives each value once per window"),
    "with_": ("WITH", _VIEWS),
    "with": ("WITH", _VIEWS),
    "qualify": ("QUALIFY", _MOVING),
    "windows": ("WINDOW", _MOVING),
    "laterals": ("LATERAL", _VIEWS),
    "sample": ("TABLESAMPLE", "write WHERE hash(key) % 10 = 0"),
    "into": ("INTO", "the name of the view is the name of its answers"),
    "connect": ("CONNECT BY", "recursion is written as rules: WITH (rules='file.dl', output='p')"),
    "pivots": ("PIVOT", "write MAX(x) FILTER (WHERE key = 'a') AS a, ..."),
}
_SETS = {
    exp.Union: "make a view of each SELECT, or let one source read the files of both: path='a*.csv'",
    exp.Except: "write WHERE NOT EXISTS (SELECT 1 FROM SLIDING(b, ts, INTERVAL '1' MINUTE) AS b WHERE b.key = a.key)",
    exp.Intersect: "write JOIN SLIDING(b, ts, INTERVAL '1' MINUTE) AS b ON b.key = a.key",
}


def query_plan(tree: exp.Expr, streams: Streams, options: Mapping[str, str] | None = None) -> Node:
    """Bind a SELECT to the catalogue's streams. ``options`` are those of the view."""
    if not isinstance(tree, exp.Select):
        instead = next((f"; {words}" for kind, words in _SETS.items() if isinstance(tree, kind)), "")
        message = f"a view is made of one SELECT; this is {type(tree).__name__.upper()}{instead}"
        raise SqlError(message, location_of(tree))
    _check_parts(tree)
    table, asked = from_of(tree), options or {}
    _check_absence(tree, table)
    _check_fallback(tree, table, asked)
    _check_samples(tree, table, asked)
    if is_gather(table) and not tree.args.get("joins"):
        return _bind_gather(tree, table, streams, asked)
    if is_silence(table) and not tree.args.get("joins"):
        return _bind_silence(tree, table, streams, asked)
    if asked.get("emit") == "early":
        raise OptionError("emit = 'early' is for GATHER; this view gives an answer once, when it is settled")
    if tree.args.get("joins"):
        return _bind_join(tree, streams, asked)
    _refuse(asked, _OF_JOINS, "a view without a join")
    return _bind_single(tree, read_from(table, streams), streams, asked)


def _check_parts(tree: exp.Select) -> None:
    for argument, (clause, instead) in _LATER.items():
        if tree.args.get(argument):
            part = tree.args[argument]
            raise SqlError(
                f"{clause} is not available in a view; {instead}",
                location_of(part[0] if isinstance(part, list) else part) or location_of(tree),
            )
    unknown = [argument for argument, part in tree.args.items() if part and argument not in _KNOWN]
    if unknown:
        raise SqlError(f"{unknown[0].upper()} is not available in a view", location_of(tree))
    for part in tree.selects:
        if (window := part.find(exp.Window)) is not None:
            raise SqlError(f"OVER (...) is not available in a view; {_MOVING}", location_of(window))
        if (query := part.find(exp.Query)) is not None:
            message = "a subquery is not available in a view; let another view compute it, and join that one"
            raise SqlError(message, location_of(query))
    if not tree.selects:
        raise SqlError("a view needs columns: SELECT column, ... FROM stream", location_of(tree))


def _check_absence(tree: exp.Select, table: exp.Expr) -> None:
    """Refuse NOT EXISTS beside what it does not go with."""
    where = tree.args.get("where")
    _, absent = split_absence(where.this if where else None)
    kinds = {"an aggregate": _aggregates(tree), "a join": tree.args.get("joins"), "GATHER": is_gather(table)}
    kinds["SILENCE"] = is_silence(table)
    beside = next((kind for kind, there in kinds.items() if there), None)
    if absent is not None and beside:
        message = f"NOT EXISTS beside {beside} is not available; let one view read the other"
        raise SqlError(message, location_of(absent) or location_of(tree))


def _check_samples(tree: exp.Select, table: exp.Expr, options: Mapping[str, str]) -> None:
    """Refuse what counts samples beside what it does not go with."""
    kinds = {"a join": tree.args.get("joins"), "GATHER": is_gather(table), "SILENCE": is_silence(table)}
    kinds["a view without an aggregate"] = not _aggregates(tree)
    beside = next((kind for kind, there in kinds.items() if there), None)
    if beside:
        refuse_samples(tree, options, beside)


def _check_fallback(tree: exp.Select, table: exp.Expr, options: Mapping[str, str]) -> None:
    """Refuse stand-ins beside what they do not go with."""
    kinds = {"a join": tree.args.get("joins"), "GATHER": is_gather(table), "SILENCE": is_silence(table)}
    beside = next((kind for kind, there in kinds.items() if there), None)
    if beside:
        refuse_fallback(options, beside)


def _refuse(options: Mapping[str, str], names: Sequence[str], what: str) -> None:
    given = [name for name in names if name in options]
    if given:
        raise OptionError(f"{what} has no option {given[0]!r}")


def _aggregates(tree: exp.Select) -> bool:
    group = tree.args.get("group") or tree.args.get("having")
    return bool(group) or any(part.find(exp.AggFunc) for part in tree.selects) or asks_for_samples(tree)


def _bind_single(tree: exp.Select, read: From, streams: Streams, options: Mapping[str, str]) -> Node:
    if is_catalog_table(read.source):
        message = f"a view needs a stream, and {read.name!r} is a table of the catalogue; {LOOKED_UP}"
        raise SqlError(f"{message}; to ask it alone, write the SELECT without a view", location_of(tree))
    where, scan = tree.args.get("where"), Scan(read.source)
    asked, absent = split_absence(where.this if where else None)
    read = add_taken_by(read, options)
    node = fallback_node(scan, asked, read.scope, streams, options)
    if asked is not None:
        node = _select(node, asked, read.scope)
    if absent is not None:
        refuse_fallback(options, "one with NOT EXISTS")
        return absence_node(absent, read, Project(node, _columns(tree, read.scope)), streams)
    if _aggregates(tree):
        return _bind_aggregate(tree, node, read, streams, options)
    if read.window and read.window.only_groups:
        message = f"{read.window.only_groups}; aggregate over it, or read the stream"
        raise SqlError(message, location_of(tree))
    return Project(node, _columns(tree, read.scope))


def _bind_join(tree: exp.Select, streams: Streams, options: Mapping[str, str]) -> Node:
    grouped = _aggregates(tree)
    binder = JoinBinder(tree, streams, grouped=grouped)
    if not binder.joins_streams:
        _refuse(options, _OF_JOINS, "a join with tables only")
    asked = overload(options)
    if grouped and asked:
        raise OptionError("an aggregate over a join needs all combinations in time: it can neither shed nor spill")
    if asked:
        refuse_overload(binder.is_left)
    node = _bind_combinations(tree, binder, options.get("join", "snjoin"), _limit(options))
    return _set_overload(node, asked) if asked else node


def _bind_combinations(tree: exp.Select, binder: JoinBinder, technique: str, limit: int) -> Node:
    """What is made of joined readings. Columns are bound before the join: it carries those that were named."""
    if not _aggregates(tree):
        columns = _columns(tree, binder.scope)
        return Project(binder.node(technique, limit), columns)
    window, time = binder.window
    groups = AggregateBinder(tree, binder.scope, window)
    return _bind_groups(tree, groups, groups.aggregate(binder.node(technique, limit), time))


def _bind_gather(tree: exp.Select, table: exp.Expr, streams: Streams, options: Mapping[str, str]) -> Node:
    _refuse(options, ("join", *OVERLOAD_OPTIONS), "a view over GATHER")
    if _aggregates(tree):
        raise SqlError("an aggregate over GATHER is not available in a view", location_of(tree))
    node, scope = gather_node(table, streams, early=options.get("emit") == "early", limit=_limit(options))
    where = tree.args.get("where")
    if where:
        node = _select(node, where.this, scope)
    return Project(node, _columns(tree, scope))


def _bind_silence(tree: exp.Select, table: exp.Expr, streams: Streams, options: Mapping[str, str]) -> Node:
    _refuse(options, ("emit", *_OF_JOINS), "a view over SILENCE")
    if _aggregates(tree):
        message = "an aggregate over SILENCE is not available; make it a view, and write FROM TUMBLE(view, ts, ...)"
        raise SqlError(message, location_of(tree))
    node, scope = silence_node(table, streams)
    where = tree.args.get("where")
    if where:
        node = _select(node, where.this, scope)
    return Project(node, _columns(tree, scope))


def _set_overload(node: Node, asked: Overload) -> Node:
    """The same plan, its join within bounds."""
    if isinstance(node, Select | Project):
        return replace(node, input=_set_overload(node.input, asked))
    assert isinstance(node, Join)
    return replace(node, overload=asked)


def _limit(options: Mapping[str, str]) -> int:
    return number_option(options, "max_combinations") if "max_combinations" in options else MOST_COMBINATIONS


def _select(node: Node, predicate: exp.Expr, scope: Scope) -> Node:
    return Select(node, condition(predicate, scope), predicate.sql("risingwave"))


def _columns(tree: exp.Select, scope: Scope) -> tuple[tuple[str, Expression], ...]:
    found: list[tuple[str, Expression]] = []
    for position, part in enumerate(tree.selects, 1):
        if isinstance(part, exp.Star) or (isinstance(part, exp.Column) and isinstance(part.this, exp.Star)):
            if part.args.get("except_") or part.args.get("replace"):
                raise SqlError("* cannot leave columns out here", location_of(tree))
            if isinstance(part, exp.Column):
                scope.check_table(part)
            table = part.table.lower() if isinstance(part, exp.Column) else None
            found += [
                (outer, Expression.of(name, scope.schema.field(name).type)) for outer, name in scope.everything(table)
            ]
        else:
            found.append((output_name(part, position), scalar(part.unalias(), scope)))
    return tuple(found)


def output_name(part: exp.Expr, position: int) -> str:
    """The name of an answer's column: its alias, its column, its function, or its position."""
    if isinstance(part, exp.Alias):
        return identifier(part.args["alias"])
    if isinstance(part, exp.Column):
        return identifier(part)
    if isinstance(part, exp.Func) and not isinstance(part, exp.Anonymous):
        return part.sql_name().lower()
    return part.name.lower() if isinstance(part, exp.Anonymous) else f"column{position}"


def _bind_aggregate(tree: exp.Select, node: Node, read: From, streams: Streams, options: Mapping[str, str]) -> Node:
    if read.window is None or read.time is None:
        raise SqlError(
            f"an aggregate over a stream needs a window: FROM TUMBLE({read.name}, time, INTERVAL '30' SECOND)",
            location_of(tree),
        )
    groups = AggregateBinder(tree, read.scope, read.window, read_samples(tree, read, streams, options))
    return _bind_groups(tree, groups, groups.aggregate(node, read.time))


def _bind_groups(tree: exp.Select, groups: AggregateBinder, aggregate: Grouping) -> Node:
    """The columns of an aggregating SELECT, and its HAVING."""
    columns = tuple(
        (output_name(part, position), groups.over_groups(part.unalias(), aggregate.schema))
        for position, part in enumerate(tree.selects, 1)
    )
    having = tree.args.get("having")
    if having:
        predicate = groups.over_groups(having.this, aggregate.schema)
        check_condition(predicate, having.this)
        return Project(Select(aggregate, predicate, having.this.sql("risingwave")), columns)
    return Project(aggregate, columns)
