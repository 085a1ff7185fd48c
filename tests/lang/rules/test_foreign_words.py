"""Words of other languages: each is refused with what to write here."""

import pytest

from skerry.errors import RuleError
from skerry.lang.rules import read

WRITTEN = {
    "p(x) :- q(x)\nr(x) :- p(x).": "line 1, column 13: a full stop is missing here, before line 2",
    "base q(x: int)\np(x) :- q(x).": "line 1, column 15: a full stop is missing here, before line 2",
    "p(x) :- q(x)  # end": "line 1, column 13: the text ends inside a statement; end each statement with a full stop",
    "p(x) :- q(x) r(x).": "line 1, column 14: 'r' cannot stand here; end each statement with a full stop, and divide",
    "p(x) :- q(x); r(x).": "line 1, column 13: ';' cannot stand here; for 'or' write a rule for each alternative",
    "p(x) :- q(x);": "line 1, column 13: ';' cannot stand here; a statement ends with a full stop",
    "p(x) :- q(x) | r(x).": "for 'or' write a rule for each alternative",
    "p(x) :- q(x), x = 1 OR r(x).": "column 21: 'OR' cannot stand here; for 'or' write a rule for each alternative",
    "p(x) :- q(x) AND r(x).": "column 14: 'AND' cannot stand here; for 'and' write a comma",
    "p(x) :- q(x), x = 3 and r(x).": "column 21: 'and' cannot stand here; for 'and' write a comma",
    "p(x) :- q(x), x == 3.": "column 17: '==' cannot stand here; for 'equal' write =",
    "p(x) :- q(x), x <> 3.": "column 17: '<>' cannot stand here; for 'not equal' write !=",
    "p(x) :- q(x), x =< 3.": "column 17: '=<' cannot stand here; for 'at most' write <=",
    "p(x) :- q(x), x => 3.": "column 17: '=>' cannot stand here; for 'at least' write >=",
    "p(x) :- q(x), x is 3.": "column 17: 'is' cannot stand here; for 'equal' write =",
    "p(x) :- q(x), x := 3.": "column 17: ':=' cannot stand here; for 'equal' write =",
    "p(x) :- q(x), x mod 2 = 0.": "for the rest of a division write %",
    "p(x) :- q(x), x ** 2 > 4.": "there is no power: write x * x",
    "p(x) :- q(x). // why": "column 15: '//' cannot stand here; a comment begins with #",
    "% why\np(x) :- q(x).": "line 1, column 1: '%' cannot stand here; a comment begins with #",
    "/* why */ p(x) :- q(x).": "a comment begins with #",
    r"p(x) :- q(x), \+ r(x).": "column 15: '\\\\+' cannot stand here; for 'not' write NOT, or !",
    "p(x) :- q(x), ~r(x).": "for 'not' write NOT, or !",
    "p(x) :- not(q(x)).": "not is no predicate; write NOT q(x), without parentheses around it",
    "p(x) <- q(x).": "between head and body write :-",
    "p(x) if q(x).": "between head and body write :-",
    ".decl p(x: number)": "line 1, column 1: '.' cannot stand here; declare predicates as in: base",
    ".input q": "declare it: base q(x: int). Its facts are read from q.csv or q.facts",
    ".output p": "write: output p.",
    "input relation Q(x: bigint)": "declare: base q(x: int). or derived p(x: int).",
    "base q(x: number).": "E110 line 1, column 11: unknown type 'number'; write int",
    "base q(x).": "give each column a type, as in x: int",
    "p(x, count(y)) :- q(x, y).": "column 6, rule 1: 'count' is an aggregate; write count<y>, in a head",
    "p(x, n) :- n = count : { q(x, _) }.": "aggregates stand in a head, as in p(x, count<*>)",
    "p(x, n) :- n = #count { y : q(x, y) }.": "line 1, column 16: '#' begins a comment; aggregates stand in a head",
    "p(x) :- q(x), sum<x> > 3.": "aggregates stand in a head",
    "?- p(x).": "ask by skerry rules run --query, or skerry rules why",
    ":- p(x), q(x).": "a rule has a head",
    "p(x) :- q(x), (r(x), s(x)).": "parentheses hold terms, not subgoals",
    "p(x) :- q(x), x = 'it''s'.": "write a quote within a text as",
}


@pytest.mark.parametrize(("text", "message"), WRITTEN.items())
def test_foreign_word_is_refused_with_what_to_write(text, message):
    with pytest.raises(RuleError) as caught:
        read(text)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text", ["p(X) :- q(X).", "p(x) :- q(x), !r(x).", "p(x) :- q(x), not r(x).", "p(x) :- or(x), is(x)."]
)
def test_what_is_the_same_here_may_be_written(text):
    assert len(read(text).rules) == 1
