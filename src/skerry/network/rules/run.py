"""A whole run: motes with a program in a simulated network, from the first fact until nothing is left to do."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from skerry.deduce.builtins import Builtins
from skerry.deduce.engine import Engine
from skerry.deduce.evaluate import Calls
from skerry.deduce.facts import Facts
from skerry.deduce.values import Row, row_key, sort_key
from skerry.errors import OptionError
from skerry.network.energy import Energy
from skerry.network.link_changes import LinkChange, schedule_changes
from skerry.network.network import Network
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.compile_program import compile_program
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.network_facts import add_links, make_calendar, read_network_facts
from skerry.network.rules.refusals import refuse_facts
from skerry.network.rules.rehearsal import Estimates, rehearse
from skerry.network.rules.routes import find_routes
from skerry.network.rules.rule_network import RuleNetwork
from skerry.network.rules.survey import Survey
from skerry.network.tally import Tally
from skerry.network.topology.topology import Topology
from skerry.plan.program import Checked

__all__ = ["AUTO", "ORDERS", "STRATEGIES", "Run", "find_answers", "simulate"]

AUTO = "auto"
STRATEGIES = (AUTO, *TECHNIQUES)
ORDERS = ("stage", "arrival")

Answers = dict[str, list[Row]]


@dataclass(frozen=True)
class Run:
    """What a network found out, what that cost, and how it compares with the engine in one process."""

    answers: Answers
    """By output, what holds on all motes together when nothing is left to do."""
    expected: Answers
    """The same by the engine in one process."""
    missed: float
    """The share of what is expected that was not found."""
    wrong: float
    """The share of what was found that is not expected."""
    tally: Tally
    energy_mj: float
    """What all motes took, until the last thing happened."""
    tuples_per_mote: list[int]
    """The most tuples that each mote held at a time: its own and replicas, without links."""
    derivations_per_tuple: float
    """The mean, over the derived tuples that hold at the end."""
    most_derivations: int
    late_us: int
    """By how much a tuple was stored or joined later than others rely on; 0: all came in time."""
    storage_us: int
    """The longest that it took to store a tuple (tau_s), as far as it was measured."""
    join_us: int
    """The longest that it took from then to join it (tau_j), as far as it was measured."""
    strategy: str
    """The one that was used; with ``auto`` the one that was chosen."""
    estimates: Estimates
    """With ``auto``: by strategy, how many messages were expected."""
    duration_us: int
    """When the last thing happened."""


def simulate(
    checked: Checked,
    facts: Facts | None,
    topology: Topology,
    *,
    strategy: str = "broadcast",
    radio: RadioSettings | None = None,
    seed: int = 0,
    order: str = "stage",
    calls: Calls | None = None,
    most_skew_us: int = 0,
    observe: Callable[[Network], None] | None = None,
    expected: Answers | None = None,
    changes: Sequence[LinkChange] = (),
) -> Run:
    """Run a program on the motes of a topology.

    ``observe`` is given the network before anything is sent. ``expected`` is what the engine in one process gives,
    where many runs share it: over the links as they are at the end, and the facts that were not lost with their motes.

    >>> from skerry.deduce.checks import check
    >>> from skerry.lang.rules import read
    >>> from skerry.network.topology.grid import make_grid
    >>> checked = check(read("base G(x: node, y: node) link. busy(x, count<*>) :- G(x, y)."))
    >>> run = simulate(checked, None, make_grid(2, 3))
    >>> run.answers["busy"], run.missed, run.tally.total
    ([(0, 2), (1, 3), (2, 2), (3, 2), (4, 3), (5, 2)], 0.0, 0)
    """
    _check_known(STRATEGIES, strategy, "strategy")
    _check_known(ORDERS, order, "order")
    facts = read_network_facts(None, checked) if facts is None else facts
    calls = calls or Builtins(checked.program.functions)
    refuse_facts(checked, facts.ticks)
    routes = find_routes(topology)
    program = compile_program(checked, Survey.of(routes), make_calendar(facts))
    network = Network(topology, radio, seed, most_skew_us)
    estimates: Estimates = {}
    if strategy == AUTO:
        estimates = rehearse(program, checked, facts, network, routes, calls, order, seed, changes)
        strategy = min(estimates, key=lambda name: estimates[name])
    motes = RuleNetwork(network, routes, strategy, program, calls, order)
    schedule_changes(network, changes)
    if observe is not None:
        observe(network)
    motes.run(checked, facts)
    if expected is None:
        left = replace(facts, ticks=[*facts.ticks, motes.given.list_lost(facts.ticks)])
        expected = find_answers(checked, left, network.living_topology, calls)
    return _report(motes, checked, expected, strategy, estimates)


def find_answers(checked: Checked, facts: Facts | None, topology: Topology, calls: Calls | None = None) -> Answers:
    """The answers of the engine in one process, over the same facts and the topology's links."""
    facts = read_network_facts(None, checked) if facts is None else facts
    engine = Engine(checked, calls or Builtins(checked.program.functions), facts.unit)
    for tick in add_links(facts, checked, find_routes(topology)):
        engine.tick(tick.now, tick.inserts, tick.deletes)
    return {each.predicate: _sort(engine.rows(each.predicate)) for each in checked.outputs}


def _check_known(known: Sequence[str], name: str, what: str) -> None:
    if name not in known:
        raise OptionError(f"unknown {what} {name!r}; known: {', '.join(known)}")


def _report(motes: RuleNetwork, checked: Checked, expected: Answers, strategy: str, estimates: Estimates) -> Run:
    """Read what every mote holds."""
    held, measures = list(motes.holdings), motes.measures
    answers = {output.predicate: _sort(motes.list_rows(output.predicate)) for output in checked.outputs}
    derived = [len(each.derivations) for each in held if not checked.predicates[each.predicate].base]
    return Run(
        answers,
        expected,
        _share(expected, answers),
        _share(answers, expected),
        motes.network.radio.tally,
        Energy(motes.network).total_mj,
        measures.tuples_per_mote,
        sum(derived) / max(len(derived), 1),
        max(derived, default=0),
        measures.late_us,
        measures.storage_us,
        measures.join_us,
        strategy,
        estimates,
        motes.network.simulation.now,
    )


def _sort(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: [sort_key(value) for value in row])


def _share(of: Answers, missing_in: Answers) -> float:
    """The share of some answers that others lack."""
    lacking, count = 0, 0
    for name, rows in of.items():
        there = set(map(row_key, missing_in[name]))
        lacking, count = lacking + sum(row_key(row) not in there for row in rows), count + len(rows)
    return lacking / count if count else 0.0
