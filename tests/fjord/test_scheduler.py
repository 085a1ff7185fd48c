import pyarrow as pa

from skerry.fjord.queue import Advance, Queue, Rows
from skerry.fjord.scheduler import Module, RoundRobin
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
    queues = [Queue() for _ in range(count + 1)]
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
    RoundRobin([module]).run()
    assert drained(outbox) == [[2], Advance(Micros(5))]


def test_tick_is_handed_on_even_if_it_settles_nothing():
    [module], inbox, outbox = chain(1)
    inbox.put(Advance(Micros(5)))
    module.turn()
    assert drained(outbox) == [Advance(Micros(5))]


def test_scheduler_works_until_all_queues_are_empty():
    modules, inbox, outbox = chain(4)
    for number in range(6):
        inbox.put(rows(number))
    inbox.put(Advance(Micros(1)))
    RoundRobin(modules[::-1]).run()
    assert drained(outbox) == [[0, 2, 4], Advance(Micros(1))]
    assert not any(module.turn() for module in modules)


def test_scheduler_without_modules_ends_at_once():
    RoundRobin([]).run()
