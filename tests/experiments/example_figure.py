"""A figure without an experiment."""

import pyarrow as pa

from skerry.experiments.figure import Figure, Panel


def figure(**rates: float) -> Figure:
    """Techniques at their largest size, after a smaller one at which all are equal."""
    rows = [{"technique": name, "sensors": 1, "rate": 1.0} for name in rates]
    rows += [{"technique": name, "sensors": 2, "rate": float(rate)} for name, rate in rates.items()]
    return Figure("figure", "Figure", pa.Table.from_pylist(rows), "sensors", (Panel("rate", "rate"),), ())
