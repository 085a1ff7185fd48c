"""All readings of a source."""

from dataclasses import dataclass

import pyarrow as pa

from skerry.catalog import Source
from skerry.model.time import describe_interval
from skerry.plan.node import Node

__all__ = ["Scan"]


@dataclass(frozen=True)
class Scan(Node):
    """All readings of a source."""

    source: Source

    @property
    def schema(self) -> pa.Schema:
        """As declared."""
        return self.source.schema

    def with_inputs(self, inputs: tuple[Node, ...]) -> "Scan":
        """A source is made from nothing."""
        assert not inputs
        return self

    def lag_us(self, column: str) -> int | None:
        """The event time goes with the watermark."""
        return 0 if column == self.source.event_time else None

    def describe(self) -> str:
        """The source, its options and its watermark."""
        source = self.source
        options = ", ".join(f"{name} = {value!r}" for name, value in source.public_options.items())
        mark = "no watermark"
        if source.delay_us is not None:
            mark = f"watermark {source.event_time} - {describe_interval(source.delay_us)}"
        often = f"; a sample every {describe_interval(source.sample_period_us)}" if source.sample_period_us else ""
        return f"Scan {source.name} ({source.connector}: {options}; {mark}{often})"
