"""Readings ahead of all others: a clock that is wrong must not make the rest of a stream late.

There is no clock to hold stored readings against but that of the readings around them. A reading is *ahead* if it lies
far after all accepted before it in its lane, and most of those behind it do not follow. So a wrong clock is found out,
and after a gap in the data time goes on. A live reading is held against the clock. Decision 024 has the reasons and the
numbers.
"""

from dataclasses import dataclass

from skerry.catalog import Source
from skerry.kernels.ahead import mark_ahead
from skerry.model.arrays import Bools, Int64s
from skerry.model.time import MICROS, Micros, show, show_span

__all__ = ["AheadLimit"]

_FAR_US, _NEAR_US = MICROS["DAY"], MICROS["MINUTE"]


@dataclass(frozen=True)
class AheadLimit:
    """How far ahead is too far: ``near_us`` where many readings speak against one, ``far_us`` where few do.

    ``strict`` says that the user has set it: a last reading that none behind it confirms is too far ahead then.

    >>> import pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us")})
    >>> limit = AheadLimit.of(Source("road", schema, "file", event_time="ts", delay_us=Micros(0)))
    >>> (show_span(limit.near_us), show_span(limit.far_us), limit.strict)
    ('1min', '1d', False)
    """

    far_us: Micros
    near_us: Micros
    strict: bool

    @classmethod
    def of(cls, source: Source) -> "AheadLimit | None":
        """The limit of a source. Where no reading can be late, none needs to be feared."""
        if source.event_time is None or source.delay_us is None:
            return None
        if source.max_ahead_us is not None:
            return cls(source.max_ahead_us, source.max_ahead_us, strict=True)
        return cls(Micros(max(_FAR_US, source.delay_us)), Micros(max(_NEAR_US, source.delay_us)), strict=False)

    def mark(self, moments: Int64s, following: Int64s, newest: int) -> tuple[Bools, int, bool]:
        """Mark the readings that are ahead: see ``kernels.ahead``."""
        return mark_ahead(moments, following, newest, self.far_us, self.near_us, strict=self.strict)

    @property
    def clock_us(self) -> Micros:
        """How far a live reading may be ahead of the clock."""
        return self.far_us

    def explain_by_clock(self, column: str, moment: int) -> str:
        """Say why a live reading was rejected."""
        return f"{column} is {show(Micros(moment))}, more than {show_span(self.clock_us)} ahead of the clock"

    def explain(self, column: str, moment: int) -> str:
        """Say why a reading was rejected.

        >>> AheadLimit(Micros(60_000_000), Micros(60_000_000), True).explain("ts", 1_700_000_000_000_000)
        'ts is 2023-11-14 22:13:20, more than 1min ahead of the readings before and after it'
        """
        return f"{column} is {show(Micros(moment))}, more than {show_span(self.near_us)} ahead of {_OTHERS}"


_OTHERS = "the readings before and after it"
