"""What a sensor does with a reading under a setting, said plainly."""

from collections.abc import Mapping
from typing import Any

from skerry.sensors.messages import Setting

__all__ = ["admits"]


def admits(setting: Setting, reading: Mapping[str, Any]) -> bool:
    """Whether it sends the reading. NULL and NaN are in every range."""
    return not setting.asleep and all(_is_in(reading[column], spans) for column, spans in setting.ranges.items())


def _is_in(value: Any, spans: Any) -> bool:
    if value is None or value != value:
        return True
    return any((low is None or low <= value) and (high is None or value <= high) for low, high in spans)
