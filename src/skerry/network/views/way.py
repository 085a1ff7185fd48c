"""Which motes a row goes to."""

from enum import StrEnum

__all__ = ["TREE_WAYS", "Way"]


class Way(StrEnum):
    """To one mote: up to the base station, by hash, to the head of its cluster. To several: all others."""

    UP = "up"
    HASH = "hash"
    HEAD = "head"
    STAY = "stay"
    FLOOD = "flood"
    HEADS = "heads"
    LEVEL = "level"
    WALK = "walk"


TREE_WAYS = (Way.HEADS, Way.LEVEL, Way.WALK)
"""Rows go along a tree that is known beforehand."""
