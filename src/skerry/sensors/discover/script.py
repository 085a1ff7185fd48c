"""A proposal as SQL: the source, and a view that gives its readings."""

import re
from collections.abc import Mapping

from skerry.model.dialect import Dialect
from skerry.model.time import describe_interval, show_span
from skerry.sensors.discover.propose import Proposal

__all__ = ["list_options", "quote_name", "write_script"]


def write_script(proposal: Proposal, options: Mapping[str, str]) -> str:
    """The statements that read what was heard. ``options`` are those of the connector that the proposal does not know.

    >>> made = Proposal("i80", "i80/{sensor}/data", "JSON", {"sensor": "VARCHAR", "speed": "DOUBLE"})
    >>> print(write_script(made, {"connector": "mqtt", "url": "mqtt://host"}))
    -- 0 readings of 0 sensors in JSON
    -- no column looks like the time of measurement: add one with WATERMARK FOR to use windows
    CREATE SOURCE i80 (
      sensor VARCHAR,
      speed DOUBLE
    ) WITH (
      connector='mqtt',
      url='mqtt://host'
    );
    CREATE MATERIALIZED VIEW i80_readings AS SELECT * FROM i80;
    """
    columns = [f"{quote_name(name)} {type_}" for name, type_ in proposal.columns.items()]
    if proposal.event_time is not None and proposal.delay_us is not None:
        time = quote_name(proposal.event_time.name)
        amount, unit = describe_interval(proposal.delay_us).split()
        columns.append(f"WATERMARK FOR {time} AS {time} - INTERVAL '{amount}' {unit}")
    given = [f"{name}={_quote_text(value)}" for name, value in options.items()]
    name = quote_name(proposal.name)
    lines = [*_notes(proposal), f"CREATE SOURCE {name} (", _list(columns), ") WITH (", _list(given), ");"]
    view = quote_name(f"{proposal.name}_readings")
    return "\n".join([*lines, f"CREATE MATERIALIZED VIEW {view} AS SELECT * FROM {name};"])


def list_options(proposal: Proposal) -> dict[str, str]:
    """What the options of a live source say of its readings."""
    found: dict[str, str] = {"encoding": "cbor"} if proposal.encoding == "CBOR" else dict(proposal.file_options)
    if proposal.event_time is not None and proposal.event_time.unit is not None:
        found["event_time_unit"] = proposal.event_time.unit
    if proposal.value_column is not None:
        found["value_column"] = proposal.value_column
    if proposal.has_arrival_time:
        found["arrival_time"] = "true"
    if proposal.sequence is not None:
        found["sequence"] = proposal.sequence
    if proposal.sample_period_us is not None and proposal.event_time is not None and proposal.delay_us is not None:
        found["sample_period"] = show_span(proposal.sample_period_us)
    if proposal.max_ahead_us is not None:
        found["max_ahead"] = show_span(proposal.max_ahead_us)
    return found


def quote_name(name: str) -> str:
    """A name as SQL has it: in quotes unless it is plain."""
    is_plain = re.fullmatch(r"[a-z_][a-z0-9_]*", name) and name.upper() not in Dialect.tokenizer_class.KEYWORDS
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def _notes(proposal: Proposal) -> list[str]:
    heard = f"-- {proposal.readings} readings of {len(proposal.sensors)} sensors in {proposal.encoding}"
    notes = [f"{heard}; {proposal.garbled} messages could not be read" if proposal.garbled else heard]
    if proposal.event_time is None:
        notes.append("-- no column looks like the time of measurement: add one with WATERMARK FOR to use windows")
    return [*notes, *(f"-- {' '.join(note.split())}" for note in proposal.notes)]


def _quote_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _list(parts: list[str]) -> str:
    return ",\n".join(f"  {part}" for part in parts)
