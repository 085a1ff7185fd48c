import pyarrow as pa

from skerry.errors import LimitError
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.pipeline.view_at_work import ViewAtWork
from tests.fjord.given import MEAN, batch, views
from tests.pipeline.test_pipeline import SHED


def at_work(statement=MEAN):
    (view,) = views(statement)
    return ViewAtWork(view), view.feeds[0].build_route()


def test_answers_follow_from_rows_and_from_time():
    work, route = at_work()
    assert work.transition(route.transition(batch([(1, 1, 8.0)]))).num_rows == 0
    assert work.advance(END_OF_TIME).column("n").to_pylist() == [1]


NAMES = "CREATE TABLE names (id INT, name VARCHAR) WITH (connector='file', path='names.csv')"


def check_looked_up(view):
    work, found = ViewAtWork(view, {"names": _names("old")}), []
    for moment, name in ((1, "older"), (31, "new")):
        work.transition(view.feeds[0].build_route().transition(batch([(moment, 1, 8.0)])))
        work.see({"names": _names(name)})
        found += work.advance(Micros(moment + 20)).column("name").to_pylist()
    assert (view.tables_above, found) == (("names",), ["older", "new"])


def test_answers_are_looked_up_in_the_table_as_it_is_when_they_are_given():
    named = (
        "CREATE MATERIALIZED VIEW named AS SELECT m.n, s.name FROM mean AS m LEFT JOIN names AS s ON s.id = m.segment"
    )
    check_looked_up(views(MEAN, NAMES, named)[1])


def test_answers_of_a_view_below_are_looked_up_in_the_table_as_it_is_when_they_are_given():
    named = (
        "CREATE MATERIALIZED VIEW named AS SELECT s.name, m.window_start, SUM(m.n) AS n FROM mean AS m "
        "LEFT JOIN names AS s ON s.id = m.segment GROUP BY s.name, m.window_start"
    )
    _, view = views(MEAN, NAMES, named)
    check_looked_up(view)
    assert (
        ViewAtWork(view).operator.snapshot().keys()
        == ViewAtWork(view, {"names": _names("x")}).operator.snapshot().keys()
    )


def _names(name):
    return pa.record_batch({"id": pa.array([1], pa.int32()), "name": [name]})


def test_watermark_is_the_newest_event_time_less_the_delay_and_never_goes_back():
    work, _ = at_work()
    assert work.watermark == START_OF_TIME
    for newest in (90, 50):
        work.note_newest("road", Micros(newest))
    assert work.watermark == 70


def test_view_that_asks_for_too_much_stops_and_gives_nothing_more(monkeypatch):
    work, _ = at_work()

    def fail(watermark):
        raise LimitError("too many groups")

    monkeypatch.setattr(work.operator, "advance", fail)
    assert work.advance(Micros(1)).num_rows == 0
    assert work.failures == {"mean": "too many groups"}
    monkeypatch.undo()
    assert work.advance(END_OF_TIME).num_rows == 0


def test_what_was_counted_is_reported_once():
    work, _ = at_work(SHED.format("pairs", "gone"))
    for stream, feed in enumerate(work.view.feeds):
        work.transition(feed.build_route().transition(batch([(1, 1, 8.0)])), stream)
    work.advance(Micros(1))
    assert work.take_figures()["received"] == 2
    assert work.take_figures() == {}


def test_restored_view_goes_on_where_the_other_was():
    work, route = at_work()
    work.transition(route.transition(batch([(1, 1, 8.0)])))
    work.note_newest("road", Micros(5))
    other, _ = at_work()
    other.restore(work.operator.snapshot(), work.newest, work.failure)
    assert other.watermark == work.watermark
    assert other.advance(END_OF_TIME).equals(work.advance(END_OF_TIME))
