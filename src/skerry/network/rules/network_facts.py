"""The facts of a network: those of files, at the motes where they arise, and the links of the topology."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skerry.deduce.change import Tick
from skerry.deduce.facts import Facts, read_facts
from skerry.deduce.values import Row, coerce
from skerry.errors import InputError
from skerry.network.rules.node_program import Calendar
from skerry.network.rules.routes import Routes
from skerry.plan.program import SINCE, Checked

__all__ = ["add_links", "fit_rows", "list_links", "make_calendar", "read_network_facts"]


def read_network_facts(folder: Path | None, checked: Checked) -> Facts:
    """The facts in a folder. Links come from the topology; a program that has nothing else needs no folder."""
    others = {name: each for name, each in checked.predicates.items() if each.link is None}
    missing = [name for name, each in others.items() if each.base and not name.startswith(SINCE)]
    if folder is None and missing:
        raise InputError(f"the facts of {', '.join(map(repr, missing))} are missing: give a folder with --facts")
    return Facts([Tick(None)], 1) if folder is None else read_facts(folder, replace(checked, predicates=others))


def make_calendar(facts: Facts) -> Calendar:
    """The clocks of motes begin with the first facts, and the run's horizon is at the last."""
    times = [tick.now for tick in facts.ticks if tick.now is not None]
    calendar = Calendar(min(times, default=0), facts.unit)
    return replace(calendar, horizon_us=calendar.to_clock(max(times, default=calendar.origin)))


def fit_rows(checked: Checked, rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, Row]]:
    """Rows as their columns hold them, one by one."""
    for name, given in rows.items():
        predicate = checked.predicates[name]
        if predicate.link is not None:
            raise InputError(f"the facts of {name!r} are the links of the topology; leave its file out")
        for row in given:
            values = [coerce(value, column.type) for value, column in zip(row, predicate.columns, strict=True)]
            fitted = tuple(value for value in values if value is not None)
            if len(fitted) < len(row):
                raise InputError(f"a fact of {name!r} does not fit its columns: {row}")
            yield name, fitted


def list_links(routes: Sequence[Routes], reach: int) -> list[Row]:
    """All pairs of motes at most so many hops apart, both ways."""
    return [
        (one, other) for one, table in enumerate(routes) for other, hops in enumerate(table.hops) if 0 < hops <= reach
    ]


def add_links(facts: Facts, checked: Checked, routes: Sequence[Routes]) -> list[Tick]:
    """The ticks of facts, the first with the links of a topology: what an engine in process needs."""
    links = {name: list_links(routes, each.link) for name, each in checked.predicates.items() if each.link is not None}
    first, *rest = facts.ticks or [Tick(None)]
    return [Tick(first.now, {**first.inserts, **links}, first.deletes), *rest]
