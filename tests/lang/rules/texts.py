"""Program texts with something wrong in them."""

import re

from hypothesis import strategies as st

from tests.lang.rules.test_read_program import LANGUAGE

TOKENS = re.findall(r"#[^\n]*\n|'[^']*'|\"[^\"]*\"|\d[\d.]*\d|\w+'*|:-|<=|//|\S", LANGUAGE)
STRANGE = [
    "*",
    "(",
    ")",
    ",",
    ".",
    "'",
    '"',
    "#",
    "[",
    "]",
    "|",
    "!",
    "NOT",
    ":-",
    "<",
    ">",
    "=",
    "@",
    "é",
    "\x00",
    "²",
]
STRANGE += [
    "_",
    "0",
    "-1",
    "1e999",
    "9" * 30,
    "TRUE",
    "[]",
    "[X|R]",
    "base",
    "stage",
    "sum<x>",
    "p(x).",
    "x + 1",
    "5 s",
]

edits = st.tuples(st.integers(0, len(TOKENS) - 1), st.sampled_from(["delete", "insert", "replace", "double"]))
words = st.sampled_from([*TOKENS, *STRANGE])
changes = st.lists(st.tuples(edits, words), min_size=1, max_size=4)


def edit(wanted, tokens=TOKENS):
    """The program with some of its words changed."""
    tokens = list(tokens)
    for (index, how), word in wanted:
        index = min(index, len(tokens))
        kept = tokens[index : index + 1] if how in ("insert", "double") else []
        given = [word] if how in ("insert", "replace") else kept * (how == "double")
        tokens[index : index + 1] = given + kept
    return " ".join(tokens)
