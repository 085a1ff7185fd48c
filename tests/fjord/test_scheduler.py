from collections import Counter
from itertools import islice

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.fjord.module import Module
from skerry.fjord.queues.message import Advance, Rows
from skerry.fjord.queues.push import PushQueue
from skerry.fjord.scheduler import SCHEDULERS, Frequencies, RoundRobin, Tickets
from skerry.model.time import Micros
from skerry.operators.operator import Operator

SCHEMA = pa.schema({"a": pa.int64()})


class Hold(Operator):
    """Keeps what is even until time passes; odd numbers vanish."""

    schema = SCHEMA

    def __init__(self):
        self.kept = []

    def transition(self, batch, stream=0):
        self.kept += [number for number in batch["a"].to_pylist() if number % 2 == 0]
        return rows().batch

    def advance(self, watermark):
        kept, self.kept = self.kept, []
        return rows(*kept).batch


def rows(*numbers):
    return Rows(pa.record_batch([pa.array(numbers, pa.int64())], schema=SCHEMA))


def chain(count):
    """Modules behind each other, with the first and the last of the queues around them."""
    queues = [PushQueue() for _ in range(count + 1)]
    modules = [Module(Hold(), queues[place], queues[place + 1]) for place in range(count)]
    return modules, queues[0], queues[-1]


def drained(queue):
    messages = list(iter(queue.get, None))
    return [message.batch["a"].to_pylist() if isinstance(message, Rows) else message for message in messages]


def test_module_without_a_message_has_nothing_to_do():
    [module], _, _ = chain(1)
    assert not module.turn()


def test_module_takes_one_message_a_turn():
    [module], inbox, _ = chain(1)
    inbox.put(rows(2))
    inbox.put(rows(4))
    assert [module.turn() for _ in range(3)] == [True, True, False]


def test_batch_without_rows_is_not_handed_on():
    [module], inbox, outbox = chain(1)
    inbox.put(rows(2))
    module.turn()
    assert drained(outbox) == []


def test_what_time_settles_comes_out_ahead_of_the_tick():
    [module], inbox, outbox = chain(1)
    inbox.put(rows(2, 3))
    inbox.put(Advance(Micros(5)))
    run(RoundRobin(), module)
    assert drained(outbox) == [[2], Advance(Micros(5))]


def test_tick_is_handed_on_even_if_it_settles_nothing():
    [module], inbox, outbox = chain(1)
    inbox.put(Advance(Micros(5)))
    module.turn()
    assert drained(outbox) == [Advance(Micros(5))]


def run(scheduler, *queries):
    for query in queries:
        scheduler.add(query)
    scheduler.run()


def test_module_whose_reader_has_no_room_waits():
    inbox, outbox = PushQueue(), PushQueue(capacity=1)
    module = Module(Hold(), inbox, outbox)
    outbox.put(rows(1))
    inbox.put(Advance(Micros(1)))
    assert not module.turn()
    outbox.get()
    assert module.turn()


@pytest.mark.parametrize("name", SCHEDULERS)
def test_scheduler_works_until_all_queues_are_empty(name):
    modules, inbox, outbox = chain(4)
    for number in range(6):
        inbox.put(rows(number))
    inbox.put(Advance(Micros(1)))
    run(SCHEDULERS[name](), *modules[::-1])
    assert drained(outbox) == [[0, 2, 4], Advance(Micros(1))]
    assert not any(module.turn() for module in modules)


@pytest.mark.parametrize("name", SCHEDULERS)
def test_scheduler_without_queries_ends_at_once(name):
    SCHEDULERS[name]().run()


class Load:
    """A query with so many messages, of which each takes so long."""

    def __init__(self, clock, messages, seconds=1.0):
        self.clock, self.left, self.seconds = clock, messages, seconds

    def turn(self):
        if self.left:
            self.left -= 1
            self.clock.now += self.seconds
            return True
        return False


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_round_robin_gives_each_the_same_number_of_turns():
    scheduler = RoundRobin()
    queries = [Load(Clock(), 10) for _ in range(3)]
    for priority, query in enumerate(queries, 1):
        scheduler.add(query, priority)
    assert list(islice(scheduler.turns(), 6)) == queries * 2


def test_frequencies_give_turns_by_priority():
    scheduler, (much, little) = Frequencies(), (Load(Clock(), 100) for _ in range(2))
    scheduler.add(little)
    scheduler.add(much, 4)
    counts = Counter(islice(scheduler.turns(), 50))
    assert (counts[much], counts[little]) == (40, 10)


@given(seconds=st.lists(st.integers(1, 9), min_size=2, max_size=4))
def test_tickets_give_each_the_same_share_of_the_time(seconds):
    clock = Clock()
    scheduler = Tickets(clock)
    queries = [Load(clock, 10_000, each) for each in seconds]
    for query in queries:
        scheduler.add(query)
    counts = Counter(islice(scheduler.turns(), 400))
    shares = [counts[query] * query.seconds for query in queries]
    assert max(shares) - min(shares) <= 2 * max(seconds)


def test_slow_query_does_not_starve_a_quick_one_under_tickets():
    clock = Clock()
    scheduler, slow, quick = Tickets(clock), Load(clock, 100, 50.0), Load(clock, 100, 0.5)
    scheduler.add(slow)
    scheduler.add(quick)
    order = list(scheduler.turns())
    assert order.index(quick) <= 1
    last = max(turn for turn, query in enumerate(order) if query is quick)
    assert order[:last].count(slow) == 1, "all of the quick one is done within one turn of the slow one"


def test_priority_buys_time_under_tickets():
    clock = Clock()
    scheduler, one, three = Tickets(clock), Load(clock, 1_000), Load(clock, 1_000)
    scheduler.add(one)
    scheduler.add(three, 3)
    counts = Counter(islice(scheduler.turns(), 400))
    assert (counts[one], counts[three]) == (100, 300)


def test_query_that_was_idle_has_saved_nothing_up():
    clock = Clock()
    scheduler, busy, idle = Tickets(clock), Load(clock, 100), Load(clock, 0)
    scheduler.add(busy)
    scheduler.add(idle)
    scheduler.run()
    busy.left = idle.left = 100
    counts = Counter(islice(scheduler.turns(), 50))
    assert abs(counts[busy] - counts[idle]) <= 1


@pytest.mark.parametrize("name", SCHEDULERS)
def test_removed_query_has_no_more_turns(name):
    scheduler, gone, there = SCHEDULERS[name](), Load(Clock(), 5), Load(Clock(), 5)
    scheduler.add(gone)
    scheduler.add(there)
    scheduler.remove(gone)
    assert list(scheduler.turns()) == [there] * 5


@pytest.mark.parametrize("name", SCHEDULERS)
def test_scheduler_stops_when_that_is_enough(name):
    scheduler, query = SCHEDULERS[name](), Load(Clock(), 9)
    scheduler.add(query)
    scheduler.run(lambda: query.left <= 6)
    assert query.left == 6
