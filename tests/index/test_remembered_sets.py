from hypothesis import given
from hypothesis import strategies as st

from skerry.catalog import Source, Subscription
from skerry.index.operands import derive_nothing
from skerry.index.region_from_predicate import region_of
from skerry.index.regions import Regions
from skerry.lang.sql.predicates import Predicates
from skerry.model.duckdb_session import open_duckdb
from tests.index.predicates import SCHEMA, bind

FORMS = [
    "i < {} AND d >= {}",
    "i BETWEEN {} AND {} AND s = '{}'",
    "NOT (i = {} OR l <> {})",
    "d * {} > {} AND l = {}",
    "s LIKE '{}%' OR d = {}",
    "s LIKE '%{}' AND i = {}",
    "i IN ({}, {}) AND l IN (5, {})",
    "l > {} + {} AND d < -{}",
    "t > TIMESTAMP '2024-01-0{}' + INTERVAL '1' DAY",
    "t < '2024-01-0{}'",
    "d IS NULL AND i <> {}",
]
constants = st.lists(st.sampled_from(["0", "1", "2", "1.5", "0.1", "1e0", "9007199254740993"]), min_size=3, max_size=3)


class Shared:
    """Regions of predicates that share their forms."""

    def __init__(self):
        self._predicates = Predicates({"road": Source("road", SCHEMA, "file")})
        self._regions = Regions(SCHEMA, open_duckdb, derive_nothing)

    def make(self, text):
        return self._regions.make(self._predicates.form(Subscription("q", "road", text)))


def describe(region):
    """The boxes of a region, each residual as a text with its constants."""
    return [(dict(box.sides), box.listed, box.residual and box.residual.sql) for box in region.boxes]


@given(st.lists(st.tuples(st.sampled_from(FORMS), constants), min_size=1, max_size=8))
def test_region_is_that_of_the_predicate_alone_whatever_came_before(some):
    shared = Shared()
    for form, values in some:
        text = form.format(*values)
        assert describe(shared.make(text)) == describe(region_of(bind(text), SCHEMA, open_duckdb))


def test_sets_are_made_once_for_the_same_constants():
    shared = Shared()
    first, _, again = (shared.make(f"i < {number} AND d > 0.5") for number in (7, 8, 7))
    assert again.boxes[0].sides["i"] is first.boxes[0].sides["i"]


def test_sets_are_forgotten_when_there_are_many(monkeypatch):
    monkeypatch.setattr("skerry.index.remembered_sets._MOST", 1)
    shared = Shared()
    found = [describe(shared.make(f"i = {number}")) for number in (7, 8, 7, 9)]
    assert found == [describe(region_of(bind(f"i = {number}"), SCHEMA, open_duckdb)) for number in (7, 8, 7, 9)]


def test_computed_constants_are_computed_for_each_predicate():
    shared = Shared()
    found = [shared.make("i = 3 AND l > length('ab')").boxes[0].sides["l"] for _ in range(2)]
    assert found[0] == found[1]
    assert found[0] is not found[1]
