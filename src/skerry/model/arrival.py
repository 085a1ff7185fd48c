"""The columns that tell in which order readings of several streams arrived, where a query counts them."""

import pyarrow as pa

__all__ = ["ARRIVAL", "LANE", "STAMPS"]

ARRIVAL, LANE = "#arrival", "#lane"
"""When a reading arrived, in event time, and what tells its lane from others: readings of one lane keep their order."""

STAMPS = (pa.field(ARRIVAL, pa.int64()), pa.field(LANE, pa.int64()))
