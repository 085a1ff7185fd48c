import pyarrow as pa

from skerry.sinks.by_output import SinkByOutput
from skerry.sinks.memory import MemorySink

SCHEMA = pa.schema({"a": pa.int64()})


def test_each_output_goes_to_its_own_sink():
    others, own = MemorySink(), MemorySink()
    sink = SinkByOutput(others, {"v": own})
    sink.claim("run", 0)
    sink.open({"v": SCHEMA, "w": SCHEMA}, resume=False)
    for output, number in (("v", 1), ("w", 2), ("w", 3)):
        sink.write(output, number, pa.record_batch([[number]], schema=SCHEMA))
    sink.settle()
    sink.close()
    assert (own.outputs(), others.outputs()) == (["v"], ["w"])
    assert (own.table("v")["a"].to_pylist(), others.table("w")["a"].to_pylist()) == ([1], [2, 3])
    assert sink.last_batch(["v", "w"]) == -1
    assert sink.part_writer() is None
