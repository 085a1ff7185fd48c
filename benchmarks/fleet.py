"""A fleet on a real broker with crashes on the way: how fast answers come, and what the sensors spend.

A trial (docs/fleet.md) on each runtime: the driver is killed, the broker restarted, a twentieth of the sensors die and
come back. All answers are compared with DuckDB's before a number is printed.

    python benchmarks/fleet.py
    python benchmarks/fleet.py --sensors 2000 --queries 1000 --seconds 600 --json fleet.json
"""

import argparse
import json
from pathlib import Path

from _report import Report

from skerry.errors import RunError
from skerry.testing.trial import TrialSettings, run_trial

RUNTIMES = ("fjord", "spark")


def measure(report: Report, settings: TrialSettings) -> None:
    """Run a trial, and tell its numbers."""
    verdict = run_trial(settings, lambda text: print(f"  {settings.runtime}: {text}", flush=True))
    if verdict.wrong:
        raise RunError("\n".join(verdict.wrong))
    found = verdict.numbers
    for name, value, unit in (
        ("acknowledged", found.readings_per_s, "readings per second"),
        ("answers", found.answers / settings.seconds, "per second"),
        ("delay of answers, p50", found.delay_p50_s, "s"),
        ("delay of answers, p99", found.delay_p99_s, "s"),
        ("control outside of windows", found.controls.get("outside", 0), "messages"),
        ("power of a sensor in use", found.awake_mw, "mW"),
        ("power of a sensor not in use", found.asleep_mw, "mW"),
        *((f"until all is answered after an outage of {what}", seconds, "s") for what, seconds in found.outages),
    ):
        report.tell(f"{settings.runtime}: {name}", value, unit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sensors", type=int, default=200)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--delay", type=int, default=30, help="of the watermark, in seconds")
    parser.add_argument("--runtime", choices=RUNTIMES, help="both if not given")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    report = Report()
    for runtime in [given.runtime] if given.runtime else RUNTIMES:
        measure(report, TrialSettings(given.sensors, given.queries, given.seconds, runtime, delay_s=given.delay))
    if given.json:
        given.json.write_text(json.dumps(report.found, indent=2))


if __name__ == "__main__":
    main()
