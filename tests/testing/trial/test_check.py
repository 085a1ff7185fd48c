"""A check that cannot fail says nothing: each fault is put into a sound trial, and found."""

import json
from contextlib import closing
from datetime import datetime, timedelta

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.errors import RunError
from skerry.testing.trial.check import check_course
from skerry.testing.trial.course import FLEETS, Course
from skerry.testing.trial.evidence import open_evidence
from skerry.testing.trial.queries import make_queries
from skerry.testing.trial.settings import TrialSettings

SETTINGS = TrialSettings(sensors=16, queries=30, seconds=40.0)
QUERIES = make_queries(SETTINGS)
SECONDS = 40
UNUSED = "traffic-0007"
MEASURED = {"speed": 50.0, "flow": 2, "occupancy": 3.0, "segment": 1, "lane": 1, "pm25": 20.5, "no2": 40.0}


def list_used():
    names = pa.table({"sensor": [f"{kind}-{n:04d}" for kind, count in SETTINGS.kinds.items() for n in range(count)]})
    conditions = " OR ".join(f"({condition})" for _, condition in QUERIES.concerned)
    with closing(duckdb.connect()) as connection:
        connection.register("names", names)
        return {name for (name,) in connection.execute(f"SELECT sensor FROM names WHERE {conditions}").fetchall()}


def make_lines(kinds, used):
    """What sound sensors write: readings, a control each, and how they are at the end."""
    names = [f"{kind}-{index:04d}" for kind in kinds for index in range(SETTINGS.kinds[kind])]
    lines = [{"what": "mote", "sensor": name} for name in names]
    for name in names:
        moments = range(SECONDS if name in used else 2)
        times = [(datetime(2026, 1, 1) + timedelta(seconds=second)).isoformat() + "Z" for second in moments]
        rows = [{"what": "reading", "sensor": name, "message": n, "seq": n, "ts": ts} for n, ts in enumerate(times)]
        lines += [row | MEASURED for row in rows]
    lines += [{"what": "control", "sensor": name, "heard": "taken"} for name in names]
    return lines + [{"what": "energy", "sensor": name, "energy_mj": 1.0, "asleep": name not in used} for name in names]


class Trial:
    """What a sound trial leaves behind."""

    def __init__(self, folder):
        self.course, used = Course(folder), list_used()
        self.lines = {fleet: make_lines(kinds, used) for fleet, kinds in FLEETS.items()}
        self.write_lines()
        with closing(open_evidence(self.course, SETTINGS.delay_s)) as connection:
            for view in QUERIES.views:
                self.write(view.name, connection.sql(view.twin).to_arrow_table())
            for stream in FLEETS:
                own = [each for each in QUERIES.subscriptions if each.stream == stream]
                asked = " UNION ALL ".join(f"SELECT '{q.id}' AS id, * FROM {stream} WHERE {q.predicate}" for q in own)
                self.write(f"subscriptions/{stream}", connection.sql(asked).to_arrow_table())

    def write_lines(self):
        for fleet, lines in self.lines.items():
            self.course.truth(fleet).write_text("".join(json.dumps(line) + "\n" for line in lines))

    def write(self, output, rows):
        (self.course.answers / output).mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, self.course.answers / output / "part-00000000.parquet")

    def read(self, output):
        return pq.read_table(self.course.answers / output / "part-00000000.parquet", partitioning=None)

    def check(self):
        return check_course(SETTINGS, QUERIES, self.course)


@pytest.fixture
def trial(tmp_path):
    return Trial(tmp_path)


def test_sound_trial_is_without_fault(trial):
    verdict = trial.check()
    assert not verdict.wrong
    assert "exactly once" in verdict.describe()


@pytest.mark.parametrize("output", ["view_001", "view_005", "subscriptions/road", "subscriptions/field"])
def test_answer_that_is_missing_is_found(trial, output):
    trial.write(output, trial.read(output)[1:])
    [found] = trial.check().wrong
    assert found.startswith(f"{output}: 1 answers are missing")


@pytest.mark.parametrize("output", ["view_000", "subscriptions/road"])
def test_answer_that_is_given_twice_is_found(trial, output):
    rows = trial.read(output)
    trial.write(output, pa.concat_tables([rows, rows[:1]]))
    [found] = trial.check().wrong
    assert found.startswith(f"{output}: 1 answers are too many")


def test_output_without_any_answer_is_found(trial):
    (trial.course.answers / "view_000" / "part-00000000.parquet").unlink()
    assert "answers are missing" in trial.check().wrong[0]


def test_control_outside_of_windows_is_found(trial):
    trial.lines["road"].append({"what": "control", "sensor": UNUSED, "heard": "outside"})
    trial.write_lines()
    assert trial.check().wrong == ("1 control messages came outside of listening windows",)


def test_sensor_that_does_not_sleep_is_found(trial):
    [line] = [line for line in trial.lines["road"] if line["what"] == "energy" and line["sensor"] == UNUSED]
    line["asleep"] = False
    sent = {"what": "reading", "sensor": UNUSED, "ts": "2026-01-01T00:00:50Z"} | MEASURED
    trial.lines["road"] += [sent | {"message": n, "seq": n} for n in range(90, 92)]
    trial.write_lines()
    assert trial.check().wrong == (f"1 sensors not in use are awake at the end, such as {UNUSED}",)


def test_sensor_that_sleeps_late_is_found_but_for_outages(trial):
    restarted = {"what": "restarted", "sensor": UNUSED, "at_us": 100_000_000}
    sent = {"what": "reading", "sensor": UNUSED, "ts": "2026-01-01T00:00:50Z"}
    sent |= MEASURED
    trial.lines["road"] += [restarted, *(sent | {"message": n, "seq": n} for n in range(90, 94))]
    trial.write_lines()
    [found] = trial.check().wrong
    assert found.startswith("1 times a sensor not in use listened for more than two windows")
    trial.course.outages.append(("the driver", 90.0, 99.0))
    assert not trial.check().wrong


def test_trial_whose_fleets_were_not_answered_says_nothing(trial):
    trial.lines["road"].append({"what": "unacknowledged", "sensor": UNUSED, "seq": 1})
    trial.write_lines()
    with pytest.raises(RunError, match="the trial says nothing: 1 readings were not acknowledged"):
        trial.check()


def test_trial_whose_fleets_were_too_slow_says_nothing(trial):
    trial.lines["road"].append({"what": "summary", "longest_lag_s": SETTINGS.delay_s / 2 + 1.0})
    trial.write_lines()
    with pytest.raises(RunError, match="the trial says nothing: the fleets were 11 s behind their clock"):
        trial.check()
