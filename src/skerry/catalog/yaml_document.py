"""YAML as plain data with line numbers: texts, lists and mappings, and nothing that runs or refers.

Read event by event, so that a file of 100,000 entries takes seconds and no more memory than its entries: PyYAML's
``safe_load`` builds a tree of nodes first, which for such a file takes ten times as long and a gigabyte.
"""

from collections.abc import Iterator
from typing import NamedTuple

import yaml

from skerry.errors import InputError

__all__ = ["Written", "YamlDocument"]

_DEEPEST = 8
_NULLS = {"", "~", "null", "Null", "NULL"}
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Written(NamedTuple):
    """A value as it was written, and the line it begins on: a text, None, a list or a mapping of such.

    Texts are not interpreted: what a number, a span or a name is, who reads them knows. So ``no`` and ``007`` are
    texts too.
    """

    line: int
    value: "str | list[Written] | dict[str, Written] | None"


class YamlDocument:
    """One document: a mapping at the top, of whose lists the entries can be read one by one.

    >>> document = YamlDocument("source: road", "f.yaml")
    >>> [(name, document.read().value) for name in document.top_keys()]
    [('source', 'road')]
    """

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._events: Iterator[yaml.Event] = iter(yaml.parse(text, Loader=_Loader))

    def top_keys(self) -> Iterator[str]:
        """The keys at the top, in order. After each its value is to be read, by ``read`` or ``entries``."""
        event = self._next()
        while isinstance(event, yaml.StreamStartEvent | yaml.DocumentStartEvent):
            event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return
        if not isinstance(event, yaml.MappingStartEvent):
            raise self.fault(_line(event), "expected a mapping such as 'sensors: [...]'")
        event, seen = self._next(), set()
        while not isinstance(event, yaml.MappingEndEvent):
            key = self._key(event)
            if key in seen:
                raise self.fault(_line(event), f"{key!r} stands there twice")
            seen.add(key)
            yield key
            event = self._next()
        self._next()
        if not isinstance(event := self._next(), yaml.StreamEndEvent):
            raise self.fault(_line(event), "a second document begins; write all into one")

    def read(self) -> Written:
        """The value that comes next, whole."""
        return self._read(self._next(), 1)

    def entries(self) -> Iterator[Written]:
        """The entries of the list that comes next, one by one."""
        event = self._next()
        if not isinstance(event, yaml.SequenceStartEvent):
            raise self.fault(_line(event), "expected a list")
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            yield self._read(event, 2)

    def fault(self, line: int, message: str) -> InputError:
        """What is wrong, with where."""
        return InputError(f"{self._file}: line {line}: {message}")

    def _next(self) -> yaml.Event:
        try:
            return next(self._events)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            raise self.fault(mark.line + 1 if mark else 1, f"is no YAML: {error.problem}") from None
        except yaml.YAMLError as error:
            raise InputError(f"{self._file}: is no YAML: {' '.join(str(error).split())}") from None

    def _read(self, event: yaml.Event, depth: int) -> Written:
        line = _line(event)
        if depth > _DEEPEST:
            raise self.fault(line, f"values are nested deeper than {_DEEPEST}")
        if isinstance(event, yaml.AliasEvent):
            raise self.fault(line, f"the alias *{event.anchor} is not read; write the value out")
        if (tag := getattr(event, "tag", None)) is not None and not _is_implicit(event):
            raise self.fault(line, f"the tag {tag!r} is not read; write a plain value")
        if isinstance(event, yaml.ScalarEvent):
            return Written(line, None if event.implicit[0] and event.value in _NULLS else event.value)
        if isinstance(event, yaml.SequenceStartEvent):
            return Written(line, list(self._items(depth)))
        return Written(line, self._mapping(depth))

    def _items(self, depth: int) -> Iterator[Written]:
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            yield self._read(event, depth + 1)

    def _mapping(self, depth: int) -> dict[str, Written]:
        found: dict[str, Written] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event)
            if key in found:
                raise self.fault(_line(event), f"{key!r} stands there twice")
            found[key] = self._read(self._next(), depth + 1)
        return found

    def _key(self, event: yaml.Event) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self.fault(_line(event), "a key must be a plain text")
        return str(event.value)


def _is_implicit(event: yaml.Event) -> bool:
    implicit = getattr(event, "implicit", True)
    return any(implicit) if isinstance(implicit, tuple) else bool(implicit)


def _line(event: yaml.Event) -> int:
    return 1 if event.start_mark is None else int(event.start_mark.line) + 1
