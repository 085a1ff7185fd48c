import pytest

from skerry.catalog import Catalog, Subscription
from skerry.errors import CatalogError, InputError
from skerry.lang.sql import Session

SOURCE = """CREATE SOURCE road (speed DOUBLE, lane INT) WITH (connector='file', path='r.csv');
CREATE SOURCE rail (speed DOUBLE) WITH (connector='file', path='r.csv');
CREATE MATERIALIZED VIEW slow WITH (late_to='too_late') AS SELECT speed FROM rail WHERE speed < 30;"""
SINK = "INSERT INTO subscriptions (id, stream, predicate, sink) VALUES"
INSERT = "INSERT INTO subscriptions (id, stream, predicate) VALUES"


@pytest.fixture
def session():
    session = Session(Catalog.in_memory())
    session.execute(SOURCE)
    return session


def ids(session):
    return [subscription.id for subscription in session.catalog.subscriptions.all()]


def test_subscriptions_are_inserted_and_deleted(session):
    rows = ["('a', 'road', 'speed < 30 OR lane = 1')", "('b', 'road', 'lane = 2')", "('c', 'road', 'TRUE')"]
    session.execute(f"{INSERT} {', '.join(rows)}")
    assert session.catalog.subscriptions.find(["a"]) == [Subscription("a", "road", "speed < 30 OR lane = 1")]
    session.execute("DELETE FROM subscriptions WHERE id = 'b'; DELETE FROM subscriptions WHERE id IN ('c')")
    assert ids(session) == ["a"]


def test_quotes_inside_a_predicate_are_doubled(session):
    session.execute(f"{INSERT} ('a', 'road', 'CAST(lane AS VARCHAR) = ''1''')")
    assert session.catalog.subscriptions.all()[0].predicate == "CAST(lane AS VARCHAR) = '1'"


def test_sink_is_taken_in_any_order_of_columns(session):
    columns = "sink, predicate, id, stream"
    session.execute(f"INSERT INTO subscriptions ({columns}) VALUES ('alarms', 'lane = 1', 'a', 'road')")
    assert session.catalog.subscriptions.all() == [Subscription("a", "road", "lane = 1", "alarms")]


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("INSERT INTO subscriptions VALUES ('a', 'road', 'TRUE')", "a subscription is written INSERT INTO"),
        ("INSERT INTO subscriptions (id, stream) VALUES ('a', 'road')", "a subscription is written INSERT INTO"),
        ("INSERT INTO subscriptions (id, stream, predicate, x) VALUES ('a', 'b', 'c', 'd')", "it may have a sink"),
        (f"{INSERT} ('a', 'road')", "3 columns are named, but a row has 2 values"),
        (f"{INSERT} (1, 'road', 'TRUE')", "expected a text in quotes, got 1"),
        ("INSERT INTO subscriptions (id, stream, predicate) SELECT 1, 2, 3", "subscriptions are given as VALUES"),
        (f"{INSERT} ('a', 'road', 'sped < 3')", "unknown column 'sped'"),
        (f"{SINK} ('a', 'road', 'TRUE', '../x')", "'../x'"),
        (f"{SINK} ('a', 'road', 'TRUE', 'slow')", "the sink cannot be 'slow', which receives other rows"),
        (f"{SINK} ('a', 'road', 'TRUE', 'too_late')", "the sink cannot be 'too_late', which receives other rows"),
        (f"{SINK} ('a', 'road', 'TRUE', 'subscriptions')", "the sink cannot be 'subscriptions'"),
        (
            f"{SINK} ('a', 'road', 'TRUE', 's'), ('b', 'rail', 'TRUE', 's')",
            "the sink 's' is for answers of stream 'road'",
        ),
        ("DELETE FROM subscriptions", "write DELETE FROM subscriptions WHERE id = 'q1'"),
        ("DELETE FROM subscriptions WHERE stream = 'road'", "write DELETE FROM subscriptions WHERE id = 'q1'"),
        ("DELETE FROM subscriptions WHERE id = 'nobody'", "there is no subscription 'nobody'"),
        ("INSERT INTO road VALUES (1, 2)", "cannot run 'INSERT INTO'"),
    ],
)
def test_wrong_statement_is_told(session, statement, message):
    with pytest.raises(InputError) as caught:
        session.execute(statement)
    assert message in str(caught.value)
    assert ids(session) == []


def test_wrong_subscription_leaves_no_other(session):
    with pytest.raises(InputError, match="subscription 'b'"):
        session.execute(f"{INSERT} ('a', 'road', 'lane = 1'), ('b', 'road', 'lan = 1')")
    assert ids(session) == []


def test_stream_with_subscriptions_cannot_be_dropped(session):
    session.execute(f"{INSERT} ('a', 'road', 'lane = 1')")
    with pytest.raises(CatalogError, match="'road' is read by a; drop these first"):
        session.execute("DROP SOURCE road")


@pytest.mark.parametrize("view", ["mine AS", "other WITH (late_to='mine') AS"])
def test_view_cannot_take_the_place_of_a_sink(session, view):
    session.execute(f"{SINK} ('a', 'road', 'lane = 1', 'mine')")
    with pytest.raises(InputError, match="'mine' is the sink of subscriptions; choose another name"):
        session.execute(f"CREATE MATERIALIZED VIEW {view} SELECT lane FROM road")


def test_stream_that_spark_reads_takes_no_subscriptions(session):
    session.execute("CREATE SOURCE clicks (n INT) WITH (connector='spark', spark_format='rate')")
    with pytest.raises(InputError, match="'clicks', which Spark reads"):
        session.subscribe([Subscription("c", "clicks", "n > 1")])
