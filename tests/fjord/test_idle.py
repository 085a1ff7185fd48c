"""Sources that are quiet, or used up, and the views that wait for them."""

from dataclasses import replace

import pyarrow as pa
import pytest

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.fjord.runtime import FjordRuntime
from skerry.lang.sql import Session
from skerry.model.time import Micros
from skerry.pipeline.outcome import Tally
from skerry.pipeline.pipeline import Pipeline
from skerry.sinks.memory import MemorySink
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered, batch

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int32()})
SOURCE = """CREATE SOURCE {0} (ts TIMESTAMP, k INT, WATERMARK FOR ts AS ts - INTERVAL '5' MICROSECOND)
    WITH (connector='file', path='{0}.csv'{1})"""
VIEW = """CREATE MATERIALIZED VIEW missing AS SELECT ts FROM a
    WHERE NOT EXISTS (SELECT 1 FROM SLIDING(b, ts, INTERVAL '3' MICROSECOND) AS b WHERE b.k = a.k)"""
HERE = range(0, 100, 10)


def pipeline(there, option=""):
    session = Session(Catalog.in_memory())
    session.execute(";".join([SOURCE.format("a", ""), SOURCE.format("b", option), VIEW]))
    lanes = [[[batch([(moment, 1)], SCHEMA) for moment in moments]] for moments in (HERE, there)]
    connectors = [GivenConnector(source, lane) for source, lane in zip(session.catalog.sources(), lanes, strict=True)]
    return Pipeline(tuple(connectors), tuple(map(cut_view, session.plans())), step_rows=1)


def answers_by_step(given):
    steps = FjordRuntime(given, MemorySink()).steps()
    return [answers["missing"].num_rows if "missing" in answers else 0 for _, answers in steps]


def test_a_quiet_source_holds_a_view_back():
    found = answers_by_step(pipeline([0, 200]))
    assert (sum(found), sum(found[:-2])) == (9, 0)


def test_a_source_quiet_for_its_timeout_holds_nobody_back():
    found = answers_by_step(pipeline([0, 200], ", idle_timeout='20us'"))
    assert (sum(found), sum(found[:9])) == (9, 6)


def test_a_source_that_is_used_up_holds_nobody_back():
    found = answers_by_step(pipeline([0]))
    assert (sum(found), sum(found[:9])) == (9, 7)


@pytest.mark.parametrize(("there", "late"), [([0, 70], 0), ([0, 70, 40], 1)])
def test_an_idle_source_that_comes_back_is_in_time_but_for_what_is_behind(there, late):
    outcome, _ = answered(pipeline(there, ", idle_timeout='20us'"))
    assert outcome.tallies["b"] == Tally(accepted=2, late=late)


@pytest.mark.parametrize(("option", "held_back"), [("", {"missing": ["b"]}), (", idle_timeout='1 hour'", {})])
def test_a_view_that_waits_at_the_end_says_for_whom_an_idle_timeout_would_help(option, held_back):
    given = pipeline([0, 200], option)
    steps = iter([False] * 5)
    outcome = FjordRuntime(given, MemorySink()).run(stopped=lambda: next(steps, True))
    assert outcome.held_back == held_back
    assert answered(given)[0].held_back == {}


def test_nobody_is_held_back_against_a_source_that_is_used_up():
    steps = iter([False] * 5)
    outcome = FjordRuntime(pipeline([0]), MemorySink()).run(stopped=lambda: next(steps, True))
    assert outcome.held_back == {}


def test_answers_do_not_depend_on_the_timeout_nor_on_steps():
    wanted = answered(pipeline([0, 33, 200]))[1].table("missing").column("ts").to_pylist()
    for rows in (1, 3, 50):
        given = replace(pipeline([0, 33, 200], ", idle_timeout='1us'"), step_rows=rows)
        assert answered(given)[1].table("missing").column("ts").to_pylist() == wanted


def test_a_source_can_be_patient():
    [source] = [found.definition for found in pipeline([0], ", idle_timeout='2 min'").connectors[1:]]
    assert source.idle_timeout_us == Micros(120_000_000)
