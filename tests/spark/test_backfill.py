"""Views that begin with history on Spark answer as if they had been there from the start."""

import random
from pathlib import Path

import pytest

from skerry.database import Settings, connect
from skerry.errors import InputError
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink
from tests.fjord.many_views import FEW_VIEWS, lay_out
from tests.fjord.test_backfill import MEAN, ROAD, SEEN, VIEWS, begin_with, counts, left, write_road
from tests.fjord.test_changing_views import parts, rows, statement
from tests.spark.test_changing_views_recovery import break_off_and_go_on

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
_BY_STEPS = {"growing", "perhaps_now", "bounded", "adapted", "many", "last"}


def test_views_that_come_with_all_of_history_answer_as_if_they_had_been_there(tmp_path):
    project, whole = lay_out(tmp_path / "project").folder, lay_out(tmp_path / "whole").folder
    dice, doings, since = random.Random(5), dict[int, str](), dict[str, int]()
    for name in VIEWS:
        since[name] = dice.randrange(1, 12)
        doings[since[name]] = doings.get(since[name], "") + begin_with(VIEWS[name])
    # Batches are counted from 0: the first that a view sees is recorded when there is one more.
    breaks = {since["counts"] + 1, since["by_mjoin"] + 1, since["together"] + 1}
    statements = {batch: statement(doing) for batch, doing in doings.items()}
    before = {since["trips"], since["jams"]}
    outcome = break_off_and_go_on(project, statements, before, breaks, FEW_VIEWS, history=True)
    database = connect(whole)
    database.execute(FEW_VIEWS + "".join(VIEWS.values()))
    database.run(FileSink(whole / "out", "csv"), Settings("fjord", step_rows=50))
    assert (outcome.refused, outcome.came) == ({}, since)
    kept = connect(project).sql("SELECT count(*) AS n FROM history.road").to_arrow().to_pylist()
    assert kept == [{"n": outcome.tallies["road"].accepted}]
    for name in [*VIEWS.keys() - _BY_STEPS, "mean", "change", "by_snjoin"]:
        assert rows(parts(project / "out", name)) == rows(parts(whole / "out", name)), name
    for name in ("growing", "perhaps_now"):
        assert left(project / "out", name) == left(whole / "out", name), name


def go(folder: Path, script: str) -> Outcome:
    database = connect(folder)
    database.execute(script)
    settings = Settings("spark", "local[2]", step_rows=10, history=True)
    return database.run(FileSink(folder / "out", "csv"), settings)


def test_run_that_begins_goes_on_where_history_ends(tmp_path):
    write_road(tmp_path, range(45))
    go(tmp_path, ROAD.format(more="") + SEEN)
    write_road(tmp_path, range(45, 90))
    outcome = go(tmp_path, MEAN.format(span="all"))
    assert counts(tmp_path) == [10] * 9
    assert outcome.figures["mean"]["readings_from_history"] == 45


def test_view_is_refused_whose_history_is_not_kept(tmp_path):
    write_road(tmp_path, range(45))
    database = connect(tmp_path)
    database.execute(ROAD.format(more="") + MEAN.format(span="all"))
    with pytest.raises(InputError, match="this run keeps none of source 'road'; start it in a project"):
        database.run(FileSink(tmp_path / "out", "csv"), Settings("spark", "local[2]"))
