"""SELECT: selections, projections, window aggregates over one stream; joins of several."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from skerry.catalog.arrow_tables import is_catalog_table
from skerry.errors import OptionError, SqlError
from skerry.lang.sql.aggregates import AggregateBinder
from skerry.lang.sql.changes import gives_changes, select_since
from skerry.lang.sql.check_constants import check_constants
from skerry.lang.sql.create_source import identifier
from skerry.lang.sql.distinct import group_distinct
from skerry.lang.sql.fallback import add_taken_by, fallback_node, refuse_fallback
from skerry.lang.sql.fields import read_fields
from skerry.lang.sql.from_clause import LOOKED_UP, From, read_from
from skerry.lang.sql.gather import gather_node, is_gather
from skerry.lang.sql.grouped_by import name_in_having, split_grouping_sets, write_group_by_all
from skerry.lang.sql.hop_rows import repeat_in_windows
from skerry.lang.sql.implied_windows import imply_window, list_groups
from skerry.lang.sql.joined_within import write_joined_within
from skerry.lang.sql.joins import JoinBinder, from_of
from skerry.lang.sql.lift_aggregates import lift_aggregate
from skerry.lang.sql.match_recognize import lay_pattern
from skerry.lang.sql.move_subqueries import move_subqueries
from skerry.lang.sql.over import bind_over, has_over
from skerry.lang.sql.overload import OVERLOAD_OPTIONS, number_option, overload
from skerry.lang.sql.passed_windows import lay_again, lay_in_join
from skerry.lang.sql.relations import name_relations
from skerry.lang.sql.reused_names import bind_with_names
from skerry.lang.sql.samples import asks_for_samples, read_samples, refuse_samples
from skerry.lang.sql.scalar import Scope, check_condition, condition, scalar
from skerry.lang.sql.silence import is_silence, silence_node
from skerry.lang.sql.spelled_windows import lay_spelled_window
from skerry.lang.sql.star import bind_star, has_star
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.temporal_filters import drop_temporal_filters
from skerry.lang.sql.top_rows import asks_for_top, bind_top
from skerry.lang.sql.union import union_node
from skerry.lang.sql.unnest import has_unnest, unnest_in_from, unnest_in_select
from skerry.model.dialect import write_expression
from skerry.model.expression import Expression
from skerry.model.landmark import Landmark
from skerry.plan.aggregate import Grouping
from skerry.plan.join import MOST_COMBINATIONS, Join
from skerry.plan.node import Node
from skerry.plan.overload import Overload
from skerry.plan.project import Project
from skerry.plan.rewrites.carry_changes import carry_changes
from skerry.plan.scan import Scan
from skerry.plan.select import Select

__all__ = ["query_plan"]

_KNOWN = ("expressions", "from_", "from", "joins", "where", "group", "having")
_OF_JOINS = ("join", "max_combinations", *OVERLOAD_OPTIONS)
_VIEWS = "make a view of each part; FROM names a view as it names a source"
_LATER = {
    "laterals": ("LATERAL", _VIEWS),
    "sample": ("TABLESAMPLE", "write WHERE hash(key) % 10 = 0"),
    "into": ("INTO", "the name of the view is the name of its answers"),
    "connect": ("CONNECT BY", "recursion is written as rules: WITH (rules='file.dl', output='p')"),
    "pivots": ("PIVOT", "write MAX(x) FILTER (WHERE key = 'a') AS a, ..."),
}
_SETS = {
    exp.Except: "write WHERE NOT EXISTS (SELECT 1 FROM SLIDING(b, ts, INTERVAL '1' MINUTE) AS b WHERE b.key = a.key)",
    exp.Intersect: "write JOIN SLIDING(b, ts, INTERVAL '1' MINUTE) AS b ON b.key = a.key",
}


def query_plan(tree: exp.Expr, streams: Streams, options: Mapping[str, str] | None = None) -> Node:
    """Bind a query to the catalogue's streams. ``options`` are those of the view."""
    tree = tree.unnest()
    if not isinstance(tree, exp.Select | exp.Union):
        instead = next((f"; {words}" for kind, words in _SETS.items() if isinstance(tree, kind)), "")
        message = f"a view is made of SELECT and UNION ALL; this is {type(tree).__name__.upper()}{instead}"
        raise SqlError(message, location_of(tree))
    below = {"emit": "changes"} if gives_changes(options) else {}
    named, inner = name_relations(tree, streams, partial(query_plan, options=below))
    if isinstance(named, exp.Select):
        named = read_fields(_spell(named, inner), inner)
        named = split_grouping_sets(named) or named
    if isinstance(named, exp.Union):
        _refuse_early(options or {})
        _refuse(options or {}, _OF_JOINS, "UNION ALL")
        node = union_node(named, partial(query_plan, streams=inner, options=below))
    else:
        assert isinstance(named, exp.Select)
        node = bind_with_names(named, partial(_bind_rows, streams=inner, options=options or {}))
    return carry_changes(node, inner.plan, asked=gives_changes(options))


def _spell(tree: exp.Select, streams: Streams) -> exp.Select:
    """A SELECT in our words, where it was written in those of other systems."""
    tree = unnest_in_from(lay_pattern(tree, streams), streams, query_plan)
    tree = lay_in_join(write_group_by_all(tree), streams)
    return drop_temporal_filters(write_joined_within(lay_spelled_window(tree, streams), streams), streams)


def _bind_rows(tree: exp.Select, streams: Streams, options: Mapping[str, str]) -> Node:
    """A SELECT, each of its rows once or per element of a list."""
    if not has_unnest(tree):
        return _bind_select(tree, streams, options)
    names = [output_name(part, position) for position, part in enumerate(tree.selects, 1)]

    def bind(inner: exp.Expr, known: Streams) -> Node:
        assert isinstance(inner, exp.Select)
        return _bind_select(inner, known, options)

    return unnest_in_select(tree, streams, bind, names)


def _bind_select(tree: exp.Select, streams: Streams, asked: Mapping[str, str]) -> Node:
    if (lifted := _lift_aggregate(tree, streams, asked)) is not None:
        return query_plan(lifted, streams, asked)
    if move_subqueries(tree, streams, query_plan, is_grouped=_aggregates(tree)):
        refuse_fallback(asked, "one with a subquery")
    table = from_of(tree)
    if gives_changes(asked) and asks_for_top(tree):
        return bind_top(tree, streams, asked, _bind_select)
    if has_over(tree):
        return bind_over(tree, streams, asked, _bind_select, output_name)
    if _aggregates(tree) and not tree.args.get("joins"):
        tree = imply_window(tree, table, streams)
        table = from_of(tree)
    list_columns = partial(_list_everything, table, streams)
    tree = group_distinct(tree, _aggregates(tree), list_columns, endless=gives_changes(asked))
    _check_parts(tree)
    _check_fallback(tree, table, asked)
    _check_samples(tree, table, asked)
    if is_gather(table) and not tree.args.get("joins"):
        return _bind_gather(tree, table, streams, asked)
    if is_silence(table) and not tree.args.get("joins"):
        return _bind_silence(tree, table, streams, asked)
    _refuse_early(asked)
    if tree.args.get("joins"):
        return _bind_join(tree, streams, asked)
    _refuse(asked, _OF_JOINS, "a view without a join")
    return _bind_single(tree, read_from(table, streams, alone=True), streams, asked)


def _lift_aggregate(tree: exp.Select, streams: Streams, asked: Mapping[str, str]) -> exp.Select | None:
    """An aggregate over a join as one over a view that joins, where it has to be."""
    is_joined = _aggregates(tree) and bool(tree.args.get("joins")) and not has_over(tree)
    if not is_joined or gives_changes(asked) or any(name in asked for name in _OF_JOINS):
        return None
    return lift_aggregate(tree, streams)


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
    if not tree.selects:
        raise SqlError("a view needs columns: SELECT column, ... FROM stream", location_of(tree))


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


def _refuse_early(options: Mapping[str, str]) -> None:
    if options.get("emit") == "early":
        raise OptionError("emit = 'early' is for GATHER; this view gives an answer once, when it is settled")


def _list_everything(table: exp.Expr, streams: Streams) -> list[tuple[str, str]]:
    """What * stands for."""
    return read_from(table, streams).scope.everything(None)


def _refuse(options: Mapping[str, str], names: Sequence[str], what: str) -> None:
    given = [name for name in names if name in options]
    if given:
        raise OptionError(f"{what} has no option {given[0]!r}")


def _aggregates(tree: exp.Select) -> bool:
    group = tree.args.get("group") or tree.args.get("having")
    calls = [call for part in tree.selects for call in part.find_all(exp.AggFunc)]
    own = [call for call in calls if call.find_ancestor(exp.Query, exp.Window) is tree]
    return bool(group or own) or asks_for_samples(tree)


def _bind_single(tree: exp.Select, read: From, streams: Streams, options: Mapping[str, str]) -> Node:
    if is_catalog_table(read.source):
        message = f"a view needs a stream, and {read.name!r} is a table of the catalogue; {LOOKED_UP}"
        raise SqlError(f"{message}; to ask it alone, write the SELECT without a view", location_of(tree))
    where, scan = tree.args.get("where"), Scan(read.source)
    asked = where.this if where else None
    read = lay_again(tree, add_taken_by(read, options), streams)
    node = fallback_node(scan, asked, read.scope, streams, options)
    if not _aggregates(tree):
        node, read = repeat_in_windows(node, read)
    if asked is not None:
        node = _select(node, asked, read.scope)
    if isinstance(read.window, Landmark) and read.time:
        node = select_since(node, read.time, read.window)
    if _aggregates(tree):
        return _bind_aggregate(tree, node, read, streams, options)
    if read.window and read.window.only_groups:
        message = f"{read.window.only_groups}; aggregate over it, or read the stream"
        raise SqlError(message, location_of(tree))
    return Project(node, _columns(tree, read.scope))


def _bind_join(tree: exp.Select, streams: Streams, options: Mapping[str, str]) -> Node:
    grouped = _aggregates(tree)
    binder = JoinBinder(tree, streams, grouped=grouped, endless=gives_changes(options))
    if not binder.joins_streams:
        _refuse(options, _OF_JOINS, "a join with tables only")
    asked = overload(options)
    if grouped and asked:
        raise OptionError("an aggregate over a join needs all combinations in time: it can neither shed nor spill")
    if asked:
        binder.check_overload()
    node = _bind_combinations(tree, binder, options)
    return _set_overload(node, asked) if asked else node


def _bind_combinations(tree: exp.Select, binder: JoinBinder, options: Mapping[str, str]) -> Node:
    """What is made of joined readings. Columns are bound before the join: it carries those that were named."""
    technique, limit = options.get("join", "snjoin"), _limit(options)
    if not _aggregates(tree):
        columns = _columns(tree, binder.scope)
        return Project(binder.node(technique, limit), columns)
    window, time = binder.endless if gives_changes(options) and not binder.has_window else binder.window
    tree = binder.spell_window_ends(tree)
    tree = name_in_having(tree, [name for name, _ in binder.scope.everything(None)])
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
    _refuse_early(options)
    _refuse(options, _OF_JOINS, "a view over SILENCE")
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
    check_constants(predicate, scope)
    return Select(node, condition(predicate, scope), write_expression(predicate))


def _columns(tree: exp.Select, scope: Scope) -> tuple[tuple[str, Expression], ...]:
    found: list[tuple[str, Expression]] = []
    for position, part in enumerate(tree.selects, 1):
        if has_star(part):
            found += bind_star(part, scope)
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
    if read.window is None and not gives_changes(options):
        _check_groups(tree, read.scope)
        _check_for_over(tree)
        raise SqlError(
            f"an aggregate over a stream needs a window: FROM TUMBLE({read.name}, time, INTERVAL '30' SECOND); "
            "or let the view be kept current: WITH (emit='changes')",
            location_of(tree),
        )
    tree = name_in_having(tree, read.source.schema.names)
    groups = AggregateBinder(tree, read.scope, read.window, read_samples(tree, read, streams, options))
    return _bind_groups(tree, groups, groups.aggregate(node, read.time))


def _check_for_over(tree: exp.Select) -> None:
    """Say of a function of the rows around a row that OVER is missing."""
    for call in tree.find_all(exp.Lag, exp.Lead, exp.NthValue):
        message = f"{call.sql_name()} goes with OVER (PARTITION BY key ORDER BY ts), which says among which rows"
        raise SqlError(message, location_of(call))


def _check_groups(tree: exp.Select, scope: Scope) -> None:
    """Say what is wrong with a part of GROUP BY that may have been meant to be a window."""
    for part in list_groups(tree):
        if part.find(exp.Anonymous):
            scalar(part, scope)


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
        return Project(Select(aggregate, predicate, write_expression(having.this)), columns)
    return Project(aggregate, columns)
