"""Joins one after the other: where streams meet by different keys, or some join keeps rows without a partner.

    a LEFT JOIN b ON ... JOIN c ON ...        OuterJoin(a, b), its answers joined with c

The answers of one join are a side of the next. Their time is that of the newest member. A member stays in its own
window as of the newest of all, as in one join of all streams: that is asked of the combinations, since the window of a
combination differs from row to row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.asof import Latest, read_latest
from skerry.lang.sql.clauses import bind_all, write_conditions
from skerry.lang.sql.common_type import bring_to_one_type
from skerry.lang.sql.from_clause import From
from skerry.lang.sql.join_items import JoinItem, Kind
from skerry.lang.sql.join_relations import JoinRelations
from skerry.lang.sql.join_window import within_windows
from skerry.lang.sql.scalar import Scope
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.time_bounds import Bound, TimeBounds, bounds_of
from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME, Micros
from skerry.plan.asof import Asof
from skerry.plan.join import Join
from skerry.plan.newest import NEWEST, Newest
from skerry.plan.node import Node
from skerry.plan.outer_join import OuterJoin
from skerry.plan.project import Project
from skerry.plan.select import Select
from skerry.plan.side import Side

__all__ = ["JoinSteps", "refuse_endless"]


@dataclass
class _Step:
    """One stream that joins those before it."""

    stream: int
    item: JoinItem
    members: list[int]
    """The streams before it."""
    equal: list[tuple[exp.Expr, exp.Expr]] = field(default_factory=list)
    """What must be equal: of the members, and of the stream."""
    on: list[exp.Expr] = field(default_factory=list)
    """What else partners must agree on."""
    after: list[exp.Expr] = field(default_factory=list)
    """What is asked of the answers."""
    spans: tuple[float, float] = (0, 0)
    latest: Latest | None = None
    """By what the latest is found, of an ASOF JOIN."""
    condition: Expression | None = None
    selection: Expression | None = None
    keys: tuple[list[Expression], list[Expression]] = field(default_factory=lambda: ([], []))


class JoinSteps:
    """The steps of a join, in order: a stream joins those before it.

    ``asked`` are conditions by the stream at whose step they are asked.
    """

    def __init__(
        self,
        streams: JoinRelations,
        order: Sequence[int],
        items: Mapping[int, JoinItem],
        asked: Mapping[int, list[exp.Expr]],
    ) -> None:
        self._streams, self._order = streams, list(order)
        self._bounds: list[Bound] = []
        self._nullable: set[int] = set()
        self._latest: set[int] = set()
        """Streams of which the latest reading was looked for: a window over one only says how old it may be."""
        self._steps: list[_Step] = []
        self._check_counted(items)
        for rank, stream in enumerate(order[1:], 1):
            item = items.get(stream) or JoinItem(stream, Kind.INNER, [])
            self._steps.append(self._make_step(stream, item, self._order[:rank], asked.get(stream, [])))
            self._nullable |= {each for each in self._order[: rank + 1] if item.empties(each)}

    def bind(self) -> None:
        """Bind all conditions and keys, so that it is known which columns each side carries."""
        scope, tree = self._streams.scope, self._streams.tree
        for step in self._steps:
            step.condition, step.selection = bind_all(step.on, scope), bind_all(step.after, scope)
            scopes = [self._scope_of(step.members), self._streams.side_scope(step.stream)]
            pairs = [bring_to_one_type(list(ends), scopes, tree) for ends in step.equal]
            step.keys = ([left for left, _ in pairs], [right for _, right in pairs])

    def node(self, technique: str, limit: int) -> Node:
        """The plan of all steps."""
        node: Node | None = None
        for step in self._steps:
            first = self._members_side(step, node)
            second = self._streams.side(step.stream, step.keys[1], Micros(int(step.spans[1])))
            node = _put_together(step, first, second, technique, limit)
            if step.selection:
                node = Select(node, step.selection, write_conditions(step.after))
        assert node is not None, "there are two streams or more"
        return node

    def _check_counted(self, items: Mapping[int, JoinItem]) -> None:
        """Rows that are counted stay for no fixed time."""
        if any(self._streams.reads[stream].last_rows is not None for stream in self._order):
            kind = next((item.kind for item in items.values() if item.kind is not Kind.INNER), None)
            message = f"{kind} goes by time: write SLIDING in place of LAST_ROWS"
            by_keys = "LAST_ROWS needs a key that all streams share; write SLIDING"
            raise SqlError(message if kind else by_keys, location_of(self._streams.tree))

    def _make_step(self, stream: int, item: JoinItem, members: list[int], asked: list[exp.Expr]) -> _Step:
        step = _Step(stream, item, members)
        within = [*within_windows(self._streams.reads, members, stream, self._nullable), *self._within(step)]
        extra = within if not item.kind.is_asof else []
        own = asked if item.kind is Kind.INNER else item.parts
        self._bounds += [bound for part in own for bound in bounds_of(part, self._streams.time_of)]
        for part in [*own, *extra]:
            if ends := self._find_ends(part, step):
                known = [write_conditions(pair) for pair in step.equal]
                step.equal += [ends] if write_conditions(ends) not in known else []
            else:
                (step.after if item.kind is Kind.INNER else step.on).append(part)
        step.after += asked if item.kind is not Kind.INNER else []
        if item.kind.is_asof:
            self._look_for_latest(step)
        else:
            step.spans = self._find_spans(step)
        return step

    def _look_for_latest(self, step: _Step) -> None:
        """What ON of an ASOF JOIN says is not a condition on combinations, but how one is found."""
        read = self._streams.reads[step.stream]
        if read.window:
            message = f"ASOF JOIN finds the latest reading of {read.name!r} without a window"
            raise SqlError(f"{message}; SLIDING bounds how old it may be", location_of(self._streams.tree))
        step.latest = read_latest(step.on, step.stream, step.members, read, self._streams.time_of)
        if step.latest.stream in self._nullable:
            name = self._streams.reads[step.latest.stream].name
            raise SqlError(f"ASOF JOIN goes by a time of {name!r}, which may have no row", location_of(step.on[0]))
        step.on, step.spans = [], (0, min(step.latest.most_us, END_OF_TIME))
        self._latest.add(step.stream)

    def _find_ends(self, part: exp.Expr, step: _Step) -> tuple[exp.Expr, exp.Expr] | None:
        """The two ends of an equality between the members and the stream that joins them."""
        if not isinstance(part, exp.EQ):
            return None
        for mine, other in ((part.left, part.right), (part.right, part.left)):
            homes = self._streams.home(mine)
            if self._streams.home(other) == {step.stream} and homes and homes <= set(step.members):
                return mine, other
        return None

    def _within(self, step: _Step) -> list[exp.Expr]:
        """What keeps members within their windows, where there are several: one join of two keeps them itself."""
        if len(step.members) == 1:
            return []
        found = []
        for member in step.members:
            for older, newer in ((member, step.stream), (step.stream, member)):
                span_us = self._streams.reads[older].span_us
                if span_us is not None and older not in self._latest and self._streams.reads[older].window is None:
                    moments = [_moment(self._streams.reads[each]) for each in (newer, older)]
                    within = exp.LTE(this=exp.Sub(this=moments[0], expression=moments[1]), expression=_number(span_us))
                    found.append(unless_missing(within, self._streams.reads[member], member in self._nullable))
        return found

    def _find_spans(self, step: _Step) -> tuple[float, float]:
        """How long the members wait for the stream, and the stream for them."""
        reads = self._streams.reads
        sure = [member for member in step.members if member not in self._nullable]
        waits = [self._bounds_of(step, member).after(member, step.stream) for member in sure or step.members]
        wait = min(waits) if sure else max(waits)
        if isinf(wait):
            raise refuse_endless(reads[(sure or step.members)[0]], reads[step.stream], self._streams.tree)
        own = self._bounds_of(step, step.stream).wait(step.stream, step.members)
        if isinf(own):
            raise refuse_endless(reads[step.stream], reads[step.members[0]], self._streams.tree)
        return wait, own

    def _bounds_of(self, step: _Step, present: int) -> TimeBounds:
        """What is known of times where one stream has a row, and those that may have none have none.

        A condition in ON needs the rows that it compares, but the window of a row that is missing keeps nothing out.
        """
        known = [*step.members, step.stream]
        windows = [
            (one, other, float(span_us))
            for one in known
            if (span_us := self._streams.reads[one].span_us) is not None
            and one not in self._latest
            and (one == present or one not in self._nullable)
            for other in known
        ]
        return TimeBounds(known, [*self._bounds, *windows])

    def _scope_of(self, members: Sequence[int]) -> Scope:
        return self._streams.side_scope(members[0]) if len(members) == 1 else self._streams.scope

    def _members_side(self, step: _Step, node: Node | None) -> tuple[Node, Side]:
        """What was joined so far, as a side of the next join."""
        keys, span_us, reads = step.keys[0], Micros(int(step.spans[0])), self._streams.reads
        if node is None:
            return self._streams.side(step.members[0], keys, span_us)
        times = tuple(f"{reads[member].name}.{reads[member].time}" for member in step.members)
        newest = Newest(node, times)
        columns = {name: Expression.of(name, newest.schema.field(name).type) for name in newest.schema.names}
        names = []
        for number, key in enumerate(keys):
            names.append(key.column or f"#key {number} of {len(step.members)}")
            columns.setdefault(names[-1], key)
        projected = Project(newest, tuple(columns.items()))
        name = " and ".join(reads[member].name for member in step.members)
        time = times[step.members.index(step.latest.stream)] if step.latest else NEWEST
        return projected, Side(name, projected.schema, tuple(names), time, span_us, joined=True)


def refuse_endless(read: From, other: From, tree: exp.Expr) -> SqlError:
    """What to write where nothing says how long a reading waits."""
    window = f"SLIDING({read.source.name}, {read.time or 'time'}, INTERVAL '1' MINUTE) AS {read.name}"
    mine, its = (f"{each.name}.{each.time or 'time'}" for each in (read, other))
    between = f"{its} BETWEEN {mine} - INTERVAL '1' MINUTE AND {mine} + INTERVAL '1' MINUTE"
    return SqlError(f"a stream is joined over a window: {window}; or say it in ON: {between}", location_of(tree))


def unless_missing(condition: exp.Expr, read: From, nullable: bool) -> exp.Expr:
    """A condition on the time of a reading that may be missing: then it holds."""
    if not nullable:
        return condition
    missing = exp.Is(this=exp.column(str(read.time), read.name, quoted=True), expression=exp.null())
    return exp.paren(exp.or_(missing, condition))


def _moment(read: From) -> exp.Expr:
    return exp.Anonymous(this="epoch_us", expressions=[exp.column(str(read.time), read.name, quoted=True)])


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(int(value))


def _put_together(step: _Step, first: tuple[Node, Side], second: tuple[Node, Side], technique: str, limit: int) -> Node:
    """The join of one step."""
    if step.item.kind is Kind.INNER:
        return Join((first[0], second[0]), (first[1], second[1]), technique, limit)
    if step.latest:
        kept = step.item.kind is Kind.ASOF_LEFT
        return Asof((first[0], second[0]), (first[1], second[1]), kept, step.latest.strictly)
    if step.item.kind is Kind.RIGHT:
        first, second = second, first
    text, full = write_conditions(step.on), step.item.kind is Kind.FULL
    sides = (first[1], second[1])
    return OuterJoin((first[0], second[0]), sides, step.condition, text, technique, limit, full)
