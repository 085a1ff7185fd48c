"""Parses text into syntax trees, one per statement; errors say where."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr

from skerry.errors import Location, RuleError
from skerry.lang.rules.foreign_words import advise

__all__ = ["Statement", "location_of", "statements"]

Syntax = Tree[Token]

_LONGEST_TEXT = 1_000_000
_LONGEST_NAME = 200
_DEEPEST = 200
_KINDS = {"NAME": "a name", "NUMBER": "a number", "STRING": "a text in quotes", "FACTOR": "'*'", "SIGN": "'+'"}
_WIDEST_LIST = 8
_DIVIDED = "end each statement with a full stop, and divide subgoals by commas"


@dataclass(frozen=True)
class Statement:
    """A declaration, fact or rule: its tree, the user's text for it, and where that begins."""

    tree: Syntax
    text: str
    location: Location

    @property
    def kind(self) -> str:
        """The word for what it is: the name of its rule in the grammar."""
        return str(self.tree.data)


def statements(text: str) -> Iterator[Statement]:
    """All statements of a program.

    >>> [(statement.kind, statement.text) for statement in statements("const A = 0.  H(A, A).")]
    [('constant', 'const A = 0.'), ('rule', 'H(A, A).')]
    """
    if len(text) > _LONGEST_TEXT:
        raise RuleError("E002", f"a program may have {_LONGEST_TEXT} characters, this one has {len(text)}")
    try:
        children = _parser().parse(text).children
    except UnexpectedInput as error:
        raise _make_error(error, text) from None
    for tree, end in zip(children[::2], children[1::2], strict=True):
        assert isinstance(tree, Tree)
        first = _first(tree)
        location = Location(first.line or 1, first.column or 1)
        _look_into(tree, location)
        assert isinstance(end, Token)
        yield Statement(tree, text[first.start_pos : end.end_pos], location)


def location_of(tree: Syntax, default: Location) -> Location:
    """Where a tree begins: at its first token, if it holds one."""
    first = next(_tokens(tree), None)
    return Location(first.line or 1, first.column or 1) if first else default


@cache
def _parser() -> Lark:
    grammar = files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False)


def _first(tree: Syntax) -> Token:
    return next(_tokens(tree))


def _tokens(tree: Syntax) -> Iterator[Token]:
    waiting: list[Token | Syntax] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Token):
            yield part
        else:
            waiting.extend(reversed(part.children))


def _look_into(tree: Syntax, location: Location) -> None:
    """Refuse names that fill the screen, and what is nested so deeply that no walk through it would come back."""
    waiting = [(tree, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > _DEEPEST:
            raise RuleError(
                "E002", f"terms may be {_DEEPEST} deep, this one is deeper", "cut it in two", None, location
            )
        for child in part.children:
            if isinstance(child, Tree):
                waiting.append((child, depth + 1))
            elif child.type == "NAME" and len(child) > _LONGEST_NAME:
                raise RuleError("E002", f"a name may have {_LONGEST_NAME} characters", "shorten it", None, location)


def _make_error(error: UnexpectedInput, text: str) -> RuleError:
    match error:
        case UnexpectedToken() if error.token.type != "$END":
            expected, found = error.accepts or (), str(error.token)
        case UnexpectedCharacters():
            expected, found = error.allowed or (), error.char
        case UnexpectedToken() | UnexpectedEOF():
            return _unfinished(text)
        case _:
            return RuleError("E001", "the program cannot be read")
    location = Location(error.line, error.column)
    advice = advise(text.split("\n")[error.line - 1], error.column)
    if advice is not None and found not in ("'", '"'):
        written, column = (advice.written, advice.column) if advice.is_one_word else (found, error.column)
        message = f"{_shorten(written)} cannot stand here"
        return RuleError("E001", message, advice.instead, None, Location(error.line, column))
    if found[0].isidentifier() and _begins_line(text, location):
        return _stop_missing(text, location)
    message, fix = _strange(found, expected)
    return RuleError("E001", message, fix or _DIVIDED, None, location)


def _begins_line(text: str, location: Location) -> bool:
    lines = text.split("\n")
    return (
        not lines[location.line - 1][: location.column - 1].strip()
        and _end_before(lines, location.line - 1) is not None
    )


def _stop_missing(text: str, location: Location) -> RuleError:
    """Where a statement begins inside another, that one was not ended."""
    end = _end_before(text.split("\n"), location.line - 1)
    message = f"a full stop is missing here, before line {location.line}"
    return RuleError("E001", message, _DIVIDED, None, end)


def _unfinished(text: str) -> RuleError:
    """The end of a text that goes on; a comment that should not be one may have swallowed the rest."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        advice = advise(line, line.index("#") + 1) if "#" in line else None
        if advice:
            return RuleError("E001", "'#' begins a comment", advice.instead, None, Location(number, advice.column))
    end = _end_before(lines, len(lines))
    return RuleError("E001", "the text ends inside a statement", "end each statement with a full stop", None, end)


def _end_before(lines: Sequence[str], count: int) -> Location | None:
    """Where the last text of some lines ends, comments left out."""
    for number in range(count, 0, -1):
        line = lines[number - 1].partition("#")[0].rstrip()
        if line:
            return Location(number, len(line) + 1)
    return None


def _strange(character: str, expected: Collection[str]) -> tuple[str, str]:
    if character in "'\"":
        return "a text in quotes is not closed on its line", f"close it with {character}"
    return f"{_shorten(character)} cannot stand here", _choice(expected)


def _shorten(text: str) -> str:
    return repr(str(text) if len(text) <= 40 else text[:40] + "...")


def _choice(expected: Collection[str]) -> str:
    words = sorted({_words()[name] for name in expected if name in _words()})
    return f"expected {' or '.join(words)}" if 0 < len(words) <= _WIDEST_LIST else ""


@cache
def _words() -> dict[str, str]:
    """Terminals by name, as a reader knows them. Words that begin declarations say nothing inside one."""
    literal = {item.name: item.pattern.value for item in _parser().terminals if isinstance(item.pattern, PatternStr)}
    return {name: repr(value) for name, value in literal.items()} | _KINDS
