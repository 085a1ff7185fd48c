"""MATCH_RECOGNIZE row by row: all ways to match a pattern, the preferred one first."""

from collections.abc import Callable, Iterator, Sequence

from skerry.plan.pattern import Chain, Choice, End, Pattern, Repeat, Symbol

Holds = Callable[[int, int, Sequence[tuple[int, int]]], bool]
"""Whether a row may be a symbol, behind the rows of a match and their symbols."""
Path = tuple[tuple[int, int], ...]
"""The rows of a match, and their symbols."""


def find_matches(
    pattern: Pattern, times: Sequence[int], holds: Holds, span: int | None, *, skips_to_next: bool
) -> list[Path]:
    """All matches in rows that are in order."""
    found, start = [], 0
    while start < len(times):
        path = next(_ways(pattern, start, (), start, times, holds, span), None)
        if path:
            found.append(path)
        start += len(path) if path and not skips_to_next else 1
    return found


def _ways(pattern, at, path: Path, start, times, holds, span) -> Iterator[Path]:
    """The rows taken, for each way to go on from ``path``; ``at`` is the next row."""
    is_within = at < len(times) and (span is None or times[at] - times[start] <= span)
    match pattern:
        case Symbol(number):
            if is_within and holds(number, at, path):
                yield (*path, (at, number))
        case End():
            if not is_within:
                yield path
        case Choice(parts):
            for part in parts:
                yield from _ways(part, at, path, start, times, holds, span)
        case Chain(parts):
            if not parts:
                yield path
                return
            for way in _ways(parts[0], at, path, start, times, holds, span):
                yield from _ways(Chain(parts[1:]), start + len(way), way, start, times, holds, span)
        case Repeat(part, least, most, reluctant):
            if least == 0 and reluctant:
                yield path
            if most != 0:
                rest = Repeat(part, max(least - 1, 0), None if most is None else most - 1, reluctant)
                for way in _ways(part, at, path, start, times, holds, span):
                    yield from _ways(rest, start + len(way), way, start, times, holds, span)
            if least == 0 and not reluctant:
                yield path
