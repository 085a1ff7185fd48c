"""What is written reads back."""

from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.deduce.rule_text import write_rule, write_subgoal, write_term, write_value
from skerry.lang.rules import read
from skerry.model.term import Arithmetic, Call, Compound, Constant, Duration, Terms, Variable
from skerry.plan.program import Comparison

DECLARED = "functor f/1. functor g/2. builtin function h(int, int): int = 'm:h'. "

plain = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=8),
)
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(tuple),
        inner.map(lambda value: Compound("f", (value,))),
        st.tuples(inner, inner).map(lambda pair: Compound("g", pair)),
    ),
    max_leaves=5,
)
names = st.from_regex(r"[a-z]\w{0,3}'{0,2}", fullmatch=True).filter(lambda name: name not in ("true", "false"))
variables = names.map(Variable)
# A list or function symbol without variables would be one constant: each has one.
terms = st.recursive(
    st.one_of(variables, plain.map(Constant), st.integers(0, 10**12).map(Duration)),
    lambda inner: st.one_of(
        st.tuples(variables, inner).map(Terms),
        st.builds(lambda front, last: Terms((last,), front=front), variables, inner),
        st.tuples(variables, inner).map(lambda pair: Terms(pair, "g")),
        st.tuples(inner, inner).map(lambda pair: Call("h", pair)),
        st.builds(Arithmetic, st.sampled_from(["+", "-", "*", "/", "//", "%"]), inner, inner),
    ),
    max_leaves=6,
)


@settings(max_examples=150)
@given(values)
def test_value_reads_back(value):
    [rule] = read(f"{DECLARED}p({write_value(value)}).").rules
    assert repr(rule.head.arguments) == repr((Constant(value),))


@settings(max_examples=150)
@given(terms, terms)
def test_terms_and_comparisons_read_back(left, right):
    comparison = write_subgoal(Comparison("<=", left, right))
    [rule] = read(f"{DECLARED}p({write_term(left)}) :- {comparison}.").rules
    assert repr(rule.head.arguments) == repr((left,))
    assert repr(rule.body[0].right) == repr(right)
    assert read(DECLARED + write_rule(rule)).rules == (rule,)
