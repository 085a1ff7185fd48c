"""The join techniques by name, and how one is made."""

from collections.abc import Mapping, Sequence

import numpy as np

from skerry.errors import OptionError
from skerry.operators.joins.amjoin import AMJoin
from skerry.operators.joins.mjoin import MJoin
from skerry.operators.joins.snjoin import SNJoin
from skerry.operators.joins.technique import Technique
from skerry.operators.joins.tree import SymmetricHashTree, XJoinTree

__all__ = ["TECHNIQUES", "make_technique"]

TECHNIQUES: Mapping[str, type[Technique]] = {
    "snjoin": SNJoin,
    "mjoin": MJoin,
    "xjoin": XJoinTree,
    "shj": SymmetricHashTree,
    "amjoin": AMJoin,
}


def make_technique(name: str, counts: Sequence[int], limit: int) -> Technique:
    """A technique for as many streams as there are ``counts``: a stream's last rows that are live, or 0 for time."""
    if name not in TECHNIQUES:
        raise OptionError(f"unknown join technique {name!r}; there are", ", ".join(sorted(TECHNIQUES)))
    if not any(counts):
        return TECHNIQUES[name](len(counts), limit)
    if TECHNIQUES[name] is not SNJoin:
        raise OptionError(f"a window of last rows is joined by snjoin alone, got {name!r}")
    return SNJoin(len(counts), limit, np.array(counts, np.int64))
