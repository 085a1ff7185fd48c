"""Compile the kernels of a policy ahead of use."""

import numpy as np

from skerry.kernels.joins.snjoin import Tuples
from skerry.model.time import Micros
from skerry.shedding.bounded_join import BoundedJoin

__all__ = ["precompile_shedding"]


def precompile_shedding(policy: str) -> None:
    """Call every kernel of a policy once: more tuples come than there is room for, and some answer."""
    rows = np.arange(200)
    join = BoundedJoin(2, np.array([20, 20]), policy, span_us=Micros(100))
    join.join(Tuples((rows % 2).astype(np.int32), rows // 4, rows, rows + 50, rows), limit=10_000)
    join.sweep(Micros(150))
    join.live_rows(0)
    join.losses(Micros(1_000))
    join.save()
