"""What a program declares, statement by statement."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from lark import Token, Tree

from skerry.errors import Location, RuleError
from skerry.lang.rules.foreign_words import advise_on_type
from skerry.lang.rules.syntax import Statement, Syntax
from skerry.lang.rules.terms import MOST_COLUMNS, Names, Reader, microseconds, text_of, token_location, tokens, whole
from skerry.model.term import Constant, Value
from skerry.plan.limits import LIMITS, parse_limit
from skerry.plan.program import Column, Function, Output, Predicate, Spatial, Type

__all__ = ["Declarations"]

_Mode = Literal["inserts", "changes", "snapshot", "final"]
_MODES: dict[str, _Mode] = {mode: mode for mode in get_args(_Mode)}
_OF_BASE = ("time", "window", "slide", "watermark", "expire", "host", "link")
_OF_DERIVED = ("host", "stage", "limit", "time", "window")


@dataclass
class Declarations:
    """Collected so far. A name is declared once."""

    predicates: dict[str, Predicate] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
    functors: dict[str, int] = field(default_factory=dict)
    constants: dict[str, Value] = field(default_factory=dict)
    spatial: list[Spatial] = field(default_factory=list)
    limits: dict[str, float] = field(default_factory=dict)

    def add(self, statement: Statement) -> None:
        """Take in a declaration."""
        kinds: dict[str, Callable[[Statement], None]] = {
            "base": self._predicate,
            "derived": self._predicate,
            "constant": self._constant,
            "functor": self._functor,
            "function": self._function,
            "predicate": self._function,
            "spatial": self._spatial,
            "output": self._output,
            "most": self._limit,
        }
        kinds[statement.kind](statement)

    @property
    def names(self) -> Names:
        """What terms may use."""
        return Names(self.functions, self.functors, self.constants)

    def _predicate(self, statement: Statement) -> None:
        base = statement.kind == "base"
        name, columns = self._new(tokens(statement.tree.children)[1]), list[Column]()
        branches = [child for child in statement.tree.children if isinstance(child, Tree)]
        for tree in branches:
            if tree.data == "column":
                columns.append(_column(tree, [column.name for column in columns]))
        if len(columns) > MOST_COLUMNS:
            raise RuleError("E002", f"{name!r} has more than {MOST_COLUMNS} columns", "", None, statement.location)
        predicate = Predicate(name, tuple(columns), base, location=statement.location)
        for tree in branches:
            if tree.data != "column":
                predicate = _with_option(predicate, tree)
        self.predicates[name] = _with_time(predicate)

    def _constant(self, statement: Statement) -> None:
        name = self._new(tokens(statement.tree.children)[1])
        value = statement.tree.children[2]
        assert isinstance(value, Tree)
        term = Reader(self.names, statement.location).term(value)
        if not isinstance(term, Constant):
            fix = "write a number, a text, TRUE, FALSE or a list of these"
            raise RuleError("E001", f"const {name!r} is not a constant", fix, None, statement.location)
        self.constants[name] = term.value

    def _functor(self, statement: Statement) -> None:
        _, name, arity = tokens(statement.tree.children)
        self.functors[self._new(name)] = whole(arity, "an arity")

    def _function(self, statement: Statement) -> None:
        _, name, *types, path = tokens(statement.tree.children)
        result = _type(types.pop()) if statement.kind == "function" else None
        python_name = text_of(path)
        if ":" not in python_name:
            fix = 'write "module:name"'
            raise RuleError("E001", f"built-in {str(name)!r} has no Python name", fix, None, token_location(path))
        parameters = tuple(map(_type, types))
        self.functions[self._new(name)] = Function(str(name), parameters, result, python_name, statement.location)

    def _spatial(self, statement: Statement) -> None:
        _, left, right, hops = tokens(statement.tree.children)
        self.spatial.append(Spatial(str(left), str(right), whole(hops, "a number of hops")))

    def _output(self, statement: Statement) -> None:
        options: dict[str, Token] = {}
        for tree in statement.tree.children:
            if isinstance(tree, Tree):
                _once(str(tree.data), options, tokens(tree.children)[0])
        mode = options.get("mode", Token("NAME", "final"))
        if mode not in _MODES:
            raise RuleError(
                "E001", f"unknown mode {str(mode)!r}", f"known: {', '.join(_MODES)}", None, token_location(mode)
            )
        to = text_of(options["to"]) if "to" in options else None
        name = tokens(statement.tree.children)[1]
        self.outputs.append(Output(str(name), _MODES[mode], to, statement.location))

    def _limit(self, statement: Statement) -> None:
        """``limit tuples 5000000``: what the whole program may take."""
        name, written = tokens(statement.tree.children)
        if name not in LIMITS:
            fix = f"known: {', '.join(LIMITS)}; the limit of a column stands in its declaration: limit d <= 64"
            raise RuleError("E003", f"unknown limit {str(name)!r}", fix, None, token_location(name))
        if name in self.limits:
            raise RuleError("E003", f"limit {name} is given twice", "keep one", None, token_location(name))
        try:
            self.limits[str(name)] = parse_limit(str(name), str(written))
        except ValueError as error:
            message = f"limit {name} is {error}, got {written}"
            raise RuleError("E001", message, "", None, token_location(written)) from None

    def _new(self, name: Token) -> str:
        if name in ("_", "TRUE", "FALSE", "true", "false"):
            raise RuleError(
                "E003", f"{str(name)!r} cannot be declared", "choose another name", None, token_location(name)
            )
        if any(name in known for known in (self.predicates, self.functions, self.functors, self.constants)):
            raise RuleError(
                "E003", f"{str(name)!r} is declared already", "rename one of them", None, token_location(name)
            )
        return str(name)


def _column(tree: Syntax, before: list[str]) -> Column:
    name, kind = tokens(tree.children)
    if name in before:
        raise RuleError(
            "E003", f"two columns are called {str(name)!r}", "rename one of them", None, token_location(name)
        )
    return Column(str(name), _type(kind))


def _type(name: Token) -> Type:
    if name not in list(Type):
        meant = advise_on_type(name)
        fix = f"write {meant}" if meant else f"known: {', '.join(Type)}"
        raise RuleError("E110", f"unknown type {str(name)!r}", fix, None, token_location(name))
    return Type(str(name))


def _once(option: str, given: dict[str, Token], value: Token) -> None:
    if option in given:
        raise RuleError("E003", f"{option} is given twice", "keep one", None, token_location(value))
    given[option] = value


def _with_option(predicate: Predicate, tree: Syntax) -> Predicate:
    option, (first, *rest) = str(tree.data), tokens(tree.children)
    if option not in (_OF_BASE if predicate.base else _OF_DERIVED):
        kind = "base" if predicate.base else "derived"
        raise RuleError("E001", f"a {kind} predicate has no {option}", "leave it out", None, token_location(first))
    match option:
        case "time" | "host" | "stage":
            changed: dict[str, Any] = {option: _position(predicate, first)}
        case "limit":
            changed = {"limits": {**predicate.limits, _position(predicate, first): whole(rest[0], "a limit")}}
        case "link":
            changed = {"link": _link(predicate, first, rest)}
        case "expire":
            changed = {"silent": _silent(first)}
        case "window" if rest[0] == "rows" and not predicate.base:
            message = "a derived predicate has a window of time alone"
            raise RuleError("E001", message, "write window 60 s", None, token_location(first))
        case "window" if rest[0] == "rows":
            changed = {"window_rows": whole(first, "a number of rows")}
        case _:
            changed = {f"{option}_us": microseconds(first, rest[0])}
    if not all(changed.values()) and option in ("window", "slide"):
        raise RuleError("E001", f"a {option} is longer than nothing", "", None, token_location(first))
    return replace(predicate, **changed)


def _link(predicate: Predicate, word: Token, hops: list[Token]) -> int:
    """How many hops apart the nodes are at most."""
    if [column.type for column in predicate.columns] != [Type.NODE, Type.NODE]:
        message, fix = (
            f"{predicate.name!r} holds links",
            f"declare it as in base {predicate.name}(x: node, y: node) link",
        )
        raise RuleError("E110", message, fix, None, token_location(word))
    reach = whole(hops[0], "a number of hops") if hops else 1
    if not reach:
        raise RuleError("E001", "a link is at least 1 hop long", "", None, token_location(word))
    return reach


def _position(predicate: Predicate, name: Token) -> int:
    names = [column.name for column in predicate.columns]
    if name not in names:
        fix = f"{predicate.name} has {', '.join(names) or 'none'}"
        raise RuleError("E003", f"unknown column {str(name)!r}", fix, None, token_location(name))
    return names.index(str(name))


def _silent(word: Token) -> bool:
    if word not in ("silent", "retract"):
        raise RuleError(
            "E001", f"unknown way to expire {str(word)!r}", "known: silent, retract", None, token_location(word)
        )
    return word == "silent"


def _with_time(predicate: Predicate) -> Predicate:
    """A window of time goes by the declared column, or by the only one of the type time."""
    location: Location | None = predicate.location
    times = [index for index, column in enumerate(predicate.columns) if column.type is Type.TIME]
    if predicate.time is None and len(times) == 1:
        predicate = replace(predicate, time=times[0])
    if predicate.time is None and predicate.window_us is not None:
        raise RuleError(
            "E110", f"{predicate.name!r} has a window and no time", "say which column: time t", None, location
        )
    if predicate.time is not None and predicate.time not in times:
        column = predicate.columns[predicate.time]
        fix = f"declare {column.name}: time"
        raise RuleError("E110", f"time column {column.name!r} is of type {column.type}", fix, None, location)
    return predicate
