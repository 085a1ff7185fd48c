"""Words for what sensors measure, as they stand in topics and in names of columns."""

import re

__all__ = ["is_measured", "names_quantity"]

_MEASURED = re.compile(
    """
    temperature | temp | humidity | hum | dewpoint | pressure | co2 | co | voc | tvoc | no2 | nox | o3 | ozone | so2
    | pm | noise | sound | lux | illuminance | brightness | wind | gust | rain | rainfall | snow | moisture
    | conductivity | salinity | ph | turbidity | distance | depth | height | angle | speed | velocity | vibration
    | acceleration | torque | volume | weight | mass | voltage | current | power | energy | frequency | battery
    | radiation | uv | solar | value | val | reading | measurement
    """,
    re.VERBOSE,
)
"""What has values between whole numbers, though a sensor may happen to be at 20 or 21."""
_OTHER = re.compile("light|motion|door|window|contact|presence|occupancy|smoke|gas|flow|level|rssi|snr|rpm|position")
_WORD = re.compile(r"[a-z]+\d*")


def names_quantity(level: str) -> bool:
    """Whether a level of a topic says what is measured, and not who measures it.

    >>> names_quantity("temperature"), names_quantity("air_Temperature"), names_quantity("kitchen")
    (True, True, False)
    """
    return any(_MEASURED.fullmatch(word) or _OTHER.fullmatch(word) for word in _list_words(level))


def is_measured(column: str) -> bool:
    """Whether a column of whole numbers may have fractions later.

    >>> is_measured("temperature"), is_measured("pm25"), is_measured("flow"), is_measured("lane")
    (True, True, False, False)
    """
    return any(_MEASURED.fullmatch(word) for word in _list_words(column))


def _list_words(name: str) -> list[str]:
    """Its words in lower case, with the digits at their ends and without."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return [form for word in _WORD.findall(spaced) for form in (word, word.rstrip("0123456789"))]
