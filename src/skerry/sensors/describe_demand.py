"""What sensors must deliver, in words: for ``skerry explain`` and ``skerry sensors show``."""

from collections.abc import Sequence
from dataclasses import dataclass

from skerry.model.time import MICROS, Micros, show_span
from skerry.sensors.choose_program import Choice
from skerry.sensors.demand import SourceDemand
from skerry.sensors.messages import Setting
from skerry.sensors.reasons import Forced, Reasons, explain_sensor, settings_without

__all__ = ["describe_demand", "describe_sensor"]

_MOST_GROUPS = 12
"""Groups of sensors that are described; of the others it is said how many there are."""
_MOST_CANDIDATES = 20
"""So many queries are tried when the most costly is looked for."""
_NAMED = 3


@dataclass(frozen=True)
class _Group:
    """Sensors with the same setting for the same reasons."""

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
    return "\n".join(lines + _describe_cost(demand, groups))


def describe_sensor(demand: SourceDemand, sensor: str) -> str:
    """The same of one sensor, with what it would do without each query that forces something alone."""
    ((_, (setting, choice)),) = demand.decisions([sensor]).items()
    if setting.asleep:
        return f"{sensor} sleeps: no query concerns it"
    reasons = explain_sensor(demand, sensor)
    lines = [f"{sensor} must deliver:", *_describe_setting(setting, choice, reasons)]
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
        return [f"{head}: asleep, no query concerns them"]
    reasons = explain_sensor(demand, group.names[0])
    return [f"{head}, awake for {reasons.awake}", *_describe_setting(group.setting, group.choice, reasons)]


def _describe_setting(setting: Setting, choice: Choice, reasons: Reasons) -> list[str]:
    lines = [f"    rate: {_describe_rate(choice, reasons)}"]
    lines.append(f"    program: {_describe_program(choice, reasons)}")
    lines.append(f"    columns: {_describe_columns(reasons)}")
    lines += [f"    range of {line}" for line in _describe_ranges(setting, reasons)]
    if choice.power_mw is not None:
        lines.append(f"    power: {_describe_power(choice)} each")
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


def _describe_power(choice: Choice) -> str:
    return f"{choice.power_mw:.3g} mW, {_describe_life(choice.life_us)}"


def _describe_life(life_us: Micros | None) -> str:
    return f"{(life_us or 0) / MICROS['DAY']:,.1f} days on a battery"


def _describe_cost(demand: SourceDemand, groups: Sequence[_Group]) -> list[str]:
    """All together, and the query without which the most would be saved."""
    powers = [(len(group.names), group.choice.power_mw) for group in groups if group.choice.power_mw is not None]
    if not powers:
        return []
    total_mw = sum(count * power for count, power in powers)
    lines = [f"  together {total_mw:.4g} mW"]
    before = demand.decisions()
    saved = {query: _count_saved(demand, query, before) for query in _list_candidates(demand, groups)}
    costly = max(saved, key=lambda query: saved[query], default=None)
    if costly is not None and saved[costly] > 0.0:
        lines.append(f"  without {costly}: {saved[costly]:.4g} mW less, {_describe_gain(demand, costly, before)}")
    return lines


def _list_candidates(demand: SourceDemand, groups: Sequence[_Group]) -> list[str]:
    """Queries that force something alone; any other saves nothing when it is dropped."""
    found: dict[str, None] = {}
    for group in groups:
        if not group.setting.asleep and len(found) < _MOST_CANDIDATES:
            found |= dict.fromkeys(sorted(explain_sensor(demand, group.names[0]).decisive))
    return list(found)[:_MOST_CANDIDATES]


def _count_saved(demand: SourceDemand, query: str, before: dict[str, tuple[Setting, Choice]]) -> float:
    after = settings_without(demand, query)
    return sum((before[name][1].power_mw or 0.0) - (power or 0.0) for name, (_, _, power) in after.items())


def _describe_gain(demand: SourceDemand, query: str, before: dict[str, tuple[Setting, Choice]]) -> str:
    """What becomes of the sensors that a query concerns: some would sleep, others last longer."""
    after = settings_without(demand, query)
    sleeping = [name for name, (setting, _, _) in after.items() if setting.asleep and not before[name][0].asleep]
    longer = {
        name: (before[name][1].life_us, life_us)
        for name, (_, life_us, _) in after.items()
        if life_us is not None and (before[name][1].life_us or life_us) < life_us
    }
    parts = [f"{len(sleeping)} would sleep"] if sleeping else []
    if longer:
        _, (old, new) = max(longer.items(), key=lambda item: item[1][1] - (item[1][0] or 0))
        days = [(each or 0) / MICROS["DAY"] for each in (old, new)]
        parts.append(f"{len(longer)} would last longer (up to {days[1]:,.1f} days, not {days[0]:,.1f})")
    return ", ".join(parts)


def _describe_change(demand: SourceDemand, query: str, sensor: str, setting: Setting, choice: Choice) -> str:
    """What a sensor would do without a query."""
    other, life_us, power_mw = settings_without(demand, query)[sensor]
    if other.asleep:
        return "it would sleep"
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
    if power_mw is not None and choice.power_mw is not None and power_mw != choice.power_mw:
        parts.append(f"take {power_mw:.3g} mW and last {_describe_life(life_us)}")
    return "it would " + (", ".join(parts) or "do the same")
