"""What a text says, and the errors of one that says nothing."""

import pickle

import pytest

from skerry.deduce.rule_text import write
from skerry.errors import Location, RuleError
from skerry.lang.rules import read
from skerry.model.term import Arithmetic, Call, Compound, Constant, Duration, Terms, Variable
from skerry.plan.program import Aggregate, Atom, Builtin, Column, Comparison, Output, Spatial, Type

LANGUAGE = """
base veh(id: string, type: string, loc: point, t: time) time t window 60 s slide 1 s watermark 5 s expire silent.
base last(v: float) window 10 rows host v.
derived H(x: node, y: node, d: int) host y stage d limit d <= 64.
const A = 0.    # the root
functor pair/2.
builtin function dist(point, point): float = "geo:dist".
builtin predicate isParallel(list, list) = 'geo:is_parallel'.
builtin predicate close'(list, list) = 'geo:close'.
spatial report ~ report within 2 hops.
output uncov mode changes to "alerts".
output H.

cov(l1,t)  :- veh(_,'enemy',l1,t), veh(_,'friendly',l2,t), dist(l1,l2) <= 5.
uncov(l,t) :- NOT cov(l,t), !hidden(l), veh(_,"enemy",l,t), t - 5 s < 90 min.
busy(s, count<*>, avg<v + 1>) :- reading(s, v, t), 0 < v <= 10.
both(L1, pair(L1, -2.5)) :- path(L1), path(L2), NOT isParallel(L1, L2), report([]), report([1, [TRUE, x]]).
traj([X|R1,R2]) :- traj([X|R1]), report(R2), close'(R1,R2).
alarm :- H(A, y, d), d // 2 % 3 = -(y * 4) / 1e3.
H(A,A,0).
"""


def term(text):
    return (
        read(f"functor pair/2. builtin function f(int): int = 'm:f'. const A = 7. p({text}).")
        .rules[0]
        .head.arguments[0]
    )


def refusal(text):
    with pytest.raises(RuleError) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x", Variable("x")),
        ("d''", Variable("d''")),
        ("A", Constant(7)),
        ("-3", Constant(-3)),
        ("- x", Arithmetic("-", Constant(0), Variable("x"))),
        ("2.5e3", Constant(2500.0)),
        ("-9223372036854775808", Constant(-(2**63))),
        ("TRUE", Constant(True)),
        (r"'it\'s\n'", Constant("it's\n")),
        ('"a # b"', Constant("a # b")),
        ("1.5 min", Duration(90_000_000)),
        ("[1, 'a', [A]]", Constant((1, "a", (7,)))),
        ("pair(1, [])", Constant(Compound("pair", (1, ())))),
        ("pair(x, 1)", Terms((Variable("x"), Constant(1)), "pair")),
        ("[X|R1, R2]", Terms((Variable("R1"), Variable("R2")), front=Variable("X"))),
        ("a + b * c", Arithmetic("+", Variable("a"), Arithmetic("*", Variable("b"), Variable("c")))),
        ("a - b - c", Arithmetic("-", Arithmetic("-", Variable("a"), Variable("b")), Variable("c"))),
        ("f(x) // 2", Arithmetic("//", Call("f", (Variable("x"),)), Constant(2))),
        ("sum<x>", Aggregate("sum", Variable("x"))),
        ("count<*>", Aggregate("count", None)),
    ],
)
def test_term_is_read(text, wanted):
    assert repr(term(text)) == repr(wanted)


def test_declarations_are_read():
    program = read(LANGUAGE)
    vehicle, last, tree = program.predicates["veh"], program.predicates["last"], program.predicates["H"]
    assert (vehicle.time, vehicle.window_us, vehicle.slide_us, vehicle.watermark_us, vehicle.silent) == (
        3,
        60_000_000,
        1_000_000,
        5_000_000,
        True,
    )
    assert (last.window_rows, last.host, last.columns) == (10, 0, (Column("v", Type.FLOAT),))
    assert (tree.base, tree.host, tree.stage, tree.limits) == (False, 1, 2, {2: 64})
    assert program.outputs == (Output("uncov", "changes", "alerts"), Output("H"))
    assert program.spatial == (Spatial("report", "report", 2),)
    assert program.functors == {"pair": 2}
    assert program.functions["dist"].result is Type.FLOAT


def test_subgoals_are_read():
    body = read(LANGUAGE).rules[1].body
    assert [type(subgoal) for subgoal in body] == [Atom, Atom, Atom, Comparison]
    assert [subgoal.negated for subgoal in body[:3]] == [True, True, False]
    assert isinstance(read(LANGUAGE).rules[3].body[2], Builtin)


def test_chained_comparison_is_two():
    *_, first, second = read(LANGUAGE).rules[2].body
    assert (first, second) == (
        Comparison("<", Constant(0), Variable("v")),
        Comparison("<=", Variable("v"), Constant(10)),
    )


def test_rules_know_their_number_text_and_place():
    second = read("p(1).\n  q(x) :- # why\n p(x).").rules[1]
    assert (second.number, second.text, second.location) == (2, "q(x) :- # why\n p(x).", Location(2, 3))
    assert second.body[0].location == Location(3, 2)


def test_words_of_declarations_are_names_elsewhere():
    words = ["base", "derived", "const", "output", "time", "window", "stage", "limit", "not", "mode", "rows", "s"]
    text = "".join(f"{word}(x, {word}) :- {word}({word}, x), NOT {word}(1, x), {word} < x.\n" for word in words)
    text += "base base(base: int) host base.\noutput output.\n"
    program = read(text)
    assert [rule.head.predicate for rule in program.rules] == words
    assert list(program.predicates) == ["base"]


def test_declaration_may_stand_after_its_use():
    assert read("p(A). const A = 3.").rules[0].head.arguments == (Constant(3),)


def test_case_tells_names_apart():
    assert read("p(x, X).").rules[0].head.arguments == (Variable("x"), Variable("X"))


def test_what_is_written_reads_back():
    program = read(LANGUAGE)
    again = read(write(program))
    assert (again.rules, again.outputs, again.functions) == (program.rules, program.outputs, program.functions)
    assert write(again) == write(program)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "derived p(t: time) window 5 rows.",
            "E001 line 1, column 27: a derived predicate has a window of time alone; write window 60 s",
        ),
        (
            "p(x) :- q(x",
            "E001 line 1, column 12: the text ends inside a statement; end each statement with a full stop",
        ),
        ("p(x) q.", "E001 line 1, column 6: 'q' cannot stand here; expected '.' or ':-'"),
        ("p('a).", "E001 line 1, column 3: a text in quotes is not closed on its line; close it with '"),
        ("base p(x).", "E001 line 1, column 9: ')' cannot stand here; give each column a type"),
        ("base p(x: in).", "E110 line 1, column 11: unknown type 'in'; known: int, float, string, bool, time"),
        ("derived p(d: int) stage e.", "E003 line 1, column 25: unknown column 'e'; p has d"),
        ("derived p(d: int) slide 5 s.", "E001 line 1, column 25: a derived predicate has no slide"),
        ("base p(d: int) window 5 s.", "E110 line 1, column 1: 'p' has a window and no time; say which column: time t"),
        ("base p(d: int) time d.", "E110 line 1, column 1: time column 'd' is of type int; declare d: time"),
        ("base p(t: time) window 5 weeks.", "E001 line 1, column 24: unknown unit of time 'weeks'; known: us, ms, s"),
        ("base p(t: time) window 0 s.", "E001 line 1, column 24: a window is longer than nothing"),
        ("base p(t: time) window 2.5 rows.", "E001 line 1, column 24: a number of rows is a whole number"),
        ("const A = x.", "E001 line 1, column 1: const 'A' is not a constant; write a number"),
        ("const A = 1. functor A/1.", "E003 line 1, column 22: 'A' is declared already"),
        ("base p(x: int, x: int).", "E003 line 1, column 16: two columns are called 'x'"),
        (
            "output p mode often.",
            "E001 line 1, column 15: unknown mode 'often'; known: inserts, changes, snapshot, final",
        ),
        ("p(x) :- f(x) < 3.", "E003 line 1, column 9, rule 1: 'f' is no declared function or functor; declare it"),
        (
            "functor g/1. p(f(1)).",
            "E003 line 1, column 16, rule 1: 'f' is no declared function or functor; declared are g",
        ),
        ("functor g/1. p(g(1, 2)).", "E110 line 1, column 16, rule 1: 'g' takes 1 arguments, got 2"),
        ("builtin function f(int): int = 'm'.", "E001 line 1, column 32: built-in 'f' has no Python name"),
        (
            "builtin function f(int): int = 'm:f'. p(x) :- f(x).",
            "E003 line 1, column 47, rule 1: built-in function 'f'",
        ),
        ("p(99999999999999999999).", "E001 line 1, column 1, rule 1: a whole number is beyond 64 bits; write a float"),
        ("p(1e999).", "E001 line 1, column 1: 1e999 is too large for a float"),
        ("p([a, b|c]).", "E001 line 1, column 4, rule 1: before | stands one variable, for the head of the list"),
        ("p(x) :- q(sum<x>).", "E001 line 1, column 11, rule 1: an aggregate stands in a head"),
        ("p(median<x>) :- q(x).", "E003 line 1, column 3, rule 1: unknown aggregate 'median'; known: count,"),
        ("p(sum<*>) :- q(x).", "E001 line 1, column 3, rule 1: sum<*> means nothing; name what to gather: sum<v>"),
        ("p(x) :- q(x), x + 1.", "E001 line 1, column 15, rule 1: a value is no subgoal; compare it"),
        ("p(x) :- q(x), x.", "E001 line 1, column 15, rule 1: variable 'x' is no subgoal; compare it: x = TRUE"),
        ("p(" + "[" * 250 + "]" * 250 + ").", "E002 line 1, column 1: terms may be 200 deep, this one is deeper"),
        ("p(" + "1+" * 250 + "1).", "E002 line 1, column 1: terms may be 200 deep, this one is deeper"),
        ("p(x) :- " + "q(x)," * 200 + "q(x).", "E002 line 1, column 1, rule 1: a rule may have 200 subgoals"),
        ("#" * 1_000_001, "E002 a program may have 1000000 characters, this one has 1000001"),
        ("p(1).\n" * 10_001, "E002 a program may have 10000 rules, this one has 10001"),
    ],
    ids=lambda text: text[:30],
)
def test_what_cannot_be_read_is_refused_with_location_and_fix(text, message):
    assert str(refusal(text)).startswith(message)


def test_refusal_survives_pickling():
    error = refusal("p(x) :- f(x) < 3.")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code) == (str(error), "E003")


def test_links_are_declared_with_their_reach():
    program = read("base g(x: node, y: node) link. base h(x: node, y: node) link within 3 hops. base link(link: int).")
    assert [each.link for each in program.predicates.values()] == [1, 3, None]
    assert read(write(program)).predicates["h"].link == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("base g(x: int, y: node) link.", "E110 .*'g' holds links; declare it as in base g"),
        ("base g(x: node, y: node) link within 0 hops.", "E001 .*a link is at least 1 hop long"),
        ("derived g(x: node, y: node) link.", "E001 .*a derived predicate has no link"),
    ],
)
def test_what_cannot_be_a_link_is_refused(text, message):
    with pytest.raises(RuleError, match=message):
        read(text)
