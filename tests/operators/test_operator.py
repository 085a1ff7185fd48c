import pyarrow as pa

from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME
from skerry.operators.derive import Derive
from skerry.operators.operator import Chain, Operator, PageChanges
from tests.operators.readings import WINDOWS, BothHalves, batch_of, fold


class Echo(Operator):
    """Gives back what it gets."""

    schema = pa.schema({"x": pa.int64()})

    def transition(self, batch, stream=0):
        return batch


def counted() -> Chain:
    renamed = Derive([("n", Expression.of("count_None", pa.int64()))])
    return Chain([BothHalves(WINDOWS[0], (), [fold("count")]), renamed])


def test_operator_without_state_saves_nothing():
    assert (Echo().changes(), Echo().snapshot()) == (PageChanges(), {})


def test_operator_without_state_gives_nothing_for_time():
    assert Echo().advance(END_OF_TIME).schema == Echo.schema


def test_chain_hands_batches_down():
    batch = pa.record_batch({"x": [1]})
    assert Chain([Echo(), Echo()]).transition(batch) == batch


def test_chain_has_the_schema_of_its_last_link():
    assert counted().schema == pa.schema({"n": pa.int64()})


def test_chain_hands_down_what_time_settles():
    chain = counted()
    chain.transition(batch_of([{"ts": 0}, {"ts": 1}]))
    assert chain.advance(END_OF_TIME).to_pydict() == {"n": [2]}


def test_chain_is_saved_and_restored_as_its_first_link():
    chain, twin = counted(), counted()
    chain.transition(batch_of([{"ts": 0}]))
    assert chain.changes().put == chain.snapshot()
    twin.restore(chain.snapshot())
    assert twin.advance(END_OF_TIME).to_pydict() == {"n": [1]}
