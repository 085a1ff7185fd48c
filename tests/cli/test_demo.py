"""What the demo shows is what its road does."""

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv

import skerry.cli
from skerry.catalog import Catalog
from skerry.database import Database
from skerry.model.time import MICROS, Micros, seconds
from skerry.sources.sim.traffic.connector import TrafficConnector

FOLDER = Path(skerry.cli.__file__).parent / "traffic"
BEGIN = seconds(datetime(2000, 6, 5, 6, 30, tzinfo=UTC).timestamp())


def test_incidents_that_are_reported_happen_on_the_road():
    database = Database(Catalog.in_memory(), FOLDER)
    database.execute((FOLDER / "traffic.sql").read_text())
    road = TrafficConnector.open(next(source for source in database.catalog.sources() if source.name == "traffic"))
    table = pyarrow.csv.read_csv(FOLDER / "incidents.csv")
    times = table.column("ts").cast(pa.timestamp("s")).cast(pa.int64()).to_pylist()
    reported = list(zip(times, *(table.column(name).to_pylist() for name in ("segment", "description")), strict=True))
    happened = road.incidents(BEGIN, Micros(BEGIN + 4 * MICROS["DAY"]))
    assert reported == [(each.begin_us // MICROS["SECOND"], each.segment, each.description) for each in happened]
