"""JOIN: which conditions are keys, which belong to one stream alone, and which are left for the combinations.

A table without a window belongs to the stream that an equality ties it to, and is looked up beside
that stream's source, before streams are joined with each other. Streams that agree on a key meet in one join; others
are joined one after the other (``join_steps``).
"""

from collections.abc import Iterable, Sequence
from math import isinf

from sqlglot import exp

from skerry.errors import OptionError, SqlError
from skerry.lang.sql.clauses import bind_all, conjuncts, from_of, write_conditions
from skerry.lang.sql.from_clause import From, read_from
from skerry.lang.sql.join_items import JoinItem, Kind, read_items
from skerry.lang.sql.join_keys import Equality, Keys, Term, find_keys
from skerry.lang.sql.join_relations import JoinRelations
from skerry.lang.sql.join_steps import JoinSteps, refuse_endless
from skerry.lang.sql.join_times import choose_time
from skerry.lang.sql.join_window import find_window, is_hop, within_windows, write_ends_by_starts
from skerry.lang.sql.statements import location_of
from skerry.lang.sql.streams import Streams
from skerry.lang.sql.time_bounds import TimeBounds, bounds_of
from skerry.model.dialect import write_expression
from skerry.model.time import Micros
from skerry.model.window import WINDOW_START, GroupWindow, Window
from skerry.plan.join import Join
from skerry.plan.newest import NEWEST, Newest
from skerry.plan.node import Node
from skerry.plan.select import Select
from skerry.plan.side import Side

__all__ = ["JoinBinder", "conjuncts", "from_of"]


class JoinBinder:
    """Bind FROM and WHERE of a SELECT over several relations. ``scope`` is what its columns may name.

    ``grouped`` says that combinations are gathered by a window, the one that ``find_window`` finds; ``endless`` that
    there need be none.
    """

    def __init__(self, tree: exp.Select, streams: Streams, *, grouped: bool = False, endless: bool = False) -> None:
        self._tree = tree
        joins = tree.args.get("joins") or []
        found = [read_from(from_of(tree), streams), *(_read_joined(join, streams) for join in joins)]
        reads = [choose_time(read, tree, streams) for read in found]
        grouped = grouped and (not endless or any(read.window for read in reads))
        items = {item.position: item for item in read_items(joins, reads)}
        where = tree.args.get("where")
        asked = [(part, item.position) for item in items.values() for part in item.parts if item.kind is Kind.INNER]
        asked += [(part, len(reads) - 1) for part in conjuncts(where.this if where else None)]
        self._relations = JoinRelations(tree, reads, items, [part for part, _ in asked], grouped=grouped)
        self._origins = {id(part): position for part, position in asked}
        self.scope = self._relations.scope
        self._items = {position: item for position, item in items.items() if position in self._relations.streams}
        self._is_plain = all(item.kind is Kind.INNER for item in self._items.values())
        self._across: list[exp.Expr] = []
        """What is asked of several streams."""
        self._asked: dict[int, list[exp.Expr]] = {}
        """Where joins are not all alike: by the stream at whose step something is asked."""
        self._keys: Keys = []
        self._spans: dict[int, Micros | None] = {}
        self._steps: JoinSteps | None = None
        for part in self._relations.conditions:
            self._place(part)
        self._plan()

    def node(self, technique: str, limit: int) -> Node:
        """The relations, and what is left to ask of their combinations; all columns named so far are in it."""
        rest = bind_all(self._across, self.scope)
        if self._steps:
            self._steps.bind()
            node = self._steps.node(technique, limit)
        elif self.joins_streams:
            sides = [self._side(home) for home in self._streams]
            node = Join(tuple(node for node, _ in sides), tuple(side for _, side in sides), technique, limit)
        else:
            node = self._relations.build_beside(self._streams[0])
        if rest:
            node = Select(node, rest, write_conditions(self._across))
        return Newest(node, self._relations.times) if NEWEST in self.scope.schema.names else node

    @property
    def window(self) -> tuple[GroupWindow, str]:
        """The window that combinations are gathered by, and the time that it goes by."""
        relations = self._relations
        read = find_window(relations.reads, self._tree)
        assert read.window is not None
        if NEWEST in self.scope.schema.names:
            if is_hop(read):
                message = (
                    "an aggregate over FULL JOIN of HOP is not available; let one view join, and another aggregate"
                )
                raise SqlError(f"{message}: TUMBLE(view, window_start, slide)", location_of(self._tree))
            return read.window, NEWEST
        sure = [each for at, each in enumerate(relations.reads) if each.window and at not in relations.nullable]
        if not sure:
            message = f"{read.name!r} may have no row: the window is that of a stream that is kept, or of all"
            raise SqlError(f"{message}; write TUMBLE over the others too", location_of(self._tree))
        if self.joins_streams and is_hop(read):
            # Every row is in one window already: that of its start, which lies in no other piece of the slide's length.
            assert isinstance(read.window, Window)
            slide = Window(read.window.slide_us, read.window.slide_us, read.window.offset_us)
            return slide, self.scope.find(exp.column(WINDOW_START, sure[0].name, quoted=True))
        return read.window, self.scope.find(exp.column(str(sure[0].time), sure[0].name, quoted=True))

    @property
    def has_window(self) -> bool:
        """Whether a window lies over one of the streams."""
        return any(read.window for read in self._relations.reads)

    @property
    def endless(self) -> tuple[None, str | None]:
        """No window; and the time of a stream that every combination has, if there is one."""
        relations = self._relations
        sure = [each for at, each in enumerate(relations.reads) if each.time and at not in relations.nullable]
        named = [exp.column(str(each.time), each.name, quoted=True) for each in sure]
        return None, next((self.scope.find(column) for column in named), None)

    def spell_window_ends(self, tree: exp.Select) -> exp.Select:
        """A SELECT that aggregates: over joined HOP, the end of a window by its start."""
        read = next((read for read in self._relations.reads if is_hop(read)), None)
        if read is None or not self.joins_streams:
            return tree
        assert isinstance(read.window, Window)
        return write_ends_by_starts(tree, read.window)

    @property
    def joins_streams(self) -> bool:
        """Whether streams meet, and not only a stream and tables."""
        return len(self._streams) > 1

    def check_overload(self) -> None:
        """Refuse to shed or spill where all readings are needed."""
        if self._steps is None:
            return
        kind = next((item.kind for item in self._items.values() if item.kind is not Kind.INNER), None)
        what = f"a {kind}" if kind else "a join in which streams meet by different keys, or none,"
        raise OptionError(f"{what} keeps its readings in memory, all of them: it can neither shed nor spill")

    @property
    def _streams(self) -> list[int]:
        return self._relations.streams

    def _place(self, part: exp.Expr) -> None:
        """Ask a condition as early as it can be asked: of one stream, at the step of some join, or of all."""
        homes, own = self._relations.home(part), self._relations.own
        if self._relations.is_same_window(part):
            return
        if not self.joins_streams or (self._is_plain and len(homes) == 1):
            own[next(iter(homes), self._streams[0])].append(part)
            return
        if self._is_plain or not homes:
            self._across.append(part)
            return
        present = max(homes)
        step = max(self._origins.get(id(part), present), present)
        while step > present and not any(self._nullifies(step, home) for home in homes):
            step -= 1
        if len(homes) == 1 and step == present and not self._nullifies(step, present):
            own[present].append(part)
        else:
            self._asked.setdefault(max(each for each in self._streams if each <= step), []).append(part)

    def _nullifies(self, step: int, home: int) -> bool:
        return step in self._items and self._items[step].nullifies(home)

    def _plan(self) -> None:
        """One join of all streams, if they agree on a key; else one after the other."""
        if not self.joins_streams:
            return
        if not self._is_plain:
            for item in self._items.values():
                self._ask_before(item)
            self._steps = JoinSteps(self._relations, self._streams, self._items, self._asked)
            return
        reads = self._relations.reads
        within = [
            part
            for rank in range(1, len(self._streams))
            for part in within_windows(reads, self._streams[:rank], self._streams[rank])
        ]
        equalities = [each for part in [*self._across, *within] if (each := self._find_equality(part))]
        keys, left = find_keys(equalities, self._streams, self._relations.side_scope, self._tree)
        if keys:
            others = [part for part in [*self._across, *within] if not any(part is each.part for each in equalities)]
            self._keys, self._spans = keys, self._find_spans(self._across)
            self._across = [*others, *left]
            return
        order = self._order_streams(equalities)
        for part in self._across:
            ranks = [order.index(home) for home in self._relations.home(part)]
            self._asked.setdefault(order[max(ranks, default=len(order) - 1)], []).append(part)
        self._across = []
        self._steps = JoinSteps(self._relations, order, {}, self._asked)

    def _ask_before(self, item: JoinItem) -> None:
        """What ON says of the stream alone that has to find partners is asked before they are sought."""
        before = [each for each in self._streams if each <= item.position]
        candidates = {Kind.LEFT: item.position, Kind.ASOF: item.position, Kind.ASOF_LEFT: item.position}
        alone = candidates.get(item.kind, before[0] if item.kind is Kind.RIGHT and len(before) == 2 else None)
        kept = []
        for part in item.parts if item.kind is not Kind.INNER else []:
            homes = self._relations.home(part)
            if not homes <= set(before):
                message = f"ON names a relation that is joined later: {write_expression(part)}"
                raise SqlError(message, location_of(part) or location_of(self._tree))
            if homes == {alone}:
                self._relations.own[homes.pop()].append(part)
            elif not self._relations.is_same_window(part):
                kept.append(part)
        item.parts = kept

    def _find_equality(self, part: exp.Expr) -> Equality | None:
        """The two ends of an equality, if each is of one stream, and not of the same."""
        if not isinstance(part, exp.EQ):
            return None
        left, right = self._relations.home(part.left), self._relations.home(part.right)
        if not (len(left) == len(right) == 1 and left != right):
            return None
        terms = [
            Term.of(home, tree, self._relations.side_scope(home))
            for (home,), tree in ((left, part.left), (right, part.right))
        ]
        return Equality(terms[0], terms[1], part)

    def _order_streams(self, equalities: Iterable[Equality]) -> list[int]:
        """The streams so that each has something in common with one before it, as far as that is possible."""
        linked = [{each.left.home, each.right.home} for each in equalities]
        found, waiting = self._streams[:1], self._streams[1:]
        while waiting:
            near = [each for each in waiting if any(each in pair and pair & set(found) for pair in linked)]
            found.append((near or waiting)[0])
            waiting.remove(found[-1])
        return found

    def _find_spans(self, conditions: Sequence[exp.Expr]) -> dict[int, Micros | None]:
        """How long the readings of each stream stay; None where they are counted."""
        reads = self._relations.reads
        said = [bound for part in conditions for bound in bounds_of(part, self._relations.time_of)]
        windows = [
            (one, other, float(span_us))
            for one in self._streams
            if (span_us := reads[one].span_us) is not None
            for other in self._streams
        ]
        bounds = TimeBounds(self._streams, [*said, *windows])
        found: dict[int, Micros | None] = {}
        for home in self._streams:
            if reads[home].span_us is not None or reads[home].last_rows is not None:
                found[home] = reads[home].span_us
                continue
            wait = bounds.wait(home, self._streams)
            if isinf(wait):
                other = next(each for each in self._streams if each != home)
                raise refuse_endless(reads[home], reads[other], self._tree)
            found[home] = Micros(int(wait))
        return found

    def _side(self, home: int) -> tuple[Node, Side]:
        return self._relations.side(home, [of_streams[home] for of_streams in self._keys], self._spans[home])


def _read_joined(join: exp.Join, streams: Streams) -> From:
    """A relation behind JOIN; as of when it is asked is no part of it."""
    table = join.this
    if table.args.get("version"):
        table = table.copy()
        table.set("version", None)
    return read_from(table, streams)
