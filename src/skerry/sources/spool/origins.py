"""What stands in the origin of a reading, such as the topic of its message: columns by name."""

import re
from collections.abc import Mapping

import pyarrow as pa

from skerry.sources.file.conform import Column

__all__ = ["match_origins"]


def match_origins(pattern: str | None, origins: Column) -> Mapping[str, Column]:
    """The columns that a pattern finds by the names of its groups. There are few origins, and many readings of each.

    >>> match_origins("i80/(?P<sensor>[^/]*)/data", pa.array(["i80/a/data", "?"]))["sensor"].to_pylist()
    ['a', None]
    """
    if pattern is None:
        return {}
    folded = origins.dictionary_encode()
    found = [re.fullmatch(pattern, origin) for origin in folded.dictionary.to_pylist()]
    names = re.compile(pattern).groupindex
    values = {name: pa.array([match and match[name] for match in found], pa.string()) for name in names}
    return {name: value.take(folded.indices) for name, value in values.items()}
