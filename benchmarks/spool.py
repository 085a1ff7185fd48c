"""The spool of live sources: readings written to disk, synced, and read back, in this process.

Messages of a broker, as they would come, go through the receiver (unfolded, doubles found, synced), and are decoded
from the spool again. Rates are of both ways together, and of each. Beside it, in the same run, the same bytes are
written to a file with one sync for each frame: no durable log can be faster.

    python benchmarks/spool.py
    python benchmarks/spool.py --readings 2000000 --sequence --json spool.json
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from _report import Report

from skerry.catalog import Source
from skerry.model.time import Micros
from skerry.sources.spool.connector import gather_frames
from skerry.sources.spool.decode import Decoder
from skerry.sources.spool.doubles import Identity
from skerry.sources.spool.receiver import Receiver
from skerry.sources.spool.segments import Segments
from skerry.sources.spool.unfold import Message

_PER_MESSAGE = 20
_SCHEMA = pa.schema({"sensor": pa.string(), "ts": pa.timestamp("us"), "speed": pa.float64(), "flow": pa.int32()})
_START_MS = 1_790_000_000_000


def make_messages(readings: int) -> list[Message]:
    """What 2,000 sensors would send."""
    made = []
    for first in range(0, readings, _PER_MESSAGE):
        rows = [
            {"ts": _START_MS + number, "speed": 30 + number % 50 / 2, "flow": number % 7, "seq": number}
            for number in range(first, first + _PER_MESSAGE)
        ]
        payload = json.dumps({"readings": rows, "listens_ms": 50}).encode()
        made.append(Message(f"i80/loop-{first // _PER_MESSAGE % 2_000}/data", payload, Micros(_START_MS * 1_000)))
    return made


def write(folder: Path, messages: list[Message], identity: Identity) -> float:
    """How many seconds it takes until all is on disk."""
    begun = time.perf_counter()
    with Receiver(folder, 1 << 20, identity) as receiver:
        for message in messages:
            receiver.put(message)
    return time.perf_counter() - begun


def read(folder: Path) -> tuple[float, int]:
    """How many seconds it takes to decode all again, and how many readings there are."""
    source = Source("road", _SCHEMA, "mqtt", {}, event_time="ts")
    decoder = Decoder(source, "i80/(?P<sensor>[^/]*)/data", "ms")
    begun = time.perf_counter()
    segments = Segments(folder)
    frames = segments.read(0, segments.count())
    rows = sum(decoder.decode(received).readings.num_rows for received in gather_frames(frames))
    return time.perf_counter() - begun, rows


def write_plain(folder: Path) -> float:
    """How many seconds the same bytes take in frames of the same size, with nothing else done."""
    sizes = [path.stat().st_size for path in folder.glob("*.spool")]
    segments = Segments(folder)
    frames, blob = segments.count(), os.urandom(1 << 20)
    each = sum(sizes) // max(frames, 1)
    begun = time.perf_counter()
    with open(folder / "plain", "wb", buffering=0) as file:
        for _ in range(frames):
            for _ in range(max(1, each >> 20)):
                file.write(blob[: min(each, 1 << 20)])
            os.fdatasync(file.fileno())
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readings", type=int, default=1_000_000)
    parser.add_argument("--sequence", action="store_true", help="find doubles by sequence numbers")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report, identity = Report(), Identity("seq", "ts") if given.sequence else Identity()
    messages = make_messages(given.readings)
    with tempfile.TemporaryDirectory() as name:
        write(Path(name) / "warm", messages[:2_000], identity)
        folder = Path(name) / "spool"
        written = write(folder, messages, identity)
        decoded, rows = read(folder)
        assert rows == given.readings, (rows, given.readings)
        plain = write_plain(folder)
    report.tell("written", rows / written, "readings per second")
    report.tell("read back", rows / decoded, "readings per second")
    report.tell("both", rows / (written + decoded), "readings per second")
    report.tell("bytes alone, synced as often", rows / plain, "readings per second")
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
