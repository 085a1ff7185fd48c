"""Run SNJoin* and its rivals over the same clusters, and measure what came out."""

from collections.abc import Mapping

import numpy as np

from skerry.experiments.snjoin.clustered_load import ClusteredLoad
from skerry.experiments.snjoin.workload import WINDOW_US
from skerry.model.time import MICROS
from skerry.network.snjoin.counted_join import Counted, CountedJoin, Probing
from skerry.network.snjoin.relevance import RelevanceSettings
from skerry.network.snjoin.settings import JoinSettings

__all__ = ["BUFFER_SIZE", "PROBINGS", "measure_join"]

BUFFER_SIZE = 2_000
"""Of all heads together, as in Figure 6."""
PROBINGS: Mapping[str, Probing] = {
    "without": Probing(),
    "feedback": Probing(RelevanceSettings()),
    "definition4": Probing(RelevanceSettings(normalised=True)),
    "mjoin": Probing(table_per_sensor=True, announce_us=WINDOW_US),
}
"""SNJoin* without feedback, with it, with it where Definition 4 is read to the letter, and distributed MJoin."""


def measure_join(technique: str, clustered: ClusteredLoad, operation_us: float) -> dict[str, float]:
    """Run one technique until the load ends; all is counted after the first window."""
    load, heads = clustered.load, clustered.head_count
    settings = JoinSettings(WINDOW_US, buffer_size=max(1, BUFFER_SIZE // heads), operation_us=operation_us)
    if not operation_us:
        settings = JoinSettings(WINDOW_US)
    join = CountedJoin(clustered.head_of.tolist(), settings, PROBINGS[technique])
    counted = join.run(load.times, load.sensors.astype(np.int64), load.keys, WINDOW_US, load.end_us)
    return _summarise(counted, (load.end_us - WINDOW_US) / MICROS["SECOND"])


def _summarise(counted: Counted, span_s: float) -> dict[str, float]:
    totals = counted.totals
    answers = max(1, totals["answers"])
    measured = {
        "answers_per_s": totals["joined"] / span_s,
        "content_per_s": totals["content"] / span_s,
        "probes": totals["probes"] / max(1, totals["answers"] + totals["refused"]),
        "delay_ms": totals["delay_us"] / answers / MICROS["MILLISECOND"],
        "drop_percent": 100 * (totals["dropped"] + totals["refused"]) / max(1, totals["arrived"]),
        "width": totals["width"] / max(1, totals["widths"]),
        "kbytes_per_s": totals["bytes"] / span_s / 1_000,
        "kbytes_per_answer": totals["bytes"] / answers / 1_000,
    }
    return {"heads": counted.head_count} | {name: round(value, 3) for name, value in measured.items()}
