"""Topics as a source names them: levels in braces are wildcards that fill columns."""

import re
from dataclasses import dataclass

from skerry.errors import OptionError

__all__ = ["Topic"]

_NAMED = re.compile(r"\{([A-Za-z_]\w*)\}")
_MOST_BYTES = 65_535


@dataclass(frozen=True)
class Topic:
    """What to subscribe to, and how to find columns in the topics of messages.

    >>> topic = Topic.parse("i80/{sensor}/data")
    >>> topic.filter, re.fullmatch(topic.pattern, "i80/loop-7/data")["sensor"], topic.columns
    ('i80/+/data', 'loop-7', ('sensor',))
    """

    filter: str
    pattern: str
    columns: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "Topic":
        """Read a topic with levels in braces, ``+`` or a last ``#``."""
        levels = text.split("/")
        _check(text, levels)
        columns = tuple(found[1] for level in levels if (found := _NAMED.fullmatch(level)))
        if len(set(columns)) < len(columns):
            raise OptionError(f"topic {text!r} fills a column twice")
        filters = ["+" if _NAMED.fullmatch(level) else level for level in levels]
        return cls("/".join(filters), "/".join(map(_to_pattern, levels)).replace("/.*", "(?:/.*)?"), columns)


def _to_pattern(level: str) -> str:
    if found := _NAMED.fullmatch(level):
        return f"(?P<{found[1]}>[^/]*)"
    return {"+": "[^/]*", "#": ".*"}.get(level, re.escape(level))


def _check(text: str, levels: list[str]) -> None:
    """Refuse what a broker would, and topics that are not those of the messages."""
    if levels[0] == "$share":
        raise OptionError(f"topic {text!r} is a shared subscription; name the topic itself, {'/'.join(levels[2:])!r}")
    wrong = next((level for level in levels if _is_wrong(level)), None)
    if wrong is not None:
        raise OptionError(f"topic {text!r} has a level {wrong!r}; write a text, + or {{column}}")
    if "#" in levels[:-1]:
        raise OptionError(f"topic {text!r} has a # that is not its last level")
    if not text or "\0" in text or len(text.encode()) > _MOST_BYTES:
        raise OptionError(f"a topic has 1 to {_MOST_BYTES} bytes and no zero among them, got {text[:40]!r}")


def _is_wrong(level: str) -> bool:
    is_mixed = ("+" in level or "#" in level) and len(level) > 1
    return is_mixed or (("{" in level or "}" in level) and not _NAMED.fullmatch(level))
