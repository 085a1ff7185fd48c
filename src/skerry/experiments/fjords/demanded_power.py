"""What motes take that deliver what queries need, against everything raw all the time.

Queries are SQL, settings come from their demand, control goes through proxies, and the motes meter themselves: all as
in a run on a broker, in simulated time.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from skerry.catalog import Catalog, Sensor
from skerry.experiments.figure import Figure, Panel, Verdict
from skerry.experiments.fjords.claims import BASELINE_HZ, judge_near, judge_true
from skerry.experiments.fjords.workload import find_period
from skerry.lang.sql import Session
from skerry.model.time import Micros
from skerry.sensors.demand import compute_demand
from skerry.sensors.messages import Setting
from skerry.sensors.power import PowerModel
from skerry.sources.sensor_programs import find_programs
from skerry.sources.sim.motes import Fleet, FleetSettings
from skerry.sources.sim.motes.ether import Ether
from skerry.sources.sim.motes.kinds import KINDS
from skerry.testing.simulated_receiving import SimulatedReceiving

__all__ = ["measure_demanded_power"]

_NOON = Micros(960_206_400_000_000)
_MOTES = 4
_SETTLED_S = 10.0
"""Motes run as they were built until control has come."""
_SOURCE = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, flow INT, speed DOUBLE, length DOUBLE, occupancy DOUBLE,
WATERMARK FOR ts AS ts) WITH (connector='mqtt', topic='motes/{{sensor}}/data', sample_period='{period_us}us');"""
_WINDOW = "FROM TUMBLE(road, ts, INTERVAL '1' MINUTE) GROUP BY sensor, window_start"
_EVERYTHING = "everything, always"
_QUERIES: Mapping[str, str] = {
    "raw": f"SELECT sensor, AVG(occupancy) AS busy {_WINDOW}",
    "vehicles": f"SELECT sensor, AVG(speed) AS mph, MAX(length) AS feet {_WINDOW}",
    "counts": f"SELECT sensor, SUM(flow) AS vehicles {_WINDOW}",
    "nothing": "",
}
"""What is asked for, and the query that needs no more than that; the names are the programs' where one is needed."""
_PAPER_MW = {"raw": 13.0, "vehicles": 1.1, "counts": 0.38}


def measure_demanded_power(seconds: float) -> Figure:
    """Power by what the queries need, at 180 Hz."""
    rows = [_measure(_EVERYTHING, None, seconds)]
    rows += [_measure(name, _find_settings(query), seconds) for name, query in _QUERIES.items()]
    base_mw = rows[0]["metered_mw"]
    table = pa.Table.from_pylist([row | {"times_less": round(base_mw / row["metered_mw"], 3)} for row in rows])
    panels = (Panel("metered_mw", "metered power, mW", logarithmic=True),)
    title = "Power of motes by what the queries need"
    figure = Figure("fjords_demanded", title, table, "sample_hz", panels, ())
    notes = [
        f"{_MOTES} traffic motes of the simulated fleet, {seconds:g} s from noon in simulated time, after "
        f"{_SETTLED_S:g} s in which control comes. Settings follow from the demand of one query. States are metered, "
        "too.",
    ]
    return figure.with_verdicts(_judge(figure), notes)


def _find_settings(query: str) -> dict[str, Setting]:
    """What the motes are to do for a query."""
    session, period_us = Session(Catalog.in_memory()), find_period(BASELINE_HZ)
    session.execute(_SOURCE.format(period_us=period_us))
    if query:
        session.execute(f"CREATE MATERIALIZED VIEW asked AS {query};")
    programs = tuple(program.name for program in KINDS["traffic"].programs)
    motes = [Sensor(f"traffic-{index:04}", "road", "traffic", programs=programs) for index in range(_MOTES)]
    (demand,) = compute_demand(
        session.plans(), (), session.catalog.sources(), motes, find_programs, PowerModel()
    ).values()
    return demand.settings()


def _measure(name: str, wanted: Mapping[str, Setting] | None, seconds: float) -> dict[str, Any]:
    """Mean power of the motes; without settings they run as they were built: raw, at full rate."""
    ether = Ether()
    receiving = SimulatedReceiving(ether, start_us=_NOON)
    receiving.want(wanted or {})
    built = FleetSettings({"traffic": _MOTES}, sample_period_us=find_period(BASELINE_HZ), time_form="us")
    fleet, before = Fleet(built, None, start_us=_NOON, ether=ether), [0.0]
    ether.plan(_SETTLED_S, lambda: before.append(sum(mote.meter.total_mj for mote in fleet.motes)))
    tally = fleet.run(_SETTLED_S + seconds)
    power_mw = (tally.energy_mj - before[-1]) / _MOTES / seconds
    return {
        "technique": name,
        "sample_hz": BASELINE_HZ,
        "program": "asleep" if tally.asleep else str(fleet.motes[0].setting.program),
        "metered_mw": round(power_mw, 5),
        "outside": tally.controls["outside"],
    }


def _judge(figure: Figure) -> list[Verdict]:
    less = {name: figure.line(name, "times_less")[1][0] for name in _QUERIES}
    paper = {name: round(_PAPER_MW["raw"] / power_mw, 1) for name, power_mw in _PAPER_MW.items()}
    fewer = f"{less['vehicles']:.3g} times: fewer than five vehicles per second pass"
    rows = figure.table.to_pylist()
    ran = {row["technique"]: row["program"] for row in rows[1:]}
    return [
        judge_true(
            "each set of queries is served by the program that it needs, told within windows alone",
            "section 4.2",
            ", ".join(f"{name}: {program}" for name, program in ran.items()),
            ran == {**{name: name for name in _PAPER_MW}, "nothing": "asleep"}
            and not any(row["outside"] for row in rows),
        ),
        judge_near("queries that need raw save nothing", paper["raw"], less["raw"], "times"),
        judge_true(
            "queries that need vehicles take less than everything raw, by at least a factor",
            f"{paper['vehicles']:.3g} times (13 / 1.1 mW)",
            fewer,
            less["vehicles"] >= paper["vehicles"],
        ),
        judge_near("queries that need counts take less than everything raw", paper["counts"], less["counts"], "times"),
        judge_true(
            "no query: motes sleep and look in, and take less than with counts",
            "not in the paper",
            f"{less['nothing']:.3g} times less",
            less["nothing"] > less["counts"],
        ),
    ]
