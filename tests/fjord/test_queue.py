import pyarrow as pa

from skerry.fjord.queue import Advance, Queue, Rows
from skerry.model.time import Micros


def test_messages_come_out_in_the_order_in_which_they_went_in():
    queue, messages = Queue(), [Advance(Micros(1)), Rows(pa.record_batch({"a": [1]})), Advance(Micros(0))]
    for message in messages:
        queue.put(message)
    assert [queue.get() for _ in messages] == messages


def test_empty_queue_gives_nothing_and_does_not_wait():
    assert Queue().get() is None


def test_batch_is_handed_on_as_it_is():
    queue, batch = Queue(), pa.record_batch({"a": [1]})
    queue.put(Rows(batch))
    assert queue.get().batch is batch


def test_queue_can_be_filled_again_after_it_was_empty():
    queue = Queue()
    queue.put(Advance(Micros(1)))
    assert [queue.get(), queue.get()] == [Advance(Micros(1)), None]
    queue.put(Advance(Micros(2)))
    assert queue.get() == Advance(Micros(2))
