"""On which mote a tuple lives: the one that its host column names, else one that is found by hashing."""

from zlib import crc32

from skerry.deduce.values import Row, row_key
from skerry.errors import InputError
from skerry.network.rules.node_program import Schema

__all__ = ["find_home"]


def find_home(schema: Schema, row: Row, motes: int) -> int:
    """The mote that decides whether a tuple holds."""
    if schema.host is None:
        return crc32(repr(row_key(tuple(row[column] for column in schema.keys))).encode()) % motes
    mote = row[schema.host]
    if type(mote) is not int or not 0 <= mote < motes:
        raise InputError(f"a tuple of {schema.name!r} lives on {mote!r}; the motes are 0 to {motes - 1}")
    return mote
