"""The course of a trial: a broker, fleets, a driver and queries, and what is broken on the way.

0                                          a driver with all queries, then the fleets
three tenths                               the driver is killed, and started again
six tenths                                 the broker is stopped, and started again
all the time                               sensors die and come back, by the fleets' own faults
the end                                    the fleets stop, everything is answered, the driver is stopped
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from skerry.database import connect
from skerry.testing.broker import Broker
from skerry.testing.trial.beacon import Beacon
from skerry.testing.trial.children import Child
from skerry.testing.trial.queries import COLUMNS, LONGEST_WINDOW_S, TrialQueries
from skerry.testing.trial.settings import TrialSettings

__all__ = ["FLEETS", "Course", "run_course"]

FLEETS = {"road": ("traffic",), "field": ("air", "soil", "vibration")}
"""Which kinds of sensors each source hears."""
_PATIENCE_S = 600.0
"""A busy machine may take minutes to start Spark: this ends what would go on for ever."""
_KILL_AT, _RESTART_AT = 0.3, 0.6
_SETTLE_S = 8.0
"""For how long sensors go on after the last outage at the least: two windows of listening of one that sleeps."""
_COUNTED_ON_AFTER_S = 5.0
"""After a crash, proxies know of a sensor again once it has sent its state, or two messages."""

Say = Callable[[str], None]


@dataclass
class Course:
    """What a trial left behind: folders, and when what was broken, in seconds since 1970."""

    folder: Path
    outages: list[tuple[str, float, float]] = field(default_factory=list)
    """What was away, since when, and until when it was back at work."""
    seconds: float = 0.0
    """For how long the fleets sent: longer than asked for if an outage took that long."""

    @property
    def calm_since_s(self) -> float:
        """When the last outage was over, and its consequences."""
        return max((until + _COUNTED_ON_AFTER_S for _, _, until in self.outages), default=0.0)

    @property
    def answers(self) -> Path:
        """Where the driver writes its answers."""
        return self.folder / "out"

    def truth(self, fleet: str) -> Path:
        """Where a fleet writes what it sent and heard."""
        return self.folder / f"truth-{fleet}.jsonl"

    def was_troubled(self, moment_s: float) -> bool:
        """Whether somebody was away at a time, or just back."""
        return any(since <= moment_s <= until + _COUNTED_ON_AFTER_S for _, since, until in self.outages)


def run_course(settings: TrialSettings, queries: TrialQueries, folder: Path, say: Say) -> Course:
    """Run a trial in a folder; ``say`` hears what happens."""
    course = Course(folder)
    with ExitStack() as stack:
        broker = stack.enter_context(Broker())
        driver = stack.enter_context(_ended(_make_driver(settings, queries, broker.url, course)))
        say(f"starting {settings.runtime} with {settings.queries:,} queries")
        driver.start()
        beacon = stack.enter_context(Beacon(broker.url, tuple(COLUMNS), course.answers, driver.check))
        beacon.wait_for_first(_PATIENCE_S)
        fleets = [stack.enter_context(_ended(_make_fleet(settings, name, broker.url, course))) for name in FLEETS]
        for fleet in fleets:
            fleet.start()
        beacon.wait_for_sensors(settings.sensors, _PATIENCE_S)
        began_s = time.monotonic()
        say(f"{settings.sensors:,} sensors send for {settings.seconds:g} s")
        _wait_until(began_s + _KILL_AT * settings.seconds, driver, *fleets)
        with _outage(course, "the driver", say):
            driver.kill()
            time.sleep(settings.away_s)
            driver.start()
            beacon.wait_for_all(_PATIENCE_S)
        _wait_until(began_s + _RESTART_AT * settings.seconds, driver, *fleets)
        with _outage(course, "the broker", say):
            broker.stop()
            time.sleep(settings.away_s)
            broker.start()
            beacon.wait_for_all(_PATIENCE_S)
        _wait_until(max(began_s + settings.seconds, time.monotonic() + _SETTLE_S), driver, *fleets)
        for fleet in fleets:
            fleet.stop()
        course.seconds = time.monotonic() - began_s
        say("the fleets have stopped")
        beacon.wait_for_all(_PATIENCE_S, ahead_s=2.0 * (settings.delay_s + LONGEST_WINDOW_S))
        driver.stop()
    return course


def _make_driver(settings: TrialSettings, queries: TrialQueries, url: str, course: Course) -> Child:
    script, project = course.folder / "trial.sql", course.folder / "project"
    script.write_text(queries.write_script(url, settings.delay_s), encoding="utf-8")
    project.mkdir()
    database = connect(project)
    database.execute(script.read_text(encoding="utf-8"))
    database.subscribe(queries.subscriptions)
    return Child(
        [
            *("run", str(script), "--runtime", settings.runtime, "--master", settings.master),
            *("--project", str(project), "--checkpoint", str(course.folder / "checkpoint")),
            *("--out", str(course.answers)),
        ],
        course.folder / "driver.log",
    )


def _make_fleet(settings: TrialSettings, name: str, url: str, course: Course) -> Child:
    kinds = ",".join(f"{kind}={settings.kinds[kind]}" for kind in FLEETS[name])
    rate = [] if settings.rate is None else ["--rate", str(settings.rate)]
    return Child(
        [
            *("sim", "mqtt", "--url", url, "--prefix", name, "--kinds", kinds, "--seed", str(settings.seed)),
            *("--listens", str(settings.listens_ms), *rate),
            *("--duplicate", str(settings.duplicate), "--reorder", str(settings.reorder)),
            *("--die", str(settings.dying_share), "--die-every", str(max(0.8 * settings.seconds, 5.0))),
            *("--truth", str(course.truth(name))),
        ],
        course.folder / f"fleet-{name}.log",
    )


@contextmanager
def _ended(child: Child) -> Iterator[Child]:
    """Leave no process behind."""
    try:
        yield child
    finally:
        child.kill()


@contextmanager
def _outage(course: Course, what: str, say: Say) -> Iterator[None]:
    since = time.time()
    yield
    course.outages.append((what, since, time.time()))
    say(f"{what} was away; after {course.outages[-1][2] - since:.1f} s all was answered again")


def _wait_until(moment_s: float, *children: Child) -> None:
    while time.monotonic() < moment_s:
        for child in children:
            child.check()
        time.sleep(0.2)
