"""What sensors must deliver, in words: for ``skerry explain`` and ``skerry sensors show``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skerry.model.time import Micros, show_span
from skerry.sensors.choose_program import Choice
from skerry.sensors.demand import Cost, SourceDemand
from skerry.sensors.describe_cost import describe_cost, describe_saving, show_days
from skerry.sensors.messages import Setting
from skerry.sensors.reasons import Forced, Reasons, explain_sensor, explain_sensors, settings_without

__all__ = ["describe_demand", "describe_sensor"]

_MOST_GROUPS = 12
"""Groups of sensors that are described; of the others it is said how many there are."""
_MOST_CANDIDATES = 20
"""So many queries are tried when the most costly is looked for."""
_NAMED = 3


@dataclass(frozen=True)
class _Group:
    """Sensors with the same setting, perhaps each for reasons of its own."""

    names: Sequence[str]
    setting: Setting
    choice: Choice


def describe_demand(demand: SourceDemand) -> str:
    """A section for a source: its sensors in groups with one setting each, and the most costly query."""
    groups = _group(demand)
    awake = sum(len(group.names) for group in groups if not group.setting.asleep)
    total = len(demand.sensors)
    lines = [f"sensors of {demand.source.name}: {total}, of which {awake} are awake and {total - awake} asleep"]
    for group in groups[:_MOST_GROUPS]:
        lines += _describe_group(demand, group)
    if len(groups) > _MOST_GROUPS:
        lines.append(f"  and {len(groups) - _MOST_GROUPS} more groups; skerry sensors show NAME tells of one sensor")
    return "\n".join(lines + _describe_total(demand, groups))


def describe_sensor(demand: SourceDemand, sensor: str) -> str:
    """The same of one sensor, with what it would do without each query that forces something alone."""
    ((_, (setting, choice)),) = demand.decisions([sensor]).items()
    if setting.asleep:
        return f"{sensor} sleeps: no query concerns it{_describe_sleep(demand, [sensor], setting)}"
    reasons = explain_sensor(demand, sensor)
    lines = [f"{sensor} must deliver:", *_describe_setting(demand, _Group([sensor], setting, choice), reasons)]
    for query in sorted(reasons.decisive)[:_MOST_GROUPS]:
        lines.append(f"    without {query}: {_describe_change(demand, query, sensor, setting, choice)}")
    return "\n".join(lines)


def _group(demand: SourceDemand) -> list[_Group]:
    """Sensors by what they do, the most first, those that sleep last."""
    found: dict[str, tuple[list[str], Setting, Choice]] = {}
    for name, (setting, choice) in demand.decisions().items():
        found.setdefault(repr((setting, choice)), ([], setting, choice))[0].append(name)
    groups = [_Group(*each) for each in found.values()]
    return sorted(groups, key=lambda group: (group.setting.asleep, -len(group.names)))


def _describe_group(demand: SourceDemand, group: _Group) -> list[str]:
    named = ", ".join(group.names[:_NAMED]) + (", ..." if len(group.names) > _NAMED else "")
    head = f"  {len(group.names)} ({named})"
    if group.setting.asleep:
        return [f"{head}: asleep, no query concerns them{_describe_sleep(demand, group.names, group.setting)}"]
    reasons = explain_sensors(demand, group.names)
    return [f"{head}, awake for {reasons.awake}", *_describe_setting(demand, group, reasons)]


def _describe_setting(demand: SourceDemand, group: _Group, reasons: Reasons) -> list[str]:
    setting, choice = group.setting, group.choice
    lines = [f"    rate: {_describe_rate(choice, reasons)}"]
    lines.append(f"    program: {_describe_program(choice, reasons)}")
    lines.append(f"    columns: {_describe_columns(reasons)}")
    lines += [f"    range of {line}" for line in _describe_ranges(setting, reasons)]
    if choice.power_mw is not None:
        lines.append(f"    power: {describe_cost(demand, group.names, setting, choice)}")
    return lines + [f"    note: {note}" for note in choice.notes]


def _describe_rate(choice: Choice, reasons: Reasons) -> str:
    if choice.period_us is None:
        return "left to the sensor"
    often = f"every {_show_period(choice.period_us)}"
    if not choice.is_kept_by_battery:
        return f"{often}, for {reasons.rate}"
    instead = f"; {reasons.rate} would have it faster" if reasons.rate.count else ""
    return f"{often}, as often as the battery allows with the battery_lifetime of {reasons.lifetime}{instead}"


def _show_period(period_us: Micros) -> str:
    """A period that may have been computed: no more digits than are of use."""
    return show_span(period_us) if period_us % 1000 == 0 else f"{period_us / 1000:.6g}ms"


def _describe_program(choice: Choice, reasons: Reasons) -> str:
    """A program, and who wants the columns for which a cheaper one would not do."""
    if choice.program is None:
        return "left to the sensor"
    forced = dict(reasons.columns)
    needed = [f"{name} ({forced[name]})" for name in choice.for_columns if name in forced]
    return f"{choice.program}, for {', '.join(needed)}" if needed else f"{choice.program}, the cheapest"


def _describe_columns(reasons: Reasons) -> str:
    """Columns that all queries need are named alone."""
    found = []
    for name, forced in reasons.columns:
        found.append(name if forced.count == reasons.awake.count else f"{name} (for {forced})")
    return ", ".join(found)


def _describe_ranges(setting: Setting, reasons: Reasons) -> list[str]:
    lines = []
    for (name, ends), spans in zip(reasons.ends, setting.ranges.values(), strict=True):
        several = [_describe_span(*span, *both) for span, both in zip(spans, ends, strict=False)]
        lines.append(f"{name}: {'; '.join(several) or 'none but NULL'}")
    return lines + [f"{name}: all values, for {forced}" for name, forced in reasons.unbounded]


def _describe_span(low: float | None, high: float | None, below: Forced, above: Forced) -> str:
    if low is not None and high is not None:
        by = str(below) if below == above else f"{below}; {above}"
        return f"{low:.10g} to {high:.10g} ({by})" if low != high else f"{low:.10g} ({by})"
    if low is None and high is None:
        return "all"
    return f"up to {high:.10g} ({above})" if low is None else f"from {low:.10g} ({below})"


def _describe_sleep(demand: SourceDemand, names: Sequence[str], setting: Setting) -> str:
    return f"; {describe_cost(demand, names, setting, Choice())}" if demand.forecast(names[0], setting) else ""


def _describe_total(demand: SourceDemand, groups: Sequence[_Group]) -> list[str]:
    """All together, and the query without which the most would be saved."""
    before = demand.decisions()
    costs = {name: demand.cost(name, *decision) for name, decision in before.items()}
    powers = [cost.power_mw for cost in costs.values() if cost.power_mw is not None]
    if not powers or all(group.choice.power_mw is None for group in groups):
        return []
    lines = [f"  together {sum(powers):.4g} mW"]
    without = {query: settings_without(demand, query) for query in _list_candidates(demand, groups)}
    saved = {query: _count_saved(costs, after) for query, after in without.items()}
    costly = max(saved, key=lambda query: saved[query], default=None)
    if costly is not None and saved[costly] > 0.0:
        gain = _describe_gain(before, costs, without[costly])
        lines.append(f"  without {costly}: {saved[costly]:.4g} mW less{gain}")
    return lines


def _list_candidates(demand: SourceDemand, groups: Sequence[_Group]) -> list[str]:
    """Queries that force something alone; any other saves nothing when it is dropped."""
    found: dict[str, None] = {}
    for group in groups:
        for name in () if group.setting.asleep else _list_different(demand, group.names):
            if len(found) < _MOST_CANDIDATES:
                found |= dict.fromkeys(sorted(explain_sensor(demand, name).decisive))
    return list(found)[:_MOST_CANDIDATES]


def _list_different(demand: SourceDemand, names: Sequence[str]) -> Sequence[str]:
    """Sensors of a group that different queries concern, as many as are tried."""
    by_tallies = {tuple(map(id, demand.wanted(name).tallies)): name for name in reversed(names)}
    return list(by_tallies.values())[::-1][:_MOST_CANDIDATES]


def _count_saved(costs: Mapping[str, Cost], after: Mapping[str, tuple[Setting, Cost]]) -> float:
    return sum((costs[name].power_mw or 0.0) - (cost.power_mw or 0.0) for name, (_, cost) in after.items())


def _describe_gain(
    before: Mapping[str, tuple[Setting, Choice]],
    costs: Mapping[str, Cost],
    after: Mapping[str, tuple[Setting, Cost]],
) -> str:
    """What becomes of the sensors that a query concerns: some would sleep, others last longer."""
    sleeping = sum(setting.asleep and not before[name][0].asleep for name, (setting, _) in after.items())
    lives = [(costs[name].life_us, cost.life_us) for name, (_, cost) in after.items()]
    longer = [(new - old, old, new) for old, new in lives if old is not None and new is not None and old < new]
    parts = [f", {sleeping} would sleep"] if sleeping else []
    if longer:
        _, old, new = max(longer)
        parts.append(f", {len(longer)} would last longer (up to {show_days(new)}, not {show_days(old)})")
    return "".join(parts)


def _describe_change(demand: SourceDemand, query: str, sensor: str, setting: Setting, choice: Choice) -> str:
    """What a sensor would do without a query."""
    other, after = settings_without(demand, query)[sensor]
    saved = describe_saving(demand.cost(sensor, setting, choice), after)
    if other.asleep:
        return f"it would sleep{saved}"
    parts = []
    if other.sample_period_us != setting.sample_period_us:
        period = "as it likes" if other.sample_period_us is None else f"every {_show_period(other.sample_period_us)}"
        parts.append(f"sample {period}")
    if other.program != setting.program:
        parts.append(f"run program {other.program or 'of its choice'}")
    gone = [name for name in setting.columns or () if name not in (other.columns or ())]
    if gone:
        parts.append(f"leave out {', '.join(gone)}")
    narrower = [name for name, spans in other.ranges.items() if setting.ranges.get(name) != spans]
    if narrower:
        parts.append(f"send fewer values of {', '.join(narrower)}")
    return f"it would {', '.join(parts) or 'do the same'}{saved}"
