"""What people write who know Prolog, Souffle, clingo, DDlog or SQL, and what it is called here.

When a text cannot be read, the position where it goes wrong is held against these.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from skerry.plan.program import AGGREGATES

__all__ = ["Advice", "advise", "advise_on_type", "list_lost_directives"]

_AGGREGATES = "|".join(AGGREGATES)
_LONGEST_SIGN = 3
_LONGEST_SHOWN = 60
_IN_HEAD = "aggregates stand in a head, as in p(x, count<*>) :- q(x, _)"
_ONE_RULE_EACH = "for 'or' write a rule for each alternative"


@dataclass(frozen=True)
class _Foreign:
    """What is written, as a pattern within a line, and what to write instead."""

    pattern: re.Pattern[str]
    advice: str


def _words(*entries: tuple[str, str]) -> tuple[_Foreign, ...]:
    return tuple(_Foreign(re.compile(pattern), advice) for pattern, advice in entries)


_FOREIGN = _words(
    (r"^\s*(var|let|const|#define)\s+\w+.*", "for a name of a value write: const A = 0."),
    (r"^\s*\.(decl|type|comp)\b.*", "declare predicates as in: base q(x: int). derived p(x: int)."),
    (r"^\s*\.input\b.*", "declare it: base q(x: int). Its facts are read from q.csv or q.facts"),
    (r"^\s*\.(output|printsize)\b.*", "write: output p."),
    (r"^\s*\.\w+.*", "a statement does not begin with a full stop"),
    (
        r"^\s*((input|output|internal)\s+)?(relation|stream|multiset)\s+\w+.*",
        "declare: base q(x: int). or derived p(x: int).",
    ),
    (r"^\s*\?-.*", "ask by skerry rules run --query, or skerry rules why"),
    (r"^\s*:-.*", "a rule has a head: violation(x) :- ..., which holds nothing if all is well"),
    (rf"#\s*({_AGGREGATES})\b|\b({_AGGREGATES})\s*(\w+\s*)?:\s*\{{?", _IN_HEAD),
    (rf"\b({_AGGREGATES})\s*<[^<>]*>?\s*[=<>]*", _IN_HEAD),
    (rf"\b({_AGGREGATES})\s+\w+", "write the aggregate as in min<x>"),
    (r"/\*|^\s*--|^\s*//|^\s*%|(?<=[.,])\s*(//|%|--).*", "a comment begins with #, and ends with its line"),
    (r";\s*$", "a statement ends with a full stop"),
    (r";|\|\||\||\u2228|\b(OR|or)\b", _ONE_RULE_EACH),
    (r"&&|&|∧|/\\|\b(AND|and)\b", "for 'and' write a comma"),
    (r"\\\+|¬|~", "for 'not' write NOT, or !"),
    (r"\\==?|=\\=|<>|!==|≠|/=", "for 'not equal' write !="),
    (r"===?|=:=", "for 'equal' write ="),
    (r"=<|≤", "for 'at most' write <="),
    (r"=>|≥", "for 'at least' write >="),
    (r"(?<=\))\s*(<-|←|:=|<=|⇐|-->)|(?<=\))\s*\b(if|IF)\b", "between head and body write :-"),
    (r":=|\bis\b", "for 'equal' write ="),
    (r"\bmod\b", "for the rest of a division write %"),
    (r"\bdiv\b", "for a division that rounds down write //"),
    (r"\*\*|\^", "there is no power: write x * x"),
    (r"\.\.", "write x in range(1, 10): the numbers from 1 to 9"),
    (r"\bin\b", "write x in range(1, 10), or a predicate with the values as facts"),
    (r"\b(NOT|not)\s+(NOT|not)\b.*", "write NOT once"),
    (r"'[^']*''[^']*'?", "write a quote within a text as \\'"),
    (r"\((?=[^()]*\([^()]*\)\s*,)[^\n]*\)", "parentheses hold terms, not subgoals"),
    (r"\b(base|derived)\s+\w+'*\s*\([^:)]*\)?", "give each column a type, as in x: int"),
    (r"\w+'*\s+(int|float|string|bool|time|point|node|list|any)\b", "write a column as in x: int"),
    (
        r"\w+\s*:\s*(int|float|string|bool|time|point|node|list|any)\b",
        "types stand in declarations: derived p(x: int).",
    ),
)

_DIRECTIVES = _words(
    (r"^\s*#(const|defined?)\s.*", "for a name of a value write: const A = 0."),
    (r"^\s*#(include|import|script|theory)\b.*", "a program is one text"),
    (r"^\s*#(show|project)\b.*", "write: output p."),
    (r"^\s*#(minimi[sz]e|maximi[sz]e|external|program|heuristic|edge)\b.*", "there is no such statement"),
    (r"^\s*#(ifdef|ifndef|endif|pragma)\b.*", "there is no preprocessor"),
)
"""Statements of clingo and of C's preprocessor, which begin like a comment of ours."""
_TYPES = {
    "int": ("integer", "number", "bigint", "smallint", "long", "unsigned", "signed", "i32", "i64", "u32", "u64", "s64"),
    "float": ("double", "real", "decimal", "numeric", "f64"),
    "string": ("symbol", "text", "varchar", "str", "char", "istring"),
    "bool": ("boolean",),
    "time": ("timestamp", "datetime", "date"),
    "list": ("array", "vec"),
}


@dataclass(frozen=True)
class Advice:
    """What was written, at which column, counted from 1, and what to write instead."""

    written: str
    column: int
    instead: str

    @property
    def is_one_word(self) -> bool:
        """Whether it is a sign or a word, and no longer piece of text."""
        return len(self.written) <= _LONGEST_SIGN or self.written.isalpha()


def advise(line: str, column: int) -> Advice | None:
    """What to write instead of what stands at a column of a line, or is the word before that; None if it is not known.

    >>> advise("p(x) :- q(x), x == 3.", 18)
    Advice(written='==', column=17, instead="for 'equal' write =")
    """
    for foreign in _FOREIGN:
        for found in foreign.pattern.finditer(line):
            written = found[0].lstrip()
            between = line[found.end() : column - 1]
            if found.start() < column <= found.end() or (written.isalpha() and between.isspace()):
                return Advice(written.rstrip(), found.end() - len(written) + 1, foreign.advice)
    return None


def advise_on_type(name: str) -> str | None:
    """What a type is called here.

    >>> advise_on_type("VARCHAR")
    'string'
    """
    return next((type_ for type_, others in _TYPES.items() if name.lower() in (type_, *others)), None)


def list_lost_directives(text: str) -> Iterator[str]:
    r"""Lines that were meant as statements and are comments here, with what to write instead.

    >>> list(list_lost_directives("#const n = 3.\n# const is a word\np(n)."))
    ["line 1: '#const n = 3.' is a comment; for a name of a value write: const A = 0."]
    """
    for number, line in enumerate(text.splitlines(), 1):
        for directive in _DIRECTIVES:
            if directive.pattern.match(line):
                yield f"line {number}: {line.strip()[:_LONGEST_SHOWN]!r} is a comment; {directive.advice}"
