"""How motes join, chosen by itself: against every fixed way, and what was predicted against what was sent.

For each setting ``auto`` rehearses with seeds of its own. Then every way is run with other seeds, until the standard
error of its mean is 2 %; one that sends half as much again as what was chosen is broken off. Settings are those of the
papers' figures, and made-up programs whose facts come and go, on grids and on a random field, without loss and with, in
both orders. Views are placed by what their first readings say; every place is simulated, and energy decides.

    python benchmarks/strategies.py --quick
    python benchmarks/strategies.py --only views --json strategies.json
"""

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path
from random import Random
from statistics import fmean, stdev

from skerry import MemorySink
from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.deduce.builtins import Builtins
from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.experiments.deductive.programs import write_program
from skerry.lang.rules import read
from skerry.network.network import Network
from skerry.network.radio_settings import RadioSettings
from skerry.network.rules.compile_program import compile_program
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.network_facts import make_calendar
from skerry.network.rules.rehearsal import rehearse
from skerry.network.rules.routes import find_routes
from skerry.network.rules.rule_network import RuleNetwork
from skerry.network.rules.run import ORDERS
from skerry.network.rules.survey import Survey
from skerry.network.topology.read_topology import read_topology
from skerry.network.topology.topology import Topology
from skerry.network.views.runtime import choose_placements
from skerry.pipeline.runtime import RunOptions
from skerry.plan.program import Checked

NEAR_BEST, NEAR_SENT = 0.10, 0.15
PRECISE, LEAST_RUNS, MOST_RUNS = 0.02, 3, 60
BROKEN_OFF = 1.5
REHEARSED = 1_000
"""Seeds of rehearsals are from here on; those of runs below."""

FIELD = "base q(n: node, v: int) host n. base g(x: node, y: node) link{reach}.\n"
PROGRAMS = {
    "pairs": FIELD.format(reach=" within 2 hops") + "p(a, b) :- q(a, v), g(a, b), q(b, v), a < b.",
    "lonely": FIELD.format(reach=" within 2 hops")
    + "p(a) :- q(a, v), g(a, b), q(b, v). alone(a, v) :- q(a, v), NOT p(a). output alone.",
    "far": FIELD.format(reach="") + "p(a, b) :- q(a, v), q(b, v), a < b.",
    "count": FIELD.format(reach="") + "c(v, count<*>, sum<a>) :- q(a, v).",
    "gaps": FIELD.format(reach="") + "p(a, x) :- q(a, v), g(a, b), q(b, w), x in range(v, w), NOT q(a, x).",
}


@dataclass(frozen=True)
class Setting:
    """A program on a field."""

    name: str
    topology: str
    order: str
    loss: float
    factor: int | None = None


def list_settings(quick: bool) -> Iterator[Setting]:
    """The figures' settings, and others; those without loss first."""
    grids = ("grid:5x5",) if quick else ("grid:5x5", "grid:7x7", "grid:10x10", "geometric:50:0.22:1")
    factors = (2,) if quick else (2, 3, 4, 5, 6)
    for loss in (0.0, 0.1):
        for order in ORDERS:
            yield from (Setting(name, grid, order, loss, 1) for grid in grids for name in ("logicJ", "logicH"))
            wide = grids if quick else ("grid:7x7", "geometric:50:0.22:1")
            yield from (Setting("logicJ", field, order, loss, factor) for field in wide for factor in factors)
            yield from (Setting(name, field, order, loss) for field in wide for name in PROGRAMS)
    if not quick:
        for loss in (0.2, 0.3):
            for order in ORDERS:
                yield from (Setting(name, grid, order, loss, 1) for grid in grids[:3] for name in ("logicJ", "logicH"))


@dataclass(frozen=True)
class Field:
    """What all runs of a setting share."""

    setting: Setting
    topology: Topology
    checked: Checked
    facts: Facts

    @classmethod
    def of(cls, setting: Setting) -> "Field":
        """The program, its facts and the motes."""
        topology = read_topology(setting.topology)
        motes = len(topology)
        if setting.factor is None:
            return cls(setting, topology, check(read(PROGRAMS[setting.name])), draw_facts(motes))
        farthest = max(max(topology.distances_from(mote)) for mote in range(motes))
        checked = write_program(setting.name, motes // 2, farthest, setting.factor)
        return cls(setting, topology, checked, Facts([Tick(None)], 1))

    def rehearse(self) -> dict[str, float]:
        """What auto expects of each way."""
        return rehearse(*self._prepare(REHEARSED), Builtins({}), self.setting.order, REHEARSED)

    def run(self, strategy: str, seed: int, most: float) -> float:
        """How many messages a way sends; infinite if more than so many."""
        program, checked, facts, network, routes = self._prepare(seed)
        motes = RuleNetwork(network, routes, strategy, program, Builtins({}), self.setting.order)
        motes.begin(checked, facts)
        while network.simulation.next_time is not None:
            if network.radio.tally.total > most:
                return inf
            motes.go_on(network.simulation.next_time + 20_000)
        return network.radio.tally.total

    def _prepare(self, seed: int):
        routes = find_routes(self.topology)
        program = compile_program(self.checked, Survey.of(routes), make_calendar(self.facts))
        network = Network(self.topology, RadioSettings(loss=self.setting.loss), seed)
        return program, self.checked, self.facts, network, routes


def draw_facts(motes: int) -> Facts:
    """Ten values over the motes, in four steps; in the last two some go, while others come."""
    random = Random(5)
    values = [random.randrange(10) for _ in range(motes)]
    ticks = []
    for step in range(4):
        come = [(mote, values[mote]) for mote in range(step, motes, 4)]
        gone = [(mote, values[mote]) for mote in range(step - 2, motes, 12)] if step >= 2 else []
        ticks.append(Tick(step, {"q": come}, {"q": gone}))
    return Facts(ticks, 1)


def find_mean(run: Callable[[int], float]) -> float:
    """The mean over runs with several seeds, as many as it takes to know it; infinite if one is broken off."""
    found: list[float] = []
    while len(found) < MOST_RUNS:
        found.append(run(len(found)))
        if found[-1] == inf:
            return inf
        if len(found) >= LEAST_RUNS and stdev(found) / sqrt(len(found)) <= PRECISE * fmean(found):
            break
    return fmean(found)


@dataclass(frozen=True)
class Judged:
    """How far what was chosen is from the best, and what was predicted from what was sent."""

    over_best: float
    off: float

    @property
    def is_near_best(self) -> bool:
        """Whether choosing by itself costs at most a tenth more."""
        return self.over_best <= NEAR_BEST

    @property
    def is_near_sent(self) -> bool:
        """Whether the prediction is right to 15 %."""
        return abs(self.off) <= NEAR_SENT


def measure_rules(setting: Setting) -> Judged:
    """One line of the table."""
    field = Field.of(setting)
    expected = field.rehearse()
    chosen = min(expected, key=lambda name: expected[name])
    sent = {chosen: find_mean(lambda seed: field.run(chosen, seed, inf))}
    for other in TECHNIQUES:
        if other != chosen:
            sent[other] = find_mean(lambda seed, other=other: field.run(other, seed, BROKEN_OFF * sent[chosen]))
    judged = Judged(*compare(sent[chosen], min(sent.values()), expected[chosen]))
    factor = "" if setting.factor is None else f", k = {setting.factor}"
    numbers = ", ".join(f"{name} {'more' if sent[name] == inf else f'{sent[name]:,.0f}'}" for name in TECHNIQUES)
    tell(f"{setting.name}{factor} on {setting.topology}, {setting.order}, loss {setting.loss:g}", numbers, chosen,
         f"{expected[chosen]:,.0f}", judged)  # fmt: skip
    return judged


def compare(sent: float, best: float, predicted: float) -> tuple[float, float]:
    """How much more than the best was sent, and how much more was predicted than sent; nothing is 0 of nothing."""
    return (sent / best - 1 if best else 0.0), (predicted / sent - 1 if sent else 0.0)


def tell(name: str, numbers: str, chosen: str, predicted: str, judged: Judged) -> None:
    """A row."""
    verdict = "" if judged.is_near_best and judged.is_near_sent else " **far**"
    print(f"| {name} | {numbers} | {chosen} | {100 * judged.over_best:.0f} % | {predicted} | "
          f"{100 * judged.off:+.0f} %{verdict} |", flush=True)  # fmt: skip


VIEWS = {
    "selection": "SELECT mote, v FROM a WHERE v > 2",
    "mean of all": "SELECT window_start, AVG(v) AS v FROM TUMBLE(a, ts, INTERVAL '4' SECOND) GROUP BY window_start",
    "by key, HOP": "SELECT k, window_start, SUM(v) AS v, MIN(v) AS low FROM"
    " HOP(a, ts, INTERVAL '2' SECOND, INTERVAL '4' SECOND) WHERE v > 1 GROUP BY k, window_start",
    "join of two": "SELECT x.mote AS one, y.mote AS other, y.v FROM SLIDING(a, ts, INTERVAL '3' SECOND) AS x"
    " JOIN SLIDING(b, ts, INTERVAL '5' SECOND) AS y ON x.k = y.k",
    "join of rare rows": "SELECT x.mote AS one, y.mote AS other, y.v FROM SLIDING(a, ts, INTERVAL '3' SECOND) AS x"
    " JOIN SLIDING(b, ts, INTERVAL '5' SECOND) AS y ON x.k = y.k WHERE x.v = 4 AND x.k < 3",
    "join by mote": "SELECT x.mote, y.v FROM SLIDING(a, ts, INTERVAL '3' SECOND) AS x"
    " JOIN SLIDING(b, ts, INTERVAL '5' SECOND) AS y ON x.mote = y.mote",
    "join of three": "SELECT x.mote AS one, y.mote AS other, z.v FROM SLIDING(a, ts, INTERVAL '3' SECOND) AS x"
    " JOIN SLIDING(b, ts, INTERVAL '5' SECOND) AS y ON x.k = y.k"
    " JOIN SLIDING(a, ts, INTERVAL '2' SECOND) AS z ON z.k = x.k",
    "NOT EXISTS": "SELECT x.mote, x.k FROM a AS x WHERE NOT EXISTS"
    " (SELECT 1 FROM SLIDING(b, ts, INTERVAL '2' SECOND) AS y WHERE y.k = x.k)",
}
FIELDS = (
    ("grid:4x6", ""), ("grid:2x12", ""), ("geometric:24:0.35:1", ""), ("holes:24:0.4:1", ""), ("tree:24:2", ""),
    ("tree:24:4:1", ""), ("grid:4x6", "link_loss='0.1'"), ("grid:4x6", "link_loss='0.3', link_retries='3'"),
    ("geometric:24:0.35:1", "link_loss='0.2'"), ("tree:24:2", "link_loss='0.05', link_retries='1'"),
)  # fmt: skip


def measure_view(view: str, topology: str, options: str) -> Judged:
    """One line of the table: every placement is simulated; what lossy links lose is drawn three times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_readings(folder)

        def begin(place: str, seed: int = 0) -> Database:
            database = Database(Catalog.in_memory(), folder)
            more = ", ".join([f"topology='{topology}'", f"link_seed='{seed}'", *filter(None, [options])])
            for stream in "ab":
                database.execute(
                    f"CREATE SOURCE {stream} (mote INT, ts TIMESTAMP, k INT, v INT, WATERMARK FOR ts AS ts - INTERVAL "
                    f"'1' MINUTE) WITH (connector='file', path='{stream}.csv', {more})"
                )
            database.execute(f"CREATE MATERIALIZED VIEW w WITH (place='{place}') AS {VIEWS[view]}")
            return database

        database = begin("auto")
        pipeline = database.pipeline(database.plans(), Settings("network"))
        placed = choose_placements(pipeline, RunOptions(catalog=database.catalog))["w"]
        places = dict.fromkeys(placement.name for placement, _ in placed.costs)
        sent, energy = {}, {}
        for place in places:
            runs = [begin(place, seed).run(MemorySink(), Settings("network")).figures["w"]
                    for seed in range(3 if options else 1)]  # fmt: skip
            sent[place] = fmean(run.get("messages", 0) for run in runs)
            energy[place] = fmean(run.get("bytes", 0) for run in runs)
        chosen = placed.placement.name
        judged = Judged(
            *compare(energy[chosen], min(energy.values()), 0)[:1], compare(sent[chosen], 1, placed.cost.messages)[1]
        )
        numbers = ", ".join(f"{place} {sent[place]:,.0f}" for place in places)
        tell(f"{view} on {topology} {options}".rstrip(), numbers, chosen, f"{placed.cost.messages:,.0f}", judged)
    return judged


def write_readings(folder: Path) -> None:
    """Two streams: 24 motes, 40 s, 0.3 readings per second."""
    for stream in "ab":
        random = Random(stream)
        lines = ["mote,ts,k,v"]
        for second in range(40):
            chosen = [mote for mote in range(24) if random.random() < 0.3]
            lines += [
                f"{mote},1970-01-01 00:00:{second:02d},{random.randrange(10)},{random.randrange(5)}" for mote in chosen
            ]
        (folder / f"{stream}.csv").write_text("\n".join(lines) + "\n")


def sum_up(what: str, judged: list[Judged]) -> dict[str, float]:
    """In one line; for --json too."""
    best, near = sum(each.is_near_best for each in judged), sum(each.is_near_sent for each in judged)
    print(f"{what}: auto within 10 % of the best in {best} of {len(judged)} settings, "
          f"predictions within 15 % in {near}", flush=True)  # fmt: skip
    return {f"{what}, settings": len(judged), f"{what}, near the best": best, f"{what}, near the prediction": near}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one grid of 25 motes, and three fields of views")
    parser.add_argument("--only", choices=("rules", "views"), help="one of the two")
    parser.add_argument("--json", type=Path, help="file for the numbers")
    options = parser.parse_args()
    found: dict[str, float] = {}
    print("| setting | messages | auto | over the best | predicted | off by |")
    print("|---|---|---|---|---|---|")
    if options.only != "views":
        found |= sum_up("rules", [measure_rules(setting) for setting in list_settings(options.quick)])
    if options.only != "rules":
        fields = FIELDS[:1] + FIELDS[6:8] if options.quick else FIELDS
        found |= sum_up("views", [measure_view(view, *field) for field in fields for view in VIEWS])
    if options.json:
        options.json.write_text(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
