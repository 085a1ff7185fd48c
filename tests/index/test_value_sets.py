from hypothesis import given
from hypothesis import strategies as st

from skerry.index.value_sets import ValueSet

KEYS = range(12)
spans = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=5)
sets = st.builds(lambda some, null: ValueSet.of(some, null=null), spans, st.booleans())


def members(values):
    return {key for key in KEYS for low, high in values.spans if low <= key < high} | ({None} if values.null else set())


def is_plain(values):
    """Spans are in order, and none touches the next."""
    cuts = [cut for span in values.spans for cut in span]
    return cuts == sorted(set(cuts))


@given(spans)
def test_any_spans_make_a_set(some):
    found = ValueSet.of(some)
    assert members(found) == {key for key in KEYS for low, high in some if low <= key < high}
    assert is_plain(found)


@given(sets, sets)
def test_sets_meet_join_and_part_as_sets_do(one, other):
    for found, expected in (
        (one & other, members(one) & members(other)),
        (one | other, members(one) | members(other)),
        (one.without(other), members(one) - members(other)),
    ):
        assert members(found) == expected
        assert is_plain(found)


@given(sets)
def test_hull_is_the_least_span_that_holds_all(values):
    keys = members(values) - {None}
    assert members(values.hull) - {None} == (set(range(min(keys), max(keys) + 1)) if keys else set())
    assert values.hull.null == values.null
