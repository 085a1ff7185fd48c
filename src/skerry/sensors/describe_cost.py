"""What a setting costs sensors, in words: power, battery days, and how sure that is."""

from collections.abc import Sequence

from skerry.model.time import MICROS, Micros
from skerry.sensors.choose_program import Choice
from skerry.sensors.demand import Cost, SourceDemand
from skerry.sensors.forecast import Basis, Forecast
from skerry.sensors.messages import Setting

__all__ = ["describe_cost", "describe_saving", "show_days"]

_WEAKEST_FIRST = (Basis.UNKNOWN, Basis.SEEN, Basis.COUNTED, Basis.REGULAR)


def show_days(life_us: int) -> str:
    """A battery's life.

    >>> show_days(36 * MICROS["HOUR"])
    '1.5 days'
    """
    return f"{life_us / MICROS['DAY']:,.1f} days"


def describe_cost(demand: SourceDemand, names: Sequence[str], setting: Setting, choice: Choice) -> str:
    """Mean power of sensors with one setting, how long batteries last with it, and how that is known."""
    costs = [demand.cost(name, setting, choice) for name in names]
    powers = [cost.power_mw for cost in costs if cost.power_mw is not None]
    if not powers:
        return "not known"
    lives = [cost.life_us for cost in costs if cost.life_us is not None]
    text = f"{sum(powers) / len(powers):.3g} mW, {show_days(_average(lives))} on a battery each"
    forecasts = [found for name in names if (found := demand.forecast(name, setting)) is not None]
    return text + (_describe_basis(forecasts, setting) if forecasts else "")


def describe_saving(before: Cost, after: Cost) -> str:
    """What would be saved by another setting, as the end of a sentence; nothing if that is not known.

    >>> describe_saving(Cost(0.5, Micros(2 * MICROS["DAY"])), Cost(0.1, Micros(10 * MICROS["DAY"])))
    ': 0.1 mW, which is 0.4 mW less, and 10.0 days on a battery, not 2.0 days'
    """
    if before.power_mw is None or after.power_mw is None or f"{before.power_mw:.3g}" == f"{after.power_mw:.3g}":
        return ""
    apart = f"{abs(before.power_mw - after.power_mw):.3g} mW {'less' if after.power_mw < before.power_mw else 'more'}"
    text = f": {after.power_mw:.3g} mW, which is {apart}"
    if before.life_us is None or after.life_us is None:
        return text
    return f"{text}, and {show_days(after.life_us)} on a battery, not {show_days(before.life_us)}"


def _average(lives: Sequence[Micros]) -> int:
    return sum(lives) // len(lives) if lives else 0


def _describe_basis(forecasts: Sequence[Forecast], setting: Setting) -> str:
    """How sure it is: as sure as the least sure of the sensors."""
    basis = min((forecast.basis for forecast in forecasts), key=_WEAKEST_FIRST.index)
    least, most = min(each.least_mw for each in forecasts), max(each.most_mw for each in forecasts)
    span = f"{least:.3g} to {most:.3g} mW"
    passing = sum(each.passing for each in forecasts) / len(forecasts)
    share = f"{passing:.0%} of readings pass, " if setting.ranges else ""
    if basis is Basis.UNKNOWN:
        return f"; all readings are reckoned with until some are seen: {span}"
    if basis is Basis.SEEN:
        return f"; {share}by what was seen in {_show_seconds(forecasts)}: {span}"
    if basis is Basis.COUNTED:
        return f"; {share}counted for {_show_seconds(forecasts)}"
    return ""


def _show_seconds(forecasts: Sequence[Forecast]) -> str:
    """The shortest time for which one of several was seen, by the unit that suits it."""
    seconds = min((each.seen_s for each in forecasts if each.seen_s > 0.0), default=0.0)
    for limit, unit, name in ((120.0, 1.0, "s"), (7_200.0, 60.0, "min"), (172_800.0, 3_600.0, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400.0:.0f} days"
