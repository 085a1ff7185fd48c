import pyarrow as pa

from skerry.model.time import Micros
from skerry.pipeline.intake import Intake
from skerry.pipeline.outcome import Tally
from skerry.sources.source import REJECTS, Split
from tests.fjord.given import MEAN, SLOW, batch, pipeline

LANES = [[[(0, 1, -8.0), (50, 1, 16.0), (5, 1, 3.0)], [(60, 2, -1.0)]]]


def take_in(given, newest=None):
    handed = []
    intake = Intake(given, newest or {}, lambda readers, rows: handed.append(([r.view.name for r in readers], rows)))
    intake.read_split(Split("road", "0", 0, 2))
    return intake, handed


def test_readings_in_time_are_handed_to_all_who_read_their_source():
    _, handed = take_in(pipeline(LANES))
    assert [(names, rows.num_rows) for names, rows in handed] == [(["mean", "slow"], 2), (["mean", "slow"], 1)]


def test_late_readings_go_to_the_outputs_that_views_name():
    intake, _ = take_in(pipeline(LANES))
    assert [rows.to_pylist() for rows in intake.outputs["too_late"]] == [batch([(5, 1, 3.0)]).to_pylist()]


def test_every_reading_is_counted_once():
    intake, _ = take_in(pipeline(LANES))
    assert intake.outcome.tallies == {"road": Tally(accepted=3, late=1)}
    assert intake.outcome.newest == {"road": 60}


def test_readings_are_late_against_the_steps_before():
    intake, _ = take_in(pipeline(LANES), {"road": Micros(75)})
    assert intake.outcome.tallies == {"road": Tally(accepted=1, late=3)}


def test_rejected_readings_are_dead_letters():
    given = pipeline([])
    intake = Intake(given, {}, lambda readers, rows: None)
    letters = pa.RecordBatch.from_pylist([{"reason": "r", "reading": "x", "place": "p"}], REJECTS)
    intake.admit(given.sources[0], intake.open_gate(given.sources[0]), batch([]), letters)
    assert intake.outputs == {"dead_letters/road": [letters]}


def test_views_that_only_select_and_are_many_are_answered_by_the_index():
    views = [SLOW.replace("slow AS", f"slow{number} AS") for number in range(8)]
    intake, handed = take_in(pipeline(LANES, 1, MEAN, *views))
    assert [names for names, _ in handed] == [["mean"], ["mean"]]
    assert sum(rows.num_rows for rows in intake.outputs["slow7"]) == 2
